"""Quantiles of sums of independent noises with coefficients, of one scale or of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.mechanisms.intervals.weighted_sums import (
    WeightedTerm,
    bound_gaussian_quantile,
    bound_sum_quantile,
    bound_weighted_quantile,
    bound_weighted_quantile_by_moments,
)
from jali.mechanisms.workloads.workload import Floats

# With more different terms the transform takes too long; and it is computed for noise of such a size.
_MANY, _SIZES = 300, (1e-2, 1e12)


def value_quantile(coefficients: NDArray[Any], law: IndependentLaw, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent X_i of one law.

    With few different coefficients, as trees have them, it is nearly the exact quantile.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2, and docs/proofs/hierarchy.md, Lemma 4.

    Example:
        >>> from fractions import Fraction
        >>> from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
        >>> round(value_quantile(np.ones(100), DiscreteLaplaceLaw(Fraction(1)), 0.95), 1)
        27.1
    """
    bound = bound_sum_quantile(coefficients, law, confidence)
    if not _SIZES[0] < float(law.stddev) < _SIZES[1] or len(np.unique(coefficients[: 4 * _MANY])) > _MANY:
        return bound
    sizes, counts = np.unique(np.abs(coefficients), return_counts=True)
    if len(sizes) > _MANY:
        return bound
    terms = zip(sizes.tolist(), counts.tolist(), strict=True)
    return min(
        bound, bound_weighted_quantile([WeightedTerm(size, count, law) for size, count in terms], confidence)
    )


NoiseTerms: TypeAlias = Sequence[tuple[Floats, IndependentLaw]]
# With more different terms the transform takes too long; and it is computed for noise of such a size.
_MANY_TERMS, _STDDEV_RANGE = 300, (1e-2, 1e12)
# Beyond, coefficients are rounded up to powers of exp(1/_STEPS).
_STEPS = 200


def stddev_of_sum(terms: NoiseTerms) -> float:
    """Return the standard deviation of a sum of independent noises, each with its coefficient."""
    return math.sqrt(math.fsum(float(law.stddev) ** 2 * float(row @ row) for row, law in terms))


def total_size(terms: NoiseTerms) -> float:
    """Return the sum of the sizes of all coefficients: what an error of 1 in each measurement may come to."""
    return math.fsum(float(np.abs(row).sum()) for row, _ in terms)


def quantile_of_sum(terms: NoiseTerms, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent noises of any laws.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2, and docs/proofs/hierarchy.md, Lemma 4.
    """
    if math.fsum(np.count_nonzero(row) * law.tail(0) for row, law in terms) <= read_miss_probability(confidence):
        return 0.0  # no noise is other than 0, likely enough
    if len({law for _, law in terms}) == 1:
        return value_quantile(np.concatenate([row for row, _ in terms]), terms[0][1], confidence)
    if all(_STDDEV_RANGE[0] < float(law.stddev) < _STDDEV_RANGE[1] for _, law in terms):
        exact = [term for row, law in terms for term in _count_terms(np.abs(row), law)]
        if len(exact) <= _MANY_TERMS:
            return bound_weighted_quantile(exact, confidence)
    gaussian = [(row, law) for row, law in terms if isinstance(law, DiscreteGaussianLaw)]
    if len(gaussian) < len(terms):
        return bound_weighted_quantile_by_moments(
            [term for row, law in terms for term in _round_up(row, law)], read_miss_probability(confidence)
        )
    variance = math.fsum(float(law.variance) * float(row @ row) for row, law in gaussian)
    return bound_gaussian_quantile(variance, total_size(gaussian), math.log(2 / read_miss_probability(confidence)))


def _count_terms(sizes: Floats, law: IndependentLaw) -> list[WeightedTerm]:
    values, counts = np.unique(sizes, return_counts=True)
    return [WeightedTerm(value, count, law) for value, count in zip(values.tolist(), counts.tolist(), strict=True)]


def _round_up(row: Floats, law: IndependentLaw) -> list[WeightedTerm]:
    """Return at least as much noise, in fewer terms."""
    steps = np.ceil(np.log(np.abs(row[row != 0])) * _STEPS + 1e-9)
    return _count_terms(np.exp(steps / _STEPS), law)
