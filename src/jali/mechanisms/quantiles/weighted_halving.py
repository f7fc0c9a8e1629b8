"""Halving of weighted rows: the draws of many quantiles, each in its part of the weight."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jali.mechanisms.quantiles.nested import NestedLaw
from jali.mechanisms.quantiles.turns import Halving, Part, Turn
from jali.mechanisms.quantiles.weighted_marks import WeightedMarks
from jali.mechanisms.quantiles.window_ranks import WindowRanks, weighted_target


@dataclass(frozen=True, eq=False)
class WeightedHalving(Halving):
    """The draws on a weighted column; parts go from rank to rank, where ranks count weight.

    Attributes:
        rows: The weighted column.
        window: The weight over which quantile functions are averaged.
        levels: How many levels of a law are told apart.
    """

    rows: WeightedMarks
    window: int
    levels: int

    @cached_property
    def _all(self) -> Part:
        return Part(0, self.rows.total, 0, self.top)

    def _law(self, turn: Turn, part: Part) -> NestedLaw:
        """Return the law of one draw, kept for the next release."""
        if (turn.place, part) not in self._laws:
            target = weighted_target(turn.share, part.stop - part.start, self.window)
            ranks = WindowRanks.of(self._rows(part), (part.first, part.last), self.window, target)
            self._laws[turn.place, part] = NestedLaw(ranks, self.rate(turn), levels=self.levels)
        return self._laws[turn.place, part]

    def _rows(self, part: Part) -> WeightedMarks:
        weights = np.diff(np.clip(self.rows.sums, part.start, part.stop))
        held = np.flatnonzero(weights)
        return WeightedMarks(self.rows.marks[held], weights[held])

    def _split(self, part: Part, mark: int) -> tuple[Part, Part]:
        """Cut a part at a mark; half of its weight at the mark, rounded down, stays below."""
        places = (self.rows.marks.searchsorted(mark, side) for side in ("left", "right"))
        below, up_to = (min(max(int(self.rows.sums[place]), part.start), part.stop) for place in places)
        cut = below + (up_to - below) // 2
        return Part(part.start, cut, part.first, mark), Part(cut, part.stop, mark, part.last)
