"""Laplace noise on k counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from jali.numbers.rounding import float_above, rational_above, round_up
from jali.privacy.budget import Budget
from jali.privacy.planning.count_noise import MARGIN, Noise, any_of, each_of, failure_probability, root

_EULER = 0.5772156649015329
_SUMMED = 256


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Independent Laplace noise of scale b = k s / epsilon on each of k counts.

    Guarantee:
        epsilon-DP: the counts move by at most k s in L1 norm.

    Error:
        Standard deviation sqrt(2) b; Pr[|z| > t] = e^(-t/b) for one count, 1 - (1 - e^(-t/b))^k for the worst,
        whose mean is b H_k. The discrete Laplace noise of the same scale, which is added to integers, has a
        smaller tail at every integer, and a variance that is smaller by at most 1/6.

    Example:
        >>> noise = LaplaceNoise.within(Budget(1), 3, Fraction(1))
        >>> round(noise.stddev**2, 9), round(noise.mean_worst, 9)
        (18.0, 5.5)
    """

    name: ClassVar[str] = "Laplace"

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of scale k s / epsilon."""
        return cls(queries, float_above(queries * sensitivity / budget.epsilon))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:  # noqa: ARG003 - pure noise has no use for a delta
        """Return k s / scale."""
        return rational_above(float(queries * sensitivity) / scale * (1 + MARGIN))

    @property
    def law(self) -> str:
        """Laplace."""
        return f"Laplace of scale {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The square root of 2 b^2."""
        return root(2 * Fraction(self.scale) ** 2)

    @property
    def mean_worst(self) -> float:
        """B H_k."""
        return round_up(self.scale * harmonic(self.queries))

    def tail(self, error: float) -> float:
        """Return e^(-t/b)."""
        return math.exp(-error / self.scale)

    def worst_tail(self, error: float) -> float:
        """Return 1 - (1 - e^(-t/b))^k."""
        return any_of(self.queries, self.tail(error))

    def error(self, confidence: Fraction) -> float:
        """Return b ln(1 / (1-c))."""
        return round_up(self.scale * -math.log(failure_probability(confidence)))

    def worst(self, confidence: Fraction) -> float:
        """Return b ln(1 / (1 - c^(1/k)))."""
        return round_up(self.scale * -math.log(each_of(self.queries, confidence)))


def harmonic(count: int) -> float:
    """Return the harmonic number H_k, by its asymptotic series where k is large.

    Example:
        >>> round(harmonic(8), 7), round(harmonic(100), 7)
        (2.7178571, 5.1873775)
    """
    if count <= _SUMMED:
        return math.fsum(1 / j for j in range(1, count + 1))
    square = 1 / (count * count)
    return math.log(count) + _EULER + 1 / (2 * count) - square / 12 + square * square / 120
