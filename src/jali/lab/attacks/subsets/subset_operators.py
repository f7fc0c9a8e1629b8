"""Ask many questions at once, as a linear operator: no matrix is needed to ask a million of them.

`Subsets` is the interface. The operators here are computed, not stored: single people, pairs of sets with and
without a person, all subsets, and repetitions of other questions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError
from jali.lab.attacks.arrays import Doubles, Members


class Subsets(ABC):
    """A matrix of zeros and ones with a row for each question and a column for each person.

    scipy's `aslinearoperator` takes it as it is.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many questions there are, about how many people."""

    @abstractmethod
    def matvec(self, x: Doubles) -> Doubles:
        """Return the sum of x over each subset."""

    @abstractmethod
    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""

    @abstractmethod
    def row(self, index: int) -> Members:
        """Return who is in one subset."""

    @abstractmethod
    def first(self, count: int) -> Subsets:
        """Return the first questions, which are all that an oracle with a budget may have answered."""

    def __len__(self) -> int:
        return self.shape[0]

    def rows(self) -> Iterator[Members]:
        """Return the subsets one after the other."""
        return (self.row(index) for index in range(len(self)))


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
        first, last = self._find_ends()
        return np.asarray(sums[last] - sums[first])

    def rmatvec(self, y: Doubles) -> Doubles:
        """Return, for each person, the sum of y over the subsets they are in."""
        first, last = self._find_ends()
        steps = np.bincount(first, y, 2 * self.people + 1) - np.bincount(last, y, 2 * self.people + 1)
        return np.asarray(np.cumsum(steps)[:-1].reshape(2, -1).sum(axis=0))

    def row(self, index: int) -> Members:
        """Return who is in one subset."""
        place = (np.arange(self.people) - index // 2) % self.people
        return np.asarray((index % 2 <= place) & (place <= self.people // 2))

    def first(self, count: int) -> WithAndWithout:
        """Return the first questions."""
        return WithAndWithout(self.people, count)

    def _find_ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each subset begins and ends on the circle, walked twice."""
        person, without = np.divmod(np.arange(len(self)), 2)
        return person + without, person + self.people // 2 + 1


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
