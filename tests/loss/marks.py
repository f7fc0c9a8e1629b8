"""How far the ranks of a quantile's marks are from the target: computed anew from the weighted rows.

A mark stands for the ranks s at which G(s), the mean of the quantile function over the ranks from s - window to s,
is that mark; the first and the last mark stand for all ranks beyond, too. Its mass falls with its distance from
the target rank. That distance is a linear function of the mark between two bends of G, up to the corner at the
target, so that the difference of two such distances is largest and smallest beside a bend or a corner of either,
or at an end.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Column: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Aim:
    """The public facts of a quantile: which one, how far off it aims, the window, and the first and last mark."""

    at: Fraction
    offset: Fraction
    window: int
    first: int
    last: int


class MarkRanks:
    """The ranks of marks for one column of (mark, weight)."""

    def __init__(self, column: Column, aim: Aim) -> None:
        self.aim = aim
        held: dict[int, int] = {}
        for mark, weight in column:
            inside = min(max(mark, aim.first), aim.last)
            held[inside] = held.get(inside, 0) + max(weight, 0)
        self._marks = sorted(mark for mark, weight in held.items() if weight)
        self._sums = [0]
        for mark in self._marks:
            self._sums.append(self._sums[-1] + held[mark])
        total = self._sums[-1]
        low, high = min(total, aim.window), max(total, aim.window)
        self.target = aim.at * high + (1 - aim.at) * low + aim.offset
        self._bends = sorted({bend for s in self._sums for bend in (s, s + aim.window)})
        # window * G at each bend: an integer, as weights and marks are.
        self._heights = [self._area(bend) - self._area(bend - aim.window) for bend in self._bends]

    def _area(self, rank: int) -> int:
        """Return the integral of the quantile function from rank 0 to a rank; left of 0 it is the first mark."""
        if rank <= 0:
            return rank * self.aim.first
        total = 0
        for place, mark in enumerate(self._marks):
            low, high = self._sums[place], self._sums[place + 1]
            total += mark * (min(high, rank) - low) if rank > low else 0
        return total + self.aim.last * max(0, rank - self._sums[-1])

    def distance(self, mark: int) -> Fraction:
        """Return how far the ranks of a mark are from the target."""
        if self.aim.first == self.aim.last:
            return Fraction(0)
        height = mark * self.aim.window
        least = self._rank(height, bisect_left(self._heights, height))
        most = self._rank(height, bisect_right(self._heights, height) - 1, up=True)
        below = Fraction(0) if mark == self.aim.first else least - self.target
        above = Fraction(0) if mark == self.aim.last else self.target - most
        return max(Fraction(0), below, above)

    def _rank(self, height: int, place: int, *, up: bool = False) -> Fraction:
        """Return the rank of a height that is reached at a bend, or just before (after, if `up`) it."""
        place = min(max(place, 0), len(self._bends) - 1)
        other = place + (1 if up else -1)
        here, there = self._heights[place], self._heights[min(max(other, 0), len(self._bends) - 1)]
        if here in (height, there):
            return Fraction(self._bends[place])
        slope = Fraction(self._bends[other] - self._bends[place], there - here)
        return self._bends[place] + (height - here) * slope

    def telling(self) -> set[int]:
        """Return marks among which each linear piece of the distance begins and ends."""
        first, last, window = self.aim.first, self.aim.last, self.aim.window
        found = {first, last}
        for height in [*map(Fraction, self._heights), self._height(self.target)]:
            found |= {math.floor(height / window) + step for step in (-1, 0, 1, 2)}
        return {mark for mark in found | {first + 1, last - 1} if first <= mark <= last}

    def _height(self, rank: Fraction) -> Fraction:
        """Return window * G at a rank."""
        place = bisect_right(self._bends, rank) - 1
        if place < 0 or place == len(self._bends) - 1:
            return Fraction(self._heights[max(place, 0)])
        rise = Fraction(
            self._heights[place + 1] - self._heights[place], self._bends[place + 1] - self._bends[place]
        )
        return self._heights[place] + (rank - self._bends[place]) * rise
