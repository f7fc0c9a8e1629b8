"""Choosing the least of several costs, where close ones are equal and the first of those is taken."""

from __future__ import annotations

from collections.abc import Sequence

# Errors are rounded up by less than this.
_EQUAL = 1e-9


def better(cost: float, other: float) -> bool:
    """Say whether a cost is below another one by more than its rounding.

    Example:
        >>> better(1.0, 1.1), better(1.0, 1.0 + 1e-12), better(-2, -1)
        (True, False, True)
    """
    return cost < other - _EQUAL * abs(other)


def best_of(costs: Sequence[float], *ties: Sequence[float]) -> int:
    """Return the position of the least cost; of equal ones the one that is least in `ties`, else the first.

    Example:
        >>> best_of([2.0, 1.0, 1.0 - 1e-13]), best_of([2.0, 1.0, 1.0], [3.0, 5.0, 4.0])
        (1, 2)
    """
    left = list(range(len(costs)))
    for row in (costs, *ties):
        least = min(row[position] for position in left)
        left = [position for position in left if not better(least, row[position])]
    return left[0]
