"""Cauchy noise: the simplest law that may be shifted and stretched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from jali.mechanisms.smooth.admissible import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.families.price import admitted, pure_loss
from jali.mechanisms.smooth.families.reach import reach
from jali.mechanisms.smooth.families.student_t import student_alpha
from jali.noise.reals.law import Law
from jali.noise.reals.student_t import cauchy_law


@dataclass(frozen=True)
class Cauchy(Family):
    """Cauchy noise: density 1 / (pi (1 + z^2)). Its variance is infinite.

    Guarantee:
        The noise is epsilon-DP for beta < epsilon, with
        alpha^2 = 2 min(cosh(epsilon) - 1, exp(beta) (cosh(epsilon) - cosh(beta))), and for no larger alpha.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 2.

    Example:
        >>> float(Cauchy().noise(Fraction(1, 6), Price(epsilon=Fraction(1))).alpha)
        1.04219061098749
    """

    def largest_beta(self, price: Price) -> Fraction:
        """Return epsilon."""
        return pure_loss(price)

    def noise(self, beta: Fraction, price: Price) -> CauchyNoise:
        """Return the noise for beta < epsilon."""
        epsilon = pure_loss(price)
        return CauchyNoise(student_alpha(1, admitted(beta, epsilon, repr(self)), epsilon))


@dataclass(frozen=True)
class CauchyNoise(AdmissibleNoise):
    """The Cauchy law and its factor alpha."""

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return cauchy_law()

    def survival(self, z: float) -> float:
        """Return the angle whose tangent is 1/z, over pi."""
        return math.atan2(1, z) / math.pi

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        return -math.log(math.pi) - 2 * math.log(math.hypot(1, z))

    def quantile(self, confidence: float) -> float:
        """Return the t with Pr[|Z| <= t] = confidence, from above."""
        return _quantile(confidence)

    @property
    def variance(self) -> float:
        """Infinite."""
        return math.inf


@lru_cache(maxsize=256)
def _quantile(confidence: float) -> float:
    """Return a quantile; it does not depend on alpha, and a search over beta asks for it many times."""
    return reach(CauchyNoise(Fraction(1)).survival, confidence)
