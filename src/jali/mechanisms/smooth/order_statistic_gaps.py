"""Local sensitivity of order statistics at a distance: which of them k changes can make neighbouring answers.

A quantile is f(x) = x_(m(n)) with m(0) = 0 and m(n) = max(1, ceil(at n)), where x_(0) = low and x_(n+1) = high.
A(k) is the largest x_(j) - x_(i) over the pairs of ranks i < j that k changes can empty in between and balance
around. docs/proofs/smooth_sensitivity.md derives the pairs.

For a quantile other than the median, where people are added and removed: with i values kept below the gap and h
above it, k changes suffice if and only if n - 2(i + h) + max(s(i), t(h), i + h) <= k, where s(i) and t(h) are the
least sizes of balanced tables with so many values on that side (docs/proofs/smooth_sensitivity.md, Theorem 3).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, TypeAlias

import numpy as np

from jali.mechanisms.lattice import Marks
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn
from jali.numbers.search import least_integer

RankPairs: TypeAlias = Callable[[Marks], tuple[Marks, Marks]]
_FEW = 1 << 12


def widest_of_pairs(column: LazySortedColumn, pairs: RankPairs, first: int, last: int) -> int:
    """Return the largest x_(j) - x_(i) over the pairs (i, j) that belong to first, ..., last.

    Args:
        column: The values.
        pairs: Gives i and j; both never fall, or both never rise, along first, ..., last.
        first: The first place.
        last: The last place, at least `first`.
    """
    if last - first < _FEW:
        return _largest(column, pairs, np.arange(first, last + 1))
    best, starts, stride = _promising(column, pairs, first, last)
    return _inside(column, pairs, starts, stride, last, best)


def widest_of_width(column: LazySortedColumn, width: int, first: int, last: int) -> int:
    """Return the largest x_(i + width) - x_(i) over i = first, ..., last."""
    if last - first >= _FEW:
        pairs: RankPairs = lambda i: (i, i + width)  # noqa: E731 - the argument of two calls
        best, starts, stride = _promising(column, pairs, first, last)
        if 16 * len(starts) * stride < last - first:  # else slices are faster than picking
            return _inside(column, pairs, starts, stride, last, best)
    return int((column.between(first + width, last + width) - column.between(first, last)).max())


def _promising(column: LazySortedColumn, pairs: RankPairs, first: int, last: int) -> tuple[int, Marks, int]:
    """Return the widest gap on a coarse grid, and the stretches that could hide a wider one.

    Between two places of the grid no gap is wider than from the lower of their left ends to the higher of their
    right ends, so that most stretches need no closer look.
    """
    stride = isqrt(last - first)
    grid = np.append(np.arange(first, last, stride), last)
    left, right = (column.take(ranks) for ranks in pairs(grid))
    best = int((right - left).max())
    within = np.maximum(right[:-1], right[1:]) - np.minimum(left[:-1], left[1:])
    return best, grid[:-1][within > best], stride


def _inside(column: LazySortedColumn, pairs: RankPairs, starts: Marks, stride: int, last: int, best: int) -> int:
    """Return the widest gap at the places of these stretches, if wider than the best one known."""
    if not len(starts):
        return best
    places = (starts[:, None] + np.arange(1, stride)).ravel()
    return max(best, _largest(column, pairs, np.minimum(places, last)))


def _largest(column: LazySortedColumn, pairs: RankPairs, places: Marks) -> int:
    i, j = pairs(places)
    return int((column.take(j) - column.take(i)).max())


_SAFE = 1 << 62


@dataclass(frozen=True)
class GapSide(ABC):
    """The side of the gap on which values count for less, and what it asks of the other side.

    Attributes:
        at: The share of the values at or below the quantile.
        people: How many values there are.
        changes: How many people may be added or removed; fewer than there are.
    """

    at: Fraction
    people: int
    changes: int

    @property
    @abstractmethod
    def last(self) -> int:
        """The most values that can be kept on this side."""

    @property
    @abstractmethod
    def least(self) -> int:
        """No fewer values than so many can be kept on this side."""

    @abstractmethod
    def size(self, kept: Any) -> Any:
        """Return the least size of a balanced table with so many values on this side."""

    @abstractmethod
    def other_size(self, kept: int) -> int:
        """Return the least size of a balanced table with so many values on the other side."""

    @property
    def first(self) -> int:
        """The fewest values that can be kept on this side: by bisection, as with more of them it gets easier."""
        return least_integer(self._possible, max(0, self.least) - 1, self.last)

    def fewest(self, kept: Any) -> Any:
        """Return how few values must be kept on the other side: for a number, or for each of many."""
        missing = self.people - self.changes - kept
        needed = -((kept - missing - self.size(kept)) // 2)
        if isinstance(kept, int):
            return max(0, missing, needed)
        return np.maximum(0, np.maximum(missing, needed))

    def _possible(self, kept: int) -> bool:
        other: int = self.fewest(kept)
        return self.other_size(other) <= self.changes - self.people + 2 * (kept + other)


class BelowGap(GapSide):
    """The values below the gap, for a quantile above the median."""

    @property
    def last(self) -> int:
        """The largest i with s(i) <= n + k."""
        size = self.people + self.changes + 1
        return min(self.people, -(-self.at.numerator * size // self.at.denominator) - 1)

    @property
    def least(self) -> int:
        """The rank less the changes and one."""
        return -(-self.at.numerator * self.people // self.at.denominator) - self.changes - 1

    def size(self, kept: Any) -> Any:
        """Return s(i) = floor(i / at)."""
        return quotient(kept, self.at.denominator, self.at.numerator)

    def other_size(self, kept: int) -> int:
        """Return t(h) = ceil((h - 1) / (1 - at)) + 1, and 0 for none."""
        other = self.at.denominator - self.at.numerator
        return 1 - (1 - kept) * self.at.denominator // other if kept else 0


class AboveGap(GapSide):
    """The values above the gap, for a quantile below the median."""

    @property
    def last(self) -> int:
        """The largest h with t(h) <= n + k."""
        size = self.people + self.changes + 1
        return min(self.people, (self.at.denominator - self.at.numerator) * size // self.at.denominator)

    @property
    def least(self) -> int:
        """The number of values above the rank, less the changes."""
        above = (self.at.denominator - self.at.numerator) * self.people // self.at.denominator
        return above - self.changes

    def size(self, kept: Any) -> Any:
        """Return t(h) = ceil(h / (1 - at)) - 1, and 0 for none."""
        larger = -quotient(-kept, self.at.denominator, self.at.denominator - self.at.numerator)
        return larger - (kept > 0)

    def other_size(self, kept: int) -> int:
        """Return s(i) = floor((i - 1) / at) + 2, and 0 for none."""
        return (kept - 1) * self.at.denominator // self.at.numerator + 2 if kept else 0


def quotient(counts: Any, numerator: int, denominator: int) -> Any:
    """Return floor(counts * numerator / denominator), within 62 bits for an array."""
    if isinstance(counts, int):
        return counts * numerator // denominator
    if int(np.abs(counts).max(initial=0)) * numerator < _SAFE and denominator < _SAFE:
        return counts * numerator // denominator
    exact = [count * numerator // denominator for count in counts.tolist()]
    return np.array([max(-_SAFE, min(_SAFE, item)) for item in exact], np.int64)


def rank_of(at: Fraction, people: int) -> int:
    """Return the rank of a quantile among so many values."""
    return min(people, max(1, -(-at.numerator * people // at.denominator)))


def gap_when_replacing(column: LazySortedColumn, at: Fraction, changes: int) -> int:
    """Return A(k) in marks where one person's value is replaced (Theorem 2)."""
    people = len(column)
    if changes >= people:
        return column.top if people else 0
    rank, width = rank_of(at, people), changes + 1
    return widest_of_width(column, width, max(0, rank - width), min(rank, people + 1 - width))


