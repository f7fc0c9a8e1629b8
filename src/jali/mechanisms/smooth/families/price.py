"""Reading a price: what kind of loss a family can be calibrated to, and within which public limits."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.mechanisms.smooth.admissible import Price
from jali.privacy.rationals import Number

# Beyond these numbers exponentials leave the doubles, or the noise is of no use. Every family works within them.
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**9), Fraction(700)
LEAST_DELTA = Fraction(1, 10**300)
LEAST_BETA, MOST_BETA = Fraction(1, 10**18), 4 * MOST_EPSILON
# A beta nearer to the largest one would need digits without end, for noise without end.
_NEAREST = 1 - Fraction(1, 10**12)
_DIGITS = 18


def price_of(epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Price:
    """Read a price from arguments: epsilon, epsilon and delta, or rho.

    Args:
        epsilon: The loss, from 1e-9 to 700.
        delta: The probability of failure, at least 1e-300 and below 1.
        rho: The loss in zCDP; the root of 2 rho is from 1e-9 to 700.
    """
    if (epsilon is None) == (rho is None):
        raise MechanismError("epsilon-or-rho")
    if rho is not None and delta is not None:
        raise MechanismError("delta-with-rho")
    read = _read(epsilon, "epsilon"), None if delta is None else _failure(delta), _read(rho, "rho")
    price = Price(*read)
    pure_loss(price)
    return price


def _read(value: Number | None, name: str) -> Fraction | None:
    return None if value is None else parameter(value, name)


def _failure(delta: Number) -> Fraction:
    read = parameter(delta, "delta")
    if read >= 1:
        raise MechanismError("parameter-not-below-one", value=delta, name="delta")
    if read < LEAST_DELTA:
        raise MechanismError("smooth-delta-too-small")
    return read


def pure_loss(price: Price) -> Fraction:
    """Return the epsilon of a pure mechanism within a price; for rho the root of 2 rho, rounded down.

    Example:
        >>> pure_loss(Price(rho=Fraction(1, 2)))
        Fraction(1, 1)
    """
    if price.rho is not None:
        rho = parameter(price.rho, "rho")
        _within(rho, LEAST_EPSILON**2 / 2, MOST_EPSILON**2 / 2, "rho")
        return root_below(2 * rho)
    if price.epsilon is None:
        raise MechanismError("smooth-price-missing")
    return _within(parameter(price.epsilon, "epsilon"), LEAST_EPSILON, MOST_EPSILON, "epsilon")


def _within(value: Fraction, least: Fraction, most: Fraction, name: str) -> Fraction:
    """Return a number, or refuse one beyond the limits: each is public, and none depends on a table."""
    if not least <= value <= most:
        raise MechanismError("smooth-price-out-of-range", name=name, least=float(least), most=float(most))
    return value


def approximate_loss(price: Price, family: str) -> tuple[Fraction, Fraction]:
    """Return epsilon and delta, or refuse a price that has not both."""
    if price.epsilon is None or price.delta is None:
        raise MechanismError("smooth-price-needs-delta", family=family)
    return pure_loss(price), _failure(price.delta)


def concentrated_loss(price: Price, family: str) -> Fraction:
    """Return the root of 2 rho, rounded down, or refuse a price in epsilon."""
    if price.rho is None:
        raise MechanismError("smooth-price-needs-rho", family=family)
    return pure_loss(price)


def stretch_of(beta: Number) -> Fraction:
    """Read beta, from 1e-18 to 2800."""
    return _within(parameter(beta, "beta"), LEAST_BETA, MOST_BETA, "beta")


def admitted(beta: Fraction, largest: Fraction, family: str) -> Fraction:
    """Return beta, or refuse one for which there is no noise at this price."""
    read = stretch_of(beta)
    if read > largest * _NEAREST:
        raise below(largest, read, family)
    return read


def below(largest: Fraction, beta: Fraction, family: str) -> MechanismError:
    """Return the refusal of a beta that is not below the largest."""
    return MechanismError("smooth-beta-too-large", largest=float(largest), family=family, beta=float(beta))


def root_below(value: Fraction) -> Fraction:
    """Return a rational at or below the square root of a rational above 0, exact where the root is a rational."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    small = max(0, value.denominator.bit_length() - value.numerator.bit_length())
    unit = 10 ** (_DIGITS + small // 3)
    return Fraction(math.isqrt(value.numerator * unit * unit // value.denominator), unit)
