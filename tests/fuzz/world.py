"""A small world of tables full of trouble: what is declared about them, and random rows."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.ledger import SqliteLedger
from jali.privacy import Event

Row: TypeAlias = tuple[Any, ...]
World: TypeAlias = dict[str, list[Row]]

# Dates are days and times are microseconds since 1970: Python's own cannot hold DuckDB's.
_INFINITE_DAY, _INFINITE_TIME = 2**31 - 1, 2**63 - 1
_DAY = datetime.date(2025, 1, 1).toordinal() - datetime.date(1970, 1, 1).toordinal()
_DAYS = (_DAY, _DAY + 3, _DAY + 8, _DAY + 400, 0, -719_528, 2_932_896, _INFINITE_DAY, -_INFINITE_DAY, None)
_TIMES = (0, _DAY * 86_400_000_000 + 1, 253_402_300_799_999_999, _INFINITE_TIME, -_INFINITE_TIME, -(10**17), None)
_REALS = (0.0, -0.0, 1.5, -2.25, 3.0000001, 99.5, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, None)
_WHOLES = (0, 1, 5, -7, 119, 2**63 - 1, -(2**63), None)
_TEXTS = ("A", "B", "", "é", "3", "-1.5", "abc", "1e400", "nan", "'", "2025-02-30", "x" * 300, None)
_WARDS = ("A", "B", "C", "é", "", None)


@dataclass(frozen=True)
class Column:
    """A column: its values, and what the curator says about it."""

    name: str
    type: pa.DataType
    values: tuple[Any, ...]
    declared: jali.Range | jali.Keys | None = None

    def array(self, values: list[Any]) -> pa.Array:
        """Make an Arrow array; dates and times by their numbers."""
        stored = {pa.date32(): pa.int32(), pa.timestamp("us"): pa.int64()}.get(self.type)
        return pa.array(values, self.type) if stored is None else pa.array(values, stored).view(self.type)


@dataclass(frozen=True)
class Shape:
    """A table without rows."""

    name: str
    columns: tuple[Column, ...]
    unit: str | jali.Via | None = None
    max_rows: int | None = None
    public: bool = False

    def frame(self, rows: list[Row]) -> pa.Table:
        """Make an Arrow table."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.columns)
        arrays = [c.array(list(values)) for c, values in zip(self.columns, columns, strict=True)]
        return pa.table(arrays, names=[c.name for c in self.columns])

    @property
    def declared(self) -> dict[str, jali.Range | jali.Keys]:
        """What is said about the columns."""
        return {c.name: c.declared for c in self.columns if c.declared is not None}


_DATE, _TIME = pa.date32(), pa.timestamp("us")
_SEEN = jali.Range(datetime.date(2025, 1, 1), datetime.date(2025, 1, 9))
_OF_WARD = jali.Keys(["A", "B", "é", "", None])
OWNERS = (0, 1, 2, 3, 4)
# Person u has the keys 10u, ..., 10u + 9 of visits, so that they stay unique whatever is added.
KEYS_EACH = 10
VISITS = Shape(
    "visits",
    (
        Column("uid", pa.int64(), OWNERS),
        Column("vid", pa.int64(), ()),
        Column("ward", pa.string(), _WARDS, _OF_WARD),
        Column("code", pa.string(), _TEXTS),
        Column("cost", pa.float64(), _REALS, jali.Range(-10, "100.5")),
        Column("raw", pa.float64(), _REALS),
        Column("age", pa.int16(), (0, 3, 7, 11, -5, 32_767, None), jali.Range(0, 11)),
        Column("n", pa.int64(), _WHOLES),
        Column("seen", _DATE, _DAYS, _SEEN),
        Column("at", _TIME, _TIMES),
        Column("ok", pa.bool_(), (True, False, None)),
        Column("tags", pa.list_(pa.string()), ([], ["a"], None)),
    ),
    "uid",
    3,
)
PEOPLE = Shape(
    "people",
    (
        Column("pid", pa.int64(), OWNERS),
        Column("sex", pa.string(), ("m", "f", "x", None), jali.Keys(["m", "f"])),
        Column("ward", pa.string(), _WARDS, jali.Keys(["A", "B"])),
        Column("born", _DATE, _DAYS),
        Column("income", pa.float64(), _REALS, jali.Range(0, 50)),
        Column("kids", pa.int32(), (0, 1, 2, 9, -1, 2**31 - 1, None), jali.Range(0, 4)),
    ),
    "pid",
    1,
)
ITEMS = Shape(
    "items",
    (
        Column("visit", pa.int64(), ()),
        Column("drug", pa.string(), ("a", "b", "c", "", None), jali.Keys(["a", "b", "c"])),
        Column("dose", pa.float64(), _REALS, jali.Range(0, 8)),
        Column("given", _TIME, _TIMES),
    ),
    jali.Via("visits", on="visit = vid", unit="uid"),
    4,
)
READINGS = Shape(
    "readings",
    (
        Column("g", pa.string(), ("A", "B", "", None), jali.Keys(["A", "B"])),
        Column("code", pa.string(), _TEXTS),
        Column("x", pa.float64(), _REALS, jali.Range(-1, 9)),
        Column("k", pa.int8(), (0, 1, 2, 5, -3, 127, None), jali.Range(0, 5)),
        Column("d", _DATE, _DAYS, _SEEN),
    ),
)
WARDS = Shape(
    "wards",
    (
        Column("w", pa.string(), _WARDS),
        Column("floor", pa.int64(), (1, 2, 3)),
        Column("size", pa.float64(), (0.5, 40.0, None)),
    ),
    public=True,
)
CODES = Shape(
    "codes",
    (Column("code", pa.string(), _TEXTS), Column("class", pa.string(), ("u", "v", None))),
    public=True,
)
PROTECTED = (VISITS, PEOPLE, ITEMS, READINGS)
SHAPES = {shape.name: shape for shape in (*PROTECTED, WARDS, CODES)}
_PUBLIC: World = {
    "wards": [("A", 1, 40.0), ("A", 2, 0.5), ("B", 2, None), ("", 3, 40.0), (None, 1, 0.5), ("é", 1, 1.0)],
    "codes": [("A", "u"), ("A", "v"), ("abc", "u"), ("", None), (None, "v"), ("3", "v"), ("nan", "u")],
}


