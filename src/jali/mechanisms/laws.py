"""Noise laws: tails, quantiles and moments of the integer noises, from their exact mass functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from jali.errors import MechanismError

# Up to this standard deviation the Gaussian tail is summed term by term; above it, Euler-Maclaurin with two
# correction terms is exact to more digits than a double holds.
_SUMMED_STDDEV = 64.0


class Law(Protocol):
    """The law of one integer noise, symmetric about 0."""

    @property
    def stddev(self) -> float:
        """The standard deviation."""

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]; it never underflows."""

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""

    def quantile(self, confidence: float) -> int:
        """Return the least t with Pr[|X| <= t] >= confidence."""


@dataclass(frozen=True)
class DiscreteLaplaceLaw:
    """Mass proportional to exp(-|x|/scale) on the integers.

    Error:
        With q = exp(-1/scale), Pr[X = x] = (1-q)/(1+q) q^|x| and Pr[|X| > t] = 2 q^(t+1) / (1+q).

    Example:
        >>> law = DiscreteLaplaceLaw(Fraction(1))
        >>> round(law.stddev**2, 10), round(math.exp(law.log_mass(0)), 10)
        (1.8413471884, 0.4621171573)
    """

    scale: Fraction

    @property
    def rate(self) -> float:
        """One over the scale."""
        return float(1 / self.scale)

    @property
    def stddev(self) -> float:
        """The square root of 2q/(1-q)^2 = 1/(2 sinh(rate/2)^2)."""
        return _inverse(math.sqrt(2) * _sinh(self.rate / 2))

    def log_mass(self, value: int) -> float:
        """Return ln of tanh(rate/2) exp(-rate |value|)."""
        return math.log(math.tanh(self.rate / 2)) - self.rate * abs(value)

    def tail(self, threshold: int) -> float:
        """Return 2 q^(t+1) / (1+q)."""
        return 1.0 if threshold < 0 else math.exp(self._log_tail(threshold))

    def _log_tail(self, threshold: int) -> float:
        return math.log(2) - self.rate * (threshold + 1) - math.log1p(math.exp(-self.rate))

    def quantile(self, confidence: float) -> int:
        """Return the least t with 2 q^(t+1) / (1+q) <= 1 - confidence."""
        allowed = math.log(miss(confidence))
        guess = math.ceil((math.log(2) - math.log1p(math.exp(-self.rate)) - allowed) / self.rate) - 1
        return _settle(max(0, guess), lambda t: self._log_tail(t) <= allowed)


@dataclass(frozen=True)
class DiscreteGaussianLaw:
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
        masses = _gaussian_masses(self.variance)
        return math.sqrt(2 * math.fsum(x * x * m for x, m in enumerate(masses)))

    def log_mass(self, value: int) -> float:
        """Return ln of exp(-x^2 / (2 variance)) over the normaliser."""
        if self.sigma > _SUMMED_STDDEV:
            normaliser = math.log(self.sigma * math.sqrt(2 * math.pi))
        else:
            normaliser = -math.log(_gaussian_masses(self.variance)[0])
        return -(value**2) / (2 * float(self.variance)) - normaliser

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        if self.sigma > _SUMMED_STDDEV:
            return _smooth_tail(threshold + 0.5, self.sigma)
        return 2 * math.fsum(_gaussian_masses(self.variance)[threshold + 1 :])

    def quantile(self, confidence: float) -> int:
        """Return the least t with Pr[|X| > t] <= 1 - confidence."""
        allowed = miss(confidence)
        low, high = -1, math.ceil(self.sigma * (2 + math.sqrt(-2 * math.log(allowed)))) + 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.tail(middle) <= allowed else (middle, high)
        return high


def miss(confidence: float) -> float:
    """Return 1 - confidence, for a confidence strictly between 0 and 1."""
    if not 0 < confidence < 1:
        raise MechanismError(f"confidence must lie strictly between 0 and 1, not {confidence}.")
    return 1 - confidence


def _settle(guess: int, holds: _Condition) -> int:
    """Return the least t >= 0 near `guess` that satisfies a monotone condition: the guess is off by a rounding."""
    while not holds(guess):
        guess += 1
    while guess > 0 and holds(guess - 1):
        guess -= 1
    return guess


class _Condition(Protocol):
    def __call__(self, threshold: int, /) -> bool: ...


def _sinh(value: float) -> float:
    return math.sinh(min(value, 700.0))


def _inverse(value: float) -> float:
    return 1 / value


@lru_cache(maxsize=256)
def _gaussian_masses(variance: Fraction) -> tuple[float, ...]:
    """Return Pr[X = 0], Pr[X = 1], ... until the terms vanish in double precision."""
    reach = math.ceil(40 * math.sqrt(variance)) + 2
    weights = [math.exp(-x * x / (2 * float(variance))) for x in range(reach)]
    normaliser = 2 * math.fsum(weights) - 1
    return tuple(weight / normaliser for weight in weights)


def _density(value: float, sigma: float) -> float:
    return math.exp(-0.5 * (value / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


def _smooth_tail(start: float, sigma: float) -> float:
    """Two-sided sum of the density over integers beyond `start` - 1/2, by Euler-Maclaurin at the midpoint."""
    z = start / sigma
    density = _density(start, sigma)
    first = -z / sigma * density
    third = (3 * z - z**3) / sigma**3 * density
    return 2 * (0.5 * math.erfc(z / math.sqrt(2)) + first / 24 - 7 * third / 5760)
