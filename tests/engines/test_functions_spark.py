"""Every function on a battery of values in Spark: it never fails, and gives what it gives in DuckDB.

Spark plans each query far longer than it runs: the expressions over the same columns are asked together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import duckdb
import pytest
from tests.depth import DEPTH, deep, thinned, whole
from tests.exact.test_functions import COLUMNS, EVERY, TABLE, TYPES, Case, columns_of
from tests.servers.spark import hasten

from jali.catalog.columns import Kind
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.spark import SparkEngine
from jali.engines.spark.dialect import SPARK
from jali.engines.spark.sources import NAMES
from jali.engines.sql.expression_emitter import Emitter
from jali.errors import Unsupported
from jali.ir.expressions import Call, Expression
from jali.sql.reader.read_select import read_value

Found: TypeAlias = dict[tuple[int, ...], Any]
# Spark has no infinite days and times.
_NOT_THERE = ("infinity", "-infinity")
# Classes of Unicode are those of another year in Java, and it may search for ever for groups that are repeated.
REFUSED = ("REGEXP_MATCHES(s, '(a?){50}b{1,50}')", "REGEXP_MATCHES(s, '\\p{L}')")
_THERE = replace(TABLE, fields=tuple(replace(f, type=NAMES[f.kind]) for f in TABLE.fields))
# Where few are asked, each by itself.
_TOGETHER = 40 if DEPTH > 1 else 1


def infinite(name: str) -> str:
    """Return the numbers of the infinite days and times."""
    kind, _, values = COLUMNS[name]
    dated = kind in (Kind.DATE, Kind.TIMESTAMP)
    return ", ".join(["-1", *(str(i) for i, value in enumerate(values) if dated and value in _NOT_THERE)])


@pytest.fixture(scope="module")
def here() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB with one table for each column of the battery, its rows numbered."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, (kind, _, _) in COLUMNS.items():
            connection.execute(f'CREATE TABLE v_{name} (n_{name} INTEGER, "{name}" {TYPES[kind]})')
            for number, value in enumerate(COLUMNS[name][2]):
                made, given = f"CAST(CAST(? AS VARCHAR) AS {TYPES[kind]})", None if value == "NULL" else value
                connection.execute(f"INSERT INTO v_{name} VALUES (?, {made})", [number, given])
        yield connection


@pytest.fixture(scope="module")
def there(spark: Any, here: duckdb.DuckDBPyConnection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of the engine's own that reads the same tables."""
    folder, engine = tmp_path_factory.mktemp("battery"), SparkEngine()
    engine.use(spark)
    session = engine._session("session")
    hasten(session)
    for name in COLUMNS:
        finite = f"SELECT * FROM v_{name} WHERE n_{name} NOT IN ({infinite(name)})"
        here.execute(f"COPY ({finite}) TO '{folder}/{name}.parquet' (FORMAT parquet)")
        session.read.parquet(f"{folder}/{name}.parquet").createOrReplaceTempView(f"v_{name}")
    yield session
    engine.close()


@pytest.fixture(scope="module")
def answers(there: Any) -> Callable[[str], Found]:
    """What Spark gives for each expression; all over the same columns come together."""
    alike: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for _, case in EVERY:
        if case.asked not in REFUSED:
            expression = read_value(case.asked)
            alike[tuple(columns_of(expression))][case.asked] = shown(Emitter(_THERE, SPARK), expression)
    found: dict[str, Found] = {}

    def answer(asked: str) -> Found:
        if asked not in found:
            columns = tuple(columns_of(read_value(asked)))
            names = list(alike[columns])
            start = names.index(asked) // _TOGETHER * _TOGETHER
            together = names[start : start + _TOGETHER]
            found.update(_asked(there, columns, {name: alike[columns][name] for name in together}))
        return found[asked]

    return answer


def _asked(session: Any, columns: tuple[str, ...], written: dict[str, str]) -> dict[str, Found]:
    source = " CROSS JOIN ".join(f"v_{name}" for name in columns) or "(SELECT 1) AS one"
    numbers = [f"n_{name}" for name in columns]
    selected = [*numbers, *(f"{sql} AS a{i}" for i, sql in enumerate(written.values()))]
    rows = session.sql(f"SELECT {', '.join(selected)} FROM {source}").collect()
    width = len(numbers)
    return {asked: {tuple(row[:width]): row[width + i] for row in rows} for i, asked in enumerate(written)}


