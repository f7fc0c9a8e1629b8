"""Searches that end on the safe side: more noise, fewer queries."""

from __future__ import annotations

from collections.abc import Callable

from jali.errors import CatalogError

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
    high = start
    while not holds(high):
        high *= 2
        if high > _LARGEST:
            raise CatalogError("planned-delta-too-small", name="delta")
    low = high / 2
    while holds(low) and low > _SMALLEST:
        low, high = low / 2, low
    return between(holds, low, high)


def between(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a condition begins to hold between a number at which it does not and one at which it does."""
    while high - low > _NARROW * high:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def most(holds: Callable[[int], bool]) -> int:
    """Return the largest whole number at which a condition holds that holds up to it and no further.

    0 where it does not hold at 1; a thousand million where it holds beyond.

    Example:
        >>> most(lambda queries: queries**2 <= 50)
        7
    """
    if not holds(1):
        return 0
    low = 1
    while low < MOST and holds(min(2 * low, MOST)):
        low = min(2 * low, MOST)
    high = min(2 * low, MOST + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
