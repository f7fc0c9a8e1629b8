"""Pairs of subsets that differ by one person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets


@dataclass(frozen=True)
class WithAndWithout(Subsets):
    """Question 2i counts person i and the half of the people who come next, in a circle; 2i + 1 these alone.

    No two questions are the same with more than two people, so that no answer serves for two persons.
    """

    people: int
    questions: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return 2 * self.people if self.questions is None else self.questions, self.people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        sums = np.concatenate(([0.0], np.cumsum(np.concatenate((x, x)))))
        first, last = self._ends()
        return np.asarray(sums[last] - sums[first])

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        first, last = self._ends()
        steps = np.bincount(first, y, 2 * self.people + 1) - np.bincount(last, y, 2 * self.people + 1)
        return np.asarray(np.cumsum(steps)[:-1].reshape(2, -1).sum(axis=0))

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        place = (np.arange(self.people) - index // 2) % self.people
        return np.asarray((index % 2 <= place) & (place <= self.people // 2))

    def first(self, count: int) -> WithAndWithout:
        """Return the first questions."""
        return WithAndWithout(self.people, count)

    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each subset begins and ends on the circle, walked twice."""
        person, without = np.divmod(np.arange(len(self)), 2)
        return person + without, person + self.people // 2 + 1
