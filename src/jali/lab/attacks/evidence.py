"""Prove a privacy loss from the number of right bits: every reconstruction is an audit of the oracle in one run.

If flipping a bit of the secret costs an oracle epsilon, then given everything it released, each bit is guessed
right with probability at most p = e^epsilon o / (1 + e^epsilon o), where o >= 1 are the odds of the likelier
value before, whatever the other bits are: they may depend on one another given the release. So the number of
right guesses among r is dominated by Binomial(r, p) (Steinke, Nasr and Jagielski 2023, Theorem 5.2, which has the
term for delta too).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, fmean, stdev

import numpy as np

from jali.local.binomial import clopper_pearson, log_mass, upper_tail
from jali.numbers.search import bisect
from jali.privacy import Adjacency

_QUANTILE_STEPS = 60
# From here on it is the normal law, within a thousandth.
_MANY_DEGREES = 1000


def find_student_mass(degrees: int, t: float) -> float:
    """Return Pr[|T| < t] for Student's T, a finite sum (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).

    Example:
        >>> round(find_student_mass(1, 1.0), 12), round(find_student_mass(2, 1.0), 6)  # 2/pi arctan(1), 1/sqrt(3)
        (0.5, 0.57735)
    """
    angle = math.atan(t / math.sqrt(degrees))
    odd, square = degrees % 2, math.cos(angle) ** 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= square * k / (k + 1)
    scaled = math.sin(angle) * total
    return 2 / math.pi * (angle + scaled) if odd else scaled


@lru_cache(maxsize=256)
def find_student_quantile(degrees: int, confidence: float) -> float:
    """Return the t that Student's |T| is below with this probability.

    Example:
        >>> round(find_student_quantile(1, 0.95), 3), round(find_student_quantile(10, 0.95), 3)
        (12.706, 2.228)
    """
    if degrees > _MANY_DEGREES:
        return NormalDist().inv_cdf((1 + confidence) / 2)
    root = math.sqrt(degrees)
    found, _ = bisect(
        lambda angle: find_student_mass(degrees, root * math.tan(angle)) >= confidence,
        0.0,
        math.pi / 2,
        steps=_QUANTILE_STEPS,
    )
    return root * math.tan(found)


CONFIDENCE = 0.95
_STEPS = 60
_MOST_EPSILON = 60.0
# Beyond this e^epsilon is no double.
_HUGE = 700.0


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


def count_flips(adjacency: Adjacency) -> int:
    """Return how many steps between neighbours a flipped bit is: replaced at once, or removed and added."""
    return 1 if adjacency is Adjacency.REPLACE_ONE else 2


def ceiling(
    epsilon: float,
    adjacency: Adjacency,
    prior: float = 0.5,
    *,
    chance: float | None = None,
    delta: float = 0.0,
) -> float:
    """Return the largest probability of guessing one bit right after a release of this loss.

    Where a guess is not of a bit, `chance` is the probability that it is right without a release; beside a delta
    nothing is known of it, and the ceiling is 1.

    Proof:
        docs/proofs/reconstruction.md, Theorem 3, for delta 0: p. Otherwise a flip of (epsilon, delta) is no worse
        than a release that tells the bit with probability delta and costs epsilon if it does not (Kairouz, Oh and
        Viswanath 2015): p + delta (1 - p). For a fair bit, told as 1 with probability x if it is and y if it is
        not, that is also the sum of x <= e^epsilon y + delta and 1 - y <= e^epsilon (1 - x) + delta: (1 + x - y)/2
        is at most (e^epsilon + delta)/(1 + e^epsilon).

    Example:
        >>> round(ceiling(1, Adjacency.REPLACE_ONE), 3), round(ceiling(1, Adjacency.ADD_REMOVE), 3)
        (0.731, 0.881)
        >>> round(ceiling(1, Adjacency.REPLACE_ONE, delta=0.01), 3)
        0.734
    """
    if delta and chance is not None:
        return 1.0
    before = max(prior, 1 - prior) if chance is None else chance
    pure = 1 / (1 + math.exp(-count_flips(adjacency) * epsilon) * (1 - before) / before)
    return pure + _flip_delta(epsilon, adjacency, delta) * (1 - pure)


def _flip_delta(epsilon: float, adjacency: Adjacency, delta: float) -> float:
    """Return the delta of a flipped bit: two steps of (epsilon, delta) are (2 epsilon, (1 + e^epsilon) delta)."""
    if count_flips(adjacency) == 1 or not delta:
        return delta
    return min(1.0, (1 + math.exp(min(epsilon, _HUGE))) * delta)


def interval(right: int, guessed: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return an interval for the probability of a right guess, by Clopper and Pearson, for independent ones."""
    low, high = clopper_pearson([right], guessed, confidence)
    return float(low[0]), float(high[0])


