"""PolyPlace noise: as narrow as the Laplace law near its centre, with the tail of a power."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.noise_calibration import (
    admit_beta,
    exp,
    expm1,
    extend_precision,
    read_pure_loss,
    round_down_to_rational,
)
from jali.numbers.quadrature import build_quadrature
from jali.numbers.rounding import to_decimal
from jali.sampling.reals.polynomial_tails import poly_place_law
from jali.sampling.reals.real import Law


@dataclass(frozen=True)
class PolyPlace(Family):
    """The law that uses its loss up at every point: (1-|z|)^(a-1) within 1/a, K (1+|z|)^(-a-1) beyond.

    Here a = epsilon/beta, and K makes the density continuous. The variance is finite for beta < epsilon/2.

    Guarantee:
        The noise is epsilon-DP for beta < epsilon, with alpha = 2 (exp(beta/2) - 1), or larger where
        (a-1) alpha > 2; and for no larger alpha.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 4, after Hladik and Tetek 2025, who take alpha = beta.

    Example:
        >>> noise = PolyPlace().noise(Fraction(1, 6), Price(epsilon=Fraction(1)))
        >>> round(noise.quantile(0.95) * 6, 2), round(noise.quantile(0.95) / float(noise.alpha), 2)
        (3.95, 3.79)
    """

    def largest_beta(self, price: Price) -> Fraction:
        """Return epsilon."""
        return read_pure_loss(price)

    def noise(self, beta: Fraction, price: Price) -> PolyPlaceNoise:
        """Return the noise for beta < epsilon."""
        epsilon = read_pure_loss(price)
        read = admit_beta(beta, epsilon, repr(self))
        return PolyPlaceNoise(poly_place_alpha(read, epsilon), epsilon / read)


def poly_place_alpha(beta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the largest alpha, rounded down."""
    a = epsilon / beta
    with extend_precision(beta, 1 / a, a - 1):
        alpha = 2 * expm1(beta / 2)
        if to_decimal(a - 1) * alpha > 2:  # the worst shift starts at the centre
            log_k = to_decimal(a - 1) * to_decimal(1 - 1 / a).ln() + to_decimal(a + 1) * to_decimal(1 + 1 / a).ln()
            root = ((to_decimal(epsilon) + log_k) / to_decimal(a + 1)).exp() - 1
            alpha = min(exp(beta) - 1, max(alpha, root))
        return round_down_to_rational(alpha)


@dataclass(frozen=True)
class PolyPlaceNoise(AdmissibleNoise):
    """The law of PolyPlace with the parameter a > 1, and its factor alpha."""

    a: Fraction

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return poly_place_law(self.a)

    def survival(self, z: float) -> float:
        """Return the tail: powers of 1 + z beyond 1/a, of 1 - z within."""
        a = float(self.a)
        if z >= 1 / a:
            return math.exp(self._log_k - a * math.log1p(z)) / self._total
        return (self._outer + math.exp(a * math.log1p(-z)) - self._edge) / self._total

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        a, size = float(self.a), abs(z)
        top = math.log(a) - math.log(self._total)
        if size >= 1 / a:
            return top + self._log_k - (a + 1) * math.log1p(size)
        return top + float(self.a - 1) * math.log1p(-size)

    def quantile(self, confidence: float) -> float:
        """Return the t with Pr[|Z| <= t] = confidence, from above."""
        allowed = read_miss_probability(confidence) / 2
        place = self._place(allowed * self._total)
        while self.survival(place) > allowed:  # the closed form is off by a few units of the last place
            place *= 1 + 2**-50
        return place

    def _place(self, left: float) -> float:
        """Return the z beyond which the mass is `left`, by the inverse of the survival function."""
        a = float(self.a)
        if left <= self._outer:
            return math.expm1((self._log_k - math.log(left)) / a)
        return max(-math.expm1(math.log(left - self._outer + self._edge) / a), 1e-300)

    @cached_property
    def variance(self) -> float:
        """The integral of z^2 over both pieces; infinite for a <= 2."""
        if self.a <= 2:
            return math.inf
        a, less = float(self.a), float(self.a - 2)
        places, weights = build_quadrature(1 / a, panels=1)
        inner = float(weights @ (places**2 * (1 - places) ** (a - 1)))
        # The integral of z^2 (1+z)^(-a-1) beyond 1/a, over (1+1/a)^-a, in terms that do not cancel.
        outer = (2 + 2 + (a - 1) / a) / (a * (a - 1) * less)
        return 2 * (a * inner + a * self._outer * outer) / self._total

    # All masses below are a times the integral of the density before it is normalised.

    @cached_property
    def _log_k(self) -> float:
        return float(self.a - 1) * self._log_inside + float(self.a + 1) * math.log1p(1 / float(self.a))

    @property
    def _log_inside(self) -> float:
        """ln(1 - 1/a)."""
        share = 1 / self.a
        return math.log1p(-float(share)) if share < Fraction(1, 2) else math.log(float(1 - share))

    @cached_property
    def _edge(self) -> float:
        return math.exp(float(self.a) * self._log_inside)

    @cached_property
    def _outer(self) -> float:
        return math.exp(self._log_k - float(self.a) * math.log1p(1 / float(self.a)))

    @cached_property
    def _total(self) -> float:
        return 2 * (self._outer - math.expm1(float(self.a) * self._log_inside))
