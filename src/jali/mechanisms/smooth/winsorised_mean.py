"""The winsorised mean of a clipped column: extreme values count as the nearest value that is not extreme.

Under replace-one, A(k) comes from two gaps beside the cut, and the width of the cut.

Proof:
    docs/proofs/smooth_means.md, Winsorised mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.smooth.mean_neighbours import MeanNeighbourhood, RearrangedColumn
from jali.mechanisms.smooth.means import CutMean
from jali.mechanisms.smooth.sorted_columns import SortedColumn
from jali.mechanisms.smooth.trimmed_mean import widest_window
from jali.privacy.adjacency import Adjacency

NEAR = 96  # changes up to which all pairs of gaps are tried

IntegerArray = NDArray[Any]


class WinsorisedGaps:
    """How far a largest value raises the winsorised mean: (m+1)(s - p) - m(r - q), over n.

    Here p, q, r, s are the marks of ranks m + 1, m + 2, n - m, n - m + 1, and at least 3 ranks are not cut.
    """

    def __init__(self, column: SortedColumn, cut: int) -> None:
        self._column, self._cut = column, cut
        self._between = column.size - 2 * cut - 1
        self._padded = np.concatenate(([0], column.marks, [column.top]))
        self._made: dict[int, tuple[IntegerArray, IntegerArray]] = {}

    def at(self, changes: int) -> Fraction:
        """Return the largest rise within so many changes; a bound of it where they are many."""
        if changes >= self._column.size:
            return Fraction((self._cut + 1) * self._column.top, self._column.size)
        if changes > NEAR:
            return min(self.at(self._column.size), self._beyond(changes))
        return Fraction(max(self._both(changes), self._none_between(changes)), self._column.size)

    def _both(self, changes: int) -> int:
        """Return the best where someone stays between the gaps: as many changes inside as outside."""
        size = changes + 1
        low, high = self._tables(min(NEAR, 1 << changes.bit_length()) + 1)
        return int((low[:size, :size] + high[:size, :size][::-1, ::-1]).max())

    def _none_between(self, changes: int) -> int:
        """Return the best where everyone between the gaps is replaced: then they need not be apart."""
        left = changes - self._between
        if left < 0:
            return 0
        column, cut = self._column, self._cut
        upper = column.window(column.size - cut + 1, column.size - cut + left + 2)
        lower = column.window(cut + 1 - left, cut + 2)
        return int((upper - lower).max()) * (cut + 1)

    def _tables(self, size: int) -> tuple[IntegerArray, IntegerArray]:
        """Return what both gaps yield, by the changes outside (rows) and within (columns), up to a size."""
        if size not in self._made:
            self._made[size] = self._low(size), self._high(size)
        return self._made[size]

    def _low(self, size: int) -> IntegerArray:
        """Return m q - (m+1) p for the lower gap."""
        outside, within = np.ogrid[:size, :size]
        p = self._ranks(self._cut + 1 - outside)
        return np.asarray(self._ranks(self._cut + 2 - outside + within) * self._cut - p * (self._cut + 1))

    def _high(self, size: int) -> IntegerArray:
        """Return (m+1) s - m r for the upper gap: the best of the rows that leave someone in between."""
        outside, within = np.ogrid[:size, :size]
        rank = self._column.size - self._cut + outside
        table = self._ranks(rank + 1) * (self._cut + 1) - self._ranks(rank - within) * self._cut
        if self._between >= size:
            return np.maximum.accumulate(table, axis=0)
        firsts = [max(0, row + 1 - self._between) for row in range(size)]
        return np.array([table[first : row + 1].max(axis=0) for row, first in enumerate(firsts)], dtype=object)

    def _ranks(self, ranks: IntegerArray) -> IntegerArray:
        """Return marks by rank as Python integers, which do not overflow."""
        return np.asarray(self._padded[np.clip(ranks, 0, self._column.size + 1)], dtype=object)

    def _beyond(self, changes: int) -> Fraction:
        """Return a bound: the widest gap of so many changes on each side, and the full width."""
        column, cut = self._column, self._cut
        behind = column.size - cut + 1
        lower = _widest(column, cut + 1 - changes, cut + 1, changes)
        upper = _widest(column, behind - 1 - changes, behind - 1, changes)
        width = column.at(behind + changes) - column.at(cut + 1 - changes)
        return Fraction(width + cut * (lower + upper), column.size)


def _widest(column: SortedColumn, first: int, last: int, changes: int) -> int:
    """Return the widest gap after so many left it, with its lower end at one of these ranks."""
    ends = column.window(first, last + changes + 2)
    return int((ends[changes + 1 :] - ends[: last - first + 1]).max())


def widest_gap(column: SortedColumn, first: int, last: int, changes: int) -> int:
    """Return the same for ranks that may be beyond the ends of the column."""
    first, last = max(first, 0), min(last, column.size)
    return _widest(column, first, last, changes) if first <= last else column.top


@dataclass(frozen=True, init=False, repr=False)
class WinsorisedMean(CutMean):
    """The mean of a clipped column, where a fraction of values at each end is set to the nearest of the others.

    Args:
        low: The least value; smaller ones count as it.
        high: The largest value; larger ones count as it.
        step: The lattice of the column and of what is released; if not given, a fine one.
        trim: The fraction replaced at each end, at least 0 and below 1/2: floor(trim n) values.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is exact up to 96 changes under replace-one, and up to 8 or where n + k <= 20 under
        add-remove; elsewhere it is a bound of A(k) that keeps the smooth bound smooth. The mean of nobody is the
        middle of the range.
    Proof:
        docs/proofs/smooth_means.md, Winsorised mean.

    Example:
        >>> from jali.mechanisms import WinsorisedMean
        >>> mean = WinsorisedMean(low=0, high=100, step=1, trim="1/5", adjacency="replace-one")
        >>> ages = mean.read([2, 3, 4, 5, 90])
        >>> mean.value(ages), mean.local(ages), mean.global_sensitivity(5)
        (Fraction(4, 1), Fraction(173, 5), Fraction(40, 1))
    """

    def centre(self, column: SortedColumn | RearrangedColumn, size: int) -> Fraction:
        """Return the mean of the smallest marks, the extreme ones replaced."""
        cut = self.cut(size)
        total = column.upto(size - cut) - column.upto(cut)
        if cut:
            total += cut * (column.at(cut + 1) + column.at(size - cut))
        return Fraction(total, size)

    def furthest(self, people: int) -> int:
        """All people may have to be replaced, or to leave."""
        return people

    def _largest(self, people: int) -> Fraction:
        if self.adjacency is Adjacency.ADD_REMOVE:
            return max(self._pair(people), self._pair(people - 1)) if people else self._pair(0)
        if people < 3:
            return Fraction(self.ruler.top, people) if people else Fraction(0)
        cut = self.cut(people)
        return Fraction((cut + 1) * self.ruler.top, people) if people - 2 * cut > 1 else Fraction(self.ruler.top)

    def _pair(self, people: int) -> Fraction:
        """Return how far one who joins so many people can move the mean."""
        cut, more = self.cut(people), self.cut(people + 1)
        share = Fraction(1, 2) if not people else Fraction(cut + 1, people + 1 if cut == more else people)
        return share * self.ruler.top

    def reach(self, column: SortedColumn) -> Callable[[int], Fraction]:
        """Return A(k), or its bound."""
        if self.adjacency is Adjacency.ADD_REMOVE:
            return MeanNeighbourhood(column, self.centre, self._shape, self._beyond).at
        cut = self.cut(column.size)
        if column.size - 2 * cut < 3:  # one or two values count: the same as without the others
            return lambda changes: widest_window(column, cut, changes)
        ends = (WinsorisedGaps(column, cut), WinsorisedGaps(column.mirror, cut))
        return lambda changes: max(end.at(changes) for end in ends)

    def _shape(self, size: int) -> tuple[int, int, int]:
        """Return how many should be low, in between and high, for one more to raise the mean of so many most."""
        cut = self.cut(size)
        if self.cut(size + 1) == cut:
            return size - cut, 0, cut + 1
        return cut + 1, size - 2 * cut - 2, cut + 2

    def _beyond(self, column: SortedColumn, changes: int) -> Fraction:
        """Return a bound of A(k): the widest gap that may be beside a cut, and how far the mean is from there."""
        least, moved = column.size - changes - 1, changes + 1
        half = Fraction(column.top, 2)
        if least <= 0:
            return half
        ends = (column, column.mirror)
        gap = max(self._gap(end, least, moved) for end in ends)
        far = max(self._depth(end, least, moved) for end in ends)
        return min(half, self.trim * gap + far / (least + 1))

    def _depth(self, column: SortedColumn, least: int, moved: int) -> Fraction:
        """Return how far the mean of so many may be below the upper cut, after so many changes."""
        cut = self.cut(least)
        total = column.upto(max(least - cut - moved, 0)) - column.upto(max(cut - moved, 0))
        total += cut * (column.at(cut + 1 - moved) + column.at(least - cut - moved))
        return column.at(column.size + 1 - cut + moved) - Fraction(total, least)

    def _gap(self, column: SortedColumn, least: int, moved: int) -> int:
        """Return the widest gap that may be below the upper cut."""
        first = math.ceil(least * (1 - self.trim)) - moved - 1
        return widest_gap(column, first, column.size - self.cut(least), moved)
