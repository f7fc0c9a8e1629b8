"""A small hospital to attack: tables of people, one of rows, one of people with texts for names, a public one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

import jali
from jali.ir.aggregates import CountRows
from jali.ir.ownership import changes
from jali.planner import Plan
from jali.planner.measured_query import MeasuredQuery
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity

BUDGET = jali.Budget(epsilon=10**6, delta="1/1000")
Rows = list[tuple[Any, ...]]

SCHEMAS: Mapping[str, pa.Schema] = {
    "visits": pa.schema(
        [
            ("uid", pa.int64()),
            ("ward", pa.string()),
            ("cost", pa.float64()),
            ("age", pa.int64()),
            ("code", pa.string()),
        ]
    ),
    "patients": pa.schema([("pid", pa.int64()), ("sex", pa.string()), ("home", pa.string())]),
    "badges": pa.schema([("uid", pa.string()), ("colour", pa.string())]),
    "staff": pa.schema([("uid", pa.int64()), ("ward", pa.string())]),
    "orders": pa.schema([("o", pa.int64()), ("uid", pa.int64())]),
    "items": pa.schema([("item_o", pa.int64()), ("price", pa.float64())]),
}

NAN, INF = float("nan"), float("inf")

# Person 1 has much of everything, 2 little, 3 only a visit, 4 no visit, 5 strange values; some rows have no owner.
TABLES: Mapping[str, Rows] = {
    "visits": [
        *((1, ward, 10.0 * i, 30 + i, f"c{i}") for i, ward in enumerate("AABBCCAB")),
        (2, "A", 5.0, 40, "c0"),
        (3, "B", 99.0, 50, "c1"),
        (5, None, NAN, None, None),
        (5, "Z", INF, -(2**63), "c0"),
        (5, "C", -INF, 2**63 - 1, "c9"),
        (None, "A", 1.0, 20, "c0"),
    ],
    "patients": [(1, "f", "A"), (1, "m", "B"), (2, "m", "A"), (4, "f", "C"), (5, None, None), (None, "f", "B")],
    "badges": [("1", "red"), ("2", "blue")],
    "staff": [(1, "A"), (2, "B"), (3, "B")],
    "orders": [(10, 1), (11, 1), (12, 2), (13, None), (14, 4)],
    "items": [(10, 3.0), (10, 4.0), (11, 5.0), (12, 7.0), (13, 9.0), (99, 1.0), (None, 1.0)],
}

WARDS = pa.table({"w": ["A", "A", "A", "B", "D"], "floor": [1, 2, 3, 1, 4], "tag": ["x", "y", "z", "x", "w"]})

COLUMNS: Mapping[str, Mapping[str, jali.Range | jali.Keys]] = {
    "visits": {"ward": jali.Keys(["A", "B", "C"]), "cost": jali.Range(0, 100), "age": jali.Range(0, 120)},
    "patients": {"sex": jali.Keys(["f", "m"]), "home": jali.Keys(["A", "B", "C"])},
    "staff": {"ward": jali.Keys(["A", "B"])},
    "items": {"price": jali.Range(0, 10)},
}


def frame(name: str, rows: Rows) -> pa.Table:
    """Return rows as a table with its fixed types."""
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMAS[name])
    arrays = [pa.array(c, type=f.type) for c, f in zip(columns, SCHEMAS[name], strict=True)]
    return pa.table(arrays, schema=SCHEMAS[name])


def hospital(
    tables: Mapping[str, Rows] = TABLES,
    *,
    adjacency: str = "add-remove",
    budgets: Mapping[str, jali.Budget] | None = None,
    memory: str = "own",
) -> jali.Database:
    """Open the hospital's database."""
    db = jali.connect()
    units: dict[str, str | jali.Via | None] = {
        "visits": "uid",
        "patients": "pid",
        "badges": "uid",
        "staff": None,
        "orders": "uid",
    }
    for name, unit in [*units.items(), ("items", jali.Via("orders", on="item_o = o", unit="uid"))]:
        db.protect(
            name,
            frame(name, tables[name]),
            unit=unit,
            max_rows=None if unit is None else 3,
            columns=dict(COLUMNS.get(name, {})),
            budget=(budgets or {}).get(name, BUDGET),
            adjacency=adjacency,
            memory=memory,
        )
    db.publish("wards", WARDS)
    return db


def refusal(db: jali.Database, sql: str, **terms: Any) -> jali.errors.QueryError:
    """Ask what must be refused: with a remedy, and without a charge."""
    before = db.ledger.accounts(), db.receipts()
    with pytest.raises(jali.errors.QueryError) as refused:
        db.ask(sql, **({"epsilon": 1} | terms))
    assert refused.value.remedy, sql
    assert (db.ledger.accounts(), db.receipts()) == before
    return refused.value


