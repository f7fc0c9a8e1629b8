"""What the statistics of one clipped column share: a range, a lattice, and the search for the smooth bound."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from jali.mechanisms.mechanism import natural
from jali.mechanisms.ruler import Marks, Ruler
from jali.mechanisms.smooth.bound import SmoothBound
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.smooth.statistics.largest import largest_terms
from jali.mechanisms.smooth.statistics.sums import Sorted
from jali.privacy.adjacency import Adjacency


class Clipped(Statistic):
    """A statistic of the marks of one column; what it says in marks is turned into the units of the data here."""

    low: Fraction
    high: Fraction

    def read(self, table: Any) -> Marks:
        """Return the marks of a column, in order."""
        return np.sort(self.ruler.marks(table))

    @property
    @abstractmethod
    def ruler(self) -> Ruler:
        """The lattice of the column."""

    @property
    @abstractmethod
    def unit(self) -> Fraction:
        """What a difference of 1 is in the units of the data, for a column of marks."""

    @abstractmethod
    def reach(self, column: Sorted) -> Callable[[int], Fraction]:
        """Return A(k) or its bound as a function of k, in marks."""

    @abstractmethod
    def furthest(self, people: int) -> int:
        """Return a k from which on A(k) is the global sensitivity."""

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the largest local sensitivity of any table; of any with so many people, where that is public."""
        if people is not None:
            return self.unit * self._largest(natural(people, "people", least=0))
        return self.unit * max(self._largest(count) for count in range(4))

    @abstractmethod
    def _largest(self, people: int) -> Fraction:
        """Return the same of tables with so many people, in marks; the largest of all is one with 3 or fewer."""

    def at_distance(self, column: Marks, changes: int) -> Fraction:
        """Return A(k), or its bound."""
        return self.unit * self.reach(self._sorted(column))(natural(changes, "changes", least=0))

    def _smooth(self, column: Marks, beta: Fraction) -> SmoothBound:
        """Return the largest A(k) exp(-beta k); few of them are computed."""
        at = self.reach(self._sorted(column))
        limit = self.limit(len(column))
        return largest_terms(lambda k: self.unit * at(k), beta, self.furthest(len(column)), self.unit * limit)

    def limit(self, people: int) -> Fraction:
        """Return the largest A(k) of any k, in marks."""
        if self.adjacency is Adjacency.REPLACE_ONE:
            return self._largest(people)
        return self.global_sensitivity() / self.unit

    def _sorted(self, column: Marks) -> Sorted:
        return Sorted(column, self.ruler.top)
