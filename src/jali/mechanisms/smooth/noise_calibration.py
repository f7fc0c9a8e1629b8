"""Read the privacy loss and beta of an admissible noise, and round its factor alpha down.

The factor alpha must not be too large. exp, ln and sqrt of Python's decimals are correctly rounded. Everything is
computed with sixty digits more than differences of nearly equal numbers can cancel, and lowered by far more than
the roundings can have raised it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import MAX_EMAX, MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.mechanisms.smooth.admissible_noise import Price
from jali.numbers.rounding import round_root_down, to_decimal
from jali.privacy.rationals import Number

# Beyond these numbers exponentials leave the doubles, or the noise is of no use. Every family works within them.
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**9), Fraction(700)
LEAST_DELTA = Fraction(1, 10**300)
LEAST_BETA, MOST_BETA = Fraction(1, 10**18), 4 * MOST_EPSILON
# A beta nearer to the largest one would need digits without end, for noise without end.
_NEAREST = 1 - Fraction(1, 10**12)
_ROOT_DIGITS = 18


def read_price(epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Price:
    """Read a privacy loss from arguments: epsilon, epsilon and delta, or rho.

    Args:
        epsilon: The loss, from 1e-9 to 700.
        delta: The probability of failure, at least 1e-300 and below 1.
        rho: The loss in zCDP; the root of 2 rho is from 1e-9 to 700.
    """
    if (epsilon is None) == (rho is None):
        raise MechanismError("epsilon-or-rho")
    if rho is not None and delta is not None:
        raise MechanismError("delta-with-rho")
    read = _read(epsilon, "epsilon"), None if delta is None else _read_delta(delta), _read(rho, "rho")
    price = Price(*read)
    read_pure_loss(price)
    return price


def _read(value: Number | None, name: str) -> Fraction | None:
    return None if value is None else read_parameter(value, name)


def _read_delta(delta: Number) -> Fraction:
    read = read_parameter(delta, "delta")
    if read >= 1:
        raise MechanismError("parameter-not-below-one", value=delta, name="delta")
    if read < LEAST_DELTA:
        raise MechanismError("smooth-delta-too-small")
    return read


def read_pure_loss(price: Price) -> Fraction:
    """Return the epsilon of a pure mechanism within a privacy loss; for rho the root of 2 rho, rounded down.

    Example:
        >>> read_pure_loss(Price(rho=Fraction(1, 2)))
        Fraction(1, 1)
    """
    if price.rho is not None:
        rho = read_parameter(price.rho, "rho")
        _check_limits(rho, LEAST_EPSILON**2 / 2, MOST_EPSILON**2 / 2, "rho")
        return find_root_below(2 * rho)
    if price.epsilon is None:
        raise MechanismError("smooth-price-missing")
    return _check_limits(read_parameter(price.epsilon, "epsilon"), LEAST_EPSILON, MOST_EPSILON, "epsilon")


def _check_limits(value: Fraction, least: Fraction, most: Fraction, name: str) -> Fraction:
    """Return a number, or refuse one beyond the limits: each is public, and none depends on a table."""
    if not least <= value <= most:
        raise MechanismError("smooth-price-out-of-range", name=name, least=float(least), most=float(most))
    return value


def read_approximate_loss(price: Price, family: str) -> tuple[Fraction, Fraction]:
    """Return epsilon and delta, or refuse a loss that has not both."""
    if price.epsilon is None or price.delta is None:
        raise MechanismError("smooth-price-needs-delta", family=family)
    return read_pure_loss(price), _read_delta(price.delta)


def read_concentrated_loss(price: Price, family: str) -> Fraction:
    """Return the root of 2 rho, rounded down, or refuse a loss in epsilon."""
    if price.rho is None:
        raise MechanismError("smooth-price-needs-rho", family=family)
    return read_pure_loss(price)


def read_beta(beta: Number) -> Fraction:
    """Read beta, from 1e-18 to 2800."""
    return _check_limits(read_parameter(beta, "beta"), LEAST_BETA, MOST_BETA, "beta")


def admit_beta(beta: Fraction, largest: Fraction, family: str) -> Fraction:
    """Return beta, or refuse one for which there is no noise at this loss."""
    read = read_beta(beta)
    if read > largest * _NEAREST:
        raise refuse_beta(largest, read, family)
    return read


def refuse_beta(largest: Fraction, beta: Fraction, family: str) -> MechanismError:
    """Return the refusal of a beta that is not below the largest."""
    return MechanismError("smooth-beta-too-large", largest=float(largest), family=family, beta=float(beta))


def find_root_below(value: Fraction) -> Fraction:
    """Return a rational at or below the square root of a rational above 0, exact where the root is a rational."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    small = max(0, value.denominator.bit_length() - value.numerator.bit_length())
    unit = 10 ** (_ROOT_DIGITS + small // 3)
    return round_root_down(value, unit)


_DECIMAL_DIGITS = 60
_SHOWN = 15
_LESS = 1 - Decimal("1e-30")


@contextmanager
def extend_precision(*gaps: Fraction) -> Iterator[None]:
    """Compute with sixty digits beyond those that are lost where e^-gap is taken from 1."""
    lost = max(len(str(gap.denominator // gap.numerator)) for gap in gaps)
    with localcontext(Context(prec=_DECIMAL_DIGITS + 2 * lost, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def exp(value: Fraction) -> Decimal:
    """Return e to a rational power."""
    return to_decimal(value).exp()


def expm1(value: Fraction) -> Decimal:
    """Return e to a rational power above 0, less 1."""
    return exp(value) - 1


def sinh(value: Fraction) -> Decimal:
    """Return the hyperbolic sine of a rational above 0."""
    power = exp(value)
    return (power - 1 / power) / 2


def round_down_to_rational(value: Decimal) -> Fraction:
    """Return a rational of fifteen digits below a number that was computed to thirty digits or more.

    There is no noise of a factor that is not above 0: such a number is refused, never passed on.
    """
    if not value > 0:
        raise MechanismError("smooth-alpha-without-noise")
    return Fraction(Context(prec=_SHOWN, rounding=ROUND_FLOOR).multiply(value, _LESS))
