"""The chances of a test that stands before a noisy release: it may decline at the loss of both together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.keys.chances import Chances
from jali.noise import BitSource
from jali.noise.bounds import Bounds, exp_bounds
from jali.noise.enclosed import enclosed_coins
from jali.numbers.search import least_integer

_LEAST, _MOST = Fraction(1, 1 << 40), 1 << 9


@dataclass(frozen=True)
class Acceptance(Chances):
    """The numbers p(0) = 0, p(n) = min(e^epsilon p(n-1) + delta, 1 - e^-whole (1 - p(n-1) - delta), 1).

    Attributes:
        epsilon: What the test spends when it accepts.
        delta: The probability of failure.
        whole: What the test and the release after it spend together, at least epsilon: a table on which nothing is
            released has the loss of the release to spare.

    Guarantee:
        The same closed form as that of `Chances`, with the second factor e^whole in its second part; found by
        integer arithmetic on bounds of exponentials. With whole = epsilon they are those chances.
    Proof:
        docs/proofs/propose_test_release.md, Lemma 1.

    Example:
        >>> test = Acceptance(Fraction(1), Fraction(1, 10**5), Fraction(2))
        >>> [round(test.near(n), 6) for n in (1, 10, 12, 17)]
        [1e-05, 0.128183, 0.911823, 0.999998]
    """

    whole: Fraction

    @property
    def _late(self) -> Chances:
        return Chances(self.whole, self.delta)

    def _guessed(self) -> int:
        """Return 1 + floor(ln(1 + p (e^epsilon - 1)/delta) / epsilon) in double, for the p of `_even`."""
        first, both = float(self.epsilon), float(self.whole)
        even = math.expm1(-first) * math.expm1(-both) / -math.expm1(-first - both)
        return 1 + math.floor(math.log1p(float(1 - self.delta) * even / float(self.delta)) / first)

    def _falling(self, further: int, work: int) -> Bounds:
        """Bound top - w^m (top - p(turn)), where w = e^-whole and top = 1 + delta/(e^whole - 1)."""
        ends = zip(self._late._factor(work), self._growing(self.turn, work), strict=True)
        (top, start), (top_high, start_high) = ((factor + (1 << work), at) for factor, at in ends)
        less, more = exp_bounds(self.whole * further, work)
        return top - (-(-more * (top - start) >> work)), top_high - (less * (top_high - start_high) >> work)

    def _even(self, work: int) -> Bounds:
        """Bound (1-delta) s (1-w)/(1 - s w), s = e^-epsilon, where the rules agree: it grows with s and 1/w."""
        small, large = exp_bounds(self.epsilon, work)
        fine, coarse = exp_bounds(self.whole, work)
        one, rest = 1 << work, 1 - self.delta
        low = rest.numerator * small * (one - coarse) // (rest.denominator * (one - (small * coarse >> work)))
        high = -rest.numerator * large * (one - fine) // (rest.denominator * (one + (-large * fine >> work)))
        return low, -high

    @cached_property
    def _extra(self) -> int:
        """Bits that are lost to quotients by numbers as small as delta, epsilon and e^-whole."""
        small = min(self.delta, self.epsilon)
        lost = (small.denominator // small.numerator).bit_length() + 2 * math.ceil(self.whole)
        return 4 * lost + 32


def refuse_extremes(epsilon: Fraction, name: str = "epsilon") -> None:
    """Refuse a loss whose chances would take more digits or more steps than there is time for."""
    if not _LEAST <= epsilon <= _MOST:
        raise MechanismError("test-epsilon-out-of-range", name=name)


def accepted(chances: Chances, distance: int, size: int, bits: BitSource) -> NDArray[np.bool_]:
    """Toss `size` coins of the chance that a table at this distance is answered."""
    return enclosed_coins(partial(chances.bounds, steps(chances, distance)), size, bits)


def steps(chances: Chances, distance: int) -> int:
    """Return how many steps of its chances a distance stands for: one more, and no more than make it sure."""
    return min(max(int(distance), 0) + 1, chances.sure)


def least_distance(chances: Chances, missed: float) -> int:
    """Return the least distance from which a table is declined with at most this probability."""
    return least_integer(lambda people: chances.lost(people) <= missed, 0, chances.sure) - 1


def by_recursion(epsilon: float, delta: float, whole: float, distance: int) -> tuple[float, float]:
    """Return the chances of an answer and of none at a distance, step by step in doubles."""
    told, lost = 0.0, 1.0
    for _ in range(distance + 1):
        if lost == 0:
            break
        grown = math.exp(epsilon) * told + delta
        left = math.exp(-whole) * (lost - delta)
        if grown <= 1 - left:
            told, lost = grown, 1 - grown
        else:
            told, lost = 1 - max(0.0, left), max(0.0, left)
    return told, lost
