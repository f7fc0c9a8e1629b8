"""L_inf noise on k counts: the K-norm mechanism of the cube."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from jali.numbers import poisson
from jali.numbers.rounding import float_above, rational_above, round_up
from jali.privacy.budget import Budget
from jali.privacy.planning.count_noise import MARGIN, Noise, failure_probability, root, upper_quantile


@dataclass(frozen=True)
class LInfNoise(Noise):
    """Noise z on k counts together, with density proportional to exp(-epsilon ||z||_inf / s).

    Guarantee:
        epsilon-DP: the counts move by at most s in L_inf norm, and the norm obeys the triangle inequality
        (Hardt and Talwar 2010, the K-norm mechanism of the cube).

    Error:
        z = R U with R ~ Gamma(k+1) of scale b = s / epsilon and U uniform on the cube [-1, 1]^k, so that the
        variance of one count is (k+1)(k+2) b^2 / 3. Its tail is E[(1 - t/R)_+], which is E[(1 - N/k)_+] for N
        Poisson of mean t/b. The worst error ||z||_inf ~ Gamma(k): it exceeds t with probability Pr[N < k], and
        its mean is k b.

    Example:
        >>> noise = LInfNoise.within(Budget(1), 3, Fraction(1))
        >>> round(noise.stddev**2, 9), round(noise.mean_worst, 9)
        (6.666666667, 3.0)
    """

    name: ClassVar[str] = "l_inf"

    @classmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return noise of scale s / epsilon."""
        return cls(queries, float_above(sensitivity / budget.epsilon))

    @classmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:  # noqa: ARG003 - neither a delta nor k changes the scale
        """Return s / scale."""
        return rational_above(float(sensitivity) / scale * (1 + MARGIN))

    @property
    def law(self) -> str:
        """A cube of random size."""
        return f"uniform in a cube of half-side Gamma({self.queries + 1}) of scale {self.scale:.6g}"

    @property
    def stddev(self) -> float:
        """The square root of (k+1)(k+2) b^2 / 3."""
        k = self.queries
        return root(Fraction((k + 1) * (k + 2), 3) * Fraction(self.scale) ** 2)

    @property
    def mean_worst(self) -> float:
        """K b."""
        return round_up(self.scale * self.queries)

    def tail(self, error: float) -> float:
        """Return E[(1 - N/k)_+] for N Poisson of mean t/b."""
        return poisson.shortfall(self.queries, error / self.scale)

    def worst_tail(self, error: float) -> float:
        """Return Pr[N < k] for N Poisson of mean t/b."""
        return poisson.below(self.queries, error / self.scale)

    def error(self, confidence: Fraction) -> float:
        """Return the quantile of one count, searched from c k b: the tail is at least 1 - t/(k b)."""
        k, allowed = self.queries, failure_probability(confidence)
        unit = upper_quantile(
            lambda t: poisson.shortfall(k, t), lambda t: poisson.below(k, t) / k, allowed, k * float(confidence)
        )
        return round_up(self.scale * unit)

    def worst(self, confidence: Fraction) -> float:
        """Return the quantile of Gamma(k), searched from k + sqrt(2 k L) + L with L = ln(1 / (1-c))."""
        k, allowed = self.queries, failure_probability(confidence)
        far = -math.log(allowed)
        unit = upper_quantile(
            lambda t: poisson.below(k, t),
            lambda t: poisson.mass(k - 1, t),
            allowed,
            k + math.sqrt(2 * k * far) + far,
        )
        return round_up(self.scale * unit)
