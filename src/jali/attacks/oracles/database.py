"""Jali itself under attack, through its public interface, with its ledger or without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

import jali
from jali.attacks.arrays import Bits, Doubles
from jali.attacks.attack import Progress
from jali.attacks.noises import Noise
from jali.attacks.oracle import Refusal, Spent
from jali.attacks.oracles.held import Held
from jali.attacks.oracles.people import People
from jali.attacks.oracles.phrases import EACH_PERSON, count_of, phrase
from jali.attacks.oracles.promise import Promise
from jali.attacks.oracles.secret import Secret
from jali.attacks.subsets.listed import listed
from jali.attacks.subsets.repeated import Repeated
from jali.attacks.subsets.singles import Singles
from jali.attacks.subsets.subsets import Subsets
from jali.privacy import Adjacency

# Questions that were asked before are free, so that a little may be left when all are answered.
_FURTHER = 10


class DatabaseOracle:
    """Counts over a table of people, each with a public number and a secret bit."""

    def __init__(self, secret: Secret, promise: Promise) -> None:
        self._secret = secret
        people = People({"id": range(self.n), "trait": secret.bits.tolist()})
        columns = {"id": jali.Range(0, max(1, self.n - 1)), "trait": jali.Range(0, 1)}
        self._table = Held(people, promise, columns=columns, named=self.n)
        self._law: Noise | None = None

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self._table.promise)

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self._secret.bits)

    @property
    def prior(self) -> float:
        """The probability that a bit is 1."""
        return self._secret.prior

    @property
    def adjacency(self) -> Adjacency | None:
        """The adjacency in which the loss is counted."""
        return self._table.promise.adjacency

    @property
    def noise(self) -> Noise:
        """The law of the noise in the last answers; before them, of a question that is asked alone."""
        return self._law or self._table.noise(self._everybody())

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions, or the first ones; disjoint ones about single people are one `GROUP BY`."""
        subsets = listed(questions, self.n)
        if isinstance(subsets, Singles) and len(subsets) > 1:
            return self._ask_each_person(len(subsets))
        self._table.offer(len(subsets))
        self._law = self._table.noise(self._everybody())
        return self._table.counts(self._texts(subsets))

    def _ask_each_person(self, count: int) -> Doubles:
        self._table.offer(1)
        self._law = self._table.noise(EACH_PERSON)
        found = self._table.ask(EACH_PERSON)
        return np.array([] if found is None else [float(row[1]) for row in found.rows[:count]], np.float64)

    def _texts(self, subsets: Subsets) -> Iterator[str]:
        reworded = isinstance(subsets, Repeated) and subsets.reworded
        for members in subsets.rows():
            yield phrase(members, nobody=self._nobody() if reworded else None)

    def _everybody(self) -> str:
        """Word a question that was not asked yet."""
        return count_of(f"trait = 1 AND id <> {self._nobody()}")

    def _nobody(self) -> int:
        """Return a number that nobody has, and that no question has named."""
        return self.n + self._table.answered

    def spent(self) -> Spent | None:
        """Return what the ledger counts."""
        return self._table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self._table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
        self._table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where the ledger refused; if it has not, ask on to find out, but not for ever."""
        return self._table.refusal(self._everybody() for _ in range(_FURTHER))

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self._secret.mark(guess)
