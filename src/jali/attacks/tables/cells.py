"""The cells of the published tables: groups of people for whom a count, a median and a mean age are told."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.attacks.arrays import Bits, Members
from jali.attacks.tables.people import AGE, OLDEST, RACE, RACES, SEX, SEXES, STATUS, STATUSES, someone

ADULT = 18


@dataclass(frozen=True)
class Cell:
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
        inside = someone() & (self.youngest <= AGE) & (self.oldest >= AGE)
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


CELLS = (
    Cell(),
    Cell(sex="female"),
    Cell(sex="male"),
    Cell(race="black"),
    Cell(race="white"),
    Cell(status="single", youngest=ADULT),
    Cell(status="married", youngest=ADULT),
    Cell(race="black", sex="female"),
    Cell(race="black", sex="male"),
    Cell(race="white", sex="male"),
    Cell(race="white", sex="female"),
    Cell(oldest=4),
    Cell(oldest=ADULT - 1),
    Cell(youngest=64),
)


@dataclass(frozen=True)
class Statistic:
    """What is told about a cell. What is None is not told.

    Attributes:
        cell: Who it is about.
        count: How many people there are.
        median: Their median age; of an even number, half way between the two in the middle.
        mean: Their mean age, to one decimal.
    """

    cell: Cell
    count: float | None = None
    median: float | None = None
    mean: float | None = None


@dataclass(frozen=True)
class Release:
    """What an agency published about a block.

    Attributes:
        people: How many live there.
        statistics: The tables.
        threshold: In exact tables, nothing is told about a cell of fewer people.
        weight: How much less likely an answer gets with each person that it is off, as a logarithm: the loss
            behind each number in private tables; None for exact ones.
    """

    people: int
    statistics: tuple[Statistic, ...]
    threshold: int
    weight: float | None = None


def rounded_mean(total: int, count: int) -> float:
    """Round a mean to one decimal; a tie goes to the even digit."""
    return float(round(Fraction(total, count), 1))


def exact(counts: Bits, threshold: int, cells: tuple[Cell, ...] = CELLS) -> Release:
    """Publish exact tables about people who are counted by combination, without the small cells."""
    told = tuple(_statistic(cell, np.repeat(AGE, counts * cell.members), threshold) for cell in cells)
    return Release(int(counts.sum()), told, threshold)


def _statistic(cell: Cell, ages: Bits, threshold: int) -> Statistic:
    count = len(ages)
    if count < threshold:
        return Statistic(cell)
    return Statistic(cell, count, float(np.median(ages)), rounded_mean(int(ages.sum()), count))
