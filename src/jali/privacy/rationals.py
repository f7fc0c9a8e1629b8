"""Read numbers that users give as exact rationals, or refuse them by name."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from jali.errors import CatalogError
from jali.numbers.exact import decimal as decimal  # noqa: PLC0414 - public here too: how exact numbers are shown
from jali.numbers.exact import is_sized

Number = int | float | str | Decimal | Fraction
_TOO_LARGE = 10**301
MOST_RELEASES = 10**9


def rational(value: Number, name: str = "value") -> Fraction:
    """Return the rational that `value` reads as.

    A float stands for the decimal text that Python prints for it, so `0.1` is exactly 1/10 and ten
    questions at 0.1 fit a budget of 1.

    Example:
        >>> rational(0.1)
        Fraction(1, 10)
    """
    number = _read(value, name)
    if abs(number) >= _TOO_LARGE:
        raise _beyond(name)
    return number


def _read(value: Number, name: str) -> Fraction:
    try:
        if isinstance(value, bool):
            raise ValueError
        if hasattr(value, "item"):  # a number of numpy's
            value = value.item()
        if isinstance(value, float | str | Decimal):
            value = _require_size(float.__repr__(value) if isinstance(value, float) else str(value))
        return Fraction(value)
    except _TooLongError:
        raise _beyond(name) from None
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise CatalogError("parameter-not-finite", name=name, value=value) from None


def above_one(value: Number, name: str) -> float:
    """Return `value` as a double above 1: what a Rényi order may be."""
    if isinstance(value, float) and 1 < value < 1e300:
        return value
    number = rational(value, name)
    if number <= 1:
        raise CatalogError("parameter-not-above-one", name=name, value=value)
    return float(number)


def positive(value: Number, name: str) -> Fraction:
    """Return `value` as a rational above 0."""
    number = rational(value, name)
    if number <= 0:
        raise CatalogError("parameter-not-positive", name=name, value=value)
    return number


def nonnegative(value: Number, name: str) -> Fraction:
    """Return `value` as a rational at or above 0."""
    number = rational(value, name)
    if number < 0:
        raise CatalogError("parameter-below-zero", name=name, value=value)
    return number


def probability(value: Number, name: str) -> Fraction:
    """Return `value` as a rational in [0, 1): what a delta may be."""
    number = rational(value, name)
    if not 0 <= number < 1:
        raise CatalogError("parameter-not-below-one-from-zero", name=name, value=value)
    return number


def share(value: Number, name: str) -> Fraction:
    """Return `value` as a rational in [0, 1]: what a rate, a prior or a sampling rate may be."""
    number = rational(value, name)
    if not 0 <= number <= 1:
        raise CatalogError("parameter-not-between-zero-and-one", name=name, value=value)
    return number


def positive_integer(value: int, name: str) -> int:
    """Return `value` as an integer of at least 1."""
    number = rational(value, name)
    if number < 1 or number.denominator != 1:
        raise CatalogError("parameter-not-a-count", name=name, value=value)
    return int(number)


def count(value: int, name: str = "count") -> int:
    """Return `value` as how often a loss is spent: from 1 to a thousand million."""
    number = positive_integer(value, name)
    if number > MOST_RELEASES:
        raise CatalogError("parameter-above-limit", name=name, most=MOST_RELEASES, value=value)
    return number


def _require_size(written: str) -> str:
    """Return `written` unless it is a number too long or too extreme to be meant ('1e999999999' would hang)."""
    if not is_sized(written, 400):
        raise _TooLongError
    return written


class _TooLongError(ValueError):
    """A number of so many digits that nobody means it."""


def _beyond(name: str) -> CatalogError:
    return CatalogError("number-too-extreme", name=name)
