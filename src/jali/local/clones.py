"""Hiding among clones: a bound on the loss of shuffled reports, whatever the others answered.

Each other person sends, with some chance, a report that is a fair mixture of the two that are to be told apart: a
clone. Among M clones the person's own report is told apart no better than the count of a binomial shifted by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jali.local.binomial import Doubles, log_mass, tail_ratio
from jali.numbers.search import bisect
from jali.privacy.rounding import raised

# Masses are within 1e-11 of themselves, and what they are multiplied by keeps ten digits.
_SLACK = 1e-9
# The share of the goal that may be lost at the ends of a window.
_LOST = 1e-8
# Numbers of clones are tried one by one up to so many, and in blocks beyond.
_MOST_TRIED = 2048


@dataclass(frozen=True)
class Pair:
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
    def at(cls, first: float, epsilon: float) -> Pair:
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
        clones, masses = clones_of(self.others, self.chance, _LOST * goal)
        seen = float(np.dot(masses, told_apart(Pair.at(self.first, epsilon), clones)))
        return self.weight * seen * (1 + _SLACK) + _LOST * goal


@lru_cache(maxsize=8)
def clones_of(others: int, chance: float, outside: float) -> tuple[Doubles, Doubles]:
    """Return numbers of clones and their masses, but for a probability at the ends.

    Many of them are put into blocks, each counted at its least number: fewer clones hide less.
    """
    reach, middle = hoeffding(others, outside), others * chance
    first, last = max(0, math.floor(middle - reach)), min(others, math.ceil(middle + reach))
    starts = np.arange(first, last + 1, -(-(last + 1 - first) // _MOST_TRIED))
    masses = np.exp(log_mass(np.arange(first, last + 1), others, chance))
    return starts.astype(np.float64), np.add.reduceat(masses, starts - first)


def told_apart(pair: Pair, clones: Doubles) -> Doubles:
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
    """Return how far a count of so many coins is from its mean, but for a probability (Hoeffding 1963)."""
    return math.sqrt(trials * (math.log(2) - math.log(outside)) / 2) + 1


def least_epsilon(delta: Callable[[float], float], goal: float, top: float) -> float:
    """Return the least epsilon in [0, top] at which a falling delta is at most the goal, rounded up."""
    if delta(0.0) <= goal:
        return 0.0
    _, found = bisect(lambda e: delta(e) <= goal, 0.0, top, close=lambda low, high: high - low <= 1e-12 * high)
    return raised(found)
