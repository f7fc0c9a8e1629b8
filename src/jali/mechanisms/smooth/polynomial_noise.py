"""Noise with density proportional to 1/(1 + |z|^gamma), the family of the lecture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.noise_calibration import (
    admit_beta,
    expm1,
    extend_precision,
    read_pure_loss,
    round_down_to_rational,
)
from jali.numbers.rounding import to_decimal
from jali.privacy.rationals import Number
from jali.sampling.reals.polynomial_tails import polynomial_law
from jali.sampling.reals.real import Law

_TERMS = 24
# Below, quantiles leave the doubles and drawing takes long; above, the tail is a cliff that doubles cannot follow.
_LEAST_GAMMA, _MOST_GAMMA = Fraction(11, 10), 1000


@dataclass(frozen=True, init=False)
class Polynomial(Family):
    """Noise with density proportional to 1/(1 + |z|^gamma).

    Args:
        gamma: How fast the tail falls, from 1.1 to 1000; 2 is Cauchy noise, and the variance is finite above 3.
            Nearer to 1 the noise is so huge that its quantiles leave the doubles and drawing it takes long.

    Guarantee:
        The noise is epsilon-DP for beta < epsilon / max(1, gamma - 1), with alpha the least of three closed forms,
        and for no larger alpha. The lecture's alpha = beta = epsilon / (2 (gamma+1)) is valid and loose.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 3.

    Example:
        >>> round(float(Polynomial(gamma=3).noise(Fraction(1, 8), Price(epsilon=Fraction(1))).alpha), 6)
        0.588118
    """

    gamma: Fraction

    def __init__(self, gamma: Number = 3) -> None:
        object.__setattr__(self, "gamma", read_parameter(gamma, "gamma"))
        if not _LEAST_GAMMA <= self.gamma <= _MOST_GAMMA:
            raise MechanismError("smooth-gamma-out-of-range", least=float(_LEAST_GAMMA), most=_MOST_GAMMA)

    def __repr__(self) -> str:
        return f"Polynomial(gamma={self.gamma})"

    def largest_beta(self, price: Price) -> Fraction:
        """Return epsilon over the larger of 1 and gamma - 1."""
        return read_pure_loss(price) / max(Fraction(1), self.gamma - 1)

    def noise(self, beta: Fraction, price: Price) -> PolynomialNoise:
        """Return the noise for a beta below the largest."""
        read = admit_beta(beta, self.largest_beta(price), repr(self))
        return PolynomialNoise(polynomial_alpha(self.gamma, read, read_pure_loss(price)), self.gamma)


def polynomial_alpha(gamma: Fraction, beta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the largest alpha, rounded down: the least of [B (1 - A^(-1/(gamma-1)))^(gamma-1)]^(1/gamma)."""
    less = gamma - 1
    with extend_precision(epsilon - beta, (epsilon - less * beta) / less, epsilon / less):
        pairs = (
            (epsilon, expm1(epsilon).ln()),
            (epsilon + less * beta, to_decimal(gamma * beta) + expm1(epsilon - beta).ln()),
            (epsilon - less * beta, expm1(epsilon + beta).ln()),
        )
        logs = [log_b + to_decimal(less) * _log_rest(log_a / less) for log_a, log_b in pairs]
        return round_down_to_rational((min(logs) / to_decimal(gamma)).exp())


def _log_rest(exponent: Fraction) -> Decimal:
    """Return ln(1 - e^-exponent)."""
    return (1 - to_decimal(-exponent).exp()).ln()


@dataclass(frozen=True)
class PolynomialNoise(AdmissibleNoise):
    """The law with density proportional to 1/(1 + |z|^gamma), and its factor alpha."""

    gamma: Fraction

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return polynomial_law(self.gamma)

    def survival(self, z: float) -> float:
        """Return the tail from its alternating series: in powers of 1/z from 1 on, else of z."""
        gamma = float(self.gamma)
        if z >= 1:
            less, ratio = float(self.gamma - 1), z**-gamma
            return float(z**-less) * _alternating(ratio, gamma, less) / (2 * self._half)
        return 0.5 - z * _alternating(z**gamma, gamma, 1.0) / (2 * self._half)

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        size, gamma = abs(z), float(self.gamma)
        rest = gamma * math.log(size) + math.log1p(size**-gamma) if size > 1 else math.log1p(size**gamma)
        return -math.log(2 * self._half) - rest

    @property
    def variance(self) -> float:
        """sin(pi/gamma) / sin(3 pi/gamma), infinite up to gamma = 3."""
        if self.gamma <= 3:
            return math.inf
        return math.sin(math.pi / float(self.gamma)) / _sine(Fraction(3) / self.gamma)

    @cached_property
    def _half(self) -> float:
        """The integral of 1/(1 + z^gamma) over z > 0."""
        return math.pi / float(self.gamma) / _sine(1 / self.gamma)


def _sine(part: Fraction) -> float:
    """Return sin(pi part) for 0 < part < 1, with all digits at both ends."""
    return math.sin(math.pi * float(min(part, 1 - part)))


def _alternating(ratio: float, step: float, first: float) -> float:
    """Return the sum of (-ratio)^k / (first + step k) for 0 <= ratio <= 1.

    Its terms are the moments of a measure on [0, 1], so that so many weighted ones give all digits of a double
    (Cohen, Rodriguez Villegas and Zagier 2000, Algorithm 1: the error is below 5.8^-24 of the first term).
    """
    total, power = 0.0, 1.0
    for k, weight in enumerate(_WEIGHTS):
        total += weight * power / (first + step * k)
        power *= ratio
    return total


def _weights(terms: int) -> tuple[float, ...]:
    """Return the weights c_k / d of the alternating terms, signs included."""
    root = (3 + math.sqrt(8)) ** terms
    top = (root + 1 / root) / 2
    found, b, c = [], -1.0, -top
    for k in range(terms):
        c = b - c
        found.append(c / top)
        b *= (k + terms) * (k - terms) / ((k + 0.5) * (k + 1))
    return tuple(found)


_WEIGHTS = _weights(_TERMS)
