"""Ratios of columns of one stream: means and shares over time, with intervals in closed form.

Statement:
    Let X_1, ..., X_d be the noises of d columns after a tick: independent, each the same combination sum c_i Z_i
    of independent noises of one kind. Then there is a q with Pr[|sum u_k X_k| > q] <= 1 - confidence for every u
    of length 1. So for a ratio N/D of two combinations of columns, with coefficients n and m, the set of all r
    with (N - r D)^2 <= q^2 |n - r m|^2 holds the ratio of the exact values with that confidence. It is where a
    quadratic in r is at most 0: an interval if D^2 > q^2 |m|^2.
Proof:
    docs/proofs/following.md, Theorems 3 and 4, after Fieller 1954.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.weighted_sums import bound_gaussian_quantile, bound_quantile_by_moments
from jali.streams.counter import Counter
from jali.streams.epochs import EpochCounter
from jali.streams.noise_quantiles import NoiseTerms, total_size


class RatioLengths(NamedTuple):
    """The lengths of the coefficients of a ratio N/D: |n|^2, their inner product n m, and |m|^2."""

    above: float
    both: float
    below: float


def noises(counter: Counter, tick: int) -> NoiseTerms:
    """Return the coefficients of the noises in a column's value after a tick, with the laws of the noises."""
    if isinstance(counter, EpochCounter):
        return counter.terms(tick)
    return [(counter.influence(tick), counter.law)]


def error_bound(counter: Counter, tick: int, columns: int, confidence: float) -> float:
    """Return a q that no combination of columns with coefficients of length 1 exceeds, at a confidence for each.

    Args:
        counter: The mechanism; roundings of its measurements add up to sqrt(columns) times those of one.
        tick: The tick after which the columns are combined.
        columns: How many columns are combined.
        confidence: For each combination by itself.
    """
    terms = noises(counter, tick)
    rounding = (counter.part(0) if isinstance(counter, EpochCounter) else counter).rounding
    return noise_error_bound(terms, columns, confidence) + rounding * math.sqrt(columns) * total_size(terms)


def noise_error_bound(terms: NoiseTerms, columns: int, confidence: float) -> float:
    """Return the same for the noises alone, all Laplace or all Gaussian, by their coefficients in one column."""
    exponent = math.log(2 / read_miss_probability(confidence))
    rows = [(np.abs(row[row != 0]), law) for row, law in terms if row.any()]
    gaussian = [(row, law) for row, law in rows if isinstance(law, DiscreteGaussianLaw)]
    if gaussian:
        variance = math.fsum(float(law.variance) * float(row @ row) for row, law in gaussian)
        slack = math.sqrt(columns) * math.fsum(float(row.sum()) for row, _ in gaussian)
        return bound_gaussian_quantile(variance, slack, exponent)
    laplace = [(row, law) for row, law in rows if isinstance(law, DiscreteLaplaceLaw)]
    if not laplace:
        return 0.0
    widest = max((law for _, law in laplace), key=lambda law: law.scale)
    sizes = [row * float(law.scale / widest.scale) for row, law in laplace]
    return bound_quantile_by_moments(np.concatenate(sizes), widest, exponent)


def ratio_between(
    above: float, below: float, squares: RatioLengths, q: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return all ratios within bounds that the noisy values do not reject; all of the bounds where D may be 0.

    Example:
        >>> low, high = ratio_between(50.0, 100.0, RatioLengths(1, 0, 1), 0.0, (0.0, 1.0))
        >>> low, high
        (0.5, 0.5)
    """
    a, b, c = squares
    lead = below * below - q * q * c
    if not lead > 0:
        return bounds
    # The discriminant without its terms of fourth order, which cancel. By Cauchy and Schwarz it is at least 0.
    inside = a * below * below - 2 * b * above * below + c * above * above - q * q * (a * c - b * b)
    spread = q * math.sqrt(max(0.0, inside))
    low, high = ((above * below - q * q * b + side * spread) / lead for side in (-1, 1))
    return max(bounds[0], min(low, bounds[1])), min(bounds[1], max(high, bounds[0]))