def interval_of_mean(shares: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return an interval for the mean of independent shares from how they scatter, by Student's law.

    Example:
        >>> low, high = interval_of_mean([0.7, 0.8, 0.9])
        >>> round(low, 3), round(high, 3)  # 0.8 -+ 4.303 * 0.1 / sqrt(3)
        (0.552, 1.0)
    """
    middle, scatter = fmean(shares), stdev(shares) / math.sqrt(len(shares))
    reach = find_student_quantile(len(shares) - 1, confidence) * scatter
    return max(0.0, middle - reach), min(1.0, middle + reach)


def lower_bound(
    right: int,
    guessed: int,
    adjacency: Adjacency,
    *,
    prior: float = 0.5,
    chance: float | None = None,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> LowerBound:
    """Return the largest loss that this many right guesses refute.

    Where a guess is not of a bit, `chance` is the probability that it is right without a release.

    Proof:
        docs/proofs/reconstruction.md, Theorem 3. With a delta it is proved for fair bits only; for others the
        bound is 0, which is always true.

    Example:
        >>> round(lower_bound(950, 1000, Adjacency.REPLACE_ONE).epsilon, 1)  # ln(0.95 / 0.05) is 2.9
        2.7
    """
    found = 0.0
    if not delta:
        least, _ = interval(right, guessed, 1 - 2 * (1 - confidence))
        before = max(prior, 1 - prior) if chance is None else chance
        found = max(0.0, _logit(least) - _logit(before)) / count_flips(adjacency)
    elif prior == 1 / 2 and chance is None:
        found = _bound_with_delta(right, guessed, adjacency, delta, confidence)
    return LowerBound(found, adjacency, confidence, delta)


def _logit(share: float) -> float:
    return -math.inf if share <= 0 else math.log(share / (1 - share))


def _bound_with_delta(right: int, guessed: int, adjacency: Adjacency, delta: float, confidence: float) -> float:
    """Return the largest loss that is refuted beside a delta, by bisection, rounded towards 0."""

    def stands(loss: float) -> bool:
        return not _bound_chance(right, guessed, loss, adjacency, delta) < 1 - confidence

    return bisect(stands, 0.0, _MOST_EPSILON, steps=_STEPS)[0]


def _bound_chance(right: int, guessed: int, epsilon: float, adjacency: Adjacency, delta: float) -> float:
    """Return the probability of this many right guesses, or more, under a loss, at most."""
    share = ceiling(epsilon, adjacency)
    if share >= 1:  # in doubles
        return 1.0
    beyond = _flip_delta(epsilon, adjacency, delta)
    tail = float(upper_tail(right, guessed, share))
    return min(1.0, tail + 2 * guessed * beyond * _find_steepest(right, guessed, share))


def _find_steepest(right: int, guessed: int, share: float) -> float:
    """Return the largest of Pr[right - i <= X < right] / i over i, for X binomial."""
    below = np.exp(log_mass(np.arange(right)[::-1], guessed, share))
    return float((np.cumsum(below) / np.arange(1, right + 1)).max(initial=0.0))
