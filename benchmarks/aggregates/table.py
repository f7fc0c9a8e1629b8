"""The made-up table that every side is asked about, and the one loss they all spend. Needs numpy only.

About 20,000 visits of 5,000 people, 1 to 8 each: a skewed cost inside [0, 100], the person's age, one of 8 wards,
and one of 200 keys whose sizes follow Zipf's law, so that the small ones cannot be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON, DELTA = 1.0, 1e-6
MAX_ROWS = 4  # for how many rows one person may count, at person level
LOW, HIGH = 0.0, 100.0
TOP_AGE, WARDS, KEYS = 120, 8, 200
QUARTERS = (0.25, 0.5, 0.75)
TOP = 5
PEOPLE, SEED = 5_000, 6

Column = NDArray[Any]


@dataclass(frozen=True)
class Table:
    """The columns, row by row; wards and keys are numbered from 0."""

    uid: Column
    cost: Column
    age: Column
    ward: Column
    key: Column

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.uid)

    @property
    def columns(self) -> dict[str, Column]:
        """The columns by name."""
        return {"uid": self.uid, "cost": self.cost, "age": self.age, "ward": self.ward, "key": self.key}

    def only(self, kept: Column) -> Table:
        """Return the table of some of its rows."""
        return Table(**{name: column[kept] for name, column in self.columns.items()})


def generated() -> Table:
    """Make the table, always the same."""
    generator = np.random.default_rng(SEED)
    uid = np.repeat(np.arange(PEOPLE), 1 + generator.binomial(7, 3 / 7, PEOPLE))
    age = np.clip(np.rint(generator.normal(45, 20, PEOPLE)), 0, TOP_AGE).astype(np.int64)[uid]
    return Table(
        uid,
        HIGH * generator.beta(1.2, 6, len(uid)),
        age,
        generator.choice(WARDS, len(uid), p=_shares(WARDS, 0.7)),
        generator.choice(KEYS, len(uid), p=_shares(KEYS, 1.2)),
    )


def loaded(path: str) -> Table:
    """Read the table that the driver wrote."""
    with np.load(path) as columns:
        return Table(**{name: columns[name] for name in columns.files})


def bounded(table: Table, generator: np.random.Generator) -> Table:
    """Keep at most MAX_ROWS rows of each person, chosen at random."""
    shuffled = table.only(generator.permutation(table.rows))
    by_person = shuffled.only(np.argsort(shuffled.uid, kind="stable"))
    _, first, counts = np.unique(by_person.uid, return_index=True, return_counts=True)
    rank = np.arange(table.rows) - np.repeat(first, counts)
    return by_person.only(rank < MAX_ROWS)


def one_per_key(table: Table) -> Table:
    """Keep one row of each person and key, so that a count of rows by key is one of people."""
    _, first = np.unique(table.uid * KEYS + table.key, return_index=True)
    return table.only(first)


def _shares(parts: int, exponent: float) -> Column:
    sizes = np.arange(1, parts + 1, dtype=float) ** -exponent
    return np.asarray(sizes / sizes.sum())
