"""The distances of many marks from a target rank by weight, at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.quantiles.weighted_marks import Integers
from jali.mechanisms.quantiles.window_ranks import WindowRanks
from jali.mechanisms.selection.scores import FAR, Exponents

Doubles: TypeAlias = NDArray[np.float64]

_SAFE = 1 << 62
_NEAR = 8


@dataclass(frozen=True, eq=False)
class WindowDistances:
    """For each mark, how much further it is from the target rank than the best one.

    The distance less the best one is whole + rest/steep, with integers whole and steep, and a rest of a few steep.
    Where the whole is large, that sum is taken in doubles; elsewhere it is one quotient of integers.

    Proof:
        docs/proofs/weighted_quantile.md, Lemma 3.
    """

    ranks: WindowRanks

    def exponents(self, rate: Fraction, first: int, last: int) -> Exponents:
        """Return rate * (distance - best) of the marks from `first` to `last`; 1e-200 < rate < 1e200."""
        ranks = self.ranks

        def exact(place: int) -> Fraction:
            return rate * (ranks.distance(first + place) - ranks.best)

        return Exponents(np.minimum(self.doubles(first, last) * float(rate), FAR), exact)

    def doubles(self, first: int, last: int) -> Doubles:
        """Return distance - best of the marks from `first` to `last`, within 3 roundings."""
        ranks = self.ranks
        split = min(math.floor(ranks.at(ranks.target)) + 1, ranks.last)  # nothing lies above the last mark
        cut = min(max(split, first), last + 1)
        return np.concatenate((self._side(np.arange(first, cut), -1), self._side(np.arange(cut, last + 1), 1)))

    def _side(self, marks: Integers, sign: int) -> Doubles:
        """Return it for marks at or below the value of the target (sign -1), or not below it (sign 1)."""
        line = self.ranks.line
        height = marks.astype(line.heights.dtype) * self.ranks.window
        place = np.maximum(line.heights.searchsorted(height, "left" if sign > 0 else "right") - 1, 0)
        steep = np.maximum(line.slopes[place], 1)
        rise = height - line.heights[place]
        aim = self.ranks.target + sign * self.ranks.best
        whole = sign * (line.ranks[place] + rise // steep - math.floor(aim))
        return self._sums(whole, sign * (rise % steep), -sign * (aim % 1), steep)

    def _sums(self, whole: Integers, rest: Integers, part: Fraction, steep: Integers) -> Doubles:
        """Return the larger of 0 and whole + rest/steep + part, for |rest| < steep and |part| < 1."""
        found = whole.astype(np.float64) + (rest / steep + float(part)).astype(np.float64)
        near = np.flatnonzero(np.abs(whole) < _NEAR)
        if len(near):
            found[near] = _quotients(whole[near], rest[near], part, steep[near])
        return np.maximum(found, 0.0)


def _quotients(whole: Integers, rest: Integers, part: Fraction, steep: Integers) -> Doubles:
    """Return the same sums, each as a quotient of exact integers."""
    unit = part.denominator
    fits = 4 * _NEAR * unit * int(steep.max()) < _SAFE
    whole, rest, steep = (array.astype(np.int64 if fits else object) for array in (whole, rest, steep))
    above = (whole * unit + part.numerator) * steep + rest * unit
    return np.asarray((above / (steep * unit)).astype(np.float64))
