"""Bound the quantiles of weighted sums of many independent integer noises, by moments or by inverting a transform.

Statement:
    Let Y be the sum, phi its characteristic function, and V the mean of four independent uniforms on [-1, 1], so
    that |V| <= 1. If |Y| > t then |Y + d V| > u with u = t - d. The law of Y + d V, wrapped on a circle of length
    L, has a Fourier series, which gives the probability of [-u, u] on the circle. It errs by what is wrapped,
    at most Pr[|Y| > L - u - d], and by what is left of the series after M terms, at most
    (4 L / (2 pi d M))^4 / (2 pi). Both are added to the probability that t is exceeded, so the bound holds
    whatever the coefficients are; it is at most about 2 d above the true quantile.
Proof:
    docs/proofs/grouping_sets.md, Lemma 2; for the bounds by moments docs/proofs/hierarchy.md, Lemma 4.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw
from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.linear_forms import GroupValues, IndependentLaw, bound_linear_quantile
from jali.numbers.search import bisect
from jali.privacy.planning.count_noise import normal_quantile

# With so few terms the tail of the continuous noises, in closed form, is the better bound.
_FEW = 12
# Coefficients are rounded up to powers of exp(1/_STEPS), so that millions of them become a few thousand.
_STEPS = 1000
# Where s is looked for, as a share of its limit: many small coefficients want a small one.
_MOMENT_SHARES = np.concatenate([np.geomspace(1e-8, 0.05, 250), np.linspace(0.055, 0.999, 150)])


def bound_sum_quantile(coefficients: NDArray[Any], law: IndependentLaw, confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence, for independent X_i of one law.

    Guarantee:
        For every s > 0, Pr[|Y| > t] <= 2 exp(K(s) - s t) where K is the logarithm of E exp(s Y); so every
        (K(s) + ln(2 / (1-c))) / s is a valid t, and the least on a grid of s is taken.
        For the discrete Gaussian K(s) <= s^2 variance sum c_i^2 / 2; for the discrete Laplace of scale b, K(s)
        is the sum of -ln(1 - sinh(s c_i / 2)^2 / sinh(1 / (2b))^2).
    Proof:
        docs/proofs/hierarchy.md, Lemma 4.
    """
    sizes = np.abs(np.asarray(coefficients, dtype=np.float64))
    sizes = sizes[sizes > 0]
    allowed = read_miss_probability(confidence)
    if not len(sizes):
        return 0.0
    bound = bound_quantile_by_moments(sizes, law, math.log(2 / allowed))
    if len(sizes) > _FEW:
        return bound
    return min(bound, bound_linear_quantile(sizes.tolist(), [law] * len(sizes), confidence))


def bound_quantile_by_moments(sizes: NDArray[Any], law: IndependentLaw, exponent: float) -> float:
    """Return a t that the sum exceeds in size with probability at most 2 exp(-exponent), by moments alone.

    Args:
        sizes: The absolute coefficients, all above 0.
        law: The law of each noise.
        exponent: The logarithm of two over the probability.
    """
    if isinstance(law, DiscreteGaussianLaw):
        return bound_gaussian_quantile(float(law.variance) * float(sizes @ sizes), float(sizes.sum()), exponent)
    values, counts = _group_coefficients(sizes)
    top = float(1 / law.scale) / values[-1]
    with np.errstate(all="ignore"):
        logs = -(np.log1p(-_compute_sinh_ratio(np.outer(_MOMENT_SHARES * top, values), law.rate)) @ counts)
    return float(np.nanmin((logs + exponent) / (_MOMENT_SHARES * top)))


def bound_gaussian_quantile(variance: float, slack: float, exponent: float) -> float:
    """Return a t that a sum of discrete Gaussians exceeds in size with probability at most 2 exp(-exponent).

    Args:
        variance: The sum of c_i^2 times the variance parameters.
        slack: The sum of |c_i|: how far the sum can be from a normal variable coupled to it.
        exponent: The logarithm of two over the probability.
    """
    smooth = normal_quantile(2 * math.exp(-exponent)) * math.sqrt(variance) + slack
    return min(smooth, math.sqrt(2 * exponent * variance))