def without(tables: Mapping[str, Rows], name: str, person: int) -> dict[str, Rows]:
    """Take one person's rows out of one table."""
    owner = _owner_of(tables, name)
    return {**tables, name: [row for row in tables[name] if owner(row) != person]}


def _owner_of(tables: Mapping[str, Rows], name: str) -> Callable[[tuple[Any, ...]], Any]:
    if name == "items":
        owners: dict[Any, Any] = dict(tables["orders"])
        return lambda row: owners.get(row[0])
    place = SCHEMAS[name].names.index({"patients": "pid"}.get(name, "uid"))
    return lambda row: row[place]


def neighbours(tables: Mapping[str, Rows], name: str) -> Iterator[dict[str, Rows]]:
    """All tables that lack one person's rows of one table, or one row of a table of rows."""
    if name == "staff":
        for place in range(len(tables[name])):
            yield {**tables, name: tables[name][:place] + tables[name][place + 1 :]}
        return
    owner = _owner_of(tables, name)
    for person in sorted({owner(row) for row in tables[name]} - {None}):
        yield without(tables, name, person)


def put(db: jali.Database, name: str, rows: Rows) -> None:
    """Put rows in the place of a table's, past the checks of `attach`."""
    db._engine.attach(db._tables.find_table(name).source.location, frame(name, list(rows)))


Vectors = list[Counter[Any]]


def vectors(db: jali.Database, plan: Plan, tables: Mapping[str, Rows]) -> Vectors:
    """Return the exact vectors of a plan on given rows: of each release, and the people of unknown groups.

    The engine reads them as they are: rows that the guard would refuse are put there too.
    """
    for table in plan.tables:
        put(db, table.name, tables[table.name])
    found: Vectors = []
    for part in plan.parts:
        found += _vectors(part, db._engine.run(part.sql, plan.read))
    return found


def _vectors(part: MeasuredQuery, rows: Sequence[tuple[Any, ...]]) -> Vectors:
    aggregation = part.aggregation
    width = len(aggregation.keys) if aggregation.selecting else 0
    if aggregation.along is not None:
        return [Counter({row[:-1]: row[-1] for row in rows})]
    keys = [row[:width] if aggregation.selecting else place for place, row in enumerate(rows)]
    people = (
        [Counter({key: row[width] for key, row in zip(keys, rows, strict=True)})] if aggregation.selecting else []
    )
    first = width + len(people)
    measures = range(len(aggregation.measures))
    return people + [Counter({key: row[first + i] for key, row in zip(keys, rows, strict=True)}) for i in measures]


def allowed(plan: Plan, name: str) -> list[tuple[Any, Any]]:
    """Return how far each vector may move when one person's rows of a table go: in L1, and in L2 squared."""
    table = next(table for table in plan.tables if table.name == name)
    count = changes(plan.source, table)
    found: list[tuple[Any, Any]] = []
    for part in plan.parts:
        aggregation, measures = part.aggregation, part.aggregation.measures
        if aggregation.along is not None:
            measures = (CountRows(),)
        elif aggregation.selecting:
            groups = 1 if aggregation.weights is None else aggregation.weights.max_groups
            found.append((count * groups, count * groups * max(1, count // 2)))
        found += [
            (l1_sensitivity(aggregation, m, count), squared_l2_sensitivity(aggregation, m, count))
            for m in measures
        ]
    return found


def check_harmless(
    db: jali.Database, sql: str, tables: Mapping[str, Rows] = TABLES, *, only: str | None = None, **terms: Any
) -> Plan:
    """Prove a question harmless: whoever leaves whichever table, exact vectors stay within what is declared."""
    plan = db.explain(sql, **({"epsilon": 1} | terms))
    before = vectors(db, plan, tables)
    for table in (table for table in plan.tables if only in (None, table.name)):
        bounds = allowed(plan, table.name)
        for other in neighbours(tables, table.name):
            for a, b, (l1, l2) in zip(before, vectors(db, plan, other), bounds, strict=True):
                moved = [abs(a[key] - b[key]) for key in a | b]
                assert sum(moved) <= l1, (sql, table.name, other[table.name])
                assert sum(m * m for m in moved) <= l2, (sql, table.name, other[table.name])
    vectors(db, plan, tables)
    return plan


def charged(plan: Plan, name: str) -> int:
    """Return how many bounded vectors a table is charged for."""
    return changes(plan.source, next(table for table in plan.tables if table.name == name))
