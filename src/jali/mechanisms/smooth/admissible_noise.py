"""The interface of admissible noises for smooth sensitivity.

An admissible law changes little when it is shifted and stretched a little (Nissim, Raskhodnikova, Smith 2007).
"""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import final

from jali.errors import MechanismError
from jali.mechanisms.base import read_miss_probability
from jali.numbers.search import bisect, bracket
from jali.sampling import BitSource
from jali.sampling.reals.real import Law, Real


@dataclass(frozen=True)
class Price:
    """What a release may spend: epsilon, epsilon and delta, or rho; the others are None.

    Attributes:
        epsilon: The loss, pure where there is no delta.
        delta: The probability of failure that comes with it.
        rho: The loss in zCDP.
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None


@dataclass(frozen=True)
class AdmissibleNoise(ABC):
    """A law of a real number Z and a factor alpha, for one beta and one privacy loss.

    Guarantee:
        For any centres c, c' and scales S, S' with |c - c'| <= min(S, S') and |ln S/S'| <= beta, the laws of
        c + S/alpha Z and c' + S'/alpha Z are as close as the loss says, both ways. So f(x) + S(x)/alpha Z keeps
        the loss for every beta-smooth bound S of the local sensitivity of f.

    Attributes:
        alpha: The factor, above 0: an alpha below 0 would be no noise of this law, and a release without a proof.
    """

    alpha: Fraction

    @final  # a noise that replaced it would go unchecked
    def __post_init__(self) -> None:
        if not isinstance(self.alpha, Fraction) or self.alpha <= 0:
            raise MechanismError("smooth-alpha-wrong", family=type(self).__name__)

    @property
    @abstractmethod
    def law(self) -> Law:
        """The exact sampler of Z: of one number, or of many at once."""

    def draw(self, bits: BitSource) -> Real:
        """Draw Z, exactly."""
        return self.law.draw(bits)

    @abstractmethod
    def survival(self, z: float) -> float:
        """Return Pr[Z > z] for z >= 0, with a relative error below 1e-11 down to 1e-290; Z is symmetric."""

    @abstractmethod
    def log_density(self, z: float) -> float:
        """Return the logarithm of the density at z."""

    def quantile(self, confidence: float) -> float:
        """Return the t with Pr[|Z| <= t] = confidence, from above."""
        return _compute_quantile(replace(self, alpha=Fraction(1)), confidence)

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of Z; infinite where there is none."""


class Family(ABC):
    """A family of admissible noises. Its own parameters are public numbers, fixed before the data is read."""

    @abstractmethod
    def largest_beta(self, price: Price) -> Fraction:
        """Return a rational at or below the supremum of the betas for which there is a noise at this loss."""

    @abstractmethod
    def noise(self, beta: Fraction, price: Price) -> AdmissibleNoise:
        """Return the noise, or refuse a beta or a kind of loss that the family has no noise for."""


_CLOSE = 1 + 4e-16


@lru_cache(maxsize=1024)
def _compute_quantile(noise: AdmissibleNoise, confidence: float) -> float:
    """Return the t of a noise; it does not depend on alpha, and a search over beta asks for it many times."""
    return tail_quantile(noise.survival, read_miss_probability(confidence) / 2)


def tail_quantile(survival: Callable[[float], float], allowed: float) -> float:
    """Return the least double t, to a few units of the last place, with survival(t) <= allowed."""

    def rare(t: float) -> bool:
        return survival(t) <= allowed

    def middle(low: float, high: float) -> float:
        return math.sqrt(low) * math.sqrt(high) if high > 4 * low > 0 else (low + high) / 2

    low, high = bracket(rare, 0.0, 1.0, most=sys.float_info.max)
    if math.isinf(high):
        return high
    return bisect(rare, low, high, close=lambda low, high: high <= low * _CLOSE or high <= 1e-300, middle=middle)[
        1
    ]
