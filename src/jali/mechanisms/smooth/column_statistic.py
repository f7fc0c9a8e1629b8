"""Base classes of statistics of one clipped column: its range, its lattice and the search for the bound."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jali.mechanisms.base import read_natural
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.smooth.discounted_maximum import smooth_bound
from jali.mechanisms.smooth.sorted_columns import SortedColumn
from jali.mechanisms.smooth.statistic import SmoothBound, Statistic
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


class LatticeStatistic(Statistic):
    """A statistic of a column with a declared range; what it says lies between the first and the last mark."""

    low: Fraction
    high: Fraction

    def _declare(self, low: Number, high: Number, step: Number | None, adjacency: str | Adjacency) -> None:
        """Set the fields of the range, once, in a constructor."""
        ruler = BoundedLattice.of(low, high, step)
        self._fill(low=ruler.low, high=ruler.high, step=ruler.step, adjacency=Adjacency.of(adjacency))

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The lattice of the column, and of what is released."""
        return BoundedLattice(self.low, self.high, self.step)

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The first and the last mark."""
        return self.ruler.first * self.step, (self.ruler.first + self.ruler.top) * self.step


class ClippedStatistic(Statistic):
    """A statistic of the marks of one column; what it says in marks is turned into the units of the data here."""

    low: Fraction
    high: Fraction

    def read(self, table: Any) -> Marks:
        """Return the marks of a column, in order."""
        return np.sort(self.ruler.marks(table))

    @property
    @abstractmethod
    def ruler(self) -> BoundedLattice:
        """The lattice of the column."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """What a difference of 1 is in the units of the data, for a column of marks."""

    @abstractmethod
    def reach(self, column: SortedColumn) -> Callable[[int], Fraction]:
        """Return A(k) or its bound as a function of k, in marks."""

    @abstractmethod
    def furthest(self, people: int) -> int:
        """Return a k from which on A(k) is the global sensitivity."""

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the largest local sensitivity of any table; of any with so many people, where that is public."""
        if people is not None:
            return self.unit * self._largest(read_natural(people, "people", least=0))
        return self.unit * max(self._largest(count) for count in range(4))

    @abstractmethod
    def _largest(self, people: int) -> Fraction:
        """Return the same of tables with so many people, in marks; the largest of all is one with 3 or fewer."""

    def at_distance(self, column: Marks, changes: int) -> Fraction:
        """Return A(k), or its bound."""
        return self.unit * self.reach(self._sort(column))(read_natural(changes, "changes", least=0))

    def _smooth(self, column: Marks, beta: Fraction) -> SmoothBound:
        """Return the largest A(k) exp(-beta k); few of them are computed."""
        at = self.reach(self._sort(column))
        limit = self.limit(len(column))
        return smooth_bound(at, self.furthest(len(column)), beta, self.unit, limit)

    def limit(self, people: int) -> Fraction:
        """Return the largest A(k) of any k, in marks."""
        if self.adjacency is Adjacency.REPLACE_ONE:
            return self._largest(people)
        return self.global_sensitivity() / self.unit

    def _sort(self, column: Marks) -> SortedColumn:
        return SortedColumn(column, self.ruler.top)
