"""Compile-only queries give DuckDB's own integers, when sqlglot translates them back. No server has run any."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from tests.depth import thinned
from tests.engines.compiled import queries, retyped
from tests.engines.translated import MACROS, translated
from tests.exact.test_functions import COLUMNS, EVERY, TABLE, TYPES, columns_of
from tests.exact.test_functions import Case as Asked
from tests.golden.cases import Case, plan_of
from tests.golden.catalog import Clinic, clinic
from tests.golden.test_golden import CASES, IDS

from jali.engines.dialects import COMPILED_ONLY, dialect_of
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.sql.expressions import Emitter
from jali.errors import Unsupported
from jali.query.catalog import Kind
from jali.query.nodes import Call
from jali.query.read_sql import read_value

# The calendar of both runs from the year 1 to 9999.
_FAR = ("(BC)", "infinity", "5881580", "294247")


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    """Sqlglot tells of what it leaves out."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="module")
def opened() -> Iterator[Clinic]:
    with clinic() as found:
        found.plain.execute(MACROS)
        yield found


@thinned(4)
@pytest.mark.parametrize("name", COMPILED_ONLY)
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_golden_question_has_the_same_integers(case: Case, name: str, opened: Clinic) -> None:
    plan, engine = plan_of(case, opened.db.catalog), opened.db._engine
    for part, sql in zip(plan.parts, queries(case, name), strict=True):
        wanted = engine.run(engine.emit(part.aggregation), plan.read)
        found = opened.plain.execute(translated(sql, name)).fetchall()
        if part.aggregation.selecting or part.aggregation.along is not None:
            assert Counter(wanted) == Counter(found)
        else:
            assert wanted == found


@pytest.fixture(scope="module")
def battery() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(MACROS)
        for name, (kind, _, values) in COLUMNS.items():
            connection.execute(f'CREATE TABLE v_{name} ("{name}" {TYPES[kind]})')
            near = [v for v in values if kind not in (Kind.DATE, Kind.TIMESTAMP) or not any(f in v for f in _FAR)]
            for value in near:
                given = None if value == "NULL" else value
                connection.execute(
                    f"INSERT INTO v_{name} SELECT CAST(CAST(? AS VARCHAR) AS {TYPES[kind]})", [given]
                )
        yield connection


@thinned(8)
@pytest.mark.parametrize("name", COMPILED_ONLY)
@pytest.mark.parametrize(("function", "case"), EVERY, ids=[case.asked for _, case in EVERY])
def test_a_function_gives_what_it_gives_in_duckdb(
    function: str, case: Asked, name: str, battery: duckdb.DuckDBPyConnection
) -> None:
    expression, columns = read_value(case.asked), columns_of(read_value(case.asked))
    if Emitter(TABLE, DUCKDB).kind(expression) in (Kind.DATE, Kind.TIMESTAMP):
        expression = Call("text", (expression,))
    try:
        written = Emitter(retyped(TABLE, name), dialect_of(name)).write(expression)
    except Unsupported:
        return
    theirs = translated(f"SELECT {written}", name)
    source = " CROSS JOIN ".join(f"v_{column}" for column in columns) or "(SELECT 1)"
    shown = "".join(f'"{column}", ' for column in columns)
    ours = Emitter(TABLE, DUCKDB).write(expression)
    both = battery.execute(f"SELECT {shown}{ours}, {theirs.removeprefix('SELECT ')} FROM {source}").fetchall()
    assert [row for row in both if not _same(row[-2], row[-1]) and not _known(function, name, row)] == []


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and isinstance(theirs, float | int):
        near = math.isclose(ours, theirs, rel_tol=1e-13)
        return near or ours == theirs or (math.isnan(ours) and math.isnan(theirs))
    if isinstance(ours, str) and isinstance(theirs, str):
        # A date that was moved is a time in DuckDB.
        return theirs in (ours, f"{ours} 00:00:00")
    return bool(ours == theirs)


def _known(function: str, name: str, row: tuple[Any, ...]) -> bool:
    """Say whether a difference is one of those that docs/engines.md names."""
    *given, ours, theirs = row
    if function == "%":
        sizes = [abs(float(value)) for value in given if value is not None]
        return max(sizes) >= 2**62 or min(sizes) < 2**-62
    if function == "power" and name == "snowflake":
        return bool(ours == -math.inf and theirs == math.inf)
    return theirs is None and isinstance(ours, str) and (ours.find("-") > 4 or "(BC)" in ours)
