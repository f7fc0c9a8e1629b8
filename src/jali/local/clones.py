"""Hiding among clones: a bound on the loss of shuffled reports, whatever the others answered.

Each other person sends, with some chance, a report that is a fair mixture of the two that are to be told apart: a
clone. Among M clones the person's own report is told apart no better than the count of a binomial shifted by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jali.local.binomial import log_mass, upper_tail
from jali.privacy.rounding import raised

# Tails and masses are within 1e-11 of themselves; the difference of two such numbers keeps nine digits.
_SLACK = 1e-9
# The share of the goal that may be lost at the ends of a window.
_LOST = 1e-8


@dataclass(frozen=True)
class Pair:
    """The two weights of the test between a person's two answers: odds e^first of the truth, at e^epsilon.

    With R the law of the others' count, delta = sum over c of max(0, gain R(c-1) - cost R(c)).

    Attributes:
        gain: p - e^epsilon (1-p), where p = e^first / (1 + e^first).
        cost: e^epsilon p - (1-p).
    """

    gain: float
    cost: float

    @classmethod
    def at(cls, first: float, epsilon: float) -> Pair:
        """Return the weights for a person's own loss and the epsilon that is tried."""
        shrunk = math.exp(-first)
        return cls(-math.expm1(epsilon - first) / (1 + shrunk), (math.exp(epsilon) - shrunk) / (1 + shrunk))


@dataclass(frozen=True)
class Clones:
    """How well a person is hidden.

    Attributes:
        first: The loss of one report, not shuffled.
        others: How many other people there are.
        chance: The probability that another person's report is a clone.
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
        pair = Pair.at(self.first, epsilon)
        reach = hoeffding(self.others, _LOST * goal)
        middle = self.others * self.chance
        clones = np.arange(max(0, math.floor(middle - reach)), min(self.others, math.ceil(middle + reach)) + 1)
        masses = np.exp(log_mass(clones, self.others, self.chance))
        seen = float(np.dot(masses, _told_apart(pair, clones)))
        return self.weight * seen * (1 + _SLACK) + _LOST * goal


def _told_apart(pair: Pair, clones: np.ndarray) -> np.ndarray:
    """Return delta for each number of clones: the positive terms of the sum are those above one count."""
    above = np.floor(pair.cost * (clones + 1) / (pair.gain + pair.cost)) + 1
    top = np.minimum(above - 1, clones)
    mass = np.where(above - 1 <= clones, np.exp(log_mass(top, clones, 0.5)), 0.0)
    return np.maximum(0.0, pair.gain * mass - (pair.cost - pair.gain) * upper_tail(above, clones, 0.5))


def hoeffding(trials: int, outside: float) -> float:
    """Return how far a count of so many coins is from its mean, but for a probability (Hoeffding 1963)."""
    return math.sqrt(trials * math.log(2 / outside) / 2) + 1


def least_epsilon(delta: Callable[[float], float], goal: float, top: float) -> float:
    """Return the least epsilon in [0, top] at which a falling delta is at most the goal, rounded up."""
    low, high = 0.0, top
    if delta(low) <= goal:
        return 0.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta(middle) <= goal else (middle, high)
    return raised(high)