def shown(emitter: Emitter, expression: Expression) -> str:
    """Write an expression; days and times as texts, as Python has not all of them."""
    if emitter.kind(expression) in (Kind.DATE, Kind.TIMESTAMP):
        expression = Call("text", (expression,))
    return emitter.write(expression)


def same(here: Any, there: Any) -> bool:
    """Say whether two values are the same; the last digits of powers and logarithms are the library's."""
    if isinstance(here, float) and isinstance(there, float):
        near = math.isclose(here, there, rel_tol=1e-14) and math.copysign(1, here) == math.copysign(1, there)
        return near or (math.isnan(here) and math.isnan(there))
    return type(here) is type(there) and bool(here == there)


@whole
@thinned(40)
@pytest.mark.parametrize("case", [case for _, case in EVERY], ids=[case.asked for _, case in EVERY])
def test_a_function_never_fails_and_gives_what_it_gives_in_duckdb(
    case: Case, here: duckdb.DuckDBPyConnection, answers: Callable[[str], Found]
) -> None:
    expression = read_value(case.asked)
    if case.asked in REFUSED:
        with pytest.raises(Unsupported, match="cannot be translated to one that always terminates on Spark"):
            shown(Emitter(_THERE, SPARK), expression)
        return
    columns = columns_of(expression)
    source = " CROSS JOIN ".join(f"v_{name}" for name in columns) or "(SELECT 1)"
    numbers = "".join(f"n_{name}, " for name in columns)
    written = shown(Emitter(TABLE, DUCKDB), expression)
    wanted = {row[:-1]: row[-1] for row in here.execute(f"SELECT {numbers}{written} FROM {source}").fetchall()}
    found = answers(case.asked)
    assert found.keys() <= wanted.keys()
    assert len(found) >= len(wanted) / 2
    assert {key: (wanted[key], found[key]) for key in found if not same(wanted[key], found[key])} == {}


_LONG = "(x + 1 - 1) * 2 / 2 + i * 0 + x * 0 + n * 0 + z * 0 + m * 0 + (y + 1) * 0"
_NESTED = (
    "ROUND({}, 2)",
    "ROUND({}, -1)",
    "ROUND({})",
    "FLOOR({})",
    "CEIL({})",
    "TRUNC({})",
    "SIGN({})",
    "POWER({}, {})",
    "LOG2({})",
    "CLAMP({}, -1, 1)",
    "WIDTH_BUCKET({}, -5, 5, 7)",
    "UPPER(CAST(CAST({} AS INTEGER) AS TEXT))",
    "DATE_DIFF('month', d + CAST({} AS INTEGER), e - CAST({} AS INTEGER))",
    "DATE_SUB('year', d + CAST({} AS INTEGER), e - CAST({} AS INTEGER))",
    "DATE_TRUNC('quarter', d + CAST({} AS INTEGER)) + INTERVAL 3 MONTH",
    "CAST(CAST(d + CAST({} AS INTEGER) AS TEXT) AS TIMESTAMP)",
)


@deep
def test_long_expressions_that_are_bound_to_names_give_the_same(
    here: duckdb.DuckDBPyConnection, there: Any
) -> None:
    names = ("x", "i", "n", "z", "m", "y", "d", "e")
    number = {name: place for place, name in enumerate(names)}
    # One row of each table in turn: all combinations would be millions.
    sizes = {name: len(COLUMNS[name][2]) for name in names}
    rows = [tuple((turn * (1 + number[name])) % sizes[name] for name in names) for turn in range(60)]
    rows = [
        row for row in rows if all(str(i) not in infinite(n).split(", ") for n, i in zip(names, row, strict=True))
    ]
    assert len(rows) > 20
    asked = [read_value(form.replace("{}", f"({_LONG})")) for form in _NESTED]
    wanted, found = (
        _of_rows(run, names, rows, [shown(Emitter(table, dialect), expression) for expression in asked])
        for run, table, dialect in (
            (lambda sql: here.execute(sql).fetchall(), TABLE, DUCKDB),
            (lambda sql: there.sql(sql).collect(), _THERE, SPARK),
        )
    )
    for one, other in zip(wanted, found, strict=True):
        assert [(a, b) for a, b in zip(one, other, strict=True) if not same(a, b) and not _far(a, b)] == []


