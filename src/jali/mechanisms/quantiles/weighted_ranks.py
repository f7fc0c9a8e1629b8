"""Ranks of the points of a bounded lattice in a column: by steps, linear between the values, or by weight.

A column is a sparse histogram of integer weights. The distances from a target rank are unimodal: the points
within a given distance form an interval, and its ends are order statistics. So an exact draw needs a few of them
only, however long the column is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.lattice import Marks

Integers: TypeAlias = NDArray[Any]

_SAFE_WEIGHT = 1 << 60


@dataclass(frozen=True, eq=False)
class WeightedMarks:
    """Distinct marks in rising order, each with a weight above 0.

    Attributes:
        marks: Where rows are.
        weights: What they weigh together: int64 if no sum of them overflows, Python ints otherwise.
    """

    marks: Marks
    weights: Integers

    @classmethod
    def of(cls, value: Any, top: int) -> WeightedMarks:
        """Read (marks, weights), in any order, a mark as often as it comes.

        Total in the data: marks beyond the lattice count as its ends, and weights below 0 as 0. Types and lengths
        are the caller's.
        """
        marks, weights = _read_pair(value)
        inside = np.clip(marks, 0, top).astype(np.int64)
        return cls._merge_equal(inside, _widen_for_sums(np.maximum(weights, 0)))

    @classmethod
    def ones(cls, marks: Marks, top: int) -> WeightedMarks:
        """Return the marks of a column on a short lattice, each value with a weight of one."""
        counts = np.bincount(marks, minlength=top + 1)
        held = np.flatnonzero(counts)
        return cls(held, counts[held])

    @classmethod
    def _merge_equal(cls, marks: Marks, weights: Integers) -> WeightedMarks:
        held = np.flatnonzero(weights)
        order = held[np.argsort(marks[held], kind="stable")]
        marks, weights = marks[order], weights[order]
        starts = np.flatnonzero(np.diff(marks, prepend=-1))
        if len(starts) == len(marks):
            return cls(marks, weights)
        return cls(marks[starts], np.add.reduceat(weights, starts))

    @cached_property
    def sums(self) -> Integers:
        """The weight below each mark, and the total at the end."""
        return np.concatenate((np.zeros(1, self.weights.dtype), np.cumsum(self.weights)))

    @property
    def total(self) -> int:
        """What all rows weigh together."""
        return int(self.sums[-1])


def _read_pair(value: Any) -> tuple[Integers, Integers]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise MechanismError("weighted-marks-not-a-pair")
    marks, weights = _read_integers(value[0], "marks"), _read_integers(value[1], "weights")
    if len(marks) != len(weights):
        raise MechanismError("weighted-marks-differ")
    return marks, weights


def _read_integers(values: Any, name: str) -> Integers:
    """Read integers by their type; numpy would make doubles of [2**63, 1]."""
    array = values if isinstance(values, np.ndarray) else _list_integers(values, name)
    if array.ndim != 1:
        raise MechanismError("parameter-not-one-dimensional", name=name)
    if array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "uO" or not all(type(item) is int for item in array.tolist()):
        raise MechanismError("parameter-not-integers", name=name)
    return array.astype(object)


def _list_integers(values: Any, name: str) -> Integers:
    if not isinstance(values, Sequence) or isinstance(values, str | bytes):
        raise MechanismError("parameter-not-a-list-of-integers", name=name)
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _widen_for_sums(weights: Integers) -> Integers:
    """Return int64 if no sum can overflow, Python ints otherwise: the same numbers."""
    largest = int(weights.max()) if len(weights) else 0
    return weights.astype(np.int64 if largest * len(weights) < _SAFE_WEIGHT else object, copy=False)


_SAFE_RANK = 1 << 60


@dataclass(frozen=True, eq=False)
class Ranks(ABC):
    """A sorted column on the marks `first` .. `last`, and the rank that is wanted.

    Attributes:
        values: Marks, in rising order, all of them in the range.
        first: The first mark of the range.
        last: The last one.
        target: The rank.
    """

    values: Marks
    first: int
    last: int
    target: Fraction

    @abstractmethod
    def span(self, mark: int) -> tuple[Fraction, Fraction]:
        """Return the least and the largest rank that a mark stands for."""

    @abstractmethod
    def within(self, distance: Fraction) -> tuple[int, int]:
        """Return the first and the last mark whose ranks come as near as this; some mark does."""

    @property
    @abstractmethod
    def best(self) -> Fraction:
        """The least distance that a mark has."""

    def distance(self, mark: int) -> Fraction:
        """Return how far the ranks of a mark are from the target."""
        least, most = self.span(mark)
        return max(Fraction(0), least - self.target, self.target - most)

    def counts(self, mark: int) -> tuple[int, int]:
        """Return how many values are below a mark, and how many at or below it."""
        return int(self.values.searchsorted(mark, "left")), int(self.values.searchsorted(mark, "right"))


class StepRanks(Ranks):
    """A mark stands for all ranks from #{x < mark} to #{x <= mark}."""

    best = Fraction(0)

    def span(self, mark: int) -> tuple[Fraction, Fraction]:
        """Return the two counts."""
        below, up_to = self.counts(mark)
        return Fraction(below), Fraction(up_to)

    def within(self, distance: Fraction) -> tuple[int, int]:
        """Return the order statistics at the target less and more the distance."""
        low, high = math.ceil(self.target - distance), math.floor(self.target + distance)
        first = self.first if low <= 0 else int(self.values[low - 1])
        return first, self.last if high >= len(self.values) else int(self.values[high])


