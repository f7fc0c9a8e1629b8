"""Predict how accurate least squares are from the design of the questions, and round estimates to bits.

Each bit has the confidence that the error of its estimate allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Guess
from jali.lab.attacks.attack_result import LARGE_SIZE

_ENOUGH = 2


def is_settled(people: int, questions: int) -> bool:
    """Return whether the smallest singular value of random subsets is about that of the limit, or above."""
    return people >= LARGE_SIZE and questions >= _ENOUGH * people


@dataclass(frozen=True)
class Design:
    """Random subsets, as far as least squares depend on them.

    Attributes:
        people: How many people there are.
        questions: How many subsets.
        members: How many people a subset holds, where people are parted into groups of that size again and
            again; None where each subset holds everybody with probability 1/2, independently.

    Error:
        Let bits be estimated from answers with noise of standard deviation t, each with an error of standard
        deviation s. A bit weighs w in all answers together, and an answer is blurred by its noise and by what is
        unknown of the c bits that weigh in it, g each: w s^2 = t^2 + c g. Plain least squares know the others as
        well as this one, g = s^2, so s^2 = t^2 / (w - c); with random subsets w = m / 4 and c = n / 4, which makes
        4 t^2 / (m - n). A ridge that knows the variance v of a bit has 1 / g = 1 / v + 1 / s^2 (Tse and Hanly
        1999), and s is finite with any number of questions.

        In groups of k = p n people a bit is not among the others that blur it, and the others are known without
        the answer that they share with it. With w = m p (1 - p), c = k and o = 1 - p that makes
        w s^2 = t^2 + (c - o) g and 1 / g = 1 / v + (w - o) / (t^2 + (c - o) g), which is exact on trees, and small
        groups are nearly that.
    """

    people: int
    questions: int
    members: int | None = None

    @property
    def density(self) -> float:
        """The share of the people that a subset holds."""
        return 0.5 if self.members is None else self.members / self.people

    @property
    def deviation(self) -> float:
        """The standard deviation of a count, over fair bits of which the sum is known."""
        return math.sqrt(self.people) / 4 if self.members is None else math.sqrt(self.members) / 2

    @property
    def weight(self) -> float:
        """The w above."""
        return self.questions * self.density * (1 - self.density)

    @property
    def crowd(self) -> float:
        """The c above."""
        return self.people / 4 if self.members is None else float(self.members)

    @property
    def own(self) -> float:
        """The o above."""
        return 0.0 if self.members is None else 1 - self.density

    @property
    def least(self) -> float:
        """About the smallest eigenvalue of the normal equations that is not 0 (Marchenko and Pastur 1967)."""
        return (math.sqrt(self.weight) - math.sqrt(self.crowd)) ** 2

    def spread(self, stddev: float, variance: float | None = None) -> float:
        """Return the standard deviation of the error of one estimated bit.

        Args:
            stddev: The standard deviation of one answer's error.
            variance: The variance of a bit, for a ridge that knows it; None for plain least squares.

        Example:
            >>> Design(100, 500).spread(5.0)  # 2 stddev / sqrt(m - n)
            0.5
        """
        if self.weight == 0 or (variance is None and self.weight <= self.crowd):
            return math.inf
        unknown = (
            stddev**2 / (self.weight - self.crowd)
            if variance is None
            else self._solve_unknown(stddev**2, variance)
        )
        return math.sqrt((stddev**2 + (self.crowd - self.own) * unknown) / self.weight)

    def _solve_unknown(self, noise: float, variance: float) -> float:
        """Return g: the positive root of (c - o) g^2 + (t^2 + (w - c) v) g = v t^2."""
        half = (noise + (self.weight - self.crowd) * variance) / 2
        others = self.crowd - self.own
        root = math.sqrt(half**2 + others * variance * noise)
        if half <= 0:
            return (root - half) / others
        return variance * noise / (half + root)


def round_estimate(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates to the nearer bit; the confidence is that of a normal error with this spread.

    For a fair bit z the density of an estimate at 1/2 + t is as exp(t / spread^2) for z = 1 against z = 0, so the
    nearer bit is right with probability (1 + c) / 2, where c = tanh(|t| / (2 spread^2)).
    """
    margin = estimate - 0.5
    bits = (margin > 0).view(np.int8)
    if spread == 0:
        return Guess(bits, np.ones_like(margin), questions)
    np.abs(margin, out=margin)
    margin *= 1 / (2 * float(spread) ** 2)
    return Guess(bits, np.tanh(margin, out=margin), questions)


_EDGE = 1e-6


def round_cut_estimate(estimate: Doubles, spread: float, questions: int) -> Guess:
    """Round estimates that are the bits with normal errors of a spread, cut off at 0 and 1.

    The confidence is exact for such errors and fair bits: at u inside, the odds of a 1 are
    exp((u - 1/2) / spread^2); at an edge, one half against the tail beyond 1.
    """
    wrong = NormalDist().cdf(-1 / spread)
    confidence = np.abs(np.tanh((np.asarray(estimate, np.float64) - 0.5) / (2 * spread**2)))
    edge = np.abs(estimate - 0.5) >= 0.5 - _EDGE
    confidence[edge] = (0.5 - wrong) / (0.5 + wrong)
    return Guess((estimate > 0.5).astype(np.int8), confidence, questions)


def guess_from_prior(people: int, prior: float) -> Guess:
    """Guess the likelier value for everybody: all that can be done without answers."""
    bits = np.full(people, prior > 0.5, np.int8)
    return Guess(bits, np.full(people, abs(2 * prior - 1)), 0)
