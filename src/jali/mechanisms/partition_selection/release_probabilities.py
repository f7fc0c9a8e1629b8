"""The largest probabilities of release that (epsilon, delta) allows a key of n people, and exact draws by them.

Probabilities are known by bounds at any precision; a draw refines them until its random bits decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from jali.numbers.search import bracket, least_integer
from jali.sampling import BitSource
from jali.sampling.exp_bounds import Bounds, exp_bounds
from jali.sampling.interval_bernoulli import WORD, is_below

_FIRST = 64


@dataclass(frozen=True)
class ReleaseProbabilities:
    """The probabilities p(0) = 0, p(n) = min(e^epsilon p(n-1) + delta, 1 - e^-epsilon (1 - p(n-1) - delta), 1).

    Guarantee:
        With y = e^epsilon, p(n) = delta (y^n - 1)/(y - 1) up to n = `turn`, then, with m = n - turn,
        min(1, (1 - y^-m)(1 + delta/(y-1)) + y^-m p(turn)). `turn` is found by integer arithmetic on bounds of
        exponentials, and so is everything else.
    Proof:
        docs/proofs/unknown_keys.md, Theorem 2, after Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1.

    Example:
        >>> chances = ReleaseProbabilities(Fraction(1), Fraction(1, 10**5))
        >>> [round(chances.near(n), 6) for n in (1, 10, 12, 22, 23)]
        [1e-05, 0.128183, 0.760311, 0.999995, 1.0]
    """

    epsilon: Fraction
    delta: Fraction

    def bounds(self, people: int, precision: int) -> Bounds:
        """Return integers lo <= 2^precision p(people) <= hi, at most two units apart."""
        if people <= 0:
            return 0, 0
        work, one = precision + self._extra, 1 << precision
        low, high = (
            self._bound_growing(people, work)
            if people <= self.turn
            else self._bound_falling(people - self.turn, work)
        )
        return min(one, low >> self._extra), min(one, -(-high >> self._extra))

    @cached_property
    def sure(self) -> int:
        """The least number of people that is seen, at 64 bits, to be released with probability 1."""
        return least_integer(self._is_one, *bracket(self._is_one, self.turn, 2 * self.turn + 1))

    def _is_one(self, people: int) -> bool:
        return self.bounds(people, _FIRST)[0] == 1 << _FIRST

    def near(self, people: int) -> float:
        """Return p(people) in double, to the last place."""
        precision = _FIRST + self._extra
        return self.bounds(people, precision)[0] / (1 << precision)

    def complement(self, people: int) -> float:
        """Return 1 - p(people) in double, to the last place or larger by 2^-64 of epsilon and of delta."""
        precision = _FIRST + self._extra
        return ((1 << precision) - self.bounds(people, precision)[0]) / (1 << precision)

    @cached_property
    def turn(self) -> int:
        """How many steps grow by the factor e^epsilon: p(n-1) <= (1-delta)/(1 + e^epsilon) for n up to here."""
        guess = max(1, self._guess())
        while guess > 1 and not self._grows(guess):
            guess -= 1
        while self._grows(guess + 1):
            guess += 1
        return guess

    def _guess(self) -> int:
        """Return 1 + floor(ln((y + 2 delta - 1) / (delta (y+1))) / epsilon) in double: near, not more."""
        epsilon, delta = float(self.epsilon), float(self.delta)
        shrunk = math.exp(-epsilon)
        inside = math.log(2 * delta * shrunk - math.expm1(-epsilon)) - math.log1p(shrunk)
        return 1 + math.floor(
            (inside - math.log(self.delta.numerator) + math.log(self.delta.denominator)) / epsilon
        )

    def _grows(self, people: int) -> bool:
        """Return whether p(people) is e^epsilon p(people-1) + delta, all steps before being such."""
        precision = _FIRST
        while True:
            low, high = self._bound_growing(people - 1, precision + self._extra)
            least, most = self._bound_even(precision + self._extra)
            if high <= least:
                return True
            if low > most:
                return False
            precision *= 2

    def _bound_growing(self, people: int, work: int) -> Bounds:
        """Bound delta (y^n - 1)/(y - 1) = factor (e - 1), where e = y^n."""
        if people <= 0:
            return 0, 0
        low, high = self._bound_factor(work)
        less, more = exp_bounds(self.epsilon * people, work)
        one, square = 1 << work, 1 << 2 * work
        return low * (square // more - one) >> work, -(-high * (-(-square // less) - one) >> work)

    def _bound_falling(self, further: int, work: int) -> Bounds:
        """Bound top - y^-m (top - p(turn)), where top = 1 + factor: it grows with top and p, and falls in y^-m."""
        ends = zip(self._bound_factor(work), _bound_at_turn(self, work), strict=True)
        (top, start), (top_high, start_high) = ((factor + (1 << work), at) for factor, at in ends)
        less, more = exp_bounds(self.epsilon * further, work)
        return top - (-(-more * (top - start) >> work)), top_high - (less * (top_high - start_high) >> work)

    def _bound_factor(self, work: int) -> Bounds:
        """Bound delta/(y-1) = delta s/(1-s), where s = 1/y: it grows with s."""
        small, large = exp_bounds(self.epsilon, work)
        one, above, below = 1 << work, self.delta.numerator, self.delta.denominator
        low = (above * small << work) // (below * (one - small))
        return low, -(-(above * large << work) // (below * (one - large)))

    def _bound_even(self, work: int) -> Bounds:
        """Bound (1-delta)/(1+y) = (1-delta) s/(1+s), where both rules agree."""
        small, large = exp_bounds(self.epsilon, work)
        one, rest = 1 << work, 1 - self.delta
        low = (rest.numerator * small << work) // (rest.denominator * (one + small))
        return low, -(-(rest.numerator * large << work) // (rest.denominator * (one + large)))

    @cached_property
    def _extra(self) -> int:
        """Bits that are lost to quotients by numbers as small as delta, epsilon and e^-epsilon."""
        small = min(self.delta, self.epsilon)
        lost = (small.denominator // small.numerator).bit_length() + 2 * math.ceil(self.epsilon)
        return 4 * lost + 32


@lru_cache(maxsize=64)
def _bound_at_turn(chances: ReleaseProbabilities, work: int) -> Bounds:
    """Bound p(turn), which every larger number of people needs."""
    return chances._bound_growing(chances.turn, work)


# Of more kinds than this, not every one gets bounds of its own before it is needed.
_BOUNDED = 1 << 10


def draw_by_kind(
    kinds: NDArray[np.intp],
    bounds: Callable[[int, int], Bounds],
    bits: BitSource,
    *,
    word_bits: int = WORD,
) -> NDArray[np.bool_]:
    """Draw a Boolean for each entry of `kinds`, True with the exact probability of its kind.

    Args:
        kinds: The kind of each draw: 0, 1, 2, ..., of which no later one has a smaller probability.
        bounds: For a kind and a precision n, integers lo <= 2^n p <= hi that are a few units apart.
        bits: Where the random bits come from.
        word_bits: How many bits are drawn at a time, at most 64; the law does not depend on it.

    Guarantee:
        The draws are independent, and each is True with probability exactly p of its kind.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 4.
    """
    if not len(kinds):
        return np.zeros(0, np.bool_)
    most = int(kinds.max())
    step = most // _BOUNDED + 1
    # Bounds of every step-th kind and of the last: a kind between has its probability between.
    ends = [bounds(min(kind, most), word_bits) for kind in range(0, most + step, step)]
    top = (1 << word_bits) - 1
    lows = np.array([min(low, top) for low, _ in ends], np.uint64)
    highs = np.array([max(high, 1) - 1 for _, high in ends], np.uint64)
    words = bits.integers(len(kinds), word_bits)
    # A word w stands for the numbers in [w, w+1) / 2^word_bits: all below p if w < low, none if w >= high.
    coins = words < lows[kinds // step]
    for place in np.flatnonzero(~coins & (words <= highs[-(-kinds // step)])).tolist():
        kind = int(kinds[place])
        coins[place] = is_below(int(words[place]), partial(bounds, kind), bits, word_bits)
    return coins
