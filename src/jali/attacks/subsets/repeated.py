"""The same questions, again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets


@dataclass(frozen=True)
class Repeated(Subsets):
    """All questions of `once`, then all of them again, and so on.

    Attributes:
        once: The questions.
        times: How often each is asked.
        reworded: Whether a question is put in other words every time, so that it is not recognised.
        questions: How many are left of them; all by default.
    """

    once: Subsets
    times: int
    reworded: bool = True
    questions: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        once, people = self.once.shape
        return once * self.times if self.questions is None else self.questions, people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.asarray(np.tile(self.once.matvec(x), self.times)[: len(self)])

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        padded = np.zeros(self.times * len(self.once))
        padded[: len(self)] = y
        return self.once.rmatvec(padded.reshape(self.times, -1).sum(axis=0))

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return self.once.row(index % len(self.once))

    def first(self, count: int) -> Repeated:
        """Return the first questions."""
        return Repeated(self.once, self.times, self.reworded, count)
