"""The law of discrete Laplace noise, whole and cut off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.laws.law import Law
from jali.mechanisms.laws.worst import Floats


@dataclass(frozen=True)
class DiscreteLaplaceLaw(Law):
    """Mass proportional to exp(-|x|/scale) on the integers.

    Error:
        With q = exp(-1/scale), Pr[X = x] = (1-q)/(1+q) q^|x| and Pr[|X| > t] = 2 q^(t+1) / (1+q).

    Example:
        >>> law = DiscreteLaplaceLaw(Fraction(1))
        >>> round(law.stddev**2, 10), round(math.exp(law.log_mass(0)), 10), round(law.expected, 10)
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
        return 1 / (math.sqrt(2) * _sinh(self.rate / 2))

    @property
    def expected(self) -> float:
        """The expectation of |X|: 2q/(1-q^2) = 1/sinh(rate)."""
        return 1 / _sinh(self.rate)

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
        return _settle(max(0, guess), lambda t: self._log_tail(t) <= log)

    @property
    def far(self) -> int:
        """Forty scales: e^-40 is left."""
        return math.ceil(40 * self.scale) + 2

    def reach(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return math.ceil(-math.log(left / 2) * self.scale)


def _settle(guess: int, holds: Callable[[int], bool]) -> int:
    """Return the least t >= 0 near `guess` that satisfies a monotone condition: the guess is off by a rounding."""
    while not holds(guess):
        guess += 1
    while guess > 0 and holds(guess - 1):
        guess -= 1
    return guess


def _sinh(value: float) -> float:
    return math.sinh(min(value, 700.0))
