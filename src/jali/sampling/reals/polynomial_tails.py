"""Draw from laws with polynomial tails: 1/(1 + |z|**gamma), and PolyPlace.

PolyPlace has density (1-|z|)**(a-1) near 0 and a polynomial tail beyond, for rational a above 1. The other law has
density in proportion to 1/(1 + |z|**gamma), for rational gamma from 1.01 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Bounds
from jali.sampling.parameters import rational
from jali.sampling.reals.balls import Ball, constant
from jali.sampling.reals.log_bounds import power_bounds
from jali.sampling.reals.real import Law, Real
from jali.sampling.reals.regions import Point, RegionBelowCurve, RegionLaw


@dataclass(frozen=True)
class _PolyPlaceBody(RegionBelowCurve):
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


class _PolyPlaceTail(_PolyPlaceBody):
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
    return RegionLaw(_PolyPlaceBody(a), _PolyPlaceTail(a), a / (2 * a + 1))


def poly_place(a: Fraction, bits: BitSource) -> Real:
    """Draw a real number of density (1-|z|)**(a-1) for |z| <= 1/a and K (1+|z|)**(-a-1) beyond, exactly.

    Args:
        a: A rational above 1. K makes the density continuous.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import poly_place
        >>> low, high = poly_place(Fraction(6), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return poly_place_law(a).draw(bits)


# Numbers have some 1/(gamma-1) times as many digits as the random bits that they take: below, drawing them hangs.
LEAST_GAMMA = Fraction(101, 100)


@dataclass(frozen=True)
class _Slope(RegionBelowCurve):
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
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import polynomial
        >>> low, high = polynomial(Fraction(3, 2), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return polynomial_law(gamma).draw(bits)
