"""Local sensitivity at a distance for the variance under replace-one.

Proof:
    docs/proofs/smooth_means.md, Variance, replace-one.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from jali.mechanisms.smooth.statistics.sums import Sorted


class Replacing:
    """How far the variance of n marks moves when one of them is replaced: (n-1)/n^2 |(v-z)^2 - (e-z)^2|.

    Here e becomes v, and z is the mean of the others. All sums are over n - 1 others, times n - 1.
    """

    def __init__(self, column: Sorted) -> None:
        self._ends = (column, column.mirrored)

    def at(self, changes: int) -> Fraction:
        """Return A(k)."""
        size = self._ends[0].size
        if size < 2:
            return Fraction(0)
        if changes >= size:
            return Fraction((size - 1) * self._ends[0].top ** 2, size**2)
        most = max(moved for end in self._ends for moved in _moves(end, changes))
        return most * (size - 1) / size**2


def _moves(column: Sorted, changes: int) -> Iterator[Fraction]:
    """Yield the best with the others as low as they can be: a rise to the last mark, and a fall from high up."""
    others, left = column.size - 1, column.size - changes
    for kept in _nearby(column, left):
        yield _rise(column, kept, Fraction(column.upto(left) - kept, others))
    yield _fall(column.at(column.size), Fraction(column.upto(left - 1), others))
    if changes:
        low = Fraction(column.upto(left), others)
        yield _rise(column, _nearest(low), low)
        yield _fall(column.top, low)


def _nearby(column: Sorted, left: int) -> Iterator[int]:
    """Yield the kept marks on both sides of where the rise has its peak, as a function of the mark that moves."""
    others = column.size - 1
    root = Fraction(2 * column.upto(left) - others * column.top, others + 2)
    rank = int(np.searchsorted(column.marks[:left], int((column.top + root) // 2), side="right"))
    yield from (column.at(near) for near in (rank, rank + 1) if 1 <= near <= left)


def _rise(column: Sorted, mark: int, low: Fraction) -> Fraction:
    """Return how much further from the mean of the others the last mark is, in squares."""
    return (column.top - mark) * (column.top + mark - 2 * low)


def _fall(mark: int, low: Fraction) -> Fraction:
    """Return how much nearer the mark nearest to the mean of the others is, in squares."""
    return (mark - low) ** 2 - (_nearest(low) - low) ** 2


def _nearest(value: Fraction) -> int:
    return int((2 * value + 1) // 2)
