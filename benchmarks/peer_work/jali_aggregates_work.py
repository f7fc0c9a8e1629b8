"""Jali's side of the aggregate benchmark: SQL through `jali.connect()`, one question per answer."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow
from benchmarks.aggregates.table import (
    DELTA,
    EPSILON,
    HIGH,
    KEYS,
    LOW,
    MAX_ROWS,
    QUARTERS,
    TOP,
    TOP_AGE,
    WARDS,
    Table,
    loaded,
)
from benchmarks.peer_work.answers import (
    ADD_REMOVE,
    PERSON,
    REPLACE_ONE,
    ROW,
    Asked,
    Numbers,
    Release,
    listed,
    print_answers,
)

import jali

BY_WARD = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
QUESTIONS = {
    "count": "SELECT COUNT(*) FROM visits",
    "distinct": "SELECT COUNT(DISTINCT key) FROM visits",
    "sum": "SELECT SUM(cost) FROM visits",
    "avg": "SELECT AVG(cost) FROM visits",
    "var": "SELECT VAR_SAMP(cost) FROM visits",
    "stddev": "SELECT STDDEV_SAMP(cost) FROM visits",
    "median": "SELECT MEDIAN(cost) FROM visits",
    "quartiles": f"SELECT QUANTILE_CONT(cost, {list(QUARTERS)}) FROM visits",
    "min": "SELECT MIN(cost) FROM visits",
    "max": "SELECT MAX(cost) FROM visits",
    "mode": "SELECT MODE(age) FROM visits",
    "top5": f"SELECT APPROX_TOP_K(age, {TOP}) FROM visits",
    "histogram": "SELECT HISTOGRAM(ward) FROM visits",
    "cdf": "SELECT CDF(age) FROM visits",
}
PEOPLE = "SELECT COUNT(DISTINCT uid) FROM visits"
KEYED = {
    ROW: "SELECT key, COUNT(*) FROM visits GROUP BY key",
    PERSON: "SELECT key, COUNT(DISTINCT uid) FROM visits GROUP BY key",
}
TABLES = ((ROW, ADD_REMOVE), (ROW, REPLACE_ONE), (PERSON, ADD_REMOVE))


def questions(table: Table) -> Iterator[Asked]:
    """Return every question, on a table of rows in both adjacencies and on a table of people."""
    for level, adjacency in TABLES:
        db = _database(table, level, adjacency)
        for name, sql in QUESTIONS.items():
            yield Asked(name, partial(_value, db, sql), level, adjacency)
        yield Asked("by_ward", partial(_groups, db, BY_WARD, WARDS, {}), level, adjacency)
        yield Asked(
            "keys", partial(_groups, db, KEYED[level], KEYS, {"delta": Fraction(str(DELTA))}), level, adjacency
        )
        if level == PERSON:
            yield Asked("people", partial(_value, db, PEOPLE), level, adjacency)


def _database(table: Table, level: str, adjacency: str) -> jali.Database:
    db = jali.connect()
    db.protect(
        "visits",
        pyarrow.table(table.columns),
        unit="uid" if level == PERSON else None,
        max_rows=MAX_ROWS if level == PERSON else None,
        columns={
            "cost": jali.Range(int(LOW), int(HIGH)),
            "age": jali.Range(0, TOP_AGE),
            "ward": jali.Keys(list(range(WARDS))),
        },
        budget=jali.Budget(epsilon=10**6, delta=Fraction(1, 2)),
        adjacency=adjacency,
    )
    return db


def _value(db: jali.Database, sql: str) -> Release:
    return lambda: _numbers(_asked(db, sql, {})[0][0])


def _groups(db: jali.Database, sql: str, size: int, given: dict[str, Any]) -> Release:
    return lambda: listed({int(key): count for key, count in _asked(db, sql, given)}, size)


def _asked(db: jali.Database, sql: str, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Ask anew: the same question on the same data would get the same answer again."""
    db.refresh("visits")
    return db.ask(sql, epsilon=Fraction(str(EPSILON)), **given).rows


def _numbers(value: Any) -> Numbers:
    """Return the numbers of one cell: a number, a list, or a map by number."""
    if isinstance(value, Mapping):
        return [float(value[key]) for key in sorted(value)]
    return list(value) if isinstance(value, list | tuple) else [value]


if __name__ == "__main__":
    print_answers(questions(loaded(sys.argv[1])), int(sys.argv[2]))
