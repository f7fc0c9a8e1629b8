"""Bounds of the privacy loss of shuffled reports, whatever the others answered.

Any randomizer: each other person sends, with some chance, a report that is a fair mixture of the two that are
to be distinguished: a clone. Among M clones the person's own report is distinguished no better than the count of a
binomial shifted by one. Yes/no answers: only their count is seen, and its law is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from jali.local.binomial import Doubles, log_mass, tail_ratio
from jali.numbers.rounding import round_up
from jali.numbers.search import bisect

# Masses are within 1e-11 of themselves, and what they are multiplied by keeps ten digits.
_CLONES_SLACK = 1e-9
# The share of the goal that may be lost at the ends of a window.
_CLONES_LOST = 1e-8
# Numbers of clones are tried one by one up to this many, and in blocks beyond.
_MOST_TRIED = 2048


@dataclass(frozen=True)
class HypothesisWeights:
    """The two weights of the test between a person's two answers: odds e^first of the truth, at e^epsilon.

    With R the law of the others' count, delta = sum over c of max(0, gain R(c-1) - cost R(c)).

    Attributes:
        gain: p - e^epsilon (1-p), where p = e^first / (1 + e^first).
        cost: e^epsilon p - (1-p).
        excess: cost - gain = e^epsilon - 1, computed without cancellation.
    """

    gain: float
    cost: float
    excess: float

    @classmethod
    def at(cls, first: float, epsilon: float) -> HypothesisWeights:
        """Return the weights for a person's own loss and the epsilon that is tried."""
        shrunk = math.exp(-first)
        gain, cost = -math.expm1(epsilon - first), math.expm1(epsilon) - math.expm1(-first)
        return cls(gain / (1 + shrunk), cost / (1 + shrunk), math.expm1(epsilon))


@dataclass(frozen=True)
class Clones:
    """How well a person is hidden.

    Attributes:
        first: The loss of one report, not shuffled.
        others: How many other people there are.
        chance: The probability that another person's report is a clone, or less: below 1.
        weight: The probability that the person's own report says anything at all.
    """

    first: float
    others: int
    chance: float
    weight: float = 1.0

    def epsilon(self, goal: float) -> float:
        """Return the least epsilon for a delta, rounded up."""
        return least_epsilon(lambda epsilon: self.delta(epsilon, goal), goal, self.first)

    def delta(self, epsilon: float, goal: float) -> float:
        """Return a bound on delta at an epsilon below `first`; what is below the goal is lost at the ends."""
        clones, masses = count_clones(self.others, self.chance, _CLONES_LOST * goal)
        seen = float(np.dot(masses, delta_of_clones(HypothesisWeights.at(self.first, epsilon), clones)))
        return self.weight * seen * (1 + _CLONES_SLACK) + _CLONES_LOST * goal


