"""Read the parameters of samplers, or refuse them by name."""

from __future__ import annotations

import operator
from fractions import Fraction
from numbers import Rational

from jali.errors import MechanismError, settle


def rational(name: str, value: object) -> Fraction:
    """Return `value` as a Fraction, or refuse it by name.

    A float is refused: the caller should say which rational is meant, for the loss is computed from it.
    """
    if isinstance(value, bool) or not isinstance(value, Rational):
        raise MechanismError("parameter-not-rational", name=name, kind=type(value).__name__, value=settle(value))
    return Fraction(value)


def positive_rational(name: str, value: object, limit: int) -> Fraction:
    """Return `value` as a Fraction in (0, limit], or refuse it by name."""
    number = rational(name, value)
    if not 0 < number <= limit:
        raise MechanismError(
            "parameter-out-of-powers", name=name, bits=limit.bit_length() - 1, value=_short(number)
        )
    return number


def size_of_sample(size: object) -> int:
    """Return `size` as a non-negative int, or refuse it."""
    try:
        count = -1 if isinstance(size, bool) else operator.index(size)  # type: ignore[arg-type]
    except TypeError:
        count = -1
    if count < 0:
        raise MechanismError("size-malformed", size=settle(size))
    return count


def _short(number: Fraction) -> str:
    text = str(number)
    return text if len(text) <= 40 else f"a rational near 2**{_exponent(number)}"


def _exponent(number: Fraction) -> int:
    return number.numerator.bit_length() - number.denominator.bit_length()
