"""The public order in which many quantiles are drawn by halving, and the draws on a column or on weighted rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.lattice import Marks
from jali.mechanisms.quantiles.rank_laws import NestedIntervalLaw
from jali.mechanisms.quantiles.weighted_ranks import (
    LinearRanks,
    WeightedMarks,
    WindowRanks,
    find_usual_target,
    find_weighted_target,
)
from jali.mechanisms.selection.piecewise_geometric import RandomDigits


@dataclass(frozen=True)
class QuantileTurn:
    """A quantile, and those that are drawn below and above it.

    Attributes:
        place: Which of the quantiles.
        share: Where it lies between the two that are known already, from 0 to 1.
        parts: The next turns, below and above.
    """

    place: int
    share: Fraction
    parts: tuple[QuantileTurn | None, QuantileTurn | None]

    @classmethod
    def first(cls, at: tuple[Fraction, ...]) -> QuantileTurn:
        """Return the turn of the middle one of some quantiles, with all others below and above it."""
        return cls._between(at, 0, len(at), Fraction(0), Fraction(1))

    @classmethod
    def _between(
        cls, at: tuple[Fraction, ...], start: int, stop: int, low: Fraction, high: Fraction
    ) -> QuantileTurn:
        place = (start + stop) // 2
        here = at[place]
        below = cls._between(at, start, place, low, here) if start < place else None
        above = cls._between(at, place + 1, stop, here, high) if place + 1 < stop else None
        return cls(place, (here - low) / (high - low), (below, above))

    @property
    def sensitivity(self) -> Fraction:
        """How far one person more or less moves the distance of a mark's rank."""
        return max(self.share, 1 - self.share)


@dataclass(frozen=True)
class ColumnPart:
    """Values number `start` to `stop` of a sorted column, on the marks `first` to `last`."""

    start: int
    stop: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class QuantileHalving:
    """The draws on one column.

    Attributes:
        column: Marks, in rising order.
        top: The last mark of the range.
        turns: The order of the draws.
        rate: What ranks are multiplied by in the exponent, for each turn.
    """

    column: Marks
    top: int
    turns: QuantileTurn
    rate: Callable[[QuantileTurn], Fraction]

    def draw(self, digits: RandomDigits) -> list[int]:
        """Draw the marks of all quantiles, in their order."""
        found: dict[int, int] = {}
        waiting: list[tuple[QuantileTurn | None, ColumnPart]] = [(self.turns, self._all)]
        while waiting:
            turn, part = waiting.pop()
            if turn is not None:
                mark = found[turn.place] = self._law(turn, part).draw(digits)
                waiting += zip(turn.parts, self._split(part, mark), strict=True)
        return [found[place] for place in range(len(found))]

    def log_masses(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield all answers on a small range, with the logarithms of their probabilities."""
        return self._masses(self.turns, self._all)

    def _masses(self, turn: QuantileTurn | None, part: ColumnPart) -> Iterator[tuple[tuple[int, ...], float]]:
        if turn is None:
            yield (), 0.0
            return
        for mark, here in enumerate(self._law(turn, part).log_law(), part.first):
            below, above = self._split(part, mark)
            uppers = list(self._masses(turn.parts[1], above))
            for left, one in self._masses(turn.parts[0], below):
                for right, other in uppers:
                    yield (*left, mark, *right), here + one + other

    @cached_property
    def _all(self) -> ColumnPart:
        return ColumnPart(0, len(self.column), 0, self.top)

    @cached_property
    def _laws(self) -> dict[tuple[int, ColumnPart], NestedIntervalLaw]:
        return {}

    def _law(self, turn: QuantileTurn, part: ColumnPart) -> NestedIntervalLaw:
        """Return the law of one draw, kept for the next release."""
        if (turn.place, part) not in self._laws:
            values = self.column[part.start : part.stop]
            ranks = LinearRanks(values, part.first, part.last, find_usual_target(turn.share, len(values)))
            self._laws[turn.place, part] = NestedIntervalLaw(ranks, self.rate(turn))
        return self._laws[turn.place, part]

    def _split(self, part: ColumnPart, mark: int) -> tuple[ColumnPart, ColumnPart]:
        """Cut a part at a mark; half of the values at the mark, rounded down, stay below."""
        values = self.column[part.start : part.stop]
        below, up_to = (part.start + int(values.searchsorted(mark, side)) for side in ("left", "right"))
        cut = below + (up_to - below) // 2
        return ColumnPart(part.start, cut, part.first, mark), ColumnPart(cut, part.stop, mark, part.last)


@dataclass(frozen=True, eq=False)
class WeightedQuantileHalving(QuantileHalving):
    """The draws on a weighted column; parts go from rank to rank, where ranks count weight.

    Attributes:
        rows: The weighted column.
        window: The weight over which quantile functions are averaged.
        levels: How many levels of a law are distinguished.
    """

    rows: WeightedMarks
    window: int
    levels: int

    @cached_property
    def _all(self) -> ColumnPart:
        return ColumnPart(0, self.rows.total, 0, self.top)

    def _law(self, turn: QuantileTurn, part: ColumnPart) -> NestedIntervalLaw:
        """Return the law of one draw, kept for the next release."""
        if (turn.place, part) not in self._laws:
            target = find_weighted_target(turn.share, part.stop - part.start, self.window)
            ranks = WindowRanks.of(self._rows(part), (part.first, part.last), self.window, target)
            self._laws[turn.place, part] = NestedIntervalLaw(ranks, self.rate(turn), levels=self.levels)
        return self._laws[turn.place, part]

    def _rows(self, part: ColumnPart) -> WeightedMarks:
        weights = np.diff(np.clip(self.rows.sums, part.start, part.stop))
        held = np.flatnonzero(weights)
        return WeightedMarks(self.rows.marks[held], weights[held])

    def _split(self, part: ColumnPart, mark: int) -> tuple[ColumnPart, ColumnPart]:
        """Cut a part at a mark; half of its weight at the mark, rounded down, stays below."""
        places = (self.rows.marks.searchsorted(mark, side) for side in ("left", "right"))
        below, up_to = (min(max(int(self.rows.sums[place]), part.start), part.stop) for place in places)
        cut = below + (up_to - below) // 2
        return ColumnPart(part.start, cut, part.first, mark), ColumnPart(cut, part.stop, mark, part.last)
