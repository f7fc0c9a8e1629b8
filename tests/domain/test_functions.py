"""Every function on every extreme, from every source: DuckDB never fails.

Each table holds one row of Bob's, beside others or alone: where a column has one value only, DuckDB computes with
it while it plans. The functions of one column are asked together, in one query.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.depth import DEPTH, whole
from tests.domain.columns import Column
from tests.domain.outcomes import protect
from tests.domain.questions import expressions
from tests.domain.sources import SOURCES, Source

import jali
from jali.catalog.tables import Table
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.sql.expression_emitter import Emitter
from jali.ir.expressions import Expression
from jali.ir.functions import FUNCTIONS

_EVERY = 1 if DEPTH > 1 else 30


def query(table: Table, asked: list[Expression]) -> str:
    """Write the query of many expressions: how many values each has, and how many texts."""
    emitter = Emitter(table, DUCKDB)
    written = [emitter.write(expression) for expression in asked]
    shown = [part for sql in written for part in (f"count({sql})", f"count(DISTINCT {DUCKDB.cast_to_text(sql)})")]
    return f"SELECT {', '.join(shown)} FROM {DUCKDB.scan(table)}"


def failing(db: jali.Database, table: Table, asked: list[tuple[str, Expression]]) -> list[str]:
    """Return the functions that fail on a table: none, if all of them together do not."""
    if db._engine.failure(query(table, [one for _, one in asked]), [table]) is None:
        return []
    said = {name: db._engine.failure(query(table, [one]), [table]) for name, one in asked}
    return [f"{name}: {words}" for name, words in said.items() if words is not None]


def check_column(db: jali.Database, source: Source, column: Column, table: Table) -> int:
    """Fail if a function fails on a column; return how many were tried."""
    others = [other for other in source.readable if other.name != column.name]
    asked = list(expressions(column, others))
    assert failing(db, table, asked) == [], (table.name, column.name)
    return len(asked)


def tables(db: jali.Database, source: Source, folder: Path, turn: int) -> tuple[Table, ...]:
    """Protect two tables with one row of Bob's: with everybody, and alone."""
    row = source.bob()[turn]
    for name, rows in ((f"beside{turn}", [*source.everybody(), row]), (f"alone{turn}", [row])):
        protect(db, name, source.write(folder, name, rows), source)
    return db.tables.list()[-2:]


@whole
@pytest.mark.parametrize("name", SOURCES)
def test_no_function_fails_on_any_extreme(name: str, tmp_path: Path) -> None:
    source, shift = SOURCES[name], list(SOURCES).index(name) * 11
    turns = [turn for turn, _ in enumerate(source.bob()) if DEPTH > 1 or turn == shift % len(source.bob())]
    tried = 0
    with jali.connect() as db:
        for turn in turns:
            beside, alone = tables(db, source, tmp_path, turn)
            for place, column in enumerate(source.readable):
                if (place + turn + shift) % _EVERY == 0:
                    tried += check_column(db, source, column, (beside, alone)[(place + turn) % 2])
    assert tried or DEPTH == 1


def test_every_function_is_tried_on_some_column() -> None:
    source = SOURCES["arrow"]
    found = {name for column in source.readable for name, _ in expressions(column, source.readable)}
    assert found == set(FUNCTIONS)
