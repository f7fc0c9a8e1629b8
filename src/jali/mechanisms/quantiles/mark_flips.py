"""Permute-and-flip over a ruler, one release: for most marks the first bits of the coin decide."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.ranks import WindowRanks
from jali.mechanisms.quantiles.weighted_marks import Integers
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip, draw_permute_and_flip, permute_and_flip_law
from jali.mechanisms.selection.scores import FAR, Exponents
from jali.noise import BitSource
from jali.noise.bernoulli import settle_exp
from jali.noise.bounds import exp_bounds
from jali.noise.enclosed import is_below
from jali.noise.uniform import uniform_below
from jali.privacy.loss import Loss
from jali.privacy.losses.pure import Pure

Doubles: TypeAlias = NDArray[np.float64]

_WORD = 32
_FAR = 16
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
        singly: Whether one release tosses the coins of marks far away only where they can show True. The law does
            not depend on it; many releases of one column toss all coins, in blocks.

    Proof:
        docs/proofs/weighted_quantile.md, Theorem 4.
    """

    ranks: WindowRanks
    rate: Fraction
    far: int = _FAR
    word: int = _WORD
    singly: bool = False

    def draw(self, bits: BitSource) -> int:
        """Return one of the marks whose coin shows True, all alike; the best mark's always does."""
        near, rest = self._accepted(*self._nearby, bits), self._accepted_far(bits)
        accepted = np.concatenate((near, rest))
        return int(accepted[uniform_below(len(accepted), 1, bits=bits)[0]])

    def draws(self, size: int, bits: BitSource) -> list[int]:
        """Draw the marks of many independent releases."""
        if size == 1 and self.singly:
            return [self.draw(bits)]
        marks: list[int] = draw_permute_and_flip(self.exponents, size, bits).tolist()
        return marks

    def log_law(self) -> list[float]:
        """Return ln Pr[mark] for each mark."""
        exponents = self.exponents
        exact = np.array([float(exponents.exact(mark)) for mark in range(len(exponents))])
        law: list[float] = permute_and_flip_law(exact).tolist()
        return law

    @staticmethod
    def loss(epsilon: Fraction) -> Loss:
        """Return the loss of a release: epsilon, pure."""
        return Pure(epsilon)

    @staticmethod
    def error(top: int, rate: Fraction, confidence: float) -> float:
        """Return a t such that the best of the marks 0 .. top is missed by t at most, with this chance."""
        miss(confidence)
        among = PermuteAndFlip(sensitivity=1 / (2 * rate), epsilon=1)
        return among.error(confidence, candidates=top + 1)

    @cached_property
    def exponents(self) -> Exponents:
        """Rate * (distance - best) for each mark."""
        return WindowDistances(self.ranks).exponents(self.rate, self.ranks.first, self.ranks.last)

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
