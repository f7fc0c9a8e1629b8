"""Search for the least noise and the most queries, rounding to the safe side, and pick the least cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from jali.errors import CatalogError
from jali.numbers.search import bisect, bracket_around, least_integer_near
from jali.privacy.budget import Budget
from jali.privacy.planning.plan_table import write_number
from jali.privacy.rationals import Number, positive, positive_integer

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


LARGEST_EPSILON = 10**9
_LEAST_EPSILON = Fraction(1, 10**12)
_LARGEST_PLANNABLE = 10**30


def plannable(budget: Budget) -> Budget:
    """Return a budget whose epsilon is between 1e-12 and 1e9."""
    if not isinstance(budget, Budget):
        raise CatalogError("budget-not-a-budget", budget=budget)
    if not _LEAST_EPSILON <= budget.epsilon <= LARGEST_EPSILON:
        raise CatalogError("planned-epsilon-out-of-range", epsilon=float(budget.epsilon), name="epsilon")
    return budget


def size(value: Number, name: str) -> Fraction:
    """Return an accuracy or a sensitivity between 1e-30 and 1e30."""
    number = positive(value, name)
    if not Fraction(1, _LARGEST_PLANNABLE) <= number <= _LARGEST_PLANNABLE:
        raise CatalogError("planned-number-out-of-range", name=name, value=value)
    return number


def count(value: int, name: str, largest: int = MOST) -> int:
    """Return a number of queries or rows, up to a thousand million or another limit."""
    number = positive_integer(value, name)
    if number > largest:
        raise CatalogError("planned-count-too-large", name=name, most=largest, value=write_number(number))
    return number


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
