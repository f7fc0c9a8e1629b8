"""Quantiles of the noise in a published value: a sum of independent noises, each with its coefficient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.combined import AnyLaw
from jali.mechanisms.workloads.concentration import sum_quantile
from jali.mechanisms.workloads.weighted_sums import Term, weighted_quantile

# With more different terms the transform takes too long; and it is computed for noise of such a size.
_MANY, _SIZES = 300, (1e-2, 1e12)


def value_quantile(coefficients: NDArray[Any], law: AnyLaw, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent X_i of one law.

    With few different coefficients, as trees have them, it is nearly the exact quantile.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2, and docs/proofs/hierarchy.md, Lemma 4.

    Example:
        >>> from fractions import Fraction
        >>> from jali.mechanisms.laws import DiscreteLaplaceLaw
        >>> round(value_quantile(np.ones(100), DiscreteLaplaceLaw(Fraction(1)), 0.95), 1)
        27.1
    """
    bound = sum_quantile(coefficients, law, confidence)
    if not _SIZES[0] < float(law.stddev) < _SIZES[1] or len(np.unique(coefficients[: 4 * _MANY])) > _MANY:
        return bound
    sizes, counts = np.unique(np.abs(coefficients), return_counts=True)
    if len(sizes) > _MANY:
        return bound
    terms = zip(sizes.tolist(), counts.tolist(), strict=True)
    return min(bound, weighted_quantile([Term(size, count, law) for size, count in terms], confidence))
