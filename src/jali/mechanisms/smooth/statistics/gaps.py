"""Local sensitivity at a distance for a winsorised mean under replace-one: two gaps beside the cut, and its width.

Proof:
    docs/proofs/smooth_means.md, Winsorised mean.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.smooth.statistics.sums import Sorted

NEAR = 96  # changes up to which all pairs of gaps are tried

Integers = NDArray[Any]


class Gaps:
    """How far a largest value raises the winsorised mean: (m+1)(s - p) - m(r - q), over n.

    Here p, q, r, s are the marks of ranks m + 1, m + 2, n - m, n - m + 1, and at least 3 ranks are not cut.
    """

    def __init__(self, column: Sorted, cut: int) -> None:
        self._column, self._cut = column, cut
        self._between = column.size - 2 * cut - 1
        self._padded = np.concatenate(([0], column.marks, [column.top]))
        self._made: dict[int, tuple[Integers, Integers]] = {}

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

    def _tables(self, size: int) -> tuple[Integers, Integers]:
        """Return what both gaps yield, by the changes outside (rows) and within (columns), up to a size."""
        if size not in self._made:
            self._made[size] = self._low(size), self._high(size)
        return self._made[size]

    def _low(self, size: int) -> Integers:
        """Return m q - (m+1) p for the lower gap."""
        outside, within = np.ogrid[:size, :size]
        p = self._ranks(self._cut + 1 - outside)
        return np.asarray(self._ranks(self._cut + 2 - outside + within) * self._cut - p * (self._cut + 1))

    def _high(self, size: int) -> Integers:
        """Return (m+1) s - m r for the upper gap: the best of the rows that leave someone in between."""
        outside, within = np.ogrid[:size, :size]
        rank = self._column.size - self._cut + outside
        table = self._ranks(rank + 1) * (self._cut + 1) - self._ranks(rank - within) * self._cut
        if self._between >= size:
            return np.maximum.accumulate(table, axis=0)
        firsts = [max(0, row + 1 - self._between) for row in range(size)]
        return np.array([table[first : row + 1].max(axis=0) for row, first in enumerate(firsts)], dtype=object)

    def _ranks(self, ranks: Integers) -> Integers:
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


def _widest(column: Sorted, first: int, last: int, changes: int) -> int:
    """Return the widest gap after so many left it, with its lower end at one of these ranks."""
    ends = column.window(first, last + changes + 2)
    return int((ends[changes + 1 :] - ends[: last - first + 1]).max())


def widest_gap(column: Sorted, first: int, last: int, changes: int) -> int:
    """Return the same for ranks that may be beyond the ends of the column."""
    first, last = max(first, 0), min(last, column.size)
    return _widest(column, first, last, changes) if first <= last else column.top
