"""Reading a price: what kind of loss a family can be calibrated to."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.mechanisms.smooth.admissible import Price
from jali.privacy.rationals import Number

_DIGITS = 18


def price_of(epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Price:
    """Read a price from arguments: epsilon, epsilon and delta, or rho."""
    if (epsilon is None) == (rho is None):
        raise MechanismError("Give either epsilon or rho, one of them.")
    if rho is not None and delta is not None:
        raise MechanismError("delta goes with epsilon, not with rho.")
    price = Price(_read(epsilon, "epsilon"), _read(delta, "delta"), _read(rho, "rho"))
    if price.delta is not None and price.delta >= 1:
        raise MechanismError(f"delta must be below 1, not {delta}.")
    return price


def _read(value: Number | None, name: str) -> Fraction | None:
    return None if value is None else parameter(value, name)


def pure_loss(price: Price) -> Fraction:
    """Return the epsilon of a pure mechanism within a price; for rho the root of 2 rho, rounded down.

    Example:
        >>> pure_loss(Price(rho=Fraction(1, 2)))
        Fraction(1, 1)
    """
    if price.rho is not None:
        return root_below(2 * parameter(price.rho, "rho"))
    if price.epsilon is None:
        raise MechanismError("A price needs epsilon or rho.", remedy="Give epsilon, epsilon and delta, or rho.")
    return parameter(price.epsilon, "epsilon")


def approximate_loss(price: Price, family: str) -> tuple[Fraction, Fraction]:
    """Return epsilon and delta, or refuse a price that has not both."""
    if price.epsilon is None or price.delta is None:
        raise MechanismError(
            f"{family} needs a price of epsilon and delta.",
            remedy="Give both, or take a pure family such as PolyPlace().",
        )
    delta = parameter(price.delta, "delta")
    if delta >= 1:
        raise MechanismError(f"delta must be below 1, not {price.delta}.")
    return parameter(price.epsilon, "epsilon"), delta


def concentrated_loss(price: Price, family: str) -> Fraction:
    """Return the root of 2 rho, rounded down, or refuse a price in epsilon."""
    if price.rho is None:
        raise MechanismError(
            f"{family} needs a price in rho (zCDP).", remedy="Give rho, or take a pure family such as PolyPlace()."
        )
    return pure_loss(price)


def admitted(beta: Fraction, largest: Fraction, family: str) -> Fraction:
    """Return beta, or refuse one for which there is no noise at this price."""
    read = parameter(beta, "beta")
    if read >= largest:
        raise MechanismError(
            f"beta must be below {float(largest):.6g} for {family} at this price, not {float(read):.6g}.",
            remedy="Take a smaller beta; best_beta() finds one.",
        )
    return read


def root_below(value: Fraction) -> Fraction:
    """Return a rational at or below the square root of a rational above 0, exact where the root is a rational."""
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    unit = 10 ** (_DIGITS + max(0, len(str(value.denominator)) - len(str(value.numerator))))
    return Fraction(math.isqrt(value.numerator * unit * unit // value.denominator), unit)
