"""Small generated tables that are neighbours, and many copies of them in one database.

Neighbours are with and without one person, or with one replaced. With many copies, one question gives many
draws.

Statement:
    Let a table hold k copies of rows, each under a number of its own and with people of its own, and let all be
    asked by that number. The groups have disjoint rows and noise of their own, so what is released about one of
    them is a draw of one randomized function of its rows; and neighbours of a copy are neighbours of the table.
    So one question gives k independent draws, each with the claim of the whole question. Copies of neighbours may
    stand side by side in one table: a database takes far longer to open than groups take to be counted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import duckdb
import numpy as np

import jali
from jali.lab.audit.subject import Outputs, Pair
from jali.privacy import Adjacency

# The public range of both numbers of a row, and the declared keys.
LOW, HIGH = 0, 4
WARDS = ("a", "b")
# For how many rows one person counts, where a person has several; the extreme person below has more.
MAX_ROWS = 2


# One row: whose it is, a key and two numbers, called x and y, all of them within what is declared.
Row: TypeAlias = tuple[int, str, int, int]
Rows: TypeAlias = tuple[Row, ...]
Neighbours: TypeAlias = tuple[tuple[Rows, Rows], ...]


class Whose(StrEnum):
    """Whose privacy counts: each row is a person, or a column names the person."""

    ROW = "rows"
    PERSON = "people"


# Values on both sides of the middle, so that no choice is settled by those who stay.
_OTHERS: Rows = ((1, "a", LOW, HIGH), (2, "b", HIGH - 1, LOW))
# With so many more people an undeclared key is released about as often as not.
_CROWD: Rows = (*_OTHERS, *((person, "b", LOW, LOW) for person in (11, 12, 13)))
_NEW = 3
_UNHEARD = "c"


def build_neighbours(whose: Whose, adjacency: Adjacency) -> Neighbours:
    """Return pairs of neighbouring tables in which one person makes as much of a difference as can be."""
    low, high = _add_person(whose, "a", LOW), _add_person(whose, "b", HIGH)
    if adjacency is Adjacency.REPLACE_ONE:
        # Between groups a person takes all there is along; else between the ends of the range.
        return ((low, high), (_add_person(whose, "a", HIGH), high))
    return ((high, _OTHERS), (low, _OTHERS))


def build_crowds(whose: Whose, adjacency: Adjacency) -> Neighbours:
    """Return neighbours for questions that choose groups: in one that others are in, and in one of their own."""
    joined, alone = (_add_person(whose, ward, HIGH, _CROWD) for ward in ("b", _UNHEARD))
    if adjacency is Adjacency.REPLACE_ONE:
        return ((joined, alone),)
    return ((joined, _CROWD), (alone, _CROWD))


def build_everywhere() -> Neighbours:
    """Return a table with and without a person who has rows under every key."""
    rows = tuple((_NEW, ward, HIGH, HIGH) for ward in WARDS for _ in range(MAX_ROWS))
    return (((*_OTHERS, *rows), _OTHERS),)


def _add_person(whose: Whose, ward: str, value: int, others: Rows = _OTHERS) -> Rows:
    """Return others and a new person; one with too many rows, if a person can have several."""
    rows = 1 if whose is Whose.ROW else 3 * MAX_ROWS
    return (*others, *((_NEW, ward, value, value) for _ in range(rows)))


TABLE = "people"
# A second protected table, in which everybody has a row, whatever the first one holds; and a public one.
OTHER, PUBLIC = "stays", "wards"
_EVERYBODY: Rows = tuple((person, "a", LOW, HIGH) for person in (1, 2, 3))
# What tells the people of one copy from those of another.
_APART = 1000
_COPIED = """SELECT trial::INTEGER AS trial, ({apart} * trial + item)::INTEGER AS item,
    ({apart} * trial + person)::INTEGER AS person, ward, ward AS code, x, y,
    DATE '2026-01-01' + x AS day
    FROM (SELECT {number} * input + copy AS trial, * FROM range({number}) AS copies(copy),
        (VALUES {values}) AS people(input, item, person, ward, x, y))"""
_PUBLIC = f"SELECT * FROM (VALUES ('{WARDS[0]}', 1), ('{WARDS[1]}', 2)) AS wards(ward, floor)"
_PLENTY = jali.Budget(epsilon=10**6, delta=Fraction(1, 2))

# Gives draws for each of several inputs.
Once: TypeAlias = Callable[..., tuple[Outputs, ...]]


@dataclass(frozen=True)
class TableCopies:
    """How a table with copies is declared.

    Attributes:
        whose: Whose privacy counts.
        adjacency: When two tables are neighbours.
        number: How many copies there are of each input.
        unique: Whether nobody has two rows, which a key of the table keeps so.
        prepared: Whether questions read a prepared copy of the table.
        beside: Which of the other tables there are.
    """

    whose: Whose
    adjacency: Adjacency
    number: int
    unique: bool = False
    prepared: bool = False
    beside: tuple[str, ...] = ()

    @contextmanager
    def open_database(self, *inputs: Rows) -> Iterator[jali.Database]:
        """Open a database with copies of all inputs, one after the other, declared as any curator would."""
        with tempfile.TemporaryDirectory(prefix="jali-audit-") as folder:
            place = Path(folder)
            with jali.connect(place / "audit.jali" if self.prepared else None) as database:
                self._protect(database, TABLE, self._write_files(place / TABLE, inputs), len(inputs))
                if OTHER in self.beside:
                    everybody = self._write_files(place / OTHER, [_EVERYBODY] * len(inputs))
                    self._protect(database, OTHER, everybody, len(inputs))
                if PUBLIC in self.beside:
                    database.publish(PUBLIC, _write_parquet(place / PUBLIC, _PUBLIC))
                if self.prepared:
                    database.prepare(TABLE)
                yield database

    def split(self, outputs: Outputs) -> tuple[Outputs, ...]:
        """Return the outputs of each input, of those about all copies."""
        return tuple(outputs.reshape(-1, self.number, outputs.shape[1]))

    def _protect(self, database: jali.Database, name: str, path: Path, inputs: int) -> None:
        by_person = self.whose is Whose.PERSON
        between = jali.Range(LOW, HIGH)
        database.protect(
            name,
            path,
            unit="person" if by_person else None,
            max_rows=(1 if self.unique else MAX_ROWS) if by_person else None,
            columns={
                "trial": jali.Range(0, self.number * inputs - 1),
                "x": between,
                "y": between,
                "ward": jali.Keys(WARDS),
            },
            budget=_PLENTY,
            adjacency=self.adjacency,
            relation=TABLE if self.unique else None,
            unique=self.unique,
        )

    def _write_files(self, place: Path, inputs: Sequence[Rows]) -> Path:
        """Write the copies into a file; into a table with a key, if a key is to keep people unique."""
        values = ", ".join(
            f"({number}, {item}, {person}, '{ward}', {x}, {y})"
            for number, rows in enumerate(inputs)
            for item, (person, ward, x, y) in enumerate(rows)
        )
        copied = _COPIED.format(apart=_APART, number=self.number, values=values)
        return _write_keyed_table(place, copied) if self.unique else _write_parquet(place, copied)


@dataclass(frozen=True)
class Reservoir:
    """Hands out draws that come many at a time: what one caller leaves, the next one gets, and nobody twice.

    Attributes:
        once: Gives the draws of one go.
        inputs: What can share a go.
        half: An input shares it that has fewer draws left than this, half of what a go gives.
        left: What is left, by input.
    """

    once: Once
    inputs: tuple[Rows, ...] = ()
    half: int = 1
    left: dict[Rows, Outputs] = field(default_factory=dict)

    def draw(self, rows: Rows, count: int, _: np.random.Generator | None = None) -> Outputs:
        """Return this many draws, and keep the rest."""
        rows = tuple(tuple(row) for row in rows)  # type: ignore[misc]  # a witness file gives lists
        while len(self.left.get(rows, ())) < max(1, count):
            self._fill(rows)
        made = self.left[rows]
        self.left[rows] = made[count:]
        return made[:count]

    def _fill(self, rows: Rows) -> None:
        """Hold one go, for an input and for those that run dry."""
        dry = [one for one in self.inputs if one != rows and len(self.left.get(one, ())) < self.half]
        together = (rows, *dry) if rows in self.inputs else (rows,)
        for one, outputs in zip(together, self.once(*together), strict=True):
            self.left[one] = np.concatenate([self.left[one], outputs]) if one in self.left else outputs


def make_reservoir(once: Once, pairs: Iterable[Pair], copies: int) -> Reservoir:
    """Return the reservoir of all inputs of some pairs, of which a go gives this many draws each."""
    return Reservoir(once, tuple(dict.fromkeys(rows for pair in pairs for rows in pair)), copies // 2)


def _write_parquet(place: Path, rows: str) -> Path:
    """Write what a query gives into a file."""
    path = place.with_suffix(".parquet")
    quoted = str(path).replace("'", "''")  # COPY takes no parameter for a path.
    _open_writer().cursor().execute(f"COPY ({rows}) TO '{quoted}'")
    return path


@lru_cache(maxsize=1)
def _open_writer() -> duckdb.DuckDBPyConnection:
    """Return a connection that takes long to open and nothing to keep."""
    return duckdb.connect()


def _write_keyed_table(place: Path, rows: str) -> Path:
    """Write what a query gives into a table whose people are a key."""
    path = place.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE {TABLE} AS {rows}")
        connection.execute(f"ALTER TABLE {TABLE} ADD PRIMARY KEY (person)")
    return path
