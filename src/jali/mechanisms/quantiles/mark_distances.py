"""The distances of all marks of a short ruler from a target rank, at once and exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.quantiles.ranks import LinearRanks
from jali.mechanisms.selection.scores import FAR, Exponents

_SAFE = 1 << 62
_TINY = Fraction(1, 1 << 800)


@dataclass(frozen=True, eq=False)
class MarkDistances:
    """For each mark, how much further it is from the target rank than the best one, as a quotient of integers.

    A mark that holds values, or is an end, has a whole span of ranks; between two knots the rank is
    below + (mark - start)/(end - start). Both are numerators over end - start, with 1 in the place of a gap where
    there is a span.
    """

    ranks: LinearRanks

    def exponents(self, rate: Fraction) -> Exponents:
        """Return rate * (distance - best distance) for each mark, in double and exactly."""
        above, below = self.quotients()

        def exact(mark: int) -> Fraction:
            return rate * Fraction(int(above[mark]), int(below[mark]))

        if not _TINY < rate < 1 / _TINY:
            return Exponents.listed([exact(mark) for mark in range(len(above))])
        # Two integers as doubles, their quotient, the rate and the product: five roundings. Python divides its own
        # integers with one rounding, however long they are.
        doubles = (above / below).astype(np.float64) * float(rate)
        return Exponents(np.minimum(doubles, FAR), exact)

    def quotients(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the numerators and the denominators of distance - best, both exact."""
        ranks, best = self.ranks, self.ranks.best
        part = math.lcm(ranks.target.denominator, best.denominator)
        kind = self._kind(part)
        least, most, gaps = (array.astype(kind) for array in self._spans())
        aim, allowed = int(ranks.target * part), int(best * part)
        off = np.maximum(np.maximum(least * part - gaps * aim, gaps * aim - most * part), 0)
        return off - allowed * gaps, gaps * part

    def _kind(self, part: int) -> type[np.int64] | type[object]:
        """Return int64 if no product can overflow, Python ints otherwise.

        `part` depends on the data; the choice changes no quotient, and so no chance of any outcome: time alone.
        """
        marks = self.ranks.last - self.ranks.first + 1
        return np.int64 if 4 * part * marks * (len(self.ranks.values) + 2) < _SAFE else object

    def _spans(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (least, most, gap): the ranks of a mark go from least/gap to most/gap."""
        ranks, count = self.ranks, len(self.ranks.values)
        marks = np.arange(ranks.first, ranks.last + 1)
        below, up_to = (ranks.values.searchsorted(marks, side) for side in ("left", "right"))
        knots = np.concatenate([[ranks.first], ranks.values, [ranks.last]])
        start, end = knots[below], knots[np.minimum(below + 1, count + 1)]
        held = (below < up_to) | (marks == ranks.first) | (marks == ranks.last)
        gaps = np.where(held, 1, end - start)
        between = below * gaps + marks - start
        least = np.where(held, np.where(marks == ranks.first, 0, below + 1), between)
        most = np.where(held, np.where(marks == ranks.last, count + 1, up_to), between)
        return least, most, gaps
