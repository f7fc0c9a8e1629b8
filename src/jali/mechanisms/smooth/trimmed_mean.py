"""The trimmed mean of a clipped column: the mean without the smallest and the largest values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.lattice import Marks
from jali.mechanisms.smooth.discounted_gap import doubles_suffice, largest_discounted_gap
from jali.mechanisms.smooth.discounted_maximum import Term, horizon, largest
from jali.mechanisms.smooth.mean_neighbours import MeanNeighbourhood, RearrangedColumn
from jali.mechanisms.smooth.means import CutMean
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn, SortedColumn
from jali.mechanisms.smooth.statistic import SmoothBound
from jali.privacy.adjacency import Adjacency

_MANY = 1 << 12


@dataclass(frozen=True, init=False, repr=False)
class TrimmedMean(CutMean):
    """The mean of a clipped column without a fraction of its smallest and as many of its largest values.

    Args:
        low: The least value; smaller ones count as it.
        high: The largest value; larger ones count as it.
        step: The lattice of the column and of what is released; if not given, a fine one.
        trim: The fraction cut at each end, at least 0 and below 1/2: floor(trim n) values.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is exact under replace-one. Under add-remove it is exact up to 8 changes, and for
        n + k <= 20, and elsewhere a bound of A(k) that keeps the smooth bound smooth. The mean of nobody is the
        middle of the range.
    Proof:
        docs/proofs/smooth_means.md, Trimmed mean, after Bun and Steinke 2019.

    Example:
        >>> from jali.mechanisms import TrimmedMean
        >>> mean = TrimmedMean(low=0, high=100, step=1, trim="1/5", adjacency="replace-one")
        >>> ages = mean.read([2, 3, 4, 5, 90])
        >>> mean.value(ages), mean.local(ages), mean.global_sensitivity(5)
        (Fraction(4, 1), Fraction(29, 1), Fraction(100, 3))
    """

    def centre(self, column: SortedColumn | RearrangedColumn, size: int) -> Fraction:
        """Return the mean of the smallest marks without the cut ones."""
        cut = self.cut(size)
        return Fraction(column.upto(size - cut) - column.upto(cut), size - 2 * cut)

    def furthest(self, people: int) -> int:
        """Under replace-one, as many as it takes to fill both ends; under add-remove, as many as there are."""
        replacing = self.adjacency is Adjacency.REPLACE_ONE
        return min(2 * self.cut(people) + 1, people) if replacing else people

    def _largest(self, people: int) -> Fraction:
        top = self.ruler.top
        if self.adjacency is Adjacency.REPLACE_ONE:
            return Fraction(top, people - 2 * self.cut(people)) if people else Fraction(0)
        return max(self._pair(people), self._pair(people - 1)) if people else Fraction(top, 2)

    def _pair(self, people: int) -> Fraction:
        """Return how far one who joins so many people can move the mean."""
        sizes = (people - 2 * self.cut(people), people + 1 - 2 * self.cut(people + 1), 2 if not people else 0)
        return Fraction(self.ruler.top, max(sizes))

    def reach(self, column: SortedColumn) -> Callable[[int], Fraction]:
        """Return A(k), or its bound."""
        if self.adjacency is Adjacency.REPLACE_ONE:
            cut = self.cut(column.size)
            return lambda changes: widest_window(column, cut, changes)
        return MeanNeighbourhood(column, self.centre, self._shape, self._beyond).at

    def _smooth(self, column: Marks, beta: Fraction) -> SmoothBound:
        """Return the largest A(k) exp(-beta k); by divide and conquer where many may be about as good."""
        found = None
        if self.adjacency is Adjacency.REPLACE_ONE and len(column) > _MANY:
            found = _widest_discounted_window(
                self._sort(column), self.cut(len(column)), self.furthest(len(column)), beta
            )
        if found is None:
            return super()._smooth(column, beta)
        size = len(column) - 2 * self.cut(len(column))
        return SmoothBound(beta, ((found[0], found[1] * self.unit / size),))

    def _shape(self, size: int) -> tuple[int, int, int]:
        """Return how many should be low and how many high, for one more to raise the mean of so many most."""
        cut = self.cut(size)
        low = size - cut if self.cut(size + 1) == cut else cut + 1
        return low, 0, size + 1 - low

    def _beyond(self, column: SortedColumn, changes: int) -> Fraction:
        """Return a bound of A(k): how far a mean and an end of what may be left are apart, over the least size."""
        least, moved = max(column.size - changes - 1, 0), changes + 1
        if not least:
            return Fraction(column.top, 2)
        left = math.ceil(least * (1 - 2 * self.trim))
        far = max(_depth(end, self.cut(least), left, moved) for end in (column, column.mirror))
        return far / max(left, 2)


def widest_window(column: SortedColumn, cut: int, changes: int) -> Fraction:
    """Return A(k) of a trimmed mean under replace-one: the widest of k + 2 windows of n - 2 cut + k + 1 ranks."""
    size = column.size - 2 * cut
    if column.size == 0:
        return Fraction(0)
    moved = min(changes, column.size)
    lower = column.window(cut - moved, cut + 2)
    upper = column.window(column.size - cut, column.size - cut + moved + 2)
    return Fraction(int((upper - lower).max()), size)


def _widest_discounted_window(column: SortedColumn, cut: int, most: int, beta: Fraction) -> Term | None:
    """Return the largest term under replace-one, its window in marks, if many distances are near enough.

    All pairs of ranks on and beyond those beside the cuts are windows, but for the inmost pair: so two searches.
    """
    reach = horizon(lambda changes: widest_window(column, cut, changes), most, beta)
    if reach <= _MANY or not doubles_suffice(beta, reach):
        return None
    ordered, upper = LazySortedColumn(column.marks.copy(), column.top), column.size - cut
    ends = ((cut, upper), (cut + 1, upper + 1))
    found = [term for inner in ends if (term := largest_discounted_gap(ordered, inner, reach, beta))]
    return largest(found, beta) if len(found) == len(ends) else None


def _depth(column: SortedColumn, cut: int, size: int, changes: int) -> Fraction:
    """Return how far the mean of so many ranks after a cut is below the upper cut, after so many changes."""
    total = column.upto(max(cut + size - changes, 0)) - column.upto(max(cut - changes, 0))
    return column.at(column.size + 1 - cut + changes) - Fraction(total, size)
