"""Draw an index Z = 0, 1, 2, ... with weights exp(-rational) by inversion of a uniform number.

A uniform number u gives the index Z = number of rungs above u, where rung z = 1, 2, ... is the survival
probability S(z) = Pr[Z >= z]. A ladder holds rigorous bounds of the first rungs at a given number of bits. It
answers only when the known bits of u decide; the bottom of the ladder, where infinitely many rungs lie, is
always left to a longer ladder, so that no tail is cut.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.sampling.bits import Words
from jali.sampling.exp_bounds import exp_bounds

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Progression:
    """Weights exp(-e(k)), k = 0, 1, ..., with e(k) = first + k step + k (k-1)/2 growth.

    Args:
        first: At least 0.
        step: Above 0.
        growth: At least 0; 0 makes a geometric series.
    """

    first: Fraction
    step: Fraction
    growth: Fraction = Fraction(0)

    def weights(self, precision: int, count: int) -> tuple[list[int], list[int]]:
        """Bound the first `count` weights, and the sum of all others, from below and from above.

        Units are 2**-precision. The last entry of either list is the bound of the sum of all others.
        """
        low, high = exp_bounds(self.first, precision)
        ratio_low, ratio_high = exp_bounds(self.step, precision)
        growth_low, growth_high = exp_bounds(self.growth, precision)
        lows, highs, geometric = [], [], not self.growth
        for _ in range(count):
            lows.append(low)
            highs.append(high)
            low = low * ratio_low >> precision
            high = (high * ratio_high >> precision) + 1
            if not geometric:
                ratio_low = ratio_low * growth_low >> precision
                ratio_high = (ratio_high * growth_high >> precision) + 1
        one = 1 << precision
        lows.append((low << precision) // (one - ratio_low) if geometric else low)
        highs.append(-(-(high << precision) // (one - ratio_high)))
        return lows, highs

    def reach(self) -> int:
        """Return bits b with 2**b >= 2 + 1/step: the sum from any weight on is at most 2**b times it."""
        return (2 + self.step.denominator // self.step.numerator).bit_length()

    def rows(self, depth: int, width: int) -> int:
        """Return how many weights to list so that the others are about 2**-depth of the total.

        Of a series that is not geometric the sum of the others is known in size only, so that it should be
        below 2**-width, whatever the depth.
        """
        if not self.growth:
            return 7 * depth * self.step.denominator // (10 * self.step.numerator) + 1
        return isqrt(14 * max(depth, width) * self.growth.denominator // (10 * self.growth.numerator)) + 1


@dataclass(frozen=True)
class Ladder:
    """Bounds of the rungs S(1) >= S(2) >= ... in units of 2**-width, lowest rung first.

    Args:
        width: Bits of the uniform number that this ladder reads.
        lows: lows[-z] <= 2**width S(z).
        highs: 2**width S(z) < highs[-z] + 1.
    """

    width: int
    lows: tuple[int, ...]
    highs: tuple[int, ...]

    def locate(self, word: int) -> int | None:
        """Return the index of every uniform number that begins with `word`, or None if they differ."""
        below = bisect_right(self.lows, word)  # so many rungs may lie at or below the number
        doubtful = below == 0 or self.highs[below - 1] >= word
        return None if doubtful else len(self.lows) - below

    def locate_all(self, words: Words, shift: int = 0) -> tuple[Indices, NDArray[np.intp]]:
        """Return the index for each word, and the places where it is not yet known.

        Args:
            words: The first width - shift bits of each uniform number.
            shift: How many bits of the ladder's width the words lack.
        """
        lows, highs = self._arrays
        if shift:
            lows, highs = lows >> shift, highs >> shift
        below = np.searchsorted(lows, words, "right")
        doubtful = (below == 0) | (highs.take(below - 1, mode="wrap") >= words)
        return len(lows) - below, np.flatnonzero(doubtful)

    @cached_property
    def _arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return np.array(self.lows, np.uint64), np.array(self.highs, np.uint64)


def build_ladder(series: tuple[Progression, ...], width: int, depth: int, guard: int) -> Ladder:
    """Build the rungs, down to about 2**-depth, of the index that runs through the series in turn.

    Index z = p k + i, with p series, stands for weight k of series i.

    Args:
        series: One or two progressions.
        width: Bits of the uniform number to be read.
        depth: How far down; a matter of speed only, for below the last rung a ladder never answers.
        guard: Further bits carried, at least 0; more of them leave fewer doubtful words.

    Proof:
        docs/proofs/discrete_laplace_sampler.md, Lemma 2.
    """
    precision = max(width, depth) + guard + 3 * series[0].reach() + 4
    lows, highs = _sums_from_below(series, precision, series[0].rows(depth, width))
    total_low, total_high = lows.pop(), highs.pop()
    top = (1 << width) - 1
    return Ladder(
        width,
        tuple([(low << width) // total_high for low in lows]),
        tuple([min((high << width) // total_low, top) for high in highs]),
    )


def _sums_from_below(series: tuple[Progression, ...], precision: int, rows: int) -> tuple[list[int], list[int]]:
    """Bound the sums of all weights from z on, largest z first; the last sum is the total."""
    columns = [progression.weights(precision, rows) for progression in series]
    return _sums([lows for lows, _ in columns]), _sums([highs for _, highs in columns])


def _sums(columns: list[list[int]]) -> list[int]:
    rest = sum(column.pop() for column in columns)
    falling = [weight for row in zip(*columns, strict=True) for weight in row]
    return list(accumulate(reversed(falling), initial=rest))
