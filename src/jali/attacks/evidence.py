"""What the number of right bits proves: every reconstruction is an audit of the oracle in one run.

If flipping a bit of the secret costs an oracle epsilon, then given everything it released, each bit is guessed
right with probability at most p = e^epsilon o / (1 + e^epsilon o), where o >= 1 are the odds of the likelier
value before, whatever the other bits are. So the number of right guesses among r is dominated by Binomial(r, p)
(Steinke, Nasr and Jagielski 2023, Theorem 5.2, which has the term for delta too).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.local.binomial import clopper_pearson, log_mass, upper_tail
from jali.privacy import Adjacency

CONFIDENCE = 0.95
_STEPS = 60
_MOST = 60.0


@dataclass(frozen=True)
class LowerBound:
    """A loss that an oracle has, whatever it claims.

    Attributes:
        epsilon: The bound, for the adjacency below; 0 where nothing is proved.
        adjacency: When two tables are neighbours.
        confidence: The probability with which such a bound is true.
        delta: The delta beside it.
    """

    epsilon: float
    adjacency: Adjacency
    confidence: float = CONFIDENCE
    delta: float = 0.0


def flips(adjacency: Adjacency) -> int:
    """Return how many steps between neighbours a flipped bit is: replaced at once, or removed and added."""
    return 1 if adjacency is Adjacency.REPLACE_ONE else 2


def ceiling(epsilon: float, adjacency: Adjacency, prior: float = 0.5) -> float:
    """Return the largest probability of guessing one bit right after a release of this loss.

    Example:
        >>> round(ceiling(1, Adjacency.REPLACE_ONE), 3), round(ceiling(1, Adjacency.ADD_REMOVE), 3)
        (0.731, 0.881)
    """
    odds = max(prior, 1 - prior) / min(prior, 1 - prior)
    return 1 / (1 + math.exp(-flips(adjacency) * epsilon) / odds)


def interval(right: int, guessed: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return an interval for the probability of a right guess, by Clopper and Pearson."""
    low, high = clopper_pearson([right], guessed, confidence)
    return float(low[0]), float(high[0])


def lower_bound(
    right: int,
    guessed: int,
    adjacency: Adjacency,
    *,
    prior: float = 0.5,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> LowerBound:
    """Return the largest loss that so many right guesses refute, by bisection, rounded towards 0."""
    low, high = 0.0, _MOST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        refuted = _chance(right, guessed, middle, adjacency, prior, delta) < 1 - confidence
        low, high = (middle, high) if refuted else (low, middle)
    return LowerBound(low, adjacency, confidence, delta)


def _chance(right: int, guessed: int, epsilon: float, adjacency: Adjacency, prior: float, delta: float) -> float:
    """Return the probability of so many right guesses, or more, under a loss, at most.

    A flip in two steps of (epsilon, delta) is one of (2 epsilon, (1 + e^epsilon) delta).
    """
    share = ceiling(epsilon, adjacency, prior)
    beyond = delta if flips(adjacency) == 1 else (1 + math.exp(epsilon)) * delta
    if share >= 1:
        return 1.0
    chance = float(upper_tail(right, guessed, share))
    if beyond:
        chance += 2 * guessed * beyond * _steepest(right, guessed, share)
    return min(1.0, chance)


def _steepest(right: int, guessed: int, share: float) -> float:
    """Return the largest of Pr[right - i <= X < right] / i over i, for X binomial."""
    below = np.exp(log_mass(np.arange(right)[::-1], guessed, share))
    return float((np.cumsum(below) / np.arange(1, right + 1)).max(initial=0.0))
