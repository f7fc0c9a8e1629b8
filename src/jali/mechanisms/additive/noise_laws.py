"""Exact laws of discrete Laplace and Gaussian noise, and of the largest of several independent noises.

For d independent noises Pr[max > t] = 1 - (1 - tail(t))^d. The quantile of the largest is a quantile of one
noise at another probability. Its expectation is the sum of Pr[max > t] over t = 0, 1, ...: term by term where
the noise is narrow, as an integral (the midpoint rule read backwards, whose first correction vanishes for
d >= 2) where it is wide.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import read_miss_probability
from jali.numbers.quadrature import build_quadrature
from jali.numbers.search import bracket, least_integer


class NoiseLaw(ABC):
    """The law of one integer noise, symmetric about 0."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """The standard deviation."""

    @property
    @abstractmethod
    def mean_magnitude(self) -> float:
        """The expectation of |X|."""

    @abstractmethod
    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]; it never underflows."""

    @abstractmethod
    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""

    @property
    @abstractmethod
    def far(self) -> int:
        """How far to list the law where its outermost tails matter, as they do to Rényi divergences."""

    @abstractmethod
    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left: how far to list the law."""

    def quantile(self, confidence: float) -> int:
        """Return the least t with Pr[|X| <= t] >= confidence."""
        return self.threshold(read_miss_probability(confidence))

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed, by bisection."""

        def rare(t: int) -> bool:
            return self.tail(t) <= allowed

        return least_integer(rare, *bracket(rare, -1, 1))


Floats = NDArray[np.float64]
# Up to this spread the sum is taken term by term; above, the integral errs by less than 1e-9 of its value.
WIDE = 64.0


class SmoothLaw(Protocol):
    """A law whose tail is also known between the integers."""

    @property
    def spread(self) -> float:
        """The scale of the noise, roughly."""

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|."""

    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""

    def tails(self, thresholds: Floats) -> Floats:
        """Return Pr[|X| > t] for each t, continued smoothly between integers if the law is wide."""


def split_allowed_tail(allowed: float, count: int) -> float:
    """Return the tail that each of `count` independent noises may have, if the largest may have `allowed`."""
    return -math.expm1(math.log1p(-allowed) / count)


def compute_expected_worst(law: SmoothLaw, count: int) -> float:
    """Return the expectation of the largest |X| among `count` independent noises."""
    if count == 1:
        return law.mean_magnitude
    end = law.bound_tail(1e-18 / count)
    if law.spread <= WIDE:
        return math.fsum(_compute_tail_of_largest(law.tails(np.arange(end + 1.0)), count).tolist())
    places, weights = build_quadrature(end + 0.5)
    return float(weights @ _compute_tail_of_largest(law.tails(places - 0.5), count))


def _compute_tail_of_largest(tails: Floats, count: int) -> Floats:
    """Return 1 - (1 - tail)^count without losing digits of either."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(count * np.log1p(-np.minimum(tails, 1.0))))


