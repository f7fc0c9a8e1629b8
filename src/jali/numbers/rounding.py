"""Round numbers in the safe direction, so that a loss that is shown is never below the true one."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

# Closed forms below are a few dozen operations on doubles, each within 2^-52 of its exact value.
_SLACK = 1e-13
_PRECISION = 50


def float_above(value: Fraction) -> float:
    """Return the least double at or above a rational.

    Example:
        >>> float_above(Fraction(1, 3)) > Fraction(1, 3)
        True
    """
    nearest = float(value)
    # Whole numbers are compared: a comparison of Fraction with a double makes two more Fractions.
    top, bottom = nearest.as_integer_ratio()
    above = top * value.denominator >= value.numerator * bottom
    return nearest if above else math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """Return the greatest double at or below a rational."""
    return -float_above(-value)


def round_up(value: float) -> float:
    """Return a bound on a nonnegative number that a well-conditioned closed form computed."""
    return value * (1 + _SLACK)


def round_down(value: float) -> float:
    """Return a bound from below on a nonnegative number that a well-conditioned closed form computed."""
    return value * (1 - _SLACK)


def rational_above(value: float, digits: int = 12) -> Fraction:
    """Return a rational at or above a nonnegative double, of few digits so that sums of many stay small.

    Example:
        >>> rational_above(1 / 3, digits=3)
        Fraction(167, 500)
    """
    if value <= 0:
        return Fraction(0)
    unit = Fraction(10) ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(Fraction(value) / unit) * unit


def round_root_down(value: Fraction, unit: int = 1 << 64) -> Fraction:
    """Return the largest multiple of 1/unit whose square is at most a rational; 0 below 0.

    Example:
        >>> round_root_down(Fraction(2), unit=100)
        Fraction(141, 100)
    """
    return Fraction(math.isqrt(math.floor(max(value, Fraction(0)) * unit * unit)), unit)


def ln_above(value: Fraction, digits: int = 15) -> Fraction:
    """Return a rational at or above ln of a rational above 1, to so many digits, however close to 1 it is.

    Example:
        >>> float(ln_above(Fraction(3)))
        1.09861228866811
    """
    with localcontext(Context(prec=_PRECISION + _digits_lost(value))):
        logarithm = to_decimal(value).ln()
        return Fraction(Context(prec=digits, rounding=ROUND_CEILING).plus(logarithm * (1 + Decimal("1e-40"))))


def _digits_lost(value: Fraction) -> int:
    """Return how many digits of a number above 1 agree with 1."""
    return max(0, len(str(value.denominator)) - len(str(value.numerator - value.denominator)))


def to_decimal(value: Fraction) -> Decimal:
    """Return a rational as a decimal of the present precision."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def exp(value: float) -> float:
    """Return e to a power, infinite where doubles end."""
    return math.exp(value) if value < 709 else math.inf
