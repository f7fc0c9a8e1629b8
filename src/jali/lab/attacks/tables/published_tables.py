"""Describe the people of a block, the cells of tables about them, and the agency that publishes these.

Every combination of age, sex, race and marital status has a code and a likelihood in the population, which are
public. A cell is a group of people for whom a count, a median and a mean age are published.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np

from jali.lab.attacks.arrays import Bits, Doubles, Members
from jali.lab.attacks.oracle import Opponent

OLDEST = 115
# A few houses; the program of more people takes too long.
MOST_IN_A_BLOCK = 100
MARRIED_FROM = 15
SEXES = ("female", "male")
RACES = ("black", "white")
STATUSES = ("single", "married")

_GRID = np.indices((OLDEST + 1, len(SEXES), len(RACES), len(STATUSES))).reshape(4, -1)
# A code is the place in the grid: 8 age + 4 sex + 2 race + status.
CODES: Bits = np.flatnonzero((_GRID[0] >= MARRIED_FROM) | (_GRID[3] == 0)).astype(np.int16)
AGE, SEX, RACE, STATUS = (column[CODES].astype(np.int16) for column in _GRID)


def _compute_likelihood() -> Doubles:
    """Return how common each combination is: ages are even up to 60 and fade out at 100."""
    ages = np.clip((100 - AGE) / 40, 0.0, 1.0)
    married = np.select([AGE < MARRIED_FROM, AGE < 20, AGE < 30, AGE < 65], [0.0, 0.03, 0.35, 0.65], 0.55)
    weight = ages * np.where(STATUS == 1, married, 1 - married) * np.where(RACE == 0, 0.4, 0.6)
    return np.asarray(weight / weight.sum())


# The public knowledge by which blocks are drawn, and by which an attacker guesses who lives there.
LIKELIHOOD = _compute_likelihood()


def list_commonest(n: int) -> Bits:
    """Return one person of each of the n likeliest combinations, counted by combination."""
    counts = np.zeros(len(CODES), np.int64)
    counts[np.argsort(-LIKELIHOOD, kind="stable")[:n]] = 1
    return counts


def compute_chance(n: int) -> float:
    """Return the largest share of n people that is guessed right without a release.

    The people guessed right have one of the guessed combinations, of which there are at most n: so their share is
    expected to be at most the probability of the n likeliest ones.
    """
    return float(LIKELIHOOD @ list_commonest(n))


def tally(codes: Bits) -> Bits:
    """Count the people of each combination; codes that mean nobody are left out."""
    counts = np.bincount(codes[codes >= 0], minlength=_GRID.shape[1])
    return counts[CODES]


def list_codes(counts: Bits) -> Bits:
    """Return the codes of people who are counted by combination; the inverse of `tally`."""
    return np.repeat(CODES, counts)


def describe_people(codes: Iterable[int]) -> list[str]:
    """Name people in words.

    Example:
        >>> describe_people([66, 243])
        ['8, female, white, single', '30, female, white, married']
    """
    return [
        f"{_GRID[0, code]}, {SEXES[_GRID[1, code]]}, {RACES[_GRID[2, code]]}, {STATUSES[_GRID[3, code]]}"
        for code in codes
    ]


def list_everybody() -> Members:
    """Return all combinations, as a cell to narrow down."""
    return np.ones(len(CODES), np.bool_)


ADULT = 18


@dataclass(frozen=True)
class CensusCell:
    """A group of people. What is None does not matter.

    Attributes:
        sex: One of `SEXES`.
        race: One of `RACES`.
        status: One of `STATUSES`.
        youngest: The least age.
        oldest: The largest age.
    """

    sex: str | None = None
    race: str | None = None
    status: str | None = None
    youngest: int = 0
    oldest: int = OLDEST

    @property
    def members(self) -> Members:
        """The combinations that belong to it."""
        inside = list_everybody() & (self.youngest <= AGE) & (self.oldest >= AGE)
        for column, names, name in (
            (SEX, SEXES, self.sex),
            (RACE, RACES, self.race),
            (STATUS, STATUSES, self.status),
        ):
            if name is not None:
                inside &= column == names.index(name)
        return np.asarray(inside)

    @property
    def condition(self) -> str:
        """The same in SQL, for a table of people."""
        named = {"sex": self.sex, "race": self.race, "status": self.status}
        same = [f"{column} = '{name}'" for column, name in named.items() if name is not None]
        return " AND ".join([*same, f"age BETWEEN {self.youngest} AND {self.oldest}"])


PUBLISHED_CELLS = (
    CensusCell(),
    CensusCell(sex="female"),
    CensusCell(sex="male"),
    CensusCell(race="black"),
    CensusCell(race="white"),
    CensusCell(status="single", youngest=ADULT),
    CensusCell(status="married", youngest=ADULT),
    CensusCell(race="black", sex="female"),
    CensusCell(race="black", sex="male"),
    CensusCell(race="white", sex="male"),
    CensusCell(race="white", sex="female"),
    CensusCell(oldest=4),
    CensusCell(oldest=ADULT - 1),
    CensusCell(youngest=64),
)


@dataclass(frozen=True)
class CellStatistic:
    """What is published about a cell; None is withheld.

    Attributes:
        cell: Who it is about.
        count: How many people there are.
        median: Their median age; of an even number, half way between the two in the middle.
        mean: Their mean age, to one decimal.
    """

    cell: CensusCell
    count: float | None = None
    median: float | None = None
    mean: float | None = None


@dataclass(frozen=True)
class TableRelease:
    """What an agency published about a block.

    Attributes:
        people: How many live there.
        statistics: The tables.
        threshold: In exact tables, nothing is published about a cell of fewer people.
        weight: How much less likely an answer gets with each person that it is off, as a logarithm: the loss
            behind each number in private tables; None for exact ones.
    """

    people: int
    statistics: tuple[CellStatistic, ...]
    threshold: int
    weight: float | None = None


def round_mean(total: int, count: int) -> float:
    """Round a mean to one decimal; a tie goes to the even digit."""
    return float(round(Fraction(total, count), 1))


def publish_exact(counts: Bits, threshold: int, cells: tuple[CensusCell, ...] = PUBLISHED_CELLS) -> TableRelease:
    """Publish exact tables about people who are counted by combination, without the small cells."""
    told = tuple(_compute_statistic(cell, np.repeat(AGE, counts * cell.members), threshold) for cell in cells)
    return TableRelease(int(counts.sum()), told, threshold)


def _compute_statistic(cell: CensusCell, ages: Bits, threshold: int) -> CellStatistic:
    count = len(ages)
    if count < threshold:
        return CellStatistic(cell)
    return CellStatistic(cell, count, float(np.median(ages)), round_mean(int(ages.sum()), count))


class Agency(Opponent, Protocol):
    """Holds the people of a block, and publishes tables about them.

    Its secret is a code for each person (see `people`). A guess is as many codes, in any order; of each
    combination as many are right as are in both. `prior` is the share that can be right without a release.
    """

    def publish(self) -> TableRelease:
        """Publish the tables: all of them, or the first ones if a budget refuses the others."""
