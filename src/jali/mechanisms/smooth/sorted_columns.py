"""Columns of marks in rising order: sorted only where they are read, or sorted with exact partial sums."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from jali.mechanisms.lattice import Marks

_FIRST = 1 << 11


class LazySortedColumn:
    """The marks x_(1) <= ... <= x_(n) of a column, with 0 before the first and `top` after the last.

    Args:
        marks: The marks in any order; the array is taken over and rearranged.
        top: The last mark of the ruler.

    Example:
        >>> column = LazySortedColumn(np.array([7, 3, 5]), 9)
        >>> [column[rank] for rank in range(-1, 6)]
        [0, 0, 3, 5, 7, 9, 9]
    """

    def __init__(self, marks: Marks, top: int) -> None:
        self._marks = marks
        self.top = top
        self._low = self._high = -1  # where the sorted part begins and ends

    def __len__(self) -> int:
        return len(self._marks)

    def __getitem__(self, rank: int) -> int:
        """Return x_(rank)."""
        return int(self.between(rank, rank)[0])

    def between(self, first: int, last: int) -> Marks:
        """Return x_(first), ..., x_(last)."""
        low, high = max(1, first), min(len(self), last)
        if low > high:
            inside = self._marks[:0]
        else:
            self._sort(low - 1, high)
            inside = self._marks[low - 1 : high]
        if first >= 1 and last <= len(self):
            return inside
        before = min(last, 0) - first + 1
        after = last - max(first, len(self) + 1) + 1
        ends = np.zeros(max(0, before), np.int64), np.full(max(0, after), self.top, np.int64)
        return np.concatenate((ends[0], inside, ends[1]))

    def take(self, ranks: Marks) -> Marks:
        """Return x_(rank) for each rank."""
        if len(self) == 0:
            return np.where(ranks > 0, self.top, 0)
        places = np.clip(ranks - 1, 0, len(self) - 1)
        self._sort(int(places.min()), int(places.max()) + 1)
        inside = self._marks[places]
        return np.where(ranks < 1, 0, np.where(ranks > len(self), self.top, inside))

    def _sort(self, low: int, high: int) -> None:
        """Have the places low, ..., high - 1 sorted, and everything outside on its side of them."""
        if self._low <= low and high <= self._high and self._low >= 0:
            return
        spare = max(_FIRST, 3 * (high - low))
        low, high = max(0, low - spare), min(len(self), high + spare)
        if 4 * (high - low) > len(self):
            low, high = 0, len(self)
        if self._low < 0:
            self._begin(low, high)
        self._extend(low, high)

    def _begin(self, low: int, high: int) -> None:
        if low > 0:
            self._marks.partition(low)
        rest = self._marks[low:]
        if high < len(self):
            rest.partition(high - low - 1)
        rest[: high - low].sort()
        self._low, self._high = low, high

    def _extend(self, low: int, high: int) -> None:
        if low < self._low:
            before = self._marks[: self._low]
            if low > 0:
                before.partition(low)
            before[low:].sort()
            self._low = low
        if high > self._high:
            after = self._marks[self._high :]
            count = high - self._high
            if count < len(after):
                after.partition(count - 1)
            after[:count].sort()
            self._high = high


_HALF = 30
_LIMB = 20
_MASK = (1 << _LIMB) - 1
_CHUNK = 1 << 22  # products of limbs are below 2^40, so that so many of them sum to less than 2^62


class SortedColumn:
    """A sorted column with marks from 0 to `top`, its padding at both ends, and its partial sums.

    Attributes:
        marks: The column, in order.
        top: The last mark.
    """

    def __init__(self, marks: Marks, top: int) -> None:
        self.marks, self.top, self.size = marks, top, len(marks)
        self._high = np.concatenate(([0], np.cumsum(marks >> _HALF)))
        self._low = np.concatenate(([0], np.cumsum(marks & ((1 << _HALF) - 1))))

    def at(self, rank: int) -> int:
        """Return the mark of a rank from 1 to n; 0 before, and the last mark behind."""
        if rank < 1:
            return 0
        return self.top if rank > self.size else int(self.marks[rank - 1])

    def upto(self, rank: int) -> int:
        """Return the sum of so many smallest marks."""
        return (int(self._high[rank]) << _HALF) + int(self._low[rank])

    def window(self, start: int, stop: int) -> Marks:
        """Return the marks of ranks start to stop - 1, padded at both ends."""
        inside = self.marks[max(start - 1, 0) : max(stop - 1, 0)]
        before = np.zeros(min(max(0, 1 - start), stop - start), np.int64)
        behind = np.full(stop - start - len(inside) - len(before), self.top, np.int64)
        return np.concatenate((before, inside, behind))

    @cached_property
    def mirror(self) -> SortedColumn:
        """The same column seen from the other end of the range."""
        return SortedColumn(self.top - self.marks[::-1], self.top)

    def squares(self) -> int:
        """Return the sum of the squares of all marks."""
        return sum(_squares(self.marks[i : i + _CHUNK]) for i in range(0, self.size, _CHUNK))


def _squares(marks: Marks) -> int:
    """Square in limbs of 20 bits: marks have at most 61."""
    limbs = [(marks >> (_LIMB * i)) & _MASK for i in range(3)] + [marks >> (3 * _LIMB)]
    pairs = ((i, j) for i in range(4) for j in range(4))
    return sum(int(np.dot(limbs[i], limbs[j])) << (_LIMB * (i + j)) for i, j in pairs)
