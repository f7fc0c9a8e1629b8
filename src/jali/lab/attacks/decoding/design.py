"""Predict how accurate least squares are from the design of the questions."""

from __future__ import annotations

import math
from dataclasses import dataclass

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
