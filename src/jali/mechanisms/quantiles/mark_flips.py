"""Permute-and-flip over a ruler, one release: for most marks the first bits of the coin decide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from jali.mechanisms.quantiles.weighted_marks import Integers
from jali.mechanisms.quantiles.window_distances import WindowDistances
from jali.mechanisms.quantiles.window_ranks import WindowRanks
from jali.noise import BitSource
from jali.noise.bernoulli import settle_exp
from jali.noise.bounds import exp_bounds
from jali.noise.enclosed import is_below
from jali.noise.uniform import uniform_below

_WORD = 32
_FAR = 16


@dataclass(frozen=True, eq=False)
class MarkFlips:
    """The coins of all marks: that of a mark shows True with probability exp(-rate * (distance - best)).

    Marks with an exponent above `far` lie outside of one interval. Their coins can show True only where the first
    word is below 2**word exp(-far), which is seldom: their exponents are computed there alone.

    Args:
        ranks: The distances.
        rate: A rational above 0.
        far: From which exponent on; the law does not depend on it.
        word: How many bits of a coin are drawn at a time; the law does not depend on it.

    Proof:
        docs/proofs/weighted_quantile.md, Theorem 4.
    """

    ranks: WindowRanks
    rate: Fraction
    far: int = _FAR
    word: int = _WORD

    def draw(self, bits: BitSource) -> int:
        """Return one of the marks whose coin shows True, all alike; the best mark's always does."""
        near, rest = self._accepted(*self._nearby, bits), self._accepted_far(bits)
        accepted = np.concatenate((near, rest))
        return int(accepted[uniform_below(len(accepted), 1, bits=bits)[0]])

    @cached_property
    def _nearby(self) -> tuple[int, int]:
        return self.ranks.within(self.ranks.best + self.far / self.rate)

    @cached_property
    def _limit(self) -> int:
        return exp_bounds(Fraction(self.far), self.word)[1]

    def _accepted(self, first: int, last: int, bits: BitSource) -> Integers:
        """Toss the coins of the marks from `first` to `last`."""
        exponents = WindowDistances(self.ranks).exponents(self.rate, first, last)
        words = bits.integers(len(exponents), self.word)
        coins = settle_exp(words, self.word, exponents.doubles, exponents.exact, bits)
        return first + np.flatnonzero(coins)

    def _accepted_far(self, bits: BitSource) -> Integers:
        """Toss the coins of all other marks."""
        first, last = self._nearby
        below, many = first - self.ranks.first, last - first + 1
        words = bits.integers(self.ranks.last - self.ranks.first + 1 - many, self.word)
        open_yet = np.flatnonzero(words < self._limit)
        marks = self.ranks.first + open_yet + np.where(open_yet < below, 0, many)
        coins = [
            self._is_below(int(words[place]), mark, bits) for place, mark in zip(open_yet, marks, strict=True)
        ]
        return marks[np.array(coins, np.bool_)]

    def _is_below(self, word: int, mark: int, bits: BitSource) -> bool:
        exponent = self.rate * (self.ranks.distance(int(mark)) - self.ranks.best)
        return is_below(word, partial(exp_bounds, exponent), bits, self.word)
