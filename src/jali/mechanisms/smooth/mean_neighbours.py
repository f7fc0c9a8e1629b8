"""Columns after people joined and left, in the shapes in which one more person moves a mean most.

Proof:
    docs/proofs/smooth_means.md, Joining and leaving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.sorted_columns import SortedColumn

NEAR = 8  # changes up to which all shapes are tried
SMALL = 20  # people and changes together up to which they are tried as well

# How many of the people are low, in between and high, for the step from a size to the next.
Shape = Callable[[int], tuple[int, int, int]]
# The mean of so many smallest marks.
Centre = Callable[["SortedColumn | RearrangedColumn", int], Fraction]
# A bound of A(k), for a column and k.
NeighbourBound = Callable[[SortedColumn, int], Fraction]


@dataclass(frozen=True)
class RearrangedColumn:
    """A column after some people left and others joined: low, in between, high.

    Attributes:
        column: What it was before.
        zeros: How many joined at the first mark.
        lowest: How many of the smallest stayed.
        level: Where those who joined in between are; how many they are is `joined`.
        joined: See `level`.
        start: How many are before those in between who stayed, in the old column.
        kept: How many in between stayed.
        highest: How many of the largest stayed.
        tops: How many joined at the last mark.
    """

    column: SortedColumn
    zeros: int
    lowest: int
    level: int
    joined: int
    start: int
    kept: int
    highest: int
    tops: int

    @property
    def size(self) -> int:
        """How many people there are now."""
        return self.zeros + self.lowest + self.joined + self.kept + self.highest + self.tops

    def at(self, rank: int) -> int:
        """Return the mark of a rank from 1 on."""
        return self._find(rank)[0]

    def upto(self, rank: int) -> int:
        """Return the sum of so many smallest marks."""
        return self._find(rank)[1] if rank else 0

    def _find(self, rank: int) -> tuple[int, int]:
        """Return the mark of a rank, and the sum up to it."""
        column, total = self.column, 0
        for count, start, level in self._parts():
            if rank <= count:
                if start is None:
                    return level, total + rank * level
                return column.at(start + rank), total + column.upto(start + rank) - column.upto(start)
            rank -= count
            total += count * level if start is None else column.upto(start + count) - column.upto(start)
        return column.top, total

    def _parts(self) -> Iterator[tuple[int, int | None, int]]:
        """Yield the parts in order: a size, and where it was in the old column or else its level."""
        yield self.zeros, None, 0
        yield self.lowest, 0, 0
        yield self.joined, None, self.level
        yield self.kept, self.start, 0
        yield self.highest, self.column.size - self.highest, 0
        yield self.tops, None, self.column.top


class MeanNeighbourhood:
    """How far the last person moves a mean, over all columns at a distance, level by level.

    Where changes are many, and the column not small, a bound takes the place of the search. Neighbouring columns
    and one more change lead from bounds to bounds, never back to the search.
    """

    def __init__(self, column: SortedColumn, centre: Centre, shape: Shape, bound: NeighbourBound) -> None:
        self._column, self._ends = column, (column, column.mirror)
        self._centre, self._shape, self._bound = centre, shape, bound
        self._most: list[Fraction] = []

    def at(self, changes: int) -> Fraction:
        """Return the largest local sensitivity within so many changes, or a bound of it."""
        if changes >= self._column.size:  # all may have left
            return Fraction(self._column.top, 2)
        if changes > NEAR and self._column.size + changes > SMALL:
            return self._bound(self._column, changes)
        return self._find_largest(changes)

    def _find_largest(self, changes: int) -> Fraction:
        while len(self._most) <= changes:
            level = len(self._most)
            found = (self._measure_rise(blocks) for blocks in self._level(level))
            self._most.append(max((*self._most[-1:], *found), default=Fraction(0)))
        return self._most[changes]

    def _measure_rise(self, blocks: RearrangedColumn) -> Fraction:
        """Return how far the largest of a column raises the mean of the others."""
        size = blocks.size
        before = self._centre(blocks, size - 1) if size > 1 else Fraction(blocks.column.top, 2)
        return self._centre(blocks, size) - before

    def _level(self, changes: int) -> Iterator[RearrangedColumn]:
        """Yield the columns at a distance, and those with one more person at the last mark."""
        for column in self._ends:
            for more in (0, 1):
                for joined, left in _splits(changes + more, column.size):
                    size = column.size + joined - left
                    if size > 0:
                        yield from _arrange(column, joined, self._shape(size - 1), more)


def _splits(changes: int, people: int) -> Iterator[tuple[int, int]]:
    """Yield how many join and how many leave."""
    return ((changes - left, left) for left in range(min(changes, people) + 1))


def _arrange(
    column: SortedColumn, joined: int, sizes: tuple[int, int, int], least: int
) -> Iterator[RearrangedColumn]:
    """Yield the ways to place those who joined, and who stays in between; at least so many at the last mark."""
    low, between, high = sizes
    for zeros in range(min(low, joined) + 1):
        for tops in range(max(least, joined - zeros - between), min(high, joined - zeros) + 1):
            inside = joined - zeros - tops
            lowest, kept, highest = low - zeros, between - inside, high - tops
            last = column.size - highest - kept if kept else lowest
            for start in range(lowest, last + 1):
                level = column.at(start + 1) if kept else column.at(column.size - highest + 1)
                yield RearrangedColumn(column, zeros, lowest, level, inside, start, kept, highest, tops)
