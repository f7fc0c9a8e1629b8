"""Relative errors of answers, against plain DuckDB on the raw tables, split into bounding and noise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any
from unittest.mock import patch

import duckdb
import numpy as np
from benchmarks.tpch.questions import Asked

import jali
from jali.engines.duckdb.engine import DuckDBEngine

# At this loss the noise is below a millionth of every answer: what is left of the error is that of bounding.
NEARLY_EXACT = 10**7
_TURNS = count(1)

Cells = dict[tuple[Any, ...], list[float]]


@dataclass(frozen=True)
class Errors:
    """Medians over the groups, columns and answers, as shares of the truth."""

    whole: float
    bounding: float
    noise: float


def by_keys(rows: Sequence[tuple[Any, ...]], keys: int) -> Cells:
    """Return the numbers of each group; where a number is missing, an infinite one."""
    return {row[:keys]: [np.inf if value is None else float(value) for value in row[keys:]] for row in rows}


def truth(connection: duckdb.DuckDBPyConnection, asked: Asked) -> Cells:
    """Return what plain DuckDB answers."""
    return by_keys(connection.execute(asked.sql).fetchall(), asked.keys)


def ask(db: jali.Database, asked: Asked, epsilon: Fraction, max_rows: int | None) -> Cells:
    """Ask once more: each time at a loss that is a little smaller, so that no answer is a stored one."""
    loss = epsilon * (1 - Fraction(next(_TURNS), 10**9))
    return by_keys(db.ask(asked.sql, epsilon=loss, max_rows=max_rows).rows, asked.keys)


def errors(
    db: jali.Database, asked: Asked, exact: Cells, epsilon: Fraction, *, answers: int, max_rows: int | None
) -> Errors:
    """Return the errors of some answers. Groups that the truth has not are left out: it has no share of zero."""
    bounded = _table(ask(db, asked, Fraction(NEARLY_EXACT), max_rows), exact)
    found = np.array([_table(ask(db, asked, epsilon, max_rows), exact) for _ in range(answers)])
    true = _table(exact, exact)
    return Errors(_median(found - true, true), _median(bounded - true, true), _median(found - bounded, true))


def _table(cells: Cells, exact: Cells) -> Any:
    return np.array([cells[key] for key in exact])


def _median(difference: Any, true: Any) -> float:
    return float(np.median(np.abs(difference / true)))


def lost(connection: duckdb.DuckDBPyConnection, asked: Asked, max_rows: int) -> float:
    """Return the share of the rows that a bound takes away."""
    query = f"select 1 - sum(least(n, {max_rows})) / sum(n) from ({asked.rows_of_customers})"
    row = connection.execute(query).fetchone()
    assert row is not None
    return float(row[0])


@contextmanager
def reading_once() -> Iterator[None]:
    """Let the engine remember what it read: the tables stay the same, and only the noise is drawn anew.

    The tables are public and the numbers are for this benchmark; a database must never keep exact ones.
    """
    kept: dict[str, list[tuple[Any, ...]]] = {}
    run = DuckDBEngine.run

    def remembered(self: DuckDBEngine, sql: str, tables: Any) -> list[tuple[Any, ...]]:
        if sql not in kept:
            kept[sql] = run(self, sql, tables)
        return kept[sql]

    with patch.object(DuckDBEngine, "run", remembered):
        yield
