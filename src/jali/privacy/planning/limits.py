"""What can be planned with: numbers that doubles and a reader can follow."""

from __future__ import annotations

from fractions import Fraction

from jali.errors import CatalogError
from jali.privacy.budget import Budget
from jali.privacy.planning.search import MOST
from jali.privacy.planning.table import written
from jali.privacy.rationals import Number, positive, positive_integer

LARGEST_EPSILON = 10**9
_LEAST_EPSILON = Fraction(1, 10**12)
_LARGEST = 10**30


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
    if not Fraction(1, _LARGEST) <= number <= _LARGEST:
        raise CatalogError("planned-number-out-of-range", name=name, value=value)
    return number


def count(value: int, name: str, largest: int = MOST) -> int:
    """Return a number of queries or rows, up to a thousand million or another limit."""
    number = positive_integer(value, name)
    if number > largest:
        raise CatalogError("planned-count-too-large", name=name, most=largest, value=written(number))
    return number
