"""Attack Jali itself, through its public interface, with its ledger or without.

Three oracles ask about a `ProtectedTable`: counts over subsets of people, the counts of attributes in a group, and
counts by conditions, for the attack on sticky noise: here each answer has fresh noise, and is charged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

import jali
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.attack_base import Setting
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracle import Conditions
from jali.lab.attacks.oracles.generated_secrets import (
    GroupSeats,
    ProtectedOracle,
    SeatedOracle,
    Secret,
    SecretOracle,
    VictimOracle,
    VictimTable,
)
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

# Questions that were asked before are free, so that a little may be left when all are answered.
_FURTHER = 10


class DatabaseOracle(ProtectedOracle, SecretOracle):
    """Counts over a table of people, each with a public number and a secret bit."""

    secret: Secret
    table: ProtectedTable

    def __init__(self, secret: Secret, promise: Promise) -> None:
        self.secret = secret
        people = PeopleFile({"id": range(self.n), "trait": secret.bits.tolist()})
        columns = {"id": jali.Range(0, max(1, self.n - 1)), "trait": jali.Range(0, 1)}
        self.table = ProtectedTable(people, promise, columns=columns, named=self.n)
        self._law: Noise | None = None

    @property
    def noise(self) -> Noise:
        """The law of the noise in the last answers; before them, of a question that is asked alone."""
        return self._law or self.table.noise(self._write_new_question())

    def ask(self, questions: Subsets | ArrayLike) -> Doubles:
        """Answer all questions, or the first ones; disjoint ones about single people are one `GROUP BY`."""
        subsets = read_subsets(questions, self.n)
        if isinstance(subsets, Singles) and len(subsets) > 1:
            return self._ask_each_person(len(subsets))
        self.table.offer(len(subsets))
        self._law = self.table.noise(self._write_new_question())
        return self.table.counts(self._write_questions(subsets))

    def _ask_each_person(self, count: int) -> Doubles:
        self.table.offer(1)
        self._law = self.table.noise(EACH_PERSON)
        found = self.table.ask(EACH_PERSON)
        return np.array([] if found is None else [float(row[1]) for row in found.rows[:count]], np.float64)

    def _write_questions(self, subsets: Subsets) -> Iterator[str]:
        reworded = isinstance(subsets, Repeated) and subsets.reworded
        for members in subsets.rows():
            yield write_subset_count(members, nobody=self._find_unused_number() if reworded else None)

    def _write_new_question(self) -> str:
        """Word a question that was not asked yet."""
        return write_count(f"trait = 1 AND id <> {self._find_unused_number()}")

    def list_further_questions(self) -> Iterator[str]:
        """Yield questions that were not asked yet, but not for ever."""
        return (self._write_new_question() for _ in range(_FURTHER))

    def _find_unused_number(self) -> int:
        """Return a number that nobody has, and that no question has named."""
        return self.n + self.table.answered


@dataclass(frozen=True, eq=False)
class ProtectedMeans(ProtectedOracle, SeatedOracle):
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

    def ask(self) -> Doubles:
        """Answer how many members have each attribute, until it refuses."""
        places = range(1, len(self.frequencies) + 1)
        return self.table.counts(write_count(f"SUBSTRING(genes, {place}, 1) = 'T'") for place in places)


@dataclass(frozen=True, eq=False)
class ProtectedRecords(ProtectedOracle, VictimOracle):
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

    def ask(self, questions: Sequence[Conditions]) -> Doubles:
        """Answer questions until it refuses."""
        return self.table.counts(write_count(" AND ".join(map(str, conditions))) for conditions in questions)