@dataclass(frozen=True)
class DiscreteLaplaceLaw(NoiseLaw):
    """Mass proportional to exp(-|x|/scale) on the integers.

    Error:
        With q = exp(-1/scale), Pr[X = x] = (1-q)/(1+q) q^|x| and Pr[|X| > t] = 2 q^(t+1) / (1+q).

    Example:
        >>> law = DiscreteLaplaceLaw(Fraction(1))
        >>> round(law.stddev**2, 10), round(math.exp(law.log_mass(0)), 10), round(law.mean_magnitude, 10)
        (1.8413471884, 0.4621171573, 0.8509181282)
    """

    scale: Fraction

    @cached_property
    def rate(self) -> float:
        """One over the scale."""
        return float(1 / self.scale)

    @property
    def spread(self) -> float:
        """The scale, as a double."""
        return float(self.scale)

    @property
    def stddev(self) -> float:
        """The square root of 2q/(1-q)^2 = 1/(2 sinh(rate/2)^2)."""
        return 1 / (math.sqrt(2) * _compute_sinh(self.rate / 2))

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|: 2q/(1-q^2) = 1/sinh(rate)."""
        return 1 / _compute_sinh(self.rate)

    def log_mass(self, value: int) -> float:
        """Return ln of tanh(rate/2) exp(-rate |value|)."""
        return math.log(math.tanh(self.rate / 2)) - self.rate * abs(value)

    def tail(self, threshold: int) -> float:
        """Return 2 q^(t+1) / (1+q)."""
        return 1.0 if threshold < 0 else math.exp(self._log_tail(threshold))

    def tails(self, thresholds: Floats) -> Floats:
        """Return the same for each threshold."""
        logs = math.log(2) - self.rate * (thresholds + 1) - math.log1p(math.exp(-self.rate))
        return np.asarray(np.exp(np.maximum(logs, -745.0)))

    def _log_tail(self, threshold: int) -> float:
        return math.log(2) - self.rate * (threshold + 1) - math.log1p(math.exp(-self.rate))

    def threshold(self, allowed: float) -> int:
        """Return the least t with 2 q^(t+1) / (1+q) <= allowed."""
        log = math.log(allowed)
        guess = math.ceil((math.log(2) - math.log1p(math.exp(-self.rate)) - log) / self.rate) - 1
        return _settle_threshold(max(0, guess), lambda t: self._log_tail(t) <= log)

    @property
    def far(self) -> int:
        """Forty scales: e^-40 is left."""
        return math.ceil(40 * self.scale) + 2

    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return math.ceil(-math.log(left / 2) * self.scale)


def _settle_threshold(guess: int, holds: Callable[[int], bool]) -> int:
    """Return the least t >= 0 near `guess` that satisfies a monotone condition: the guess is off by a rounding."""
    while not holds(guess):
        guess += 1
    while guess > 0 and holds(guess - 1):
        guess -= 1
    return guess


def _compute_sinh(value: float) -> float:
    return math.sinh(min(value, 700.0))


# Up to this standard deviation the tail is summed term by term; above it, Euler-Maclaurin with two correction
# terms is exact to more digits than a double holds.
_SUMMED_STDDEV = 64.0


@dataclass(frozen=True)
class DiscreteGaussianLaw(NoiseLaw):
    """Mass proportional to exp(-x^2 / (2 variance)) on the integers.

    Error:
        Tails by direct summation of the mass function, or by Euler-Maclaurin where the standard deviation is
        above 64 (remainder below 1e-10 of the tail up to eight standard deviations). The true variance is at
        most the parameter (Canonne, Kamath and Steinke 2020, Corollary 9).

    Example:
        >>> round(DiscreteGaussianLaw(Fraction(1)).stddev ** 2, 10)
        0.9999997888
    """

    variance: Fraction

    @property
    def sigma(self) -> float:
        """The square root of the variance parameter."""
        return math.sqrt(self.variance)

    @property
    def stddev(self) -> float:
        """The true standard deviation."""
        if self.sigma > _SUMMED_STDDEV:
            return self.sigma
        masses = _list_gaussian_masses(self.variance)
        return math.sqrt(2 * math.fsum(x * x * m for x, m in enumerate(masses)))

    @property
    def spread(self) -> float:
        """The same, as a double."""
        return self.sigma

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|, summed, or by Euler-Maclaurin where the noise is wide."""
        if self.sigma > _SUMMED_STDDEV:
            top = _compute_density(0.0, self.sigma)
            return 2 * (self.sigma / math.sqrt(2 * math.pi) - top / 12 - top / (240 * self.sigma**2))
        return 2 * math.fsum(x * m for x, m in enumerate(_list_gaussian_masses(self.variance)))

    def log_mass(self, value: int) -> float:
        """Return ln of exp(-x^2 / (2 variance)) over the normaliser."""
        if self.sigma > _SUMMED_STDDEV:
            normaliser = math.log(self.sigma * math.sqrt(2 * math.pi))
        else:
            normaliser = -math.log(_list_gaussian_masses(self.variance)[0])
        return -(value**2) / _double_variance(self.variance) - normaliser

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        if self.sigma > _SUMMED_STDDEV:
            return _compute_smooth_tail(threshold + 0.5, self.sigma)
        beyond = _list_gaussian_tails(self.variance)
        return beyond[threshold] if threshold < len(beyond) else 0.0

    def tails(self, thresholds: Floats) -> Floats:
        """Return the same for each threshold, of a wide law between integers too."""
        return np.array([self._continue_tail(t) for t in thresholds.tolist()])

    def _continue_tail(self, threshold: float) -> float:
        if self.sigma > _SUMMED_STDDEV:
            return _compute_smooth_tail(threshold + 0.5, self.sigma)
        return self.tail(int(threshold))

    @property
    def far(self) -> int:
        """Sixty standard deviations, and sixty: divergences of order up to fifty are known from there."""
        return math.ceil(60 * self.sigma) + 60

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed."""
        return _find_gaussian_threshold(self, allowed)

    def bound_tail(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return math.ceil(self.sigma * math.sqrt(-2 * math.log(left / 2)))


@lru_cache(maxsize=1024)
def _find_gaussian_threshold(law: DiscreteGaussianLaw, allowed: float) -> int:
    return NoiseLaw.threshold(law, allowed)


def _double_variance(variance: Fraction) -> float:
    """Return 2 variance as a double above 0: one below 1e-300 puts all the mass on 0 in any case."""
    return max(2 * float(variance), 1e-300)


@lru_cache(maxsize=256)
def _list_gaussian_masses(variance: Fraction) -> tuple[float, ...]:
    """Return Pr[X = 0], Pr[X = 1], ... until the terms vanish in double precision."""
    reach = math.ceil(40 * math.sqrt(variance)) + 2
    weights = [math.exp(-x * x / _double_variance(variance)) for x in range(reach)]
    normaliser = 2 * math.fsum(weights) - 1
    return tuple(weight / normaliser for weight in weights)


@lru_cache(maxsize=256)
def _list_gaussian_tails(variance: Fraction) -> tuple[float, ...]:
    """Return Pr[|X| > 0], Pr[|X| > 1], ...: all terms are positive, smallest first."""
    masses = _list_gaussian_masses(variance)
    return tuple(2 * total for total in accumulate(reversed(masses), initial=0.0))[-2::-1]


def _compute_density(value: float, sigma: float) -> float:
    return math.exp(-0.5 * (value / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


def _compute_smooth_tail(start: float, sigma: float) -> float:
    """Two-sided sum of the density over integers beyond `start` - 1/2, by Euler-Maclaurin at the midpoint."""
    z = start / sigma
    density = _compute_density(start, sigma)
    first = -z / sigma * density
    third = (3 * z - z**3) / sigma**3 * density
    return 2 * (0.5 * math.erfc(z / math.sqrt(2)) + first / 24 - 7 * third / 5760)