def _far(here: Any, there: Any) -> bool:
    """No text before the year 1 is read as a time."""
    return there is None and isinstance(here, str) and "(BC)" in here


def _of_rows(
    run: Any, names: tuple[str, ...], rows: list[tuple[int, ...]], written: list[str]
) -> list[tuple[Any, ...]]:
    listed = ", ".join(f"({turn}, {', '.join(map(str, row))})" for turn, row in enumerate(rows))
    joins = " ".join(f"JOIN v_{name} ON n_{name} = t{name}" for name in names)
    columns = ", ".join(f"t{name}" for name in names)
    values = f"(VALUES {listed}) AS t(turn, {columns})"
    selected = ", ".join(f"{sql} AS a{i}" for i, sql in enumerate(written))
    return [tuple(row)[1:] for row in run(f"SELECT turn, {selected} FROM {values} {joins} ORDER BY turn")]


_SPELLINGS = (
    *("2026-01-31", "2026-1-3", " 2026-01-31 ", "2026/01/31", "2026 01 31", "2026\\01\\31", "2026-01/31"),
    *("26-01-31", "0000-01-01", "0001-01-01", "2026-02-30", "2026-01-31T10:00:00", "2026-01-31 10:00:00"),
    *("2026-01-31 10:00", "2026-01-31 10", "2026-01-31 1:2:3", "2026-01-31 10:00:00.5"),
    *("2026-01-31 10:00:00.1234567", "2026-01-31T", "2026-01-31 10:00:00.", "2026-01-31 23:59:60"),
    *("2026-01-31 10:00:00Z", "2026-01-31 10:00:00+01", "20260131", "2026-01-31 10:00:00 UTC"),
    *("2026-01-31 10:00:00UTC", "2026-01-31 10:00:00.5+05:30", "2026-01-31 10:00:00 "),
    *("2026-01-31  10:00:00", "2026-01-31 99:00:00", "2026-01", "2026", "+2026-01-31", "2026-01-31x"),
    *("2026-001-31", "", "1.5", "1e5", " 1.5 ", "1_000", "1__000", "1_", "_1", "1_000.5", "1e1_0", "+1"),
    *("--1", "+ 1", "0x10", "1d", "1f", "1L", "NaN", "-nan", "+NaN", " inf ", "infinit", "1e", "1e+"),
    *("1.e5", ".e5", ".5", "5.", "1,000", "\xa01", "1\n", "\x0b1", "\x0c1", "\uff11\uff12", "1e400"),
    *("-1e400", "1e-400", "9007199254740993", "0.0", "00", "1.0", "true", "t", "T", "yes", "Yes", "y"),
    *("on", "1", "0", " true", "false", "f", "no", "n", "off", "TRUE", "2", "-1"),
)  # fmt: skip
# Read by DuckDB alone: other years, the 24th hour, and words.
_MORE = ("99999-01-01", "2026-01-31 24:00:00", "epoch", "-2026-01-31", "2026-01-31 (BC)")


@deep
def test_texts_are_read_as_duckdb_reads_them(here: duckdb.DuckDBPyConnection, there: Any) -> None:
    texts = (*_SPELLINGS, *_MORE)
    here.execute("CREATE OR REPLACE TEMP TABLE spellings AS SELECT unnest(?) AS s", [list(texts)])
    keys = SPARK.key_places(texts, Kind.TEXT)
    for kind in ("DATE", "TIMESTAMP", "DOUBLE", "INTEGER", "BOOLEAN"):
        expression = read_value(f"CAST(s AS {kind})")
        wanted = here.execute(f"SELECT s, {shown(Emitter(TABLE, DUCKDB), expression)} FROM spellings").fetchall()
        read = shown(Emitter(_THERE, SPARK), expression)
        found = {row[0]: row[1] for row in there.sql(f"SELECT s, {read} FROM ({keys}) AS k(n, s)").collect()}
        assert [(s, value, found[s]) for s, value in wanted if s in _SPELLINGS and not same(value, found[s])] == []
        assert [s for s in _MORE if found[s] is not None] == []