@lru_cache(maxsize=8)
def count_clones(others: int, chance: float, outside: float) -> tuple[Doubles, Doubles]:
    """Return numbers of clones and their masses, but for a probability at the ends.

    Many of them are put into blocks, each counted at its least number: fewer clones hide less.
    """
    reach, middle = hoeffding(others, outside), others * chance
    first, last = max(0, math.floor(middle - reach)), min(others, math.ceil(middle + reach))
    starts = np.arange(first, last + 1, -(-(last + 1 - first) // _MOST_TRIED))
    masses = np.exp(log_mass(np.arange(first, last + 1), others, chance))
    return starts.astype(np.float64), np.add.reduceat(masses, starts - first)


def delta_of_clones(pair: HypothesisWeights, clones: Doubles) -> Doubles:
    """Return delta for each number of clones: the positive terms of the sum are those above one count.

    They are counted from the top, where the first one is: cost/(gain+cost) may be 1 to the last place.
    """
    terms = np.ceil(pair.gain * (clones + 1) / (pair.gain + pair.cost))
    above = clones + 2 - terms
    mass = np.exp(log_mass(np.minimum(above - 1, clones), clones, 0.5))
    # Pr[>= above] over Pr[= above - 1], so that both parts of the difference share their mass.
    tail = (clones + 1 - above) / above * tail_ratio(np.minimum(above, clones), clones, 0.5)
    return np.where(terms > 0, mass * np.maximum(0.0, pair.gain - pair.excess * tail), 0.0)


def hoeffding(trials: int, outside: float) -> float:
    """Return how far a count of this many coins is from its mean, but for a probability (Hoeffding 1963)."""
    return math.sqrt(trials * (math.log(2) - math.log(outside)) / 2) + 1


def least_epsilon(delta: Callable[[float], float], goal: float, top: float) -> float:
    """Return the least epsilon in [0, top] at which a falling delta is at most the goal, rounded up."""
    if delta(0.0) <= goal:
        return 0.0
    _, found = bisect(lambda e: delta(e) <= goal, 0.0, top, close=lambda low, high: high - low <= 1e-12 * high)
    return round_up(found)


CountMasses = NDArray[np.float64]

# Masses within 1e-11 of themselves, and differences of two of them, which keep nine digits of their sum.
_SLACK = 1e-9
_LOST = 1e-8
# The worst answers of the others are found to this share of epsilon; to the coarser one where the finer takes
# more laws of the count than this.
_SETTLED, _COARSE, _MOST_LAWS = 1e-9, 1e-3, 4096
# This many laws does it take to solve for one epsilon.
_SOLVING = 40


@dataclass(frozen=True)
class ShuffledCount:
    """The count of shuffled yes/no answers, as one person sees it who may change from no to yes.

    Attributes:
        first: The loss of one answer: the truth has odds e^first.
        others: How many other people there are.
        goal: The delta that is accepted.
    """

    first: float
    others: int
    goal: float

    def epsilon(self) -> tuple[float, bool]:
        """Return the least epsilon for the goal, for the worst answers of the others, and whether to 1e-9 of it.

        Guarantee:
            Never below the maximum over all numbers of yes among the others. Those at the ends are solved first;
            then no other is left that exceeds the goal at an epsilon larger by 1e-9, or it is solved in turn.
            Where that takes too long, for many people at a small loss, an epsilon larger by 1e-3 is returned.
        Proof:
            docs/proofs/shuffling.md, Theorem 2.
        """
        ends = max(self._solve(0), self._solve(self.others))
        settled = self._settle(ends, _SETTLED, _MOST_LAWS)
        if settled is not None:
            return settled, True
        return self._settle(ends, _COARSE, math.inf) or self.first, False

    def _settle(self, found: float, share: float, most: float) -> float | None:
        """Return an epsilon, larger by a share than needed at most; None if that takes too many laws."""
        tried, laws, pending = min(self.first, found * (1 + share)), 0, [(0, self.others)]
        while pending:
            low, high = pending.pop()
            laws += 1
            if laws > most:
                return None
            # What is below the goal here stays below it at every larger epsilon.
            if self._bound(HypothesisWeights.at(self.first, tried), low, high) <= self.goal:
                continue
            if low < high:
                middle = (low + high) // 2
                pending += [(low, middle), (middle + 1, high)]
            else:
                tried = min(self.first, max(tried, self._solve(low)) * (1 + share))
                laws += _SOLVING
        return tried

    def delta(self, epsilon: float, yes: int) -> float:
        """Return delta at an epsilon when this many of the others would answer yes."""
        return self._bound(HypothesisWeights.at(self.first, epsilon), yes, yes)

    def _solve(self, yes: int) -> float:
        law = self._law(yes, self.others - yes)
        return least_epsilon(
            lambda epsilon: self._delta_under(HypothesisWeights.at(self.first, epsilon), law),
            self.goal,
            self.first,
        )

    def _bound(self, pair: HypothesisWeights, low: int, high: int) -> float:
        """Bound delta for all numbers of yes from low to high: by those who answer alike in all these cases."""
        return self._delta_under(pair, self._law(low, self.others - high))

    def _delta_under(self, pair: HypothesisWeights, law: CountMasses) -> float:
        before, after = np.append(0.0, law), np.append(law, 0.0)
        seen = np.maximum(0.0, pair.gain * before - pair.cost * after)
        return float(seen.sum()) * (1 + _SLACK) + 2 * _LOST * self.goal

    def _law(self, yes: int, no: int) -> CountMasses:
        """Return the law of a count of answers, from its first likely value on."""
        # A truth of nearly 1 is 1 in doubles; the lies keep their digits.
        lie = math.exp(-self.first) / (1 + math.exp(-self.first))
        outside = _LOST * self.goal
        return np.convolve(_binomial(yes, lie, outside)[::-1], _binomial(no, lie, outside))


@lru_cache(maxsize=256)
def _binomial(trials: int, chance: float, outside: float) -> CountMasses:
    """Return the masses of a binomial count, but for a probability at the ends."""
    reach, middle = hoeffding(trials, outside), trials * chance
    counts = np.arange(max(0, math.floor(middle - reach)), min(trials, math.ceil(middle + reach)) + 1)
    return np.exp(log_mass(counts, trials, chance))
