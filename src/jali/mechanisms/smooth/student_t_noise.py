"""Student's t and Cauchy noise for smooth sensitivity: their tails fall as a power, so stretching costs little."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.smooth.admissible_noise import AdmissibleNoise, Family, Price
from jali.mechanisms.smooth.noise_calibration import (
    admit_beta,
    exp,
    extend_precision,
    read_pure_loss,
    round_down_to_rational,
    sinh,
)
from jali.sampling.reals.real import Law
from jali.sampling.reals.student_t import cauchy_law, student_t_law

# Beyond, logarithms of the gamma function are too large for tails of eleven digits; and the law is all but normal.
_MOST_DEGREES = 1000


@dataclass(frozen=True, init=False)
class StudentT(Family):
    """Noise of Student's law: density proportional to (d + z^2)^(-(d+1)/2).

    Args:
        degrees: The degrees of freedom d, 1 to 1000; the variance is finite from 3 on.

    Guarantee:
        The noise is epsilon-DP for beta < epsilon/d, with
        alpha^2 = 4d min(sinh(e)^2, exp(beta) sinh(e + beta/(d+1)) sinh(e - d beta/(d+1))), e = epsilon/(d+1),
        and for no larger alpha.
    Proof:
        docs/proofs/admissible_noise.md, Theorem 2.

    Example:
        >>> noise = StudentT(degrees=3).noise(Fraction(1, 6), Price(epsilon=Fraction(1)))
        >>> round(noise.quantile(0.95) / float(noise.alpha), 2)
        4.39
    """

    degrees: int

    def __init__(self, degrees: int = 3) -> None:
        object.__setattr__(self, "degrees", read_natural(degrees, "degrees"))
        if self.degrees > _MOST_DEGREES:
            raise MechanismError("degrees-too-many", most=_MOST_DEGREES)

    def largest_beta(self, price: Price) -> Fraction:
        """Return epsilon over the degrees."""
        return read_pure_loss(price) / self.degrees

    def noise(self, beta: Fraction, price: Price) -> StudentNoise:
        """Return the noise for beta < epsilon/d."""
        read = admit_beta(beta, self.largest_beta(price), repr(self))
        return StudentNoise(student_alpha(self.degrees, read, read_pure_loss(price)), self.degrees)


def student_alpha(degrees: int, beta: Fraction, epsilon: Fraction) -> Fraction:
    """Return the largest alpha, rounded down; Cauchy noise has one degree."""
    more = degrees + 1
    near, far = (epsilon - degrees * beta) / more, (epsilon + beta) / more
    with extend_precision(near):
        squares = sinh(epsilon / more) ** 2, exp(beta) * sinh(far) * sinh(near)
        return round_down_to_rational((4 * degrees * min(squares)).sqrt())


@dataclass(frozen=True)
class StudentNoise(AdmissibleNoise):
    """Student's law with so many degrees, and its factor alpha."""

    degrees: int

    @property
    def law(self) -> Law:
        """The exact sampler of Z."""
        return student_t_law(self.degrees)

    def survival(self, z: float) -> float:
        """Return half the incomplete beta function at d/(d + z^2), from whichever end is near."""
        half, ratio = self.degrees / 2, z / math.sqrt(self.degrees)
        size = math.log(math.hypot(1, ratio))
        near, far = -2 * size, 2 * (math.log(ratio) - size) if ratio > 0 else -math.inf
        return (
            0.5 - _incomplete_beta(0.5, half, far, near) / 2
            if z * z < 3
            else _incomplete_beta(half, 0.5, near, far) / 2
        )

    def log_density(self, z: float) -> float:
        """Return the logarithm of the density."""
        return self._log_top - (self.degrees + 1) / 2 * math.log1p(z * z / self.degrees)

    @property
    def variance(self) -> float:
        """d/(d-2), infinite up to d = 2."""
        return self.degrees / (self.degrees - 2) if self.degrees > 2 else math.inf

    @cached_property
    def _log_top(self) -> float:
        return -_log_beta(self.degrees / 2, 0.5) - math.log(self.degrees) / 2


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _incomplete_beta(a: float, b: float, log_x: float, log_rest: float) -> float:
    """Return I_x(a, b) for x < (a+1)/(a+b+2) by its continued fraction, from ln x and ln (1-x)."""
    front = math.exp(a * log_x + b * log_rest - _log_beta(a, b)) / a
    return front / _fraction(a, b, math.exp(log_x))


def _fraction(a: float, b: float, x: float) -> float:
    """Evaluate 1 + d1/(1 + d2/(1 + ...)) from its far end: so many terms that more change nothing."""
    value = 1.0
    for n in range(60 + 6 * math.isqrt(math.ceil(a + b)), 0, -1):
        even = n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n))
        odd = -(a + n - 1) * (a + b + n - 1) * x / ((a + 2 * n - 2) * (a + 2 * n - 1))
        value = 1 + odd / (1 + even / value)
    return value


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
        return read_pure_loss(price)

    def noise(self, beta: Fraction, price: Price) -> CauchyNoise:
        """Return the noise for beta < epsilon."""
        epsilon = read_pure_loss(price)
        return CauchyNoise(student_alpha(1, admit_beta(beta, epsilon, repr(self)), epsilon))


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

    @property
    def variance(self) -> float:
        """Infinite."""
        return math.inf
