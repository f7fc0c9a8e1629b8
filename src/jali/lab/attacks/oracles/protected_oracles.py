"""Attack Jali itself, through its public interface, with its ledger or without.

Three oracles ask about a `ProtectedTable`: counts over subsets of people, the counts of attributes in a group, and
counts by conditions, for the attack on sticky noise: here noise is drawn anew, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import jali
from jali.lab.attacks.arrays import Bits, Doubles
from jali.lab.attacks.attack_base import Progress, Setting
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Conditions, Refusal, Spent, Values
from jali.lab.attacks.oracles.generated_secrets import GroupSeats, Secret, VictimTable
from jali.lab.attacks.oracles.protected_table import (
    EACH_PERSON,
    PeopleFile,
    Promise,
    ProtectedTable,
    write_count,
    write_subset_count,
)
from jali.lab.attacks.subsets.random_subsets import read_subsets
from jali.lab.attacks.subsets.subset_operators import Repeated, Singles, Subsets
from jali.privacy import Adjacency

# Questions that were asked before are free, so that a little may be left when all are answered.
_FURTHER = 10


class DatabaseOracle:
    """Counts over a table of people, each with a public number and a secret bit."""

    def __init__(self, secret: Secret, promise: Promise) -> None:
        self._secret = secret
        people = PeopleFile({"id": range(self.n), "trait": secret.bits.tolist()})
        columns = {"id": jali.Range(0, max(1, self.n - 1)), "trait": jali.Range(0, 1)}
        self._table = ProtectedTable(people, promise, columns=columns, named=self.n)
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
        return self._law or self._table.noise(self._write_new_question())

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions, or the first ones; disjoint ones about single people are one `GROUP BY`."""
        subsets = read_subsets(questions, self.n)
        if isinstance(subsets, Singles) and len(subsets) > 1:
            return self._ask_each_person(len(subsets))
        self._table.offer(len(subsets))
        self._law = self._table.noise(self._write_new_question())
        return self._table.counts(self._write_questions(subsets))

    def _ask_each_person(self, count: int) -> Doubles:
        self._table.offer(1)
        self._law = self._table.noise(EACH_PERSON)
        found = self._table.ask(EACH_PERSON)
        return np.array([] if found is None else [float(row[1]) for row in found.rows[:count]], np.float64)

    def _write_questions(self, subsets: Subsets) -> Iterator[str]:
        reworded = isinstance(subsets, Repeated) and subsets.reworded
        for members in subsets.rows():
            yield write_subset_count(members, nobody=self._find_unused_number() if reworded else None)

    def _write_new_question(self) -> str:
        """Word a question that was not asked yet."""
        return write_count(f"trait = 1 AND id <> {self._find_unused_number()}")

    def _find_unused_number(self) -> int:
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
        return self._table.refusal(self._write_new_question() for _ in range(_FURTHER))

    def mark(self, guess: Bits) -> int:
        """Return how many bits of a guess are right."""
        return self._secret.mark(guess)


@dataclass(frozen=True, eq=False)
class ProtectedMeans:
    """Asks Jali how many members have each attribute.

    A person is a row, their attributes a text of letters A and T: a thousand columns would cost seconds to plan.
    """

    seats: GroupSeats
    table: ProtectedTable

    @classmethod
    def of(cls, setting: Setting, attributes: int) -> ProtectedMeans:
        """Draw a group, and protect its members."""
        seats = GroupSeats.draw(setting.n, attributes, np.random.default_rng(setting.seed))
        letters = np.where(seats.members == 1, "T", "A")
        people = PeopleFile({"genes": ["".join(row) for row in letters]})
        return cls(seats, ProtectedTable(people, Promise.under(setting), questions=attributes))

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def n(self) -> int:
        """How many members there are."""
        return len(self.candidates)

    @property
    def prior(self) -> float:
        """The probability that the second candidate sits."""
        return self.seats.secret.prior

    @property
    def noise(self) -> Noise:
        """The law of a count's noise."""
        return self.table.noise(write_count("TRUE"))

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the table."""
        return self.table.promise.adjacency

    @property
    def frequencies(self) -> Doubles:
        """How frequent each attribute is in the population."""
        return self.seats.frequencies

    @property
    def candidates(self) -> Bits:
        """The attributes of both people for each seat."""
        return self.seats.candidates

    def ask(self) -> Doubles:
        """Answer how many members have each attribute, until it refuses."""
        places = range(1, len(self.frequencies) + 1)
        return self.table.counts(write_count(f"SUBSTRING(genes, {place}, 1) = 'T'") for place in places)

    def spent(self) -> Spent | None:
        """Return what the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return self.table.refusal([write_count("TRUE")])

    def mark(self, guess: Bits) -> int:
        """Return for how many seats a guess is right."""
        return self.seats.secret.mark(guess)

    def split_scores(self, scores: Doubles) -> tuple[Doubles, Doubles]:
        """Return the scores of the members and of the outsiders."""
        return self.seats.split_scores(scores)


@dataclass(frozen=True, eq=False)
class ProtectedRecords:
    """Asks Jali how many people meet conditions."""

    crowd: VictimTable
    table: ProtectedTable

    @classmethod
    def of(cls, setting: Setting, columns: int) -> ProtectedRecords:
        """Draw a table, and protect it."""
        crowd = VictimTable.draw(setting.n, columns, np.random.default_rng(setting.seed))
        people = PeopleFile(
            {f"c{place}": column.tolist() for place, column in enumerate(crowd.rows.T.astype(str))}
        )
        return cls(crowd, ProtectedTable(people, Promise.under(setting), questions=2 * columns * setting.n))

    @property
    def name(self) -> str:
        """What is attacked."""
        return str(self.table.promise)

    @property
    def n(self) -> int:
        """How many victims there are."""
        return len(self.victim_columns)

    @property
    def prior(self) -> float:
        """The probability of the trait."""
        return self.crowd.secret.prior

    @property
    def noise(self) -> Noise:
        """The law of a count's noise."""
        return self.table.noise(write_count("TRUE"))

    @property
    def adjacency(self) -> Adjacency | None:
        """That of the table."""
        return self.table.promise.adjacency

    @property
    def victim_columns(self) -> Values:
        """What the attacker knows of the victims."""
        return self.crowd.victim_columns

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer questions until it refuses."""
        return self.table.counts(write_count(" AND ".join(map(str, conditions))) for conditions in questions)

    def spent(self) -> Spent | None:
        """Return what the ledger counts."""
        return self.table.spent()

    def unpaid(self) -> Spent | None:
        """Return what the answers would have cost without a ledger."""
        return self.table.unpaid()

    def watch(self, progress: Progress) -> None:
        """Tell somebody how many questions are answered."""
        self.table.watch(progress)

    def refusal(self) -> Refusal | None:
        """Return where it refuses."""
        return self.table.refusal([write_count("TRUE")])

    def mark(self, guess: Bits) -> int:
        """Return how many traits of a guess are right."""
        return self.crowd.secret.mark(guess)
