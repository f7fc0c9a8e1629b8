"""The law of density in proportion to 1/(1 + |z|**gamma), for rational gamma from 1.01 on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.noise.bits import BitSource
from jali.noise.bounds import Bounds
from jali.noise.checks import rational
from jali.noise.reals.balls import Ball, constant
from jali.noise.reals.envelope import Envelope
from jali.noise.reals.law import Law
from jali.noise.reals.point import Point
from jali.noise.reals.powers import power_bounds
from jali.noise.reals.real import Real
from jali.noise.reals.region import RegionLaw

# Numbers have some 1/(gamma-1) times as many digits as the random bits that they take: below, drawing them hangs.
LEAST_GAMMA = Fraction(101, 100)


@dataclass(frozen=True)
class _Slope(Envelope):
    """g(u) = 1/(1 + u**exponent)."""

    exponent: Fraction

    def height(self, u: int, known: int, precision: int) -> Bounds:
        one = 1 << precision
        low, high = power_bounds(u, 1 << known, self.exponent, precision)
        return one * one // (one + high), -(-one * one // (one + low))

    def height_of(self, u: Ball) -> Ball:
        return constant(Fraction(1)) / ((u.fall() * self.exponent).decay() + 1)


class _Body(_Slope):
    """Numbers from 0 to 1: z = u."""

    def image(self, point: Point, precision: int) -> Bounds:
        unit = 1 << point.known
        return (point.u << precision) // unit, -(-((point.u + 1) << precision) // unit)

    def place(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - only u matters
        return u


class _Tail(_Slope):
    """Numbers above 1: z = u**-r with r = 1/(gamma-1), where the exponent is gamma/(gamma-1) = 1 + r."""

    def image(self, point: Point, precision: int) -> Bounds | None:
        if not point.u:
            return None
        unit, power = 1 << point.known, 1 - self.exponent
        low, _ = power_bounds(point.u + 1, unit, power, precision)
        return low, power_bounds(point.u, unit, power, precision)[1]

    def place(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - only u matters
        return constant(Fraction(1)) / (u.fall() * (self.exponent - 1)).decay()


def polynomial_law(gamma: Fraction) -> Law:
    """Return the law of density in proportion to 1/(1 + |z|**gamma)."""
    gamma = rational("gamma", gamma)
    if gamma < LEAST_GAMMA:
        raise MechanismError("gamma-too-small", least=float(LEAST_GAMMA), gamma=gamma)
    return RegionLaw(_Body(gamma), _Tail(gamma / (gamma - 1)), (gamma - 1) / gamma)


def polynomial(gamma: Fraction, bits: BitSource) -> Real:
    """Draw a real number of density in proportion to 1/(1 + |z|**gamma), exactly.

    Args:
        gamma: A rational of at least 1.01. Near 1 the numbers are huge, and so is the work.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise import system_bits
        >>> from jali.noise.reals import polynomial
        >>> low, high = polynomial(Fraction(3, 2), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return polynomial_law(gamma).draw(bits)
