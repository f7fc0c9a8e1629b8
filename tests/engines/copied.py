"""Prepared copies of any engine: what the ranks of rows depend on, and what questions find on a copy."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa
from tests.harness import in_measures, noise_off
from tests.seeded import SeededBits

import jali
from jali.catalog.tables import Catalog, Source, Table
from jali.engines import Engine
from jali.planner.plan import Plan
from jali.privacy import Adjacency, Budget

# Identical rows, missing values, both zeros, NaN, text that holds what contents are spelled with, and a column
# that is called like one of the copy's own.
VALUES: tuple[float | None, ...] = (0.0, -0.0, math.nan, None, 1.5, math.inf)
TEXTS: tuple[str | None, ...] = ("", "-", "1:a", "a", "ä", "Z", None)
Row: TypeAlias = tuple[str | None, float | None, str | None]
Copied: TypeAlias = Sequence[tuple[Any, ...]]
# Rows, and the seed of a key; returns the copy's rows: uid, rank, word, and the rank that it has.
MakeCopy: TypeAlias = Callable[[Sequence[Row], int], Copied]

COLUMNS: dict[str, Any] = {"g": jali.Keys(["A", "B"]), "x": jali.Range(-10, 10)}
SUMS = "SELECT g, COUNT(*), SUM(x), COUNT(x) FROM t GROUP BY g"
# Questions whose bound is not a rank: the copy has nothing to do with what they find.
OTHERWISE = (
    "SELECT g, COUNT(*), SUM(x) FROM t WHERE x > -3 GROUP BY g",
    "SELECT g, COUNT(DISTINCT uid) FROM t GROUP BY g",
    "SELECT COUNT(DISTINCT word) FROM t",
    "SELECT word, COUNT(*) FROM t GROUP BY word",
    "SELECT g, COUNT(*) FROM t GROUP BY ROLLUP (g)",
    "SELECT COUNT(*) FROM (SELECT uid, MAX(x) AS most FROM t GROUP BY uid) AS each WHERE most > 0",
    "SELECT COUNT(*), SUM(y) FROM t JOIN other ON t.uid = other.uid",
)


def some_rows(seed: int, people: int = 6, rows: int = 60) -> list[Row]:
    """Draw rows of some people, and of nobody."""
    draw = random.Random(seed)
    units = [None, *(f"p{i}" for i in range(people))]
    return [(draw.choice(units), draw.choice(VALUES), draw.choice(TEXTS)) for _ in range(rows)]


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Make a table with the columns uid, rank and word."""
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    kinds = pa.string(), pa.float64(), pa.string()
    named = zip(("uid", "rank", "word"), columns, kinds, strict=True)
    return pa.table({name: pa.array(list(column), kind) for name, column, kind in named})


def declared(engine: Engine, source: Source) -> Table:
    """Declare such a table."""
    fields = engine.fields(source, {})
    return Table("t", source, "uid", 2, Adjacency.ADD_REMOVE, fields, Budget(epsilon=1))


def prepared(engine: Engine, table: Table, seed: int) -> Source:
    """Write a copy with a given key, and return where it is."""
    told: list[Source | None] = []
    engine.prepare(table, lambda _: None, told.append, SeededBits(seed))
    nothing, copy = told
    assert nothing is None
    assert copy is not None
    return copy


def with_copies(catalog: Catalog, engine: Engine, seed: int) -> Catalog:
    """Return a catalog in which every table that can be has a copy, all with one key."""
    return Catalog(tuple(_copied(table, engine, seed) for table in catalog.tables))


def _copied(table: Any, engine: Engine, seed: int) -> Any:
    if not isinstance(table, Table) or table.unit is None or table.unique:
        return table
    return replace(table, copy=prepared(engine, table, seed))


def _content(row: Sequence[Any]) -> tuple[str, ...]:
    """A row as it can be told from others: -0.0 is not 0.0, NaN is NaN."""
    return tuple(repr(value) for value in row[:3])


def _ranks(copied: Copied) -> dict[Any, Counter[tuple[Any, ...]]]:
    found: dict[Any, Counter[tuple[Any, ...]]] = defaultdict(Counter)
    for row in copied:
        found[row[0]][(_content(row), row[3])] += 1
    return found


