"""What each key may spend, when one person can appear under several."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

# Decimal's ln and exp are correctly rounded; the result is lowered by more than all roundings together.
_DIGITS, _SLACK = 60, Decimal("1e-40")

# The precision of all bounds grows with the digits of delta.
_LEAST = Fraction(1, 10**300)


def failure(delta: Number) -> Fraction:
    """Return a parameter `delta` as a rational from 1e-300 to below 1."""
    value = parameter(delta, "delta")
    if value >= 1:
        raise MechanismError("parameter-not-below-one", value=delta, name="delta")
    if value < _LEAST:
        raise MechanismError("delta-too-small", name="delta")
    return value


def keys_changed(max_keys: int, adjacency: Adjacency) -> int:
    """Return how many counts one person's change can move: a replacement takes from some, adds to others."""
    return max_keys if adjacency is Adjacency.ADD_REMOVE else 2 * max_keys


@lru_cache(maxsize=256)
def delta_of_each(delta: Fraction, keys: int) -> Fraction:
    """Return 1 - (1-delta)^(1/keys), rounded down by less than 1e-39 of itself.

    Example:
        >>> delta_of_each(Fraction(1, 10), 1), round(float(delta_of_each(Fraction(3, 4), 2)), 9)
        (Fraction(1, 10), 0.5)
    """
    if keys == 1:
        return delta
    # 1 - delta/keys agrees with 1 in so many digits that the difference loses.
    lost = len(str(delta.denominator * keys // delta.numerator))
    with localcontext(Context(prec=_DIGITS + lost)):
        rest = Decimal((1 - delta).numerator) / Decimal((1 - delta).denominator)
        each = 1 - (rest.ln() / keys).exp()
        return Fraction(Context(prec=_DIGITS).multiply(each, 1 - _SLACK))
