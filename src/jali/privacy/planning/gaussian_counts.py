"""Gaussian noise on k counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self

from jali.numbers.rounding import float_above, rational_above, round_up
from jali.privacy.budget import Budget
from jali.privacy.losses.gaussian_loss import GaussianLoss
from jali.privacy.planning.calibrate import gaussian_stddev
from jali.privacy.planning.count_noise import MARGIN, Noise, any_of, each_of, failure_probability, upper_quantile

_PANELS = 2000
_ROOT_2 = math.sqrt(2)


@dataclass(frozen=True)
class GaussianNoise(Noise):
    """Independent normal noise of standard deviation sqrt(k) s sigma_1 on each of k counts.

    Guarantee:
        (epsilon, delta)-DP: the counts move by at most sqrt(k) s in L2 norm, and sigma_1 is the least standard
        deviation for a single count of sensitivity 1 (Balle and Wang 2018, Theorem 8).

    Error:
        Pr[|z| > t] = erfc(t / (sigma sqrt(2))) for one count; the worst stays within t with probability
        erf(t / (sigma sqrt(2)))^k.

    Example:
        >>> noise = GaussianNoise.within(Budget(1, 1e-6), 3, Fraction(1))
        >>> round(noise.stddev**2, 1)
        53.5
    """

    name: ClassVar[str] = "Gaussian"
    needs_delta: ClassVar[bool] = True

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of standard deviation sqrt(k) s sigma_1."""
        single = gaussian_stddev(budget.epsilon, budget.delta)
        return cls(queries, round_up(math.sqrt(queries) * float_above(sensitivity) * single))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:
        """Return the epsilon of noise of this standard deviation, from its exact profile."""
        single = scale / (math.sqrt(queries) * float_above(sensitivity)) * (1 - MARGIN)
        # An infinite epsilon is one beyond 1e9; an epsilon of 0 is one that delta alone pays for.
        return rational_above(min(max(GaussianLoss(single).epsilon(delta), 1e-12), 1e10))

    @property
    def law(self) -> str:
        """Normal."""
        return f"normal of standard deviation {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The scale itself."""
        return self.scale

    @property
    def mean_worst(self) -> float:
        """The integral of 1 - erf(t / (sigma sqrt(2)))^k over t."""
        return round_up(self.scale * mean_largest(self.queries))

    def tail(self, error: float) -> float:
        """Return erfc(t / (sigma sqrt(2)))."""
        return _tail(error / self.scale)

    def worst_tail(self, error: float) -> float:
        """Return 1 - erf(t / (sigma sqrt(2)))^k."""
        return any_of(self.queries, _tail(error / self.scale))

    def error(self, confidence: Fraction) -> float:
        """Return the normal quantile of (1+c)/2."""
        return round_up(self.scale * normal_quantile(failure_probability(confidence)))

    def worst(self, confidence: Fraction) -> float:
        """Return the normal quantile of (1 + c^(1/k)) / 2."""
        return round_up(self.scale * normal_quantile(each_of(self.queries, confidence)))


def normal_quantile(allowed: float) -> float:
    """Return the t that a standard normal exceeds in size with a given probability, rounded up.

    The search begins at sqrt(2 ln(1/p)), which is too far: the tail is at most e^(-t^2/2).

    Example:
        >>> round(normal_quantile(0.05), 9)
        1.959963985
    """
    return upper_quantile(_tail, _density, allowed, math.sqrt(-2 * math.log(allowed)))


@lru_cache(maxsize=256)
def mean_largest(count: int) -> float:
    """Return the mean of the largest size of k standard normals, by Simpson's rule.

    Example:
        >>> round(mean_largest(1), 9) == round(math.sqrt(2 / math.pi), 9)
        True
    """
    width = normal_quantile(1e-18 / count) / _PANELS
    values = [any_of(count, _tail(i * width)) for i in range(_PANELS + 1)]
    return width / 3 * (values[0] + 4 * math.fsum(values[1::2]) + 2 * math.fsum(values[2:-1:2]) + values[-1])


def _tail(value: float) -> float:
    return math.erfc(value / _ROOT_2)


def _density(value: float) -> float:
    return math.sqrt(2 / math.pi) * math.exp(-value * value / 2)
