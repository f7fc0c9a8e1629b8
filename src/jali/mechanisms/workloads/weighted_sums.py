"""Quantiles of weighted sums of independent integer noises of several laws, by inverting their transform.

Statement:
    Let Y be the sum, phi its characteristic function, and V the mean of four independent uniforms on [-1, 1], so
    that |V| <= 1. If |Y| > t then |Y + d V| > u with u = t - d. The law of Y + d V, wrapped on a circle of length
    L, has a Fourier series, which gives the probability of [-u, u] on the circle. It errs by what is wrapped,
    at most Pr[|Y| > L - u - d], and by what is left of the series after M terms, at most (4 L / (2 pi d M))^4 /
    (2 pi). Both are added to the chance that t is exceeded, so the bound holds whatever the
    coefficients are; it is at most about 2 d above the true quantile.
Proof:
    docs/proofs/grouping_sets.md, Lemma 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.combined import AnyLaw, Floats
from jali.mechanisms.laws import DiscreteGaussianLaw
from jali.mechanisms.mechanism import miss
from jali.numbers.search import bisect

# Below this chance the rounding of the series could matter; the bound by moments is taken.
_RAREST = 1e-5
# More than the rounding errors of the series can be.
_ROUNDING = 1e-9
# The shares of the allowed chance that the wrapped law and the end of the series may use.
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
_SHARES = np.concatenate([np.geomspace(1e-8, 0.05, 250), np.linspace(0.055, 0.999, 150)])
# Below this standard deviation a discrete Gaussian is summed over its few values, above it over its frequencies.
_NARROW = 0.3


class Term(NamedTuple):
    """So many independent noises of one law, each times one coefficient."""

    coefficient: float
    times: int
    law: AnyLaw


def weighted_quantile(terms: Sequence[Term], confidence: float) -> float:
    """Return a t with Pr[|Y| <= t] >= confidence for the sum Y of all terms.

    Proof:
        docs/proofs/grouping_sets.md, Lemma 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.mechanisms.laws import DiscreteLaplaceLaw
        >>> law = DiscreteLaplaceLaw(Fraction(10))
        >>> weighted_quantile([Term(1.0, 1, law)], 0.95)
        30.0
        >>> round(weighted_quantile([Term(0.5, 2, law)], 0.95), 1)
        20.6
    """
    moving = [Term(abs(c), count, law) for c, count, law in terms if c and count]
    allowed = miss(confidence)
    if not moving:
        return 0.0
    if len(moving) == 1 and moving[0].times == 1:
        return moving[0].coefficient * moving[0].law.quantile(confidence)
    bound = moment_quantile(moving, allowed)
    return bound if allowed < _RAREST else min(bound, _Series(moving, allowed, bound).quantile())


def moment_quantile(terms: Sequence[Term], allowed: float) -> float:
    """Return a t that |Y| exceeds with at most this chance, by Chernoff's inequality.

    Proof:
        docs/proofs/hierarchy.md, Lemma 4.
    """
    exponent = math.log(2 / allowed)
    normal = sum(n * c * c * float(law.variance) for c, n, law in terms if isinstance(law, DiscreteGaussianLaw))
    others = [(c, n, _rate(law)) for c, n, law in terms if not isinstance(law, DiscreteGaussianLaw)]
    if not others:
        return math.sqrt(2 * exponent * normal)
    points = _SHARES * min(rate / c for c, _, rate in others)
    logs = points**2 * normal / 2
    if len(others) > _MANY_TERMS:
        sizes, counts, rates = (np.array(column, dtype=float)[:, None] for column in zip(*others, strict=True))
        logs -= (counts * np.log1p(-((np.sinh(sizes * points / 2) / np.sinh(rates / 2)) ** 2))).sum(axis=0)
    else:
        for c, n, rate in others:
            logs -= n * np.log1p(-((np.sinh(c * points / 2) / math.sinh(rate / 2)) ** 2))
    return float(((logs + exponent) / points).min())


class _Series:
    """The Fourier series of the smoothed sum on a circle."""

    def __init__(self, terms: Sequence[Term], allowed: float, bound: float) -> None:
        self.bound, self.allowed = bound, allowed
        self.smoothing = bound * min(_COARSEST, _FINEST * max(1.0, len(terms) / _CHEAP))
        length = bound + self.smoothing + moment_quantile(terms, _WRAPPED * allowed)
        self.step = 2 * math.pi / length
        last = 4 * (2 * math.pi * _UNSUMMED * allowed) ** -0.25
        places = np.arange(1.0, math.ceil(last / (self.smoothing * self.step)) + 1)
        logs, kept = _log_transform(terms, self.step * places)
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


def _log_transform(terms: Sequence[Term], angles: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the logarithm of the characteristic function where it is not negligible, and these places."""
    kept = np.arange(len(angles))
    logs = np.zeros(len(angles))
    # Terms that are many damp most: after them few places are left to look at.
    for c, n, law in sorted(terms, key=lambda term: -term.times):
        logs += n * _log_characteristic(law, c * angles[kept])
        alive = logs > -_DEPTH
        logs, kept = logs[alive], kept[alive]
    return logs, kept


def _log_characteristic(law: AnyLaw, angles: Floats) -> Floats:
    """Return ln E cos(angle X), which is above 0 for both laws.

    Discrete Laplace: 1 / (1 + sin(angle/2)^2 / sinh(rate/2)^2). Discrete Gaussian: by Poisson summation a sum of
    normal densities around the multiples of 2 pi.
    """
    if not isinstance(law, DiscreteGaussianLaw):
        return np.asarray(-np.log1p((np.sin(angles / 2) / math.sinh(_rate(law) / 2)) ** 2))
    near = angles - 2 * math.pi * np.round(angles / (2 * math.pi))
    return _over_values(law.sigma, near) if law.sigma < _NARROW else _over_frequencies(law.sigma, near)


def _over_values(sigma: float, angles: Floats) -> Floats:
    weights = [2 * math.exp(-0.5 * (x / sigma) ** 2) for x in range(1, 13)]
    waves = sum(weight * np.cos(x * angles) for x, weight in enumerate(weights, start=1))
    return np.asarray(np.log1p(waves) - math.log1p(math.fsum(weights)))


def _over_frequencies(sigma: float, angles: Floats) -> Floats:
    """Sum over the multiples of 2 pi, with the largest term, that of the angle itself, taken out."""
    far = math.ceil(1.5 / sigma) + 1
    turns = [k for k in range(-far, far + 1) if k]
    rest = sum(np.exp(-2 * math.pi * k * sigma**2 * (angles + math.pi * k)) for k in turns)
    still = math.fsum(math.exp(-2 * (math.pi * k * sigma) ** 2) for k in turns)
    return np.asarray(-0.5 * (sigma * angles) ** 2 + np.log1p(rest) - math.log1p(still))


def _rate(law: AnyLaw) -> float:
    return min(law.rate, _STILL) if not isinstance(law, DiscreteGaussianLaw) else math.inf
