"""Release a height that is below the median of heights except with a chosen probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.selection.interval_exponential import IntervalExponential
from jali.mechanisms.selection.piecewise_scores import Piecewise

_SPARE = 5  # with pairs enough, the first mark is released with probability e to minus this at most
_WIDE = 1 << 60


@dataclass(frozen=True)
class BelowMedian:
    """An exponential mechanism over the marks -grain .. grain that aims a public number of pairs below the median.

    A mark y stands for the ranks from b(y) = #{pairs < y} - #{pairs >= y} to u(y) = #{pairs <= y} - #{pairs > y}:
    those of all marks follow each other without a gap. It scores minus the distance of -aim from them, but the
    first mark scores -cap, whatever the pairs are.

    Attributes:
        grain: The largest mark.
        matchings: In how many pairs one person is; half the sensitivity.
        epsilon: The loss.
        failing: The probability, at most, that the mark is above some median of the pairs.

    Proof:
        docs/proofs/theil_sen.md, Lemma 3.
    """

    grain: int
    matchings: int
    epsilon: Fraction
    failing: Fraction

    @cached_property
    def mechanism(self) -> IntervalExponential:
        """What releases the mark."""
        return IntervalExponential(
            low=-self.grain, high=self.grain, step=1, sensitivity=2 * self.matchings, epsilon=self.epsilon
        )

    @cached_property
    def cap(self) -> int:
        """What the first mark loses: it is where a table goes that has too few pairs for any other."""
        return self._pairs(_SPARE)

    @cached_property
    def aim(self) -> int:
        """How far below the median the best mark is: so far that no mark above it outweighs the first mark."""
        logs = (math.log(2 * self.grain), math.log(self.failing.denominator), -math.log(self.failing.numerator))
        return self.cap + self._pairs(math.fsum(logs) + 1e-9)

    def score(self, pairs: NDArray[np.int64]) -> Piecewise:
        """Return the score of all marks, for the heights of the pairs in any order."""
        breaks = np.concatenate(
            [pairs - 1, pairs]
        )  # a pair is at most y from the first of these on, below y after
        order = np.argsort(breaks, kind="stable")
        at_most, below = (self._ranks(kind) for kind in (order < len(pairs), order >= len(pairs)))
        scores = -np.maximum(np.maximum(below, -at_most), 0)
        first = np.array([-self.cap], scores.dtype)
        return Piecewise(
            breaks=np.append(np.int64(-self.grain), breaks[order]), scores=np.append(first, scores), closed="right"
        )

    def _ranks(self, counted: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the ranks above -aim after each break: twice those counted, less the number of pairs."""
        counts = np.append(np.int64(0), np.cumsum(counted))
        return 2 * counts.astype(object if self.aim >= _WIDE else np.int64) - int(counts[-1]) + self.aim

    def _pairs(self, exponent: float) -> int:
        """Return how many pairs, at least, make a factor of e^-exponent."""
        return math.ceil(Fraction(exponent * (1 + 1e-12)) / self.mechanism.rate)
