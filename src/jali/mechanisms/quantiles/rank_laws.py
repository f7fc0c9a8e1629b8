"""Draw exactly from laws whose masses fall with the distance of a rank: exponential, and permute-and-flip.

For the exponential law, marks with an exponent between b and b+1 form a level, for b = 0, 1, ...; a level is
proposed with an integer weight of at least exp(-b) per mark, a mark in it uniformly, and one exact Bernoulli draw
corrects the proposal. What lies beyond the last level is proposed as a whole, with a probability that is next to
nothing. For permute-and-flip, the first bits of a draw decide for most marks.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial
from itertools import accumulate
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.quantiles.weighted_ranks import Integers, Ranks, WindowRanks
from jali.mechanisms.selection.permute_and_flip import (
    PermuteAndFlip,
    compute_permute_and_flip_law,
    draw_permute_and_flip,
)
from jali.mechanisms.selection.piecewise_geometric import RandomDigits
from jali.mechanisms.selection.scores import FAR, Exponents
from jali.numbers.rounding import float_above
from jali.privacy.loss import Loss
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.losses.pure_loss import Pure
from jali.sampling import BitSource
from jali.sampling.bernoulli import settle_exp
from jali.sampling.exp_bounds import exp_bounds
from jali.sampling.interval_bernoulli import is_below
from jali.sampling.uniform import uniform_below

MarkInterval = tuple[int, int]

_PRECISION = 256
_SPARE = 60
_WORD = 32
_GUARD = 16
_AHEAD = 16  # words fetched at a time


@dataclass(frozen=True, eq=False)
class NestedIntervalLaw:
    """The law on the marks of a range with mass proportional to exp(-rate * distance of the mark's rank).

    Args:
        ranks: The distances.
        rate: A rational above 0.
        levels: How many levels are distinguished; the law does not depend on it.
        precision: How finely exp(-b) is known, in bits; the law does not depend on it.

    Guarantee:
        `draw` has exactly this law.
    Proof:
        docs/proofs/private_quantile.md, Theorem 3.
    """

    ranks: Ranks
    rate: Fraction
    levels: int = 0
    precision: int = _PRECISION
    _chances: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict, repr=False)

    def draw(self, digits: RandomDigits) -> int:
        """Draw a mark."""
        if self.ranks.first == self.ranks.last:
            return self.ranks.first
        while (mark := self.attempt(digits)) is None:
            pass
        return mark

    def attempt(self, digits: RandomDigits, word: int = _WORD) -> int | None:
        """Propose a mark and draw whether to keep it; None if it is not accepted."""
        ticket = digits.below(self._sums[-1])
        level = bisect_right(self._sums, ticket)
        place = (ticket - (self._sums[level - 1] if level else 0)) // _bound_weight(level, self.precision)
        mark = self._mark(level, place)
        return mark if self._accepts(mark, level, digits, word) else None

    def exponent(self, mark: int) -> Fraction:
        """Return rate * (distance - best distance)."""
        return self.rate * (self.ranks.distance(mark) - self.ranks.best)

    @cached_property
    def _intervals(self) -> list[MarkInterval]:
        """For b = 1, 2, ... the marks whose exponent is at most b; in the end all marks."""
        whole = self.ranks.first, self.ranks.last
        found: list[MarkInterval] = []
        for level in range(1, 1 + (self.levels or _SPARE + (whole[1] - whole[0]).bit_length())):
            found.append(self.ranks.within(self.ranks.best + level / self.rate))
            if found[-1] == whole:
                return found
        return [*found, whole]

    @cached_property
    def _sums(self) -> list[int]:
        sizes = [last - first + 1 for first, last in self._intervals]
        fresh = [size - inner for size, inner in zip(sizes, [0, *sizes], strict=False)]
        return list(accumulate(count * _bound_weight(level, self.precision) for level, count in enumerate(fresh)))

    def _mark(self, level: int, place: int) -> int:
        """Return a mark of a level: first those to the left of the inner interval, then those to its right."""
        first = self._intervals[level][0] + place
        if not level or first < self._intervals[level - 1][0]:
            return first
        inner = self._intervals[level - 1]
        return first + inner[1] - inner[0] + 1

    def _accepts(self, mark: int, level: int, digits: RandomDigits, word: int) -> bool:
        """Return True with probability exactly exp(-exponent) / (weight of a mark of this level)."""
        uniform, width = digits.take(word), word
        while True:
            low, high = self._bound_probability(mark, level, width + _GUARD)
            if (uniform + 1) << _GUARD <= low:
                return True
            if uniform << _GUARD >= high:
                return False
            uniform, width = uniform << word | digits.take(word), width + word

    def _bound_probability(self, mark: int, level: int, precision: int) -> tuple[int, int]:
        """Return integers around 2**precision * exp(-exponent) / weight, with the weight of one mark."""
        if (mark, precision) not in self._chances:
            low, high = exp_bounds(self.exponent(mark), precision + self.precision)
            weight = _bound_weight(level, self.precision)
            self._chances[mark, precision] = low // weight, -(-high // weight)
        return self._chances[mark, precision]

    def draws(self, size: int, bits: BitSource) -> list[int]:
        """Draw many marks."""
        digits = RandomDigits(bits, ahead=_AHEAD)
        return [self.draw(digits) for _ in range(size)]

    def log_law(self) -> list[float]:
        """Return the logarithm of the mass of each mark of a small range."""
        ranks = self.ranks
        distances = [ranks.distance(mark) for mark in range(ranks.first, ranks.last + 1)]
        best = min(distances)
        exponents = [-float(self.rate * (distance - best)) for distance in distances]
        total = math.log(math.fsum(map(math.exp, exponents)))
        return [exponent - total for exponent in exponents]

    @staticmethod
    def loss(epsilon: Fraction) -> Loss:
        """Return the loss of a release: a bounded range of epsilon."""
        return BoundedRange(epsilon)

    @staticmethod
    def error(top: int, rate: Fraction, confidence: float) -> float:
        """Return a t such that the best of the marks 0 .. top is missed by t at most, with this probability."""
        return bound_rank_error(top, rate, read_miss_probability(confidence))


@cache
def _bound_weight(level: int, precision: int) -> int:
    """Return an integer at least 2**precision * exp(-level)."""
    return exp_bounds(Fraction(level), precision)[1]


def bound_rank_error(others: int, rate: Fraction, failing: float) -> float:
    """Return a t that the best mark is missed by with a probability of at most `failing`, among so many others."""
    if others == 0:
        return 0.0
    odds = math.log(others) + math.log1p(-failing) - math.log(failing)
    return max(0.0, odds) * float_above(1 / rate) * (1 + 1e-12)


Doubles: TypeAlias = NDArray[np.float64]

_WORD_BITS = 32
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
class PermuteAndFlipLaw:
    """The Bernoulli draws of all marks: that of a mark is True with probability exp(-rate * (distance - best)).

    Marks with an exponent above `far` lie outside of one interval. Their draws can be True only where the first
    word is below 2**word exp(-far), which is seldom: their exponents are computed there alone.

    Args:
        ranks: The distances.
        rate: A rational above 0.
        far: From which exponent on; the law does not depend on it.
        word: How many bits of a uniform number are drawn at a time; the law does not depend on it.
        singly: Whether one release draws for marks far away only where the draw can be True. The law does
            not depend on it; many releases of one column draw for all marks, in blocks.

    Proof:
        docs/proofs/weighted_quantile.md, Theorem 4.
    """

    ranks: WindowRanks
    rate: Fraction
    far: int = _FAR
    word: int = _WORD_BITS
    singly: bool = False

    def draw(self, bits: BitSource) -> int:
        """Return one of the marks whose draw is True, all alike; the best mark's always does."""
        near, rest = self._draw_acceptances(*self._nearby, bits), self._draw_far_acceptances(bits)
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
        law: list[float] = compute_permute_and_flip_law(exact).tolist()
        return law

    @staticmethod
    def loss(epsilon: Fraction) -> Loss:
        """Return the loss of a release: epsilon, pure."""
        return Pure(epsilon)

    @staticmethod
    def error(top: int, rate: Fraction, confidence: float) -> float:
        """Return a t such that the best of the marks 0 .. top is missed by t at most, with this probability."""
        read_miss_probability(confidence)
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

    def _draw_acceptances(self, first: int, last: int, bits: BitSource) -> Integers:
        """Draw for the marks from `first` to `last`."""
        exponents = WindowDistances(self.ranks).exponents(self.rate, first, last)
        words = bits.integers(len(exponents), self.word)
        coins = settle_exp(words, self.word, exponents.doubles, exponents.exact, bits)
        return first + np.flatnonzero(coins)

    def _draw_far_acceptances(self, bits: BitSource) -> Integers:
        """Draw for all other marks."""
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
