"""Ranks by weight that grow evenly between the values: those of a quantile function averaged over a window."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.quantiles.ranks import LinearRanks
from jali.mechanisms.quantiles.weighted_marks import Integers, WeightedMarks

_SAFE = 1 << 60


@dataclass(frozen=True, eq=False)
class WindowLine:
    """The line s -> window * G(s), G(s) the mean of the quantile function over the ranks from s - window to s.

    The quantile function is the first mark below rank 0 and the last one above the total weight. With weights 1
    and a window of 1, G is the line through the points (i, i-th value): that of `LinearRanks`.

    Attributes:
        ranks: Where the line bends, not falling: from 0 to the total weight and the window.
        heights: Its value there, not falling.
        slopes: How steep it is behind each bend: a distance of two marks; 0 behind the last.

    Proof:
        docs/proofs/weighted_quantile.md, Lemma 1.
    """

    ranks: Integers
    heights: Integers
    slopes: Integers

    @classmethod
    def of(cls, column: WeightedMarks, first: int, last: int, window: int) -> WindowLine:
        """Return the line of a column on the marks `first` to `last`."""
        sums = column.sums if column.total + window < _SAFE else column.sums.astype(object)
        bends = np.sort(np.concatenate((sums, sums + window)), kind="stable")
        marks = np.concatenate(([first], column.marks, [last]))
        slopes = marks[sums.searchsorted(bends, "right")] - marks[sums.searchsorted(bends - window, "right")]
        if window * (last + 1) >= _SAFE:
            slopes = slopes.astype(object)
        rises = np.cumsum(slopes[:-1] * np.diff(bends))
        return cls(bends, np.concatenate(([0], rises)) + first * window, slopes)

    @cached_property
    def lists(self) -> tuple[list[int], list[int], list[int]]:
        """The same as Python ints, for single look-ups."""
        return self.ranks.tolist(), self.heights.tolist(), self.slopes.tolist()

    def height(self, rank: Fraction) -> tuple[int, int]:
        """Return the height at a rank as a quotient; beyond the ends, that of the end."""
        ranks, heights, slopes = self.lists
        above, below = rank.numerator, rank.denominator
        if above <= 0:
            return heights[0], 1
        place = bisect_right(ranks, above // below) - 1
        return heights[place] * below + (above - ranks[place] * below) * slopes[place], below

    def spans(self, height: int) -> tuple[Fraction, Fraction]:
        """Return the least and the largest rank of a height between the ends."""
        ranks, heights, slopes = self.lists
        found = []
        for place in (bisect_left(heights, height), bisect_right(heights, height)):
            before = max(place - 1, 0)
            rise = Fraction(height - heights[before], slopes[before] or 1)  # the ends of the line are level
            found.append(ranks[before] + rise)
        return found[0], found[1]


@dataclass(frozen=True, eq=False)
class WindowRanks(LinearRanks):
    """A mark stands for the ranks at which the mean over the window is that mark; the ends for all beyond, too.

    Attributes:
        line: The means.
        window: The weight that they are taken over.
    """

    line: WindowLine
    window: int

    @classmethod
    def of(cls, column: WeightedMarks, ends: tuple[int, int], window: int, target: Fraction) -> WindowRanks:
        """Return the distances of the marks between two ends from a rank."""
        return cls(column.marks, *ends, target, WindowLine.of(column, *ends, window), window)

    def span(self, mark: int) -> tuple[Fraction, Fraction]:
        """Return the ranks of a mark; those of the ends hold the target if it lies beyond them."""
        least, most = self.line.spans(mark * self.window)
        if mark == self.first:
            least = min(least, self.target)
        return least, max(most, self.target) if mark == self.last else most

    def at(self, rank: Fraction) -> Fraction:
        """Return the mean over the window that ends at a rank."""
        above, below = self.line.height(rank)
        return Fraction(above, below * self.window)

    def within(self, distance: Fraction) -> tuple[int, int]:
        """Return the means at the target less and more the distance, rounded inwards: in plain integers."""
        low, one = self.line.height(self.target - distance)
        high, other = self.line.height(self.target + distance)
        return -(-low // (one * self.window)), high // (other * self.window)


def weighted_target(at: Fraction, total: int, window: int) -> Fraction:
    """Return the rank of the quantile `at` of a total weight: `usual_target` where a window is one value.

    It lies in the proportion `at` between the window and the total, whichever is larger. The window that ends
    there leaves the share `at` of what is outside of it below. It grows with the total by `at`, or by 1 - at as
    long as the total is less than the window.
    """
    return at * max(total, window) + (1 - at) * min(total, window)
