"""Closed forms in decimal arithmetic, rounded down: the factor alpha of a noise must not be too large.

exp, ln and sqrt of Python's decimals are correctly rounded. Everything is computed with sixty digits more than
differences of nearly equal numbers can cancel, and lowered by far more than the roundings can have raised it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from jali.errors import MechanismError

_DIGITS = 60
_SHOWN = 15
_LESS = 1 - Decimal("1e-30")


@contextmanager
def precise(*gaps: Fraction) -> Iterator[None]:
    """Compute with sixty digits beyond those that are lost where e^-gap is taken from 1."""
    lost = max(len(str(gap.denominator // gap.numerator)) for gap in gaps)
    with localcontext(Context(prec=_DIGITS + 2 * lost, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def decimal_of(value: Fraction) -> Decimal:
    """Return a rational as a decimal of the present precision."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def exp(value: Fraction) -> Decimal:
    """Return e to a rational power."""
    return decimal_of(value).exp()


def expm1(value: Fraction) -> Decimal:
    """Return e to a rational power above 0, less 1."""
    return exp(value) - 1


def sinh(value: Fraction) -> Decimal:
    """Return the hyperbolic sine of a rational above 0."""
    power = exp(value)
    return (power - 1 / power) / 2


def rational_below(value: Decimal) -> Fraction:
    """Return a rational of fifteen digits below a number that was computed to thirty digits or more.

    There is no noise of a factor that is not above 0: such a number is refused, never passed on.
    """
    if not value > 0:
        raise MechanismError("smooth-alpha-without-noise")
    return Fraction(Context(prec=_SHOWN, rounding=ROUND_FLOOR).multiply(value, _LESS))