def gap_when_adding(column: LazySortedColumn, at: Fraction, changes: int) -> int:
    """Return A(k) in marks where one person is added or removed (Theorem 3)."""
    if changes >= len(column):
        return column.top
    if has_gaps(at):
        return int(gaps_when_adding(column, at, np.array([changes]))[0])
    return _upper_gap(column, at, changes) if 2 * at > 1 else _lower_gap(column, at, changes)


def has_gaps(at: Fraction) -> bool:
    """Return whether `gaps_when_adding` knows the quantile: the median and both extremes."""
    return at in (0, Fraction(1, 2), 1)


def gaps_when_adding(column: LazySortedColumn, at: Fraction, changes: Marks) -> Marks:
    """Return A(k) in marks for many k at once, where one person is added or removed (Theorem 3)."""
    if at == Fraction(1, 2):
        return _median_gaps(column, changes)
    return _largest_gaps(column, changes) if at == 1 else _least_gaps(column, changes)


def _median_gaps(column: LazySortedColumn, changes: Marks) -> Marks:
    people = len(column)
    return column.take((changes + people + 2) // 2) - column.take(-((changes + 1 - people) // 2))


def _least_gaps(column: LazySortedColumn, changes: Marks) -> Marks:
    from_first = column.take(changes + 2) - column[1]
    return np.maximum(column.take(changes + 1), np.where(changes == len(column) - 1, 0, from_first))


def _largest_gaps(column: LazySortedColumn, changes: Marks) -> Marks:
    people = len(column)
    to_last = column[people] - column.take(people - changes - 1)
    return np.maximum(column.top - column.take(people - changes), to_last)


def _upper_gap(column: LazySortedColumn, at: Fraction, changes: int) -> int:
    """Take the widest gap above each number of values that stay below it."""
    side, end = BelowGap(at, len(column), changes), len(column) + 1
    return widest_of_pairs(column, lambda i: (i, end - side.fewest(i)), side.first, side.last)


def _lower_gap(column: LazySortedColumn, at: Fraction, changes: int) -> int:
    """Take the widest gap below each number of values that stay above it."""
    side, end = AboveGap(at, len(column), changes), len(column) + 1
    return widest_of_pairs(column, lambda h: (side.fewest(h), end - h), side.first, side.last)