class LinearRanks(Ranks):
    """The i-th value has rank i, the ends of the range 0 and n + 1; between them the rank grows evenly."""

    def span(self, mark: int) -> tuple[Fraction, Fraction]:
        """Return the ranks of the values at a mark, or the rank in proportion between its neighbours."""
        below, up_to = self.counts(mark)
        if mark in (self.first, self.last) or below < up_to:
            least = 0 if mark == self.first else below + 1
            return Fraction(least), Fraction(len(self.values) + 1 if mark == self.last else up_to)
        start, end = self._knot(below), self._knot(below + 1)
        rank = below + Fraction(mark - start, end - start)
        return rank, rank

    def within(self, distance: Fraction) -> tuple[int, int]:
        """Return the values of the ranks at the target less and more the distance, rounded inwards."""
        return math.ceil(self.at(self.target - distance)), math.floor(self.at(self.target + distance))

    def at(self, rank: Fraction) -> Fraction:
        """Return the value of a rank: a knot, or in proportion between two."""
        inside = min(max(rank, Fraction(0)), Fraction(len(self.values) + 1))
        whole = math.floor(inside)
        start = self._knot(whole)
        return start + (inside - whole) * (self._knot(whole + 1) - start)

    @cached_property
    def best(self) -> Fraction:
        """The distance of the marks beside the value of the target."""
        aim = self.at(self.target)
        return min(self.distance(math.floor(aim)), self.distance(math.ceil(aim)))

    def _knot(self, rank: int) -> int:
        if rank <= 0:
            return self.first
        return self.last if rank > len(self.values) else int(self.values[rank - 1])


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
        sums = column.sums if column.total + window < _SAFE_RANK else column.sums.astype(object)
        bends = np.sort(np.concatenate((sums, sums + window)), kind="stable")
        marks = np.concatenate(([first], column.marks, [last]))
        slopes = marks[sums.searchsorted(bends, "right")] - marks[sums.searchsorted(bends - window, "right")]
        if window * (last + 1) >= _SAFE_RANK:
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


def sort_marks(marks: Marks | Sequence[int]) -> Marks:
    """Return marks in rising order."""
    return np.sort(np.asarray(marks, np.int64))


def find_usual_target(at: Fraction, count: int) -> Fraction:
    """Return the rank of the quantile `at` among `count` values, counted from 1; `at` if there are none.

    The value of this rank is the quantile by linear interpolation that numpy gives. From one count to the next it
    grows by `at`, and from 0 to 1 by 1 - at.
    """
    return 1 + at * (count - 1) if count else at


def find_largest_distance(at: Sequence[Fraction], column: Marks, marks: Sequence[int]) -> float:
    """Return the largest distance of at*n from the ranks #{x < mark} to #{x <= mark}."""
    last = max((*marks, 0))
    ranks = (StepRanks(column, 0, last, share * len(column)) for share in at)
    return float(max(rank.distance(mark) for rank, mark in zip(ranks, marks, strict=True)))


def find_weighted_target(at: Fraction, total: int, window: int) -> Fraction:
    """Return the rank of the quantile `at` of a total weight: `find_usual_target` where a window is one value.

    It lies in the proportion `at` between the window and the total, whichever is larger. The window that ends
    there leaves the share `at` of what is outside of it below. It grows with the total by `at`, or by 1 - at as
    long as the total is less than the window.
    """
    return at * max(total, window) + (1 - at) * min(total, window)
