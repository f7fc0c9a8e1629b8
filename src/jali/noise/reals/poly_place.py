"""PolyPlace: density (1-|z|)**(a-1) near 0 and a polynomial tail beyond, for rational a above 1."""

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


@dataclass(frozen=True)
class _Body(Envelope):
    """Numbers from 0 to 1/a: z = u/a, g(u) = (1 - u/a)**(a-1)."""

    a: Fraction

    def height(self, u: int, known: int, precision: int) -> Bounds:
        whole = self.a.numerator << known
        return power_bounds(whole - u * self.a.denominator, whole, self.a - 1, precision)

    def height_of(self, u: Ball) -> Ball:
        return ((constant(Fraction(1)) - u / self.a).fall() * (self.a - 1)).decay()

    def image(self, point: Point, precision: int) -> Bounds | None:
        unit, numerator = self.a.numerator << point.known, self.a.denominator << precision
        return point.u * numerator // unit, -(-(point.u + 1) * numerator // unit)

    def place(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - only u matters
        return u / self.a


class _Tail(_Body):
    """Numbers above 1/a: z = (1 + 1/a) u**(-1/a) - 1, and g is the body's at its end."""

    def height(self, u: int, known: int, precision: int) -> Bounds:  # noqa: ARG002 - the same for every u
        return super().height(1, 0, precision)

    def height_of(self, u: Ball) -> Ball:
        return super().height_of(Ball(u.centre * 0 + 1, u.radius * 0))

    def image(self, point: Point, precision: int) -> Bounds | None:
        if not point.u:
            return None
        unit, power = 1 << point.known, -1 / self.a
        low, _ = power_bounds(point.u + 1, unit, power, precision)
        _, high = power_bounds(point.u, unit, power, precision)
        top, bottom = self.a.numerator + self.a.denominator, self.a.numerator
        one = 1 << precision
        return low * top // bottom - one, -(-high * top // bottom) - one

    def place(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - only u matters
        return constant(1 + 1 / self.a) / (u.fall() / self.a).decay() - 1


def poly_place_law(a: Fraction) -> Law:
    """Return the law of density (1-|z|)**(a-1) for |z| <= 1/a and K (1+|z|)**(-a-1) beyond, up to a factor."""
    a = rational("a", a)
    if a <= 1:
        raise MechanismError("parameter-not-above-one", value=a, name="a")
    return RegionLaw(_Body(a), _Tail(a), a / (2 * a + 1))


def poly_place(a: Fraction, bits: BitSource) -> Real:
    """Draw a real number of density (1-|z|)**(a-1) for |z| <= 1/a and K (1+|z|)**(-a-1) beyond, exactly.

    Args:
        a: A rational above 1. K makes the density continuous.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise import system_bits
        >>> from jali.noise.reals import poly_place
        >>> low, high = poly_place(Fraction(6), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return poly_place_law(a).draw(bits)