def _group_coefficients(sizes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Round coefficients up to a grid, and count them."""
    steps = np.ceil(np.log(sizes) * _STEPS + 1e-9).astype(np.int64)
    values, counts = np.unique(steps, return_counts=True)
    return np.exp(values / _STEPS), counts.astype(np.float64)


def _compute_sinh_ratio(moment: NDArray[Any], rate: float) -> NDArray[Any]:
    """Return (sinh(moment/2) / sinh(rate/2))^2 for 0 < moment < rate, also where the sinh would overflow."""
    ratio = np.exp((moment - rate) / 2) * np.expm1(-moment) / math.expm1(-rate)
    return np.asarray(ratio * ratio)


# Below this probability the rounding of the series could matter; the bound by moments is taken.
_RAREST = 1e-5
# More than the rounding errors of the series can be.
_ROUNDING = 1e-9
# The shares of the allowed probability that the wrapped law and the end of the series may use.
_WRAPPED, _UNSUMMED = 1e-4, 1e-3
# The smoothing, as a share of the bound by moments; sums with more different terms are smoothed more.
_FINEST, _COARSEST, _CHEAP = 1 / 500, 1 / 60, 100
_HALVINGS = 40
# More terms than this are summed at once.
_MANY_TERMS = 32
# Below e^-60 a factor is nothing to a double.
_DEPTH = 60.0
# A noise with a larger rate is 0; the hyperbolic sine of a larger one overflows.
_STILL = 600.0
# Below this standard deviation a discrete Gaussian is summed over its few values, above it over its frequencies.
_NARROW = 0.3


class WeightedTerm(NamedTuple):
    """So many independent noises of one law, each times one coefficient."""

    coefficient: float
    times: int
    law: IndependentLaw


def bound_weighted_quantile(terms: Sequence[WeightedTerm], confidence: float) -> float:
    """Return a t with Pr[|Y| <= t] >= confidence for the sum Y of all terms.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
        >>> law = DiscreteLaplaceLaw(Fraction(10))
        >>> bound_weighted_quantile([WeightedTerm(1.0, 1, law)], 0.95)
        30.0
        >>> round(bound_weighted_quantile([WeightedTerm(0.5, 2, law)], 0.95), 1)
        20.6
    """
    moving = [WeightedTerm(abs(c), count, law) for c, count, law in terms if c and count]
    allowed = read_miss_probability(confidence)
    if not moving:
        return 0.0
    if len(moving) == 1 and moving[0].times == 1:
        return moving[0].coefficient * moving[0].law.quantile(confidence)
    bound = bound_weighted_quantile_by_moments(moving, allowed)
    return bound if allowed < _RAREST else min(bound, _FourierSeries(moving, allowed, bound).quantile())


def bound_weighted_quantile_by_moments(terms: Sequence[WeightedTerm], allowed: float) -> float:
    """Return a t that |Y| exceeds with at most this probability, by Chernoff's inequality.

    Proof:
        docs/proofs/hierarchy.md, Lemma 4.
    """
    exponent = math.log(2 / allowed)
    normal = sum(n * c * c * float(law.variance) for c, n, law in terms if isinstance(law, DiscreteGaussianLaw))
    others = [(c, n, _find_rate(law)) for c, n, law in terms if not isinstance(law, DiscreteGaussianLaw)]
    if not others:
        return math.sqrt(2 * exponent * normal)
    points = _MOMENT_SHARES * min(rate / c for c, _, rate in others)
    logs = points**2 * normal / 2
    if len(others) > _MANY_TERMS:
        sizes, counts, rates = (np.array(column, dtype=float)[:, None] for column in zip(*others, strict=True))
        logs -= (counts * np.log1p(-((np.sinh(sizes * points / 2) / np.sinh(rates / 2)) ** 2))).sum(axis=0)
    else:
        for c, n, rate in others:
            logs -= n * np.log1p(-((np.sinh(c * points / 2) / math.sinh(rate / 2)) ** 2))
    return float(((logs + exponent) / points).min())


class _FourierSeries:
    """The Fourier series of the smoothed sum on a circle."""

    def __init__(self, terms: Sequence[WeightedTerm], allowed: float, bound: float) -> None:
        self.bound, self.allowed = bound, allowed
        self.smoothing = bound * min(_COARSEST, _FINEST * max(1.0, len(terms) / _CHEAP))
        length = bound + self.smoothing + bound_weighted_quantile_by_moments(terms, _WRAPPED * allowed)
        self.step = 2 * math.pi / length
        last = 4 * (2 * math.pi * _UNSUMMED * allowed) ** -0.25
        places = np.arange(1.0, math.ceil(last / (self.smoothing * self.step)) + 1)
        logs, kept = _compute_log_transform(terms, self.step * places)
        self.angles = self.step * places[kept]
        smooth = np.sinc(self.smoothing * self.angles / (4 * math.pi)) ** 4
        self.heights = 2 * np.exp(logs) * smooth / places[kept] / math.pi

    def beyond(self, threshold: float) -> float:
        """Return an upper bound on Pr[|Y| > threshold], for a threshold from the smoothing to the bound."""
        inner = threshold - self.smoothing
        inside = self.step * inner / math.pi + float((self.heights * np.sin(self.angles * inner)).sum())
        return 1 - inside + (_WRAPPED + _UNSUMMED) * self.allowed + _ROUNDING

    def quantile(self) -> float:
        """Return the least threshold found at which the bound is what is allowed."""
        return bisect(lambda t: self.beyond(t) <= self.allowed, self.smoothing, self.bound, steps=_HALVINGS)[1]


def _compute_log_transform(
    terms: Sequence[WeightedTerm], angles: GroupValues
) -> tuple[GroupValues, NDArray[np.intp]]:
    """Return the logarithm of the characteristic function where it is not negligible, and these places."""
    kept = np.arange(len(angles))
    logs = np.zeros(len(angles))
    # Terms that are many damp most: after them few places are left to look at.
    for c, n, law in sorted(terms, key=lambda term: -term.times):
        logs += n * _compute_log_characteristic(law, c * angles[kept])
        alive = logs > -_DEPTH
        logs, kept = logs[alive], kept[alive]
    return logs, kept


def _compute_log_characteristic(law: IndependentLaw, angles: GroupValues) -> GroupValues:
    """Return ln E cos(angle X), which is above 0 for both laws.

    Discrete Laplace: 1 / (1 + sin(angle/2)^2 / sinh(rate/2)^2). Discrete Gaussian: by Poisson summation a sum of
    normal densities around the multiples of 2 pi.
    """
    if not isinstance(law, DiscreteGaussianLaw):
        return np.asarray(-np.log1p((np.sin(angles / 2) / math.sinh(_find_rate(law) / 2)) ** 2))
    near = angles - 2 * math.pi * np.round(angles / (2 * math.pi))
    return _sum_over_values(law.sigma, near) if law.sigma < _NARROW else _sum_over_frequencies(law.sigma, near)


def _sum_over_values(sigma: float, angles: GroupValues) -> GroupValues:
    weights = [2 * math.exp(-0.5 * (x / sigma) ** 2) for x in range(1, 13)]
    waves = sum(weight * np.cos(x * angles) for x, weight in enumerate(weights, start=1))
    return np.asarray(np.log1p(waves) - math.log1p(math.fsum(weights)))


def _sum_over_frequencies(sigma: float, angles: GroupValues) -> GroupValues:
    """Sum over the multiples of 2 pi, with the largest term, that of the angle itself, taken out."""
    far = math.ceil(1.5 / sigma) + 1
    turns = [k for k in range(-far, far + 1) if k]
    rest = sum(np.exp(-2 * math.pi * k * sigma**2 * (angles + math.pi * k)) for k in turns)
    still = math.fsum(math.exp(-2 * (math.pi * k * sigma) ** 2) for k in turns)
    return np.asarray(-0.5 * (sigma * angles) ** 2 + np.log1p(rest) - math.log1p(still))


def _find_rate(law: IndependentLaw) -> float:
    return min(law.rate, _STILL) if not isinstance(law, DiscreteGaussianLaw) else math.inf
