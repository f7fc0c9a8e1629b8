"""Quantiles of sums of noises of several scales: the parts of a stream have noise of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from jali.mechanisms.combined import AnyLaw
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.mechanisms.mechanism import miss
from jali.mechanisms.workloads.concentration import gaussian_quantile
from jali.mechanisms.workloads.weighted_sums import Term, moment_quantile, weighted_quantile
from jali.mechanisms.workloads.workload import Floats
from jali.streams.quantiles import value_quantile

Terms: TypeAlias = Sequence[tuple[Floats, AnyLaw]]
# With more different terms the transform takes too long; and it is computed for noise of such a size.
_MANY, _SIZES = 300, (1e-2, 1e12)
# Beyond, coefficients are rounded up to powers of exp(1/_STEPS).
_STEPS = 200


def mixed_stddev(terms: Terms) -> float:
    """Return the standard deviation of a sum of independent noises, each with its coefficient."""
    return math.sqrt(math.fsum(float(law.stddev) ** 2 * float(row @ row) for row, law in terms))


def total_size(terms: Terms) -> float:
    """Return the sum of the sizes of all coefficients: what an error of 1 in each measurement may come to."""
    return math.fsum(float(np.abs(row).sum()) for row, _ in terms)


def mixed_quantile(terms: Terms, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent noises of any laws.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2, and docs/proofs/hierarchy.md, Lemma 4.
    """
    if math.fsum(np.count_nonzero(row) * law.tail(0) for row, law in terms) <= miss(confidence):
        return 0.0  # no noise is other than 0, likely enough
    if len({law for _, law in terms}) == 1:
        return value_quantile(np.concatenate([row for row, _ in terms]), terms[0][1], confidence)
    if all(_SIZES[0] < float(law.stddev) < _SIZES[1] for _, law in terms):
        exact = [term for row, law in terms for term in _counted(np.abs(row), law)]
        if len(exact) <= _MANY:
            return weighted_quantile(exact, confidence)
    gaussian = [(row, law) for row, law in terms if isinstance(law, DiscreteGaussianLaw)]
    if len(gaussian) < len(terms):
        return moment_quantile([term for row, law in terms for term in _rounded_up(row, law)], miss(confidence))
    variance = math.fsum(float(law.variance) * float(row @ row) for row, law in gaussian)
    return gaussian_quantile(variance, total_size(gaussian), math.log(2 / miss(confidence)))


def _counted(sizes: Floats, law: AnyLaw) -> list[Term]:
    values, counts = np.unique(sizes, return_counts=True)
    return [Term(value, count, law) for value, count in zip(values.tolist(), counts.tolist(), strict=True)]


def _rounded_up(row: Floats, law: AnyLaw) -> list[Term]:
    """Return at least as much noise, in fewer terms."""
    steps = np.ceil(np.log(np.abs(row[row != 0])) * _STEPS + 1e-9)
    return _counted(np.exp(steps / _STEPS), law)
