"""The least and the largest value of a column."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.statistics.order_statistic import OrderStatistic


@dataclass(frozen=True, init=False, repr=False)
class Minimum(OrderStatistic):
    """The least value of a column; `low` if there is none.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6.

    Example:
        >>> least = Minimum(low=0, high=100, step=1, adjacency="replace-one")
        >>> column = least.read([30, 40, 70])
        >>> int(least.value(column)), int(least.local(column))
        (30, 30)
    """

    @property
    def share(self) -> Fraction:
        """None of the values: the rank is 1."""
        return Fraction(0)


@dataclass(frozen=True, init=False, repr=False)
class Maximum(OrderStatistic):
    """The largest value of a column; `low` if there is none.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6.

    Example:
        >>> largest = Maximum(low=0, high=100, step=1, adjacency="add-remove")
        >>> column = largest.read([30, 40, 70])
        >>> int(largest.value(column)), int(largest.local(column))
        (70, 30)
    """

    @property
    def share(self) -> Fraction:
        """All of the values."""
        return Fraction(1)
