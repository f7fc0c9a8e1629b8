"""Subsets of one person each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets


@dataclass(frozen=True)
class Singles(Subsets):
    """Question i counts person i alone.

    The questions are disjoint: a database that knows parallel composition answers all of them as one.

    Example:
        >>> Singles(3, 2).matvec(np.array([1.0, 0.0, 1.0])).tolist()
        [1.0, 0.0]
    """

    people: int
    questions: int | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return self.people if self.questions is None else self.questions, self.people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        return np.array(x[: len(self)])

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        return np.concatenate((y, np.zeros(self.people - len(self))))

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return np.asarray(np.arange(self.people) == index)

    def first(self, count: int) -> Singles:
        """Return the first questions."""
        return Singles(self.people, count)
