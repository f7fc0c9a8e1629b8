"""Exact sums over a sorted column of marks, however large the marks are."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from jali.mechanisms.ruler import Marks

_HALF = 30
_LIMB = 20
_MASK = (1 << _LIMB) - 1
_CHUNK = 1 << 22  # products of limbs are below 2^40, so that so many of them sum to less than 2^62


class Sorted:
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
    def mirrored(self) -> Sorted:
        """The same column seen from the other end of the range."""
        return Sorted(self.top - self.marks[::-1], self.top)

    def squares(self) -> int:
        """Return the sum of the squares of all marks."""
        return sum(_squares(self.marks[i : i + _CHUNK]) for i in range(0, self.size, _CHUNK))


def _squares(marks: Marks) -> int:
    """Square in limbs of 20 bits: marks have at most 61."""
    limbs = [(marks >> (_LIMB * i)) & _MASK for i in range(3)] + [marks >> (3 * _LIMB)]
    pairs = ((i, j) for i in range(4) for j in range(4))
    return sum(int(np.dot(limbs[i], limbs[j])) << (_LIMB * (i + j)) for i, j in pairs)
