"""The mean of a clipped column, and the base classes of means that leave extreme values out."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.lattice import Marks
from jali.mechanisms.smooth.column_statistic import ClippedStatistic, LatticeStatistic
from jali.mechanisms.smooth.sorted_columns import SortedColumn
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational


class LocationStatistic(LatticeStatistic, ClippedStatistic):
    """A mean of some kind, between the least and the largest mark; the middle of the range if there are none."""

    @property
    def unit(self) -> Fraction:
        """The step: a mean has the units of the column."""
        return self.step

    def value(self, column: Marks) -> Fraction:
        """Return the mean, exactly; of nobody, the middle of the range."""
        centre = self.centre(self._sort(column), len(column)) if len(column) else Fraction(self.ruler.top, 2)
        return (self.ruler.first + centre) * self.step

    @abstractmethod
    def centre(self, column: SortedColumn, size: int) -> Fraction:
        """Return the mean of the `size` smallest marks of a column, in marks; at least one."""


@dataclass(frozen=True, repr=False)
class Mean(LocationStatistic):
    """The mean of a column that is clipped to a public range.

    Args:
        low: The least value; smaller ones count as it.
        high: The largest value; larger ones count as it.
        step: The lattice of the column and of what is released; if not given, a fine one.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is exact under both adjacencies. The mean of nobody is the middle of the range, which halves
        the global sensitivity under add-remove.
    Proof:
        docs/proofs/smooth_means.md, Mean.

    Example:
        >>> from jali.mechanisms import Mean
        >>> mean = Mean(low=0, high=10, step=1, adjacency="replace-one")
        >>> ages = mean.read([2, 3, 4, 5])
        >>> mean.value(ages), mean.local(ages), mean.global_sensitivity(4)
        (Fraction(7, 2), Fraction(2, 1), Fraction(5, 2))
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(
        self, *, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        self._declare(low, high, step, adjacency)

    def centre(self, column: SortedColumn, size: int) -> Fraction:
        """Return the mean of the smallest marks."""
        return Fraction(column.upto(size), size)

    def furthest(self, people: int) -> int:
        """One replacement takes a value to the end of the range; n removals leave nobody."""
        return min(1, people) if self.adjacency is Adjacency.REPLACE_ONE else people

    def _largest(self, people: int) -> Fraction:
        top = self.ruler.top
        if self.adjacency is Adjacency.REPLACE_ONE:
            return Fraction(top, people) if people else Fraction(0)
        return Fraction(top, max(people, 2))

    def reach(self, column: SortedColumn) -> Callable[[int], Fraction]:
        """Return A(k): from both ends of the range."""
        ends = (column, column.mirror)
        if self.adjacency is Adjacency.REPLACE_ONE:
            return lambda changes: max(_replacing(end, changes) for end in ends)
        return lambda changes: max(_removing(end, changes) for end in ends)


def _replacing(column: SortedColumn, changes: int) -> Fraction:
    """Return how far the mean can rise: a smallest value becomes the last mark."""
    if not column.size:
        return Fraction(0)
    return Fraction(column.top - (0 if changes else column.at(1)), column.size)


def _removing(column: SortedColumn, changes: int) -> Fraction:
    """Return how far a person at the upper end moves the mean once the largest values are gone."""
    left = max(column.size - changes, 0)
    joining = (column.top - _lowest(column, left)) / (left + 1)
    leaving = (column.at(column.size) - _lowest(column, left - 1)) / left if left else Fraction(0)
    return max(joining, leaving)


def _lowest(column: SortedColumn, size: int) -> Fraction:
    """Return the mean of so many smallest marks; of none, the middle of the range."""
    return Fraction(column.upto(size), size) if size > 0 else Fraction(column.top, 2)


@dataclass(frozen=True, repr=False)
class CutMean(LocationStatistic):
    """A mean for which the share `trim` of the values at each end counts as extreme."""

    low: Fraction
    high: Fraction
    step: Fraction
    trim: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        step: Number | None = None,
        trim: Number,
        adjacency: str | Adjacency,
    ) -> None:
        self._declare(low, high, step, adjacency)
        self._fill(trim=read_trim(trim))

    def cut(self, size: int) -> int:
        """Return how many values are extreme at each end."""
        return math.floor(self.trim * size)


def read_trim(value: Number) -> Fraction:
    """Read a fraction to be cut at each end, or refuse it by name."""
    try:
        trim = rational(value, "trim")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if not 0 <= trim < Fraction(1, 2):
        raise MechanismError("trim-out-of-range", trim=value)
    return trim
