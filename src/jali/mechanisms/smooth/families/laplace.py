"""Laplace noise on a smooth bound: its tail is too light for stretching, but for a delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from jali.errors import MechanismError
from jali.mechanisms.smooth.admissible import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.families.decimals import decimal_of, exp, expm1, precise, rational_below
from jali.mechanisms.smooth.families.price import admitted, approximate_loss, below
from jali.mechanisms.smooth.families.reach import reach
from jali.noise.reals.laplace import laplace_law
from jali.noise.reals.law import Law
from jali.numbers.search import bisect

_HALVINGS = 60
# Far more than the roundings of sixty digits can have raised a logarithm.
_SLACK = Decimal("1e-30")


@dataclass(frozen=True)
class SmoothLaplace(Family):
    """Laplace noise: density exp(-|z|) / 2.

    Guarantee:
        With u = exp(beta) - 1, the noise is (epsilon, delta)-DP if alpha <= epsilon,
        alpha <= exp(beta) (epsilon - beta) and
        (1 - exp(-beta)) exp(-(epsilon + beta)/u) cosh(alpha/u) <= delta;
        the last is its delta exactly, given the first two.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 5.

    Example:
        >>> price = Price(epsilon=Fraction(1), delta=Fraction(1, 10**6))
        >>> round(float(SmoothLaplace().noise(Fraction("0.03446"), price).alpha), 4)
        0.6931
    """

    def largest_beta(self, price: Price) -> Fraction:
        """Return the largest beta at which noise without a shift keeps delta, by bisection, from below."""
        epsilon, delta = approximate_loss(price, repr(self))
        largest = _largest(epsilon, delta)
        if not largest:
            raise MechanismError("smooth-price-too-small", family="SmoothLaplace")
        return largest

    def noise(self, beta: Fraction, price: Price) -> LaplaceNoise:
        """Return the noise for a beta below the largest."""
        epsilon, delta = approximate_loss(price, repr(self))
        read = admitted(beta, epsilon, repr(self))
        if _log_room(read, epsilon, delta) <= 0:
            raise below(self.largest_beta(price), read, repr(self))
        return LaplaceNoise(laplace_alpha(read, epsilon, delta))


@lru_cache(maxsize=256)
def _largest(epsilon: Fraction, delta: Fraction) -> Fraction:
    return bisect(lambda beta: _log_room(beta, epsilon, delta) <= 0, Fraction(0), epsilon, steps=_HALVINGS)[0]


def laplace_alpha(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest alpha that the guarantee allows, rounded down; `_log_room` must be above 0."""
    with precise(beta, epsilon - beta):
        room = _log_room(beta, epsilon, delta)
        spread = expm1(beta) * (room + (1 + (1 - (-2 * room).exp()).sqrt()).ln())
        return rational_below(min(decimal_of(epsilon), exp(beta) * decimal_of(epsilon - beta), spread))


def _log_room(beta: Fraction, epsilon: Fraction, delta: Fraction) -> Decimal:
    """Return, from below, the logarithm of delta over its value without a shift: of what cosh(alpha/u) may be."""
    with precise(beta):
        growth = exp(beta)
        value = decimal_of(delta).ln() + decimal_of(epsilon + beta) / (growth - 1) - (1 - 1 / growth).ln()
        return value - _SLACK


@dataclass(frozen=True)
class LaplaceNoise(AdmissibleNoise):
    """The Laplace law of scale 1, and its factor alpha."""

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return laplace_law()

    def survival(self, z: float) -> float:
        """Return exp(-z) / 2."""
        return math.exp(-z) / 2

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        return -abs(z) - math.log(2)

    def quantile(self, confidence: float) -> float:
        """Return the t with Pr[|Z| <= t] = confidence, from above."""
        return _quantile(confidence)

    @property
    def variance(self) -> float:
        """2."""
        return 2.0


@lru_cache(maxsize=256)
def _quantile(confidence: float) -> float:
    """Return a quantile; it does not depend on alpha, and a search over beta asks for it many times."""
    return reach(LaplaceNoise(Fraction(1)).survival, confidence)
