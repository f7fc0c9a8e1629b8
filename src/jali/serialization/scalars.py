"""Single values that JSON has no word for: large integers, exact rationals, dates, times, decimals and bytes.

Each is an object with a tag and a text, such as `{"@": "Fraction", "value": "1/3"}`. The tags are frozen: they
stand in every ledger.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any

TAG, VALUE = "@", "value"
# Beyond 2^53 some JSON readers lose digits.
SAFE = 1 << 53

# The tags of plans, tables and streams, and how their texts are read.
READ: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "int": int,
        "Fraction": Fraction,
        "date": datetime.date.fromisoformat,
        "datetime": datetime.datetime.fromisoformat,
    }
)
# A witness has these too.
READ_MORE: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {**READ, "int": lambda text: int(text, 0), "decimal": Decimal, "bytes": bytes.fromhex, "float": float}
)


def tagged(tag: str, value: Any) -> dict[str, Any]:
    """Return a value under its tag.

    Example:
        >>> tagged("Fraction", "1/3")
        {'@': 'Fraction', 'value': '1/3'}
    """
    return {TAG: tag, VALUE: value}


def write_integer(value: int) -> Any:
    """Return an integer as JSON has it; a large one as text."""
    # An integer that calls itself otherwise, such as an unlimited horizon, is written as its number.
    return int(value) if -SAFE < value < SAFE else tagged("int", int.__repr__(value))


def write_scalar(value: Any) -> dict[str, Any] | None:
    """Return a rational, a date or a time under its tag; None for anything else.

    Example:
        >>> write_scalar(datetime.date(2026, 1, 31))
        {'@': 'date', 'value': '2026-01-31'}
    """
    if isinstance(value, Fraction):
        return tagged("Fraction", str(value))
    if isinstance(value, datetime.datetime):
        return tagged("datetime", value.isoformat())
    if isinstance(value, datetime.date):
        return tagged("date", value.isoformat())
    return None


def read_rational(text: Any) -> Fraction:
    """Return the number that `str` writes like this: '0.1' or ' 1/10' would be other texts for the same number.

    Example:
        >>> read_rational("1/3")
        Fraction(1, 3)
    """
    number = Fraction(text or "")
    if str(number) != text:
        raise ValueError(text)
    return number
