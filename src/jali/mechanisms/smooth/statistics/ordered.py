"""A column of marks in rising order, of which only the part that is looked at is ever sorted."""

from __future__ import annotations

import numpy as np

from jali.mechanisms.ruler import Marks

_FIRST = 1 << 11


class Ordered:
    """The marks x_(1) <= ... <= x_(n) of a column, with 0 before the first and `top` after the last.

    Args:
        marks: The marks in any order; the array is taken over and rearranged.
        top: The last mark of the ruler.

    Example:
        >>> column = Ordered(np.array([7, 3, 5]), 9)
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
