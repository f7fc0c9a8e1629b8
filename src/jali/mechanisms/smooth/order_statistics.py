"""Quantiles, the median, the minimum and the maximum of a column, with their smooth sensitivity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.smooth.column_statistic import LatticeStatistic
from jali.mechanisms.smooth.discounted_gap import doubles_suffice, largest_discounted_gap
from jali.mechanisms.smooth.discounted_maximum import Term, horizon, largest_in_array, peak
from jali.mechanisms.smooth.order_statistic_gaps import (
    gap_when_adding,
    gap_when_replacing,
    gaps_when_adding,
    has_gaps,
    rank_of,
)
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn
from jali.mechanisms.smooth.statistic import SmoothBound
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, share

_MANY = 1 << 12


@dataclass(frozen=True, repr=False)
class OrderStatistic(LatticeStatistic):
    """The value of rank ceil(at n) in a column of n values, clamped to a public range; `low` if there is none.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6.
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(
        self, *, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        self._declare(low, high, step, adjacency)

    @property
    def share(self) -> Fraction:
        """The share of the values at or below the statistic."""
        raise NotImplementedError

    def read(self, table: Any) -> LazySortedColumn:
        """Clamp a column to the range and put it on the lattice."""
        return LazySortedColumn(self.ruler.marks(table), self.ruler.top)

    def value(self, column: LazySortedColumn) -> Fraction:
        """Return the statistic itself, which is not private."""
        return (self.ruler.first + column[rank_of(self.share, len(column))]) * self.step

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the width of the range; 0 for no people, of whom none can be replaced."""
        alone = people == 0 and self.adjacency is Adjacency.REPLACE_ONE
        return Fraction(0) if alone else self.ruler.top * self.step

    def at_distance(self, column: LazySortedColumn, changes: int) -> Fraction:
        """Return A(k), exactly."""
        return self._gap(column, self.share, read_natural(changes, "changes", least=0)) * self.step

    def _smooth(self, column: LazySortedColumn, beta: Fraction) -> SmoothBound:
        """Return the smooth sensitivity, exactly."""
        distance, size = self._peak(column, beta)
        return SmoothBound(beta, ((distance, size * self.step),))

    def _peak(self, column: LazySortedColumn, beta: Fraction) -> Term:
        """Find the largest term: all distances at once where many may be about as good."""
        gap, at, people = self._gap, self.share, len(column)

        def size(changes: int) -> int:
            return gap(column, at, changes)

        reach = horizon(size, people, beta) if people > _MANY else 0
        found = self._all_at_once(column, reach, beta) if reach > _MANY else None
        return peak(size, people, beta) if found is None else found

    def _all_at_once(self, column: LazySortedColumn, reach: int, beta: Fraction) -> Term | None:
        """Find the largest term up to a distance, if there is a way to do so without the search for the peak."""
        if self.adjacency is Adjacency.ADD_REMOVE:
            known = has_gaps(self.share)
            return (
                largest_in_array(gaps_when_adding(column, self.share, np.arange(reach + 1)), beta)
                if known
                else None
            )
        if not doubles_suffice(beta, reach + 1):
            return None
        rank = rank_of(self.share, len(column))
        found = largest_discounted_gap(column, (rank, rank), reach + 1, beta)
        return None if found is None else (found[0] - 1, found[1])

    @property
    def _gap(self) -> Callable[[LazySortedColumn, Fraction, int], int]:
        return gap_when_replacing if self.adjacency is Adjacency.REPLACE_ONE else gap_when_adding


def read_share_at(value: Number, name: str) -> Fraction:
    """Return a number from 0 to 1 as a rational, or refuse it by name."""
    try:
        return share(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None


@dataclass(frozen=True, repr=False)
class Quantile(OrderStatistic):
    """The value of rank max(1, ceil(at n)) in a column of n values; `low` if there is none.

    Args:
        at: The share of the values at or below it, from 0 to 1.
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6, after Nissim, Raskhodnikova and Smith 2007.

    Example:
        >>> upper = Quantile(at=0.75, low=0, high=100, step=1, adjacency="add-remove")
        >>> column = upper.read([10, 20, 30, 40])
        >>> int(upper.value(column)), int(upper.local(column))
        (30, 10)
    """

    at: Fraction

    def __init__(
        self, *, at: Number, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        super().__init__(low=low, high=high, step=step, adjacency=adjacency)
        self._fill(at=read_share_at(at, "at"))

    @property
    def share(self) -> Fraction:
        """The share of the values at or below it."""
        return self.at


@dataclass(frozen=True, init=False, repr=False)
class Median(OrderStatistic):
    """The value of rank ceil(n/2) in a column of n values; `low` if there is none.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks on the range; very fine if not given.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6, after Nissim, Raskhodnikova and Smith 2007.

    Example:
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> column = middle.read(range(10, 100, 10))
        >>> int(middle.value(column)), round(float(middle.smooth(column, Fraction(1, 20))), 7)
        (50, 63.7628152)
    """

    @property
    def share(self) -> Fraction:
        """One half."""
        return Fraction(1, 2)


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
