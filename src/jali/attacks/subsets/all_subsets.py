"""All subsets of the people: the questions of an adversary without limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.attacks.arrays import Doubles, Members
from jali.attacks.subsets.subsets import Subsets
from jali.errors import CatalogError

_MOST_PEOPLE = 62


@dataclass(frozen=True)
class AllSubsets(Subsets):
    """Question i counts the people j whose bit 2^j is set in i, so that the first 2^k are about k people.

    Products with the matrix take 2^n steps, one for each question: the subsets with a person are those without
    them over again, plus one.

    Example:
        >>> AllSubsets(3).matvec(np.array([1.0, 0.0, 1.0])).tolist()
        [0.0, 1.0, 0.0, 1.0, 1.0, 2.0, 1.0, 2.0]
    """

    people: int
    questions: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.people <= _MOST_PEOPLE:
            raise CatalogError("attack-all-subsets-size-wrong", most=_MOST_PEOPLE, people=self.people, name="n")

    @property
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""
        return 1 << self.people if self.questions is None else self.questions, self.people

    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""
        sums = np.zeros(len(self))
        for person, value in enumerate(x.tolist()):
            without = 1 << person
            twice = sums[without : 2 * without]
            np.add(sums[: len(twice)], value, out=twice)
        return sums

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        sums, rest = np.zeros(self.people), np.asarray(y, np.float64)
        for person in reversed(range(self.people)):
            without = 1 << person
            having = rest[without:]
            if len(having):
                sums[person] = having.sum()
                rest = rest[:without].copy()
                rest[: len(having)] += having
        return sums

    def gram(self) -> Doubles:
        """Return, for each two people, how many subsets they are both in.

        The first m = 2^k + r questions are all those about k people, and r more that add person k to the first r.
        """
        shared = np.zeros((self.people, self.people))
        if not len(self):
            return shared
        person = len(self).bit_length() - 1
        rest = len(self) - (1 << person)
        shared[:person, :person] = (1 << person) / 4 * (1 + np.eye(person))
        if rest:
            again = self.first(rest).gram()
            shared += again
            shared[person] += np.diag(again)
            shared[:, person] += np.diag(again)
            shared[person, person] += rest
        return shared

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        return np.asarray(index >> np.arange(self.people) & 1 == 1)

    def first(self, count: int) -> AllSubsets:
        """Return the first questions."""
        return AllSubsets(self.people, count)