def check_rows(make: MakeCopy, seed: int) -> None:
    """A copy has the rows that have an owner, and their ranks go from one up."""
    rows = some_rows(seed)
    copied = make(rows, 1)
    # Questions see NaN as missing, and so the copy has it.
    seen = [tuple(None if repr(value) == "nan" else value for value in row) for row in rows if row[0] is not None]
    assert Counter(map(_content, copied)) == Counter(map(_content, seen))
    for person in {row[0] for row in copied}:
        mine = sorted(row[3] for row in copied if row[0] == person)
        assert mine == list(range(1, len(mine) + 1))
    assert list(make([], 1)) == []


def check_whose(make: MakeCopy, seed: int) -> None:
    """Ranks depend neither on other people nor on the order of rows, and do depend on the key."""
    rows = some_rows(seed)
    shuffled = [("a", 1.5, "a"), *random.Random(seed).sample(rows, len(rows)), ("z", 0.0, None)]
    alone = [row for row in rows if row[0] in ("p0", None)]
    whole = _ranks(make(rows, 1))
    moved = _ranks(make(shuffled, 1))
    assert all(moved[person] == whole[person] for person in whole)
    assert _ranks(make(alone, 1))["p0"] == whole["p0"]
    assert _ranks(make(rows, 2)) != whole


def check_fair(make: MakeCopy) -> None:
    """The first of two rows is each of them for about half of 2,000 people: false alarms below 1e-9."""
    rows: list[Row] = [(f"p{i % 2000}", float(i // 2000), None) for i in range(4000)]
    first = [row[1] for row in make(rows, 1) if row[3] == 1]
    assert len(first) == 2000
    assert abs(sum(first) - 1000) < 140


def house() -> dict[str, pa.Table]:
    """Make the tables that questions are asked of."""
    draw = random.Random(7)
    values = (0.0, -0.0, math.nan, None, 12.5, -7.25, 3.0)
    rows = [
        {
            "uid": draw.choice([None, *(f"p{i}" for i in range(8))]),
            "g": draw.choice(("A", "B", "C", None)),
            "x": draw.choice(values),
            "word": f"w{draw.randrange(5)}",
        }
        for _ in range(80)
    ]
    kinds = {"uid": pa.string(), "g": pa.string(), "x": pa.float64(), "word": pa.string()}
    return {
        "t": pa.Table.from_pylist(rows, schema=pa.schema(list(kinds.items()))),
        "other": pa.table({"uid": ["p0", "p1", "p1"], "y": [1.0, 2.0, 3.0]}),
    }


def protect_house(db: jali.Database, address: Any, relation: Callable[[str], str]) -> None:
    """Declare these tables, where an engine has them."""
    budget = jali.Budget(epsilon=10**6, delta=1e-6)
    ranges: dict[str, Any] = {"y": jali.Range(0, 5)}
    for name, columns, most in (("t", COLUMNS, 3), ("other", ranges, 2)):
        place = relation(name)
        db.protect(name, address, relation=place, unit="uid", max_rows=most, columns=columns, budget=budget)


def exact(db: jali.Database, sql: str) -> tuple[Plan, list[Any]]:
    """Return the exact integers of a question, in units of the measures."""
    terms: dict[str, Any] = {"delta": 1e-7} if sql.startswith("SELECT word") else {}
    with noise_off():
        plan = db.explain(sql, epsilon=1, **terms)
        return plan, in_measures(plan, db.ask(sql, epsilon=1, **terms).release.noisy)


def check_otherwise(db: jali.Database, questions: Sequence[str] = OTHERWISE) -> None:
    """What is not bounded by rank finds on the copy what it finds in the source."""
    before = {sql: exact(db, sql) for sql in questions}
    db.prepare("t")
    assert db.explain(SUMS, epsilon=1).aggregation.weights.by_rank  # type: ignore[union-attr]
    for sql, (plan, found) in before.items():
        after, again = exact(db, sql)
        assert after.aggregation.weights == plan.aggregation.weights, sql
        assert again == found, sql


def check_ranked(db: jali.Database, counted: Callable[[], list[tuple[Any, ...]]]) -> None:
    """A question over all rows finds what is among the first of each person; `counted` reads it off the copy."""
    db.prepare("t")
    with noise_off():
        assert db.ask("SELECT g, COUNT(*), COUNT(x) FROM t GROUP BY g", epsilon=1).rows == counted()
