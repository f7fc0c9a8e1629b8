"""Every function on a battery of values in Postgres: it never fails, and gives what it gives in DuckDB."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import psycopg
import pytest
from tests.depth import thinned, whole
from tests.exact.test_functions import COLUMNS, EVERY, TABLE, TYPES, Case, columns_of
from tests.servers.postgres import Postgres

from jali.catalog.columns import Kind
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.postgres.connections import PostgresConnections
from jali.engines.postgres.dialect import POSTGRES
from jali.engines.postgres.sources import NAMES
from jali.engines.sql.expression_emitter import Emitter
from jali.errors import Unsupported
from jali.ir.expressions import Call, Expression
from jali.sql.reader.read_select import read_value

# Postgres has no such days and times.
_BEYOND = ("5881580-07-10", "5877642-06-25 (BC)", "290309-12-22 (BC) 00:00:00", "294247-01-10 04:00:54.775806")
# Classes of Unicode are no words of Postgres.
_REFUSED = ("REGEXP_MATCHES(s, '\\p{L}')",)
_STORED = NAMES | {Kind.TIMESTAMP: "timestamp without time zone"}
_THERE = replace(TABLE, fields=tuple(replace(f, type=_STORED[f.kind]) for f in TABLE.fields))


@dataclass(frozen=True)
class Both:
    """The battery in both engines: a table for each column, with its rows numbered."""

    here: duckdb.DuckDBPyConnection
    there: PostgresConnections
    url: str


@pytest.fixture(scope="module")
def both(postgres: Postgres) -> Iterator[Both]:
    connections = PostgresConnections()
    with duckdb.connect(config={"threads": 1}) as here, psycopg.connect(postgres.url, autocommit=True) as there:
        there.execute("CREATE SCHEMA battery")
        for name, (kind, _, values) in COLUMNS.items():
            here.execute(f'CREATE TABLE v_{name} (n_{name} INTEGER, "{name}" {TYPES[kind]})')
            there.execute(f'CREATE TABLE battery.v_{name} (n_{name} integer, "{name}" {NAMES[kind]})')
            for number, value in enumerate(v for v in values if v not in _BEYOND):
                given = None if value == "NULL" else value
                here.execute(
                    f"INSERT INTO v_{name} VALUES (?, CAST(CAST(? AS VARCHAR) AS {TYPES[kind]}))", [number, given]
                )
                theirs = None if given is None else given.replace("(BC)", "BC")
                there.execute(
                    f"INSERT INTO battery.v_{name} VALUES (%s, CAST(%s::text AS {NAMES[kind]}))", [number, theirs]
                )
        yield Both(here, connections, postgres.url)
        there.execute("DROP SCHEMA battery CASCADE")
    connections.close()


def _rows(connection: Any, written: str, columns: list[str], schema: str = "") -> dict[tuple[int, ...], Any]:
    source = " CROSS JOIN ".join(f"{schema}v_{name}" for name in columns) or "(SELECT 1) AS one"
    numbers = "".join(f"n_{name}, " for name in columns)
    return {row[:-1]: row[-1] for row in connection.execute(f"SELECT {numbers}{written} FROM {source}").fetchall()}


def _same(here: Any, there: Any) -> bool:
    if isinstance(here, float) and isinstance(there, float | int):
        return (
            here == there or (math.isnan(here) and math.isnan(there)) or math.isclose(here, there, rel_tol=1e-14)
        )
    return bool(here == there)


@whole
@thinned(3)
@pytest.mark.parametrize(("name", "case"), EVERY, ids=[case.asked for _, case in EVERY])
def test_a_function_never_fails_and_gives_what_it_gives_in_duckdb(name: str, case: Case, both: Both) -> None:
    expression, columns = read_value(case.asked), columns_of(read_value(case.asked))
    here = _rows(both.here, _shown(Emitter(TABLE, DUCKDB), expression), columns)
    try:
        written = _shown(Emitter(_THERE, POSTGRES), expression)
    except Unsupported:
        assert case.asked in _REFUSED
        return
    with both.there.transaction(both.url) as connection:
        there = _rows(connection, written, columns, "battery.")
    assert here.keys() == there.keys()
    other = {key: (here[key], there[key]) for key in here if not _same(here[key], there[key])}
    if name == "%":
        # The rest is no better than the quotient where numbers differ by more than 2^62.
        other = {key: found for key, found in other.items() if not _far_apart(columns, key)}
    assert {key: found for key, found in other.items() if not _beyond(*found)} == {}


def _far_apart(columns: list[str], key: tuple[int, ...]) -> bool:
    values = [float([v for v in COLUMNS[c][2] if v not in _BEYOND][i]) for c, i in zip(columns, key, strict=True)]
    return max(map(abs, values)) >= 2**62 or min(map(abs, values)) < 1e-300


def _beyond(here: Any, there: Any) -> bool:
    """Days before 4000 BC are none in Postgres."""
    return there is None and isinstance(here, str) and "(BC)" in here and int(here.split("-")[0]) > 4000


def _shown(emitter: Emitter, expression: Expression) -> str:
    """Write an expression; days and times as texts, as Python has not all of them."""
    if emitter.kind(expression) in (Kind.DATE, Kind.TIMESTAMP):
        expression = Call("text", (expression,))
    return emitter.write(expression)
