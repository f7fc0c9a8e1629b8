"""Publish tables about a generated block: exact ones without small cells, or private ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import jali
from jali.errors import CatalogError
from jali.lab.attacks.arrays import Bits
from jali.lab.attacks.attack_base import Setting
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracles.generated_secrets import ProtectedOracle, UnprotectedOracle
from jali.lab.attacks.oracles.protected_table import TABLE, PeopleFile, Promise, ProtectedTable
from jali.lab.attacks.tables.published_tables import (
    ADULT,
    AGE,
    CODES,
    LIKELIHOOD,
    MOST_IN_A_BLOCK,
    OLDEST,
    PUBLISHED_CELLS,
    RACE,
    RACES,
    SEX,
    SEXES,
    STATUS,
    STATUSES,
    CellStatistic,
    CensusCell,
    TableRelease,
    compute_chance,
    publish_exact,
    tally,
)

# A table that is not published, to meet the refusal with.
_UNPUBLISHED = CensusCell(youngest=ADULT, oldest=64)
_BLOCK_COLUMNS: dict[str, jali.Range | jali.Keys] = {
    "age": jali.Range(0, OLDEST),
    "sex": jali.Keys(SEXES),
    "race": jali.Keys(RACES),
    "status": jali.Keys(STATUSES),
}


@dataclass(frozen=True, eq=False)
class CensusBlock:
    """Generated people, each with a code."""

    codes: Bits

    @classmethod
    def draw(cls, n: int, seed: int | None) -> CensusBlock:
        """Draw people from the population, independently."""
        if not 1 <= n <= MOST_IN_A_BLOCK:
            raise CatalogError("attack-block-size-wrong", most=MOST_IN_A_BLOCK, n=n, name="n")
        return cls(np.random.default_rng(seed).choice(CODES, n, p=LIKELIHOOD))

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.codes)

    @property
    def prior(self) -> float:
        """The share of people that is guessed right without a release, at most."""
        return compute_chance(self.n)

    def mark(self, guess: Bits) -> int:
        """Return how many people of a guess are in the block, each once."""
        return int(np.minimum(tally(guess), tally(self.codes)).sum())


@dataclass(frozen=True, eq=False)
class SuppressingAgency(UnprotectedOracle, CensusBlock):
    """Publishes exact tables, and withholds cells of few people.

    Attributes:
        threshold: Cells of fewer people are withheld.
    """

    threshold: int = 3

    @classmethod
    def of(cls, n: int, *, threshold: int = 3, seed: int | None = None) -> SuppressingAgency:
        """Draw a block to publish about."""
        return cls(CensusBlock.draw(n, seed).codes, threshold)

    @property
    def name(self) -> str:
        """What is attacked."""
        return f"exact tables without cells below {self.threshold}"

    @property
    def noise(self) -> Noise:
        """There is none."""
        return Noise("none")

    def publish(self) -> TableRelease:
        """Publish all tables."""
        return publish_exact(tally(self.codes), self.threshold)


@dataclass(frozen=True, eq=False)
class PrivateAgency(ProtectedOracle, CensusBlock):
    """Publishes the same tables through Jali, all cells, for a loss in all.

    Attributes:
        table: The block under Jali's protection.
    """

    table: ProtectedTable

    @classmethod
    def of(cls, setting: Setting) -> PrivateAgency:
        """Draw a block to publish about."""
        if setting.delta:
            raise CatalogError("attack-tables-with-delta")
        codes = CensusBlock.draw(setting.n, setting.seed).codes
        held = ProtectedTable(
            _write_people(codes),
            Promise.under(setting),
            questions=len(PUBLISHED_CELLS),
            columns=_BLOCK_COLUMNS,
            rows=setting.n,
        )
        return cls(codes, held)

    def publish(self) -> TableRelease:
        """Publish the tables that the budget allows."""
        answers = self.table.answers(map(_write_question, PUBLISHED_CELLS))
        told = tuple(
            CellStatistic(cell, *answer.rows[0]) for cell, answer in zip(PUBLISHED_CELLS, answers, strict=False)
        )
        return TableRelease(self.n, told, threshold=0, weight=1 / self.noise.size)

    def list_further_questions(self) -> list[str]:
        """Return the question for a table that is not published, whose count shares its loss with two numbers."""
        return [_write_question(_UNPUBLISHED)]


def _write_question(cell: CensusCell) -> str:
    return f"SELECT COUNT(*), MEDIAN(age), AVG(age) FROM {TABLE} WHERE {cell.condition}"


def _write_people(codes: Bits) -> PeopleFile:
    """Write generated people to a file."""
    places = np.searchsorted(CODES, codes)
    named = {"sex": (SEXES, SEX), "race": (RACES, RACE), "status": (STATUSES, STATUS)}
    texts = {name: [words[word] for word in column[places]] for name, (words, column) in named.items()}
    return PeopleFile({"age": AGE[places].tolist(), **texts})
