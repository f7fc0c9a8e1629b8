"""The most frequent value of a column with few marks, and how many changes make another value the winner.

The winner is the mark with the highest count, the smallest of them where several have it. For marks a < b, a table
is on the edge between them if one change turns its winner from a to b or back. There are few ways to be:
with a height M, the counts of a and b are (M, M), (M, M - 1), (M - 1, M) or (M - 1, M + 1), and no other mark has
more than M, or M - 1 if it would win a tie (docs/proofs/smooth_sensitivity.md, Theorem 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.base import read_natural
from jali.mechanisms.lattice import Marks
from jali.mechanisms.smooth.column_statistic import LatticeStatistic
from jali.mechanisms.smooth.discounted_maximum import smooth_bound
from jali.mechanisms.smooth.statistic import SmoothBound
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

NEVER = 1 << 61
_TOP_COUNTS = 5
Edge: TypeAlias = tuple[int, int, bool]
"""What a and b have more than M, and whether the marks before b (True) or before a (False) stay below M."""

_TIE: Edge = (0, 0, False)
_BEHIND: Edge = (-1, 0, True)
_AHEAD: Edge = (0, -1, True)
_APART: Edge = (-1, 1, False)


@dataclass(frozen=True, eq=False)
class MarkCounts:
    """The counts of all marks, and what it takes to move the winner.

    Args:
        counts: How many values each mark has; at least two marks.
    """

    counts: Marks

    @property
    def winner(self) -> int:
        """The most frequent mark, the smallest of them."""
        return int(self.counts.argmax())

    @property
    def people(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @cached_property
    def when_adding(self) -> Marks:
        """For each gap 1, 2, ...: how many changes bring an edge of at least this width, adding and removing."""
        a = self._pairs[0]
        cost = np.full(len(a), NEVER)
        highest = np.sort(self.counts)[::-1][:_TOP_COUNTS]
        for height in np.unique(np.concatenate((highest, highest + 1, [0, 1]))).tolist():
            for edge in (_TIE, _BEHIND):
                removed, added = self._changes(edge, np.full(len(a), height))
                allowed = (height > 0) | ((a == 0) & (edge is _TIE))
                cost = np.minimum(cost, np.where(allowed, removed + added, NEVER))
        return self._by_gap(cost)

    @cached_property
    def when_replacing(self) -> Marks:
        """For each gap 1, 2, ...: how many changes bring an edge of at least this width, replacing."""
        cost = np.full(len(self._pairs[0]), NEVER)
        for edge in (_TIE, _BEHIND, _AHEAD, _APART):
            cost = np.minimum(cost, self._fewest_replacements(edge))
        return self._by_gap(cost)

    def _fewest_replacements(self, edge: Edge) -> Marks:
        """Return the fewest replacements: removals fall and additions grow with the height, so where they meet."""
        a, b = self._pairs
        before = b if edge[2] else a
        low = np.maximum(1, -(-(self.people + before) // len(self.counts)))
        high = np.full(len(a), (self.people - edge[0] - edge[1]) // 2)
        least, most = low - 1, high  # the largest height at which removals are not fewer than additions
        for _ in range(int(self.people).bit_length() + 1):
            middle = (least + most + 1) // 2
            removed, added = self._changes(edge, middle)
            least, most = np.where(removed >= added, middle, least), np.where(removed >= added, most, middle - 1)
            most = np.maximum(least, most)
        costs = [
            np.maximum(*self._changes(edge, np.clip(least + more, low, np.maximum(low, high)))) for more in (0, 1)
        ]
        return np.where(low <= high, np.minimum(*costs), NEVER)

    def _changes(self, edge: Edge, height: Marks) -> tuple[Marks, Marks]:
        """Return how many values must go and how many must come for an edge at this height, for each pair."""
        a, b = self._pairs
        left, right, strict = edge
        of_a, of_b = self.counts[a], self.counts[b]
        excess = self._above(height) - np.maximum(0, of_a - height) - np.maximum(0, of_b - height)
        excess += self._before(b, height) - (of_a >= height) if strict else self._before(a, height)
        short_a, short_b = height + left - of_a, height + right - of_b
        removed = excess + np.maximum(0, -short_a) + np.maximum(0, -short_b)
        return removed, np.maximum(0, short_a) + np.maximum(0, short_b)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.triu_indices(len(self.counts), 1)

    @cached_property
    def _rising(self) -> tuple[Marks, Marks]:
        """The counts in rising order, and the sums of each of them and all larger ones."""
        rising = np.sort(self.counts)
        return rising, np.append(np.cumsum(rising[::-1])[::-1], 0)

    def _above(self, height: Marks) -> Marks:
        """Return by how much all counts together are above a height."""
        rising, sums = self._rising
        place = np.searchsorted(rising, height, "right")
        return sums[place] - height * (len(rising) - place)

    @cached_property
    def _reaching(self) -> tuple[Marks, Marks]:
        """The levels that counts have, and how many of the first marks reach each level."""
        levels = np.unique(self.counts)
        reached = np.zeros((len(self.counts) + 1, len(levels) + 1), np.int64)
        reached[1:, :-1] = np.cumsum(self.counts[:, None] >= levels, axis=0)
        return levels, reached

    def _before(self, mark: NDArray[np.intp], height: Marks) -> Marks:
        """Return how many smaller marks reach a height."""
        levels, reached = self._reaching
        return reached[mark, np.searchsorted(levels, height)]

    def _by_gap(self, cost: Marks) -> Marks:
        a, b = self._pairs
        least = np.full(len(self.counts) - 1, NEVER)
        np.minimum.at(least, b - a - 1, cost)
        return np.minimum.accumulate(least[::-1])[::-1]


_MOST_MARKS = 256


@dataclass(frozen=True, repr=False)
class Winner(LatticeStatistic):
    """The most frequent mark of a column, as a number: the smallest of them where several are; `low` if none is.

    Args:
        low: The least value that the column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks; at most 256 of them on the range.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 4 and 5.

    Example:
        >>> favourite = Winner(low=1, high=5, step=1, adjacency="add-remove")
        >>> column = favourite.read([1, 4, 4, 4, 5])
        >>> int(favourite.value(column)), int(favourite.local(column)), int(favourite.at_distance(column, 1))
        (4, 0, 3)
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(self, *, low: Number, high: Number, step: Number, adjacency: str | Adjacency) -> None:
        self._declare(low, high, step, adjacency)
        if self.ruler.top >= _MOST_MARKS:
            raise MechanismError("step-too-small-for-marks", most=_MOST_MARKS)

    def read(self, table: Any) -> MarkCounts:
        """Clamp a column to the range and count its marks."""
        return MarkCounts(np.bincount(self.ruler.marks(table), minlength=self.ruler.top + 1))

    def value(self, column: MarkCounts) -> Fraction:
        """Return the statistic itself, which is not private."""
        return (self.ruler.first + column.winner) * self.step

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the width of the range; 0 for no people, of whom none can be replaced."""
        alone = people == 0 and self.adjacency is Adjacency.REPLACE_ONE
        return Fraction(0) if alone else self.ruler.top * self.step

    def at_distance(self, column: MarkCounts, changes: int) -> Fraction:
        """Return A(k), exactly."""
        return _gap(self._costs(column), read_natural(changes, "changes", least=0)) * self.step

    def _smooth(self, column: MarkCounts, beta: Fraction) -> SmoothBound:
        """Return the smooth sensitivity, exactly."""
        costs = self._costs(column)
        most = int(costs.max(initial=0, where=costs < NEVER))
        return smooth_bound(lambda changes: _gap(costs, changes), most, beta, self.step)

    def _costs(self, column: MarkCounts) -> Marks:
        return column.when_replacing if self.adjacency is Adjacency.REPLACE_ONE else column.when_adding


def _gap(costs: Marks, changes: int) -> int:
    """Return the widest gap that costs at most so many changes; wider ones never cost less."""
    return int(np.searchsorted(costs, changes, "right"))
