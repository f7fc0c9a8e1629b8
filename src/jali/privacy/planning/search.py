"""Searches that end on the safe side: more noise, fewer queries."""

from __future__ import annotations

from collections.abc import Callable

from jali.errors import CatalogError
from jali.numbers.search import bisect, bracket_around, least_integer_near

# Queries are counted up to here.
MOST = 10**9
_NARROW = 1e-14
_SMALLEST, _LARGEST = 1e-150, 1e150


def least(holds: Callable[[float], bool], start: float = 1.0) -> float:
    """Return the least positive number at which a condition holds, from above, to 1e-14 of its size.

    Example:
        >>> abs(least(lambda scale: scale**2 >= 2) ** 2 - 2) < 1e-12
        True
    """
    low, high = bracket_around(holds, start, least=2 * _SMALLEST, most=_LARGEST)
    if high > _LARGEST:
        raise CatalogError("planned-delta-too-small", name="delta")
    return between(holds, low, high)


def between(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition begins to hold between a number at which it does not and one at which it does."""
    return bisect(holds, low, high, close=lambda low, high: high - low <= _NARROW * high)[1]


def most(holds: Callable[[int], bool]) -> int:
    """Return the largest whole number at which a condition holds that holds up to it and no further.

    0 where it does not hold at 1; a thousand million where it holds beyond.

    Example:
        >>> most(lambda queries: queries**2 <= 50)
        7
    """
    return least_integer_near(lambda count: count > MOST or not holds(count), 1, first=1) - 1
