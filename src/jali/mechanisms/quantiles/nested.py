"""Exact draws from masses that fall along nested intervals of marks.

Marks with an exponent between b and b+1 form a level, for b = 0, 1, ...; a level is proposed with an integer
weight of at least exp(-b) per mark, a mark in it uniformly, and one exact coin corrects the proposal. What lies
beyond the last level is proposed as a whole, with a chance that is next to nothing.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.ranks import Ranks
from jali.mechanisms.selection.piecewise_geometric import Digits
from jali.noise import BitSource
from jali.noise.bounds import exp_bounds
from jali.privacy.loss import Loss
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rounding import float_above

Interval = tuple[int, int]

_PRECISION = 256
_SPARE = 60
_WORD = 32
_GUARD = 16
_AHEAD = 16  # words fetched at a time


@dataclass(frozen=True, eq=False)
class NestedLaw:
    """The law on the marks of a range with mass proportional to exp(-rate * distance of the mark's rank).

    Args:
        ranks: The distances.
        rate: A rational above 0.
        levels: How many levels are told apart; the law does not depend on it.
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

    def draw(self, digits: Digits) -> int:
        """Draw a mark."""
        if self.ranks.first == self.ranks.last:
            return self.ranks.first
        while (mark := self.attempt(digits)) is None:
            pass
        return mark

    def attempt(self, digits: Digits, word: int = _WORD) -> int | None:
        """Propose a mark and toss its coin; None if it is not accepted."""
        ticket = digits.below(self._sums[-1])
        level = bisect_right(self._sums, ticket)
        place = (ticket - (self._sums[level - 1] if level else 0)) // _above(level, self.precision)
        mark = self._mark(level, place)
        return mark if self._accepts(mark, level, digits, word) else None

    def exponent(self, mark: int) -> Fraction:
        """Return rate * (distance - best distance)."""
        return self.rate * (self.ranks.distance(mark) - self.ranks.best)

    @cached_property
    def _intervals(self) -> list[Interval]:
        """For b = 1, 2, ... the marks whose exponent is at most b; in the end all marks."""
        whole = self.ranks.first, self.ranks.last
        found: list[Interval] = []
        for level in range(1, 1 + (self.levels or _SPARE + (whole[1] - whole[0]).bit_length())):
            found.append(self.ranks.within(self.ranks.best + level / self.rate))
            if found[-1] == whole:
                return found
        return [*found, whole]

    @cached_property
    def _sums(self) -> list[int]:
        sizes = [last - first + 1 for first, last in self._intervals]
        fresh = [size - inner for size, inner in zip(sizes, [0, *sizes], strict=False)]
        return list(accumulate(count * _above(level, self.precision) for level, count in enumerate(fresh)))

    def _mark(self, level: int, place: int) -> int:
        """Return a mark of a level: first those to the left of the inner interval, then those to its right."""
        first = self._intervals[level][0] + place
        if not level or first < self._intervals[level - 1][0]:
            return first
        inner = self._intervals[level - 1]
        return first + inner[1] - inner[0] + 1

    def _accepts(self, mark: int, level: int, digits: Digits, word: int) -> bool:
        """Return True with probability exactly exp(-exponent) / (weight of a mark of this level)."""
        uniform, width = digits.take(word), word
        while True:
            low, high = self._chance(mark, level, width + _GUARD)
            if (uniform + 1) << _GUARD <= low:
                return True
            if uniform << _GUARD >= high:
                return False
            uniform, width = uniform << word | digits.take(word), width + word

    def _chance(self, mark: int, level: int, precision: int) -> tuple[int, int]:
        """Return integers around 2**precision * exp(-exponent) / weight, with the weight of one mark."""
        if (mark, precision) not in self._chances:
            low, high = exp_bounds(self.exponent(mark), precision + self.precision)
            weight = _above(level, self.precision)
            self._chances[mark, precision] = low // weight, -(-high // weight)
        return self._chances[mark, precision]

    def draws(self, size: int, bits: BitSource) -> list[int]:
        """Draw many marks."""
        digits = Digits(bits, ahead=_AHEAD)
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
        """Return a t such that the best of the marks 0 .. top is missed by t at most, with this chance."""
        return rank_error(top, rate, miss(confidence))


@cache
def _above(level: int, precision: int) -> int:
    """Return an integer at least 2**precision * exp(-level)."""
    return exp_bounds(Fraction(level), precision)[1]


def rank_error(others: int, rate: Fraction, failing: float) -> float:
    """Return a t that the best mark is missed by with a chance of at most `failing`, among so many others."""
    if others == 0:
        return 0.0
    odds = math.log(others) + math.log1p(-failing) - math.log(failing)
    return max(0.0, odds) * float_above(1 / rate) * (1 + 1e-12)