def _any_row(shape: Shape, chance: Random) -> list[Any]:
    return [chance.choice(column.values) if column.values else None for column in shape.columns]


def rows_of(name: str, owner: int | None, most: int, chance: Random) -> list[Row]:
    """Make up to so many random rows of one person; where the rows are people themselves, of as many people."""
    shape = SHAPES[name]
    made = [_any_row(shape, chance) for _ in range(chance.randint(0, most))]
    for place, row in enumerate(made):
        if name in ("visits", "people"):
            row[0] = owner
        if name == "visits":
            row[1] = None if owner is None or chance.random() < 0.1 else KEYS_EACH * owner + place
        if name == "items":
            row[0] = None if owner is None else KEYS_EACH * owner + chance.randrange(KEYS_EACH)
    if made and chance.random() < 0.2:
        # Many equal rows: what one person weighs is largest where nothing cancels. Keys stay unique.
        made = made[:1] * (1 if name == "visits" else most)
    return [tuple(row) for row in made]


def random_world(seed: int) -> World:
    """Make all tables: most people are in some of them, some rows belong to nobody."""
    chance = Random(seed)
    world: World = {"readings": rows_of("readings", None, 7, chance), **_PUBLIC}
    for name in ("visits", "people", "items"):
        rows = [row for u in OWNERS[:-1] if chance.random() < 0.8 for row in rows_of(name, u, 4, chance)]
        world[name] = rows + rows_of(name, None, 1, chance)
        chance.shuffle(world[name])
    return world


@dataclass
class House:
    """A database over one world at a time, and the engine that reads it."""

    db: jali.Database
    engine: DuckDBEngine
    ledger: SqliteLedger
    places: dict[str, str] = field(default_factory=dict)

    def spent(self) -> list[Event]:
        """Return what every account has spent."""
        return [self.ledger.spent(account) for account in self.ledger.accounts()]

    def show(self, world: World) -> None:
        """Let the engine read another world under the same declarations; what is public stays."""
        for shape in PROTECTED:
            self.swap(shape.name, world[shape.name])

    def renew(self, world: World) -> None:
        """Give the database another world as new data: it is checked, and may be asked about."""
        for shape in PROTECTED:
            self.db.tables.attach(shape.name, shape.frame(world[shape.name]))

    def swap(self, name: str, rows: list[Row]) -> None:
        """Let the engine read other rows of one table."""
        self.engine.attach(self.places[name], SHAPES[name].frame(rows))


ADJACENCIES = (
    {"visits": "add-remove", "people": "replace-one", "items": "add-remove", "readings": "replace-one"},
    {"visits": "replace-one", "people": "add-remove", "items": "replace-one", "readings": "add-remove"},
)
GRANT = jali.Budget(epsilon=2, delta=1e-6)


@contextmanager
def house(adjacencies: dict[str, str]) -> Iterator[House]:
    """Declare the world in a new database. `poor` is an analyst with little budget."""
    engine = DuckDBEngine()
    with SqliteLedger(None) as ledger, jali.Database(ledger, engine) as db:
        built, world = House(db, engine, ledger), random_world(0)
        for shape in PROTECTED:
            table = db.protect(
                shape.name,
                shape.frame(world[shape.name]),
                unit=shape.unit,
                max_rows=shape.max_rows,
                columns=shape.declared,
                budget=jali.Budget(epsilon=10**9, delta="1/10"),
                adjacency=adjacencies[shape.name],
            )
            built.places[shape.name] = table.source.location
            db.grant("poor", shape.name, GRANT)
        for name in _PUBLIC:
            built.places[name] = db.publish(name, SHAPES[name].frame(world[name])).source.location
        yield built
