"""The winsorised mean of a clipped column: the extreme values count as the nearest that are not extreme."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.statistics.blocks import Blocks, Neighbourhood
from jali.mechanisms.smooth.statistics.cut_mean import CutMean
from jali.mechanisms.smooth.statistics.gaps import Gaps, widest_gap
from jali.mechanisms.smooth.statistics.sums import Sorted
from jali.mechanisms.smooth.statistics.trimmed_mean import widest
from jali.privacy.adjacency import Adjacency


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

    def centre(self, column: Sorted | Blocks, size: int) -> Fraction:
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

    def reach(self, column: Sorted) -> Callable[[int], Fraction]:
        """Return A(k), or its bound."""
        if self.adjacency is Adjacency.ADD_REMOVE:
            return Neighbourhood(column, self.centre, self._shape, self._beyond).at
        cut = self.cut(column.size)
        if column.size - 2 * cut < 3:  # one or two values count: the same as without the others
            return lambda changes: widest(column, cut, changes)
        ends = (Gaps(column, cut), Gaps(column.mirrored, cut))
        return lambda changes: max(end.at(changes) for end in ends)

    def _shape(self, size: int) -> tuple[int, int, int]:
        """Return how many should be low, in between and high, for one more to raise the mean of so many most."""
        cut = self.cut(size)
        if self.cut(size + 1) == cut:
            return size - cut, 0, cut + 1
        return cut + 1, size - 2 * cut - 2, cut + 2

    def _beyond(self, column: Sorted, changes: int) -> Fraction:
        """Return a bound of A(k): the widest gap that may be beside a cut, and how far the mean is from there."""
        least, moved = column.size - changes - 1, changes + 1
        half = Fraction(column.top, 2)
        if least <= 0:
            return half
        ends = (column, column.mirrored)
        gap = max(self._gap(end, least, moved) for end in ends)
        far = max(self._depth(end, least, moved) for end in ends)
        return min(half, self.trim * gap + far / (least + 1))

    def _depth(self, column: Sorted, least: int, moved: int) -> Fraction:
        """Return how far the mean of so many may be below the upper cut, after so many changes."""
        cut = self.cut(least)
        total = column.upto(max(least - cut - moved, 0)) - column.upto(max(cut - moved, 0))
        total += cut * (column.at(cut + 1 - moved) + column.at(least - cut - moved))
        return column.at(column.size + 1 - cut + moved) - Fraction(total, least)

    def _gap(self, column: Sorted, least: int, moved: int) -> int:
        """Return the widest gap that may be below the upper cut."""
        first = math.ceil(least * (1 - self.trim)) - moved - 1
        return widest_gap(column, first, column.size - self.cut(least), moved)
