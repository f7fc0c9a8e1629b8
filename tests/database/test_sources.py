"""Every kind of source, every type of column, and what happens when a source is missing, twice there, or odd."""

from __future__ import annotations

import datetime
import decimal
import math
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import thinned
from tests.frames import failing
from tests.harness import noise_off

import jali
from jali.catalog.columns import Kind
from jali.ledger import ReceiptState

BUDGET = jali.Budget(10**6, 1e-6)
COLUMNS: dict[str, Any] = {"g": jali.Keys(["A", "B", None]), "n": jali.Range(0, 10), "x": jali.Range(0, 10)}
PLAIN = pa.table({"uid": [1, 2, 2], "g": ["A", "B", None], "n": [1, 2, 30], "x": [1.5, math.nan, math.inf]})
QUESTION = "SELECT g, COUNT(*), SUM(n), COUNT(x), SUM(x) FROM t GROUP BY g"
ANSWER = [("A", 1, 1, 1, 1.5), ("B", 1, 2, 0, 0), (None, 1, 10, 1, 10)]


@pytest.fixture(autouse=True)
def exact() -> Iterator[None]:
    with noise_off():
        yield


def protected(source: Any, name: str = "t", **options: Any) -> jali.Database:
    db = jali.connect()
    arguments: dict[str, Any] = {"unit": None, "budget": BUDGET} | options
    db.protect(name, source, **arguments)
    return db


def asked(source: Any, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    with protected(source, **options) as db:
        return db.ask(sql, epsilon=1).rows


def duckdb_file(path: Path, **tables: pa.Table) -> Path:
    with duckdb.connect(str(path)) as connection:
        for name, rows in tables.items():
            connection.register("given", rows)
            connection.execute(f'CREATE TABLE "{name}" AS FROM given')
    return path


def parquet(path: Path, rows: pa.Table = PLAIN) -> Path:
    pq.write_table(rows, path)
    return path


def csv(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# The same rows in every kind of source.

FRAMES: dict[str, Callable[[], Any]] = {
    "Arrow table": lambda: PLAIN,
    "Arrow dictionary": lambda: PLAIN.set_column(1, "g", PLAIN["g"].dictionary_encode()),
    "pandas": lambda: pd.DataFrame({c: PLAIN[c].to_pylist() for c in PLAIN.column_names}),
    "pandas from Arrow": lambda: PLAIN.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame({c: PLAIN[c].to_pylist() for c in PLAIN.column_names}),
    "polars lazy": lambda: pl.LazyFrame({c: PLAIN[c].to_pylist() for c in PLAIN.column_names}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_in_memory_is_answered(kind: str) -> None:
    assert asked(FRAMES[kind](), QUESTION, columns=COLUMNS) == ANSWER
    assert asked(FRAMES[kind](), QUESTION, columns=COLUMNS, unit="uid", max_rows=2) == ANSWER


def test_parquet_is_answered(tmp_path: Path) -> None:
    for ending in (".parquet", ".pq", ".PARQUET"):
        assert asked(parquet(tmp_path / f"visits{ending}"), QUESTION, columns=COLUMNS) == ANSWER
    assert asked(str(tmp_path / "visits.parquet"), QUESTION, columns=COLUMNS) == ANSWER


def test_a_table_in_a_duckdb_file_is_answered(tmp_path: Path) -> None:
    path = duckdb_file(tmp_path / "clinic.duckdb", t=PLAIN, other=PLAIN.slice(0, 1))
    assert asked(path, QUESTION, columns=COLUMNS) == ANSWER
    assert asked(path, "SELECT COUNT(*) FROM t", relation="other") == [(1,)]
    assert asked(path, "SELECT COUNT(*) FROM visits", name="visits", relation="t") == [(3,)]


def test_two_tables_of_one_duckdb_file_have_budgets_of_their_own(tmp_path: Path) -> None:
    path = duckdb_file(tmp_path / "clinic.duckdb", t=PLAIN, other=PLAIN.slice(0, 1))
    with protected(path) as db:
        db.protect("other", path, unit=None, budget=BUDGET)
        assert db.ask("SELECT COUNT(*) FROM other", epsilon=1).rows == [(1,)]
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows == [(3,)]


def test_a_duckdb_file_is_only_read(tmp_path: Path) -> None:
    path = duckdb_file(tmp_path / "clinic.duckdb", t=PLAIN)
    before = path.read_bytes()
    asked(path, QUESTION, columns=COLUMNS)
    assert path.read_bytes() == before


def test_csv_is_answered(tmp_path: Path) -> None:
    path = csv(tmp_path / "visits.csv", "uid,g,n,x\n1,A,1,1.5\n2,B,2,nan\n2,,30,inf\n")
    assert asked(path, QUESTION, columns=COLUMNS) == ANSWER
    assert asked(path, QUESTION, columns=COLUMNS, unit="uid", max_rows=2) == ANSWER


# CSV: everything is text, and nothing that a line holds can fail or change what other lines mean.

AGES: dict[str, Any] = {"age": jali.Range(0, 100)}
COUNTS = "SELECT COUNT(*), COUNT(age), SUM(age) FROM t"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("uid,age\n1,10\n2,20\n", (2, 2, 30)),
        ("uid,age\r\n1,10\r\n2,20\r\n", (2, 2, 30)),
        ("uid,age\n1,10\n2,20", (2, 2, 30)),
        (b"\xef\xbb\xbfage,uid\n10,1\n20,1\n", (2, 2, 30)),
        ("uid,age\n", (0, 0, 0)),
        ("uid,age", (0, 0, 0)),
        ("uid,age\n1,10\n2\n3,4,5\n6,7\n", (2, 2, 17)),
        ('uid,age\n"a,b",10\n"c ""d""",20\n"",30\n', (3, 3, 60)),
        ('uid,age\n"a\nb",10\n2,20\n', (1, 1, 20)),
        ("uid,age\n1,10\n2,\n3,30\n", (3, 2, 40)),
        ("uid,age\n1,10\n\n3,30\n", (2, 2, 40)),
        ("uid,age\n1, 10\n2,20 \n", (2, 2, 30)),
        ("uid,age\n#1,10\n2,20\n", (2, 2, 30)),
        ("uid,age\n1,-5\n2,500\n", (2, 2, 100)),
        ("uid,age\n1,inf\n2,-inf\n3,1e300\n", (3, 3, 200)),
    ],
    ids=[
        "plain",
        "CRLF",
        "no last newline",
        "byte order mark",
        "header only",
        "header without newline",
        "malformed lines",
        "quotes",
        "a line is a row",
        "empty value",
        "blank line",
        "spaces",
        "no comments",
        "outside the range",
        "infinities",
    ],
)
def test_a_csv_file_is_read_line_by_line(tmp_path: Path, text: str | bytes, answer: tuple[int, ...]) -> None:
    assert asked(csv(tmp_path / "t.csv", text), COUNTS, columns=AGES) == [answer]


@pytest.mark.parametrize("bad", ["abc", "1e999", "NULL", "0x10", "--", "1;2", "é"])
def test_a_value_that_is_no_number_is_null_and_its_line_still_counts(tmp_path: Path, bad: str) -> None:
    path = csv(tmp_path / "t.csv", f"uid,age\n1,10\n2,{bad}\n3,30\n")
    assert asked(path, "SELECT COUNT(*) FROM t", columns=AGES) == [(3,)]
    (rows, known, total) = asked(path, COUNTS, columns=AGES)[0]
    assert (rows, known) == (3, 2 if bad != "1e999" else known)
    assert total in (40, 140)


LINES = {
    "CRLF": b"2,20\r\n",
    "bare CR": b"2\rx,20\n",
    "last CR": b"2,20\r",
    "bad UTF-8": b"\xff\xfe,20\n",
    "bad value": b"2,\xff\n",
    "NUL": b"\x00,20\n",
    "quote inside": b'2"x,20\n',
    "quote and more": b'"2"x,20\n',
    "three megabytes": b"x" * 3_000_000 + b",20\n",
    "too short": b"2\n",
    "too long": b"2,3,4\n",
    "blank": b"\n",
    "two empty values": b",\n",
    "quoted newline": b'"","\n"\n',
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("first", [False, True], ids=["in the middle", "first"])
def test_no_line_changes_what_other_lines_count_for(tmp_path: Path, name: str, first: bool) -> None:
    """One person's line may count or be dropped; it may not raise, and it may not take others with it."""
    line, others = LINES[name], [b"1,10\n", b"3,30\n", b"4,40\n"]
    lines = [line, *others] if first else [others[0], line, *others[1:]]
    if line.endswith(b"\r"):
        lines = [*others, line]
    path = csv(tmp_path / "t.csv", b"uid,age\n" + b"".join(lines))
    ((rows, known, total),) = asked(path, COUNTS, columns=AGES)
    assert rows in (3, 4)
    assert known in (3, 4)
    assert 80 <= total <= 180


def test_all_columns_of_a_csv_file_are_text_unless_declared(tmp_path: Path) -> None:
    path = csv(tmp_path / "t.csv", "a,b,c,d,e\n1,2026-01-01,true,2026-01-01 10:00:00,x\n2,soon,maybe,never,y\n")
    declared = {"a": "integer", "b": "date", "c": "boolean", "d": "timestamp"}
    with protected(path, columns=declared) as db:
        kinds = [field.kind for field in db.tables.find("t").fields]
        assert kinds == [Kind.INTEGER, Kind.DATE, Kind.BOOLEAN, Kind.TIMESTAMP, Kind.TEXT]
        answer = db.ask("SELECT COUNT(a), COUNT(b), COUNT(c), COUNT(d), COUNT(e) FROM t", epsilon=1)
        assert answer.rows == [(2, 1, 1, 1, 2)]
        where = "a = 1 AND b = '2026-01-01' AND c AND d > '2026-01-01 09:00:00' AND e = 'x'"
        assert db.ask(f"SELECT COUNT(*) FROM t WHERE {where}", epsilon=1).rows == [(1,)]


def test_declared_names_of_a_csv_file_are_found_without_regard_to_case(tmp_path: Path) -> None:
    path = csv(tmp_path / "t.csv", "uid,age\n1,10\n")
    assert asked(path, "SELECT SUM(age) FROM t", columns={"AGE": jali.Range(0, 100)}) == [(10,)]


def test_a_unit_with_a_declared_kind_is_read_as_that_kind(tmp_path: Path) -> None:
    """1, 01 and +1 are one person if the column holds whole numbers; what is no number names nobody."""
    path = csv(tmp_path / "t.csv", "uid,age\n1,10\n01,10\n+1,10\nx,10\n")
    sql = "SELECT COUNT(*), COUNT(DISTINCT uid) FROM t"
    people = asked(path, sql, unit="uid", max_rows=1, columns={"uid": "integer"})
    # One person's three rows weigh a third each, rounded down to multiples of 2^-20.
    assert people[0][0] == pytest.approx(1, abs=1e-5)
    assert people[0][1] == 1


def test_bytes_that_are_no_text_do_not_stop_a_csv_file_from_being_protected(tmp_path: Path) -> None:
    """Whether a file can be protected depends on its header, not on its rows."""
    path = csv(tmp_path / "t.csv", b"uid,age\n1,10\n\xff,20\n")
    assert protected(path, columns=AGES).tables.list()[0].name == "t"


@pytest.mark.parametrize("text", ["", "\n1,2\n", "a,a\n1,2\n", "a,,b\n1,2,3\n", "a,A\n1,2\n", b"\xff,a\n"])
def test_a_csv_file_needs_a_header_with_distinct_names(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(jali.errors.CatalogError):
        protected(csv(tmp_path / "t.csv", text))


# Types.

TYPES = """
    SELECT 1.25::DECIMAL(10,2) AS dec, 18446744073709551615::UBIGINT AS ub, 5::HUGEINT AS hu,
    'a'::ENUM('a', 'b') AS en, '00000000-0000-0000-0000-000000000001'::UUID AS uu,
    TIMESTAMP '2026-01-01 01:02:03' AS ts, TIMESTAMP_NS '2026-01-01 01:02:03' AS tns,
    TIMESTAMP_S '2026-01-01 01:02:03' AS tss, TIMESTAMPTZ '2026-01-01 01:02:03+00' AS tz, TIME '01:02' AS ti,
    INTERVAL 1 DAY AS iv, 'x'::BLOB AS bl, [1] AS li, {'a': 1} AS st, 3::TINYINT AS tiny, 3::UTINYINT AS ut,
    3::SMALLINT AS si, 3::BIGINT AS bi, 2.5::FLOAT AS fl, 2.5::DOUBLE AS db, DATE '2026-01-01' AS da, TRUE AS bo,
    'text' AS vc
"""
KINDS = {
    "integer": ["tiny", "ut", "si", "bi", "ub", "hu"],
    "real": ["dec", "fl", "db"],
    "text": ["en", "uu", "vc"],
    "timestamp": ["ts", "tns", "tss"],
    "date": ["da"],
    "boolean": ["bo"],
    "other": ["tz", "ti", "iv", "bl", "li", "st"],
}


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("types") / "typed.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS {TYPES} UNION ALL SELECT {'NULL, ' * 22}NULL")
    return path


def test_every_type_has_a_kind(typed: Path) -> None:
    with protected(typed) as db:
        found = {field.name: field.kind.value for field in db.tables.find("t").fields}
    assert found == {name: kind for kind, names in KINDS.items() for name in names}


@pytest.mark.parametrize("name", [n for kind, names in KINDS.items() if kind != "other" for n in names])
def test_a_column_of_every_type_is_counted(typed: Path, name: str) -> None:
    sql = f"SELECT COUNT({name}), COUNT(*) FROM t WHERE {name} IS NULL OR NOT ({name} IS NULL)"
    assert asked(typed, sql) == [(1, 2)]


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("dec", 1.25),
        ("ub", 100),
        ("hu", 5),
        ("fl", 2.5),
        ("db", 2.5),
        ("tiny", 3),
        ("ut", 3),
        ("si", 3),
        ("bi", 3),
    ],
)
def test_a_number_of_every_type_is_summed(typed: Path, name: str, total: float) -> None:
    declared = {name: jali.Range(0, 100)}
    assert asked(typed, f"SELECT SUM({name}), AVG({name}) FROM t", columns=declared) == [(total, total)]


MORNING = datetime.datetime(2026, 1, 1, 1, 2, 3)  # noqa: DTZ001 - columns have no zone either
KEYS: dict[str, list[Any]] = {
    "en": ["a", "b", "c"],
    "uu": [str(uuid.UUID(int=1)), str(uuid.UUID(int=2))],
    "vc": ["text", ""],
    "ts": [MORNING, MORNING.replace(hour=9)],
    "tns": [MORNING, MORNING.replace(hour=9)],
    "tss": [MORNING, MORNING.replace(hour=9)],
    "da": [datetime.date(2026, 1, 1), datetime.date(2027, 1, 1)],
    "bo": [True, False],
    "tiny": [3, -1],
    "ut": [3, 255, 256],
    "bi": [3, 2**63 - 1, -(2**63)],
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_of_every_type_are_grouped_by(typed: Path, name: str) -> None:
    keys = KEYS[name]
    declared = {name: jali.Keys([*keys, None])}
    rows = asked(typed, f"SELECT {name}, COUNT(*) FROM t GROUP BY {name}", columns=declared)
    assert rows == [(keys[0], 1), *((key, 0) for key in keys[1:]), (None, 1)]


UNITS = ["tiny", "ut", "si", "bi", "ub", "hu", "en", "uu", "vc", "ts", "tns", "tss", "da", "bo"]


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_of_every_exact_type_is_weighed_and_counted(typed: Path, name: str) -> None:
    rows = asked(typed, f"SELECT COUNT(*), COUNT(DISTINCT {name}) FROM t", unit=name, max_rows=2)
    assert rows == [(1, 1)]  # the row without a unit has no owner and is dropped


@pytest.mark.parametrize("name", ["fl", "db", "li", "st", "iv"])
def test_a_unit_of_an_inexact_or_nested_type_is_refused(typed: Path, name: str) -> None:
    with pytest.raises(jali.errors.CatalogError, match="cannot be the privacy unit, because it is"):
        protected(typed, unit=name, max_rows=2)


def test_a_pandas_column_of_objects_is_text() -> None:
    frame = pd.DataFrame({"o": pd.Series([1, "a", None, b"x", 1.5], dtype=object)})
    rows = asked(frame, "SELECT o, COUNT(*) FROM t GROUP BY o", columns={"o": jali.Keys(["1", "a", "1.5", None])})
    assert rows == [("1", 1), ("a", 1), ("1.5", 1), (None, 1)]


def test_a_decimal_of_arrow_is_a_number() -> None:
    frame = pa.table({"d": pa.array([decimal.Decimal("1.10"), None], pa.decimal128(5, 2))})
    total = asked(frame, "SELECT SUM(d), COUNT(d) FROM t", columns={"d": jali.Range(0, 2)})[0]
    assert total == (pytest.approx(1.1, abs=1e-6), 1)


# Names.

ODD = ["owner", "k0", "k1", "w", "m0", "m1", "v0", "v1", "value", "place", "totals", "weights", "keys0", "people"]
ODD += [
    "contributions",
    "pairs",
    "shares",
    "select",
    "from",
    "a b",
    'q"q',
    "it's",
    "é",
    "🙂",
    "semi;colon",
    "A.B",
]
ODD += ["%s", "{x}", "new\nline", "count", "t", "rowid", "t.x"]


def odd_table(name: str) -> pa.Table:
    """Two rows: 1 in the first, 2 in the second, in a column of this name."""
    return pa.table({"uid": ["p", "q"], "g": ["A", "B"], name: pa.array([1, 2], pa.int64())})


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@thinned(3)
@pytest.mark.parametrize("unit", [None, "uid"])
@pytest.mark.parametrize("name", ODD)
def test_a_column_may_have_any_name(name: str, unit: str | None) -> None:
    column = quoted(name)
    declared = {"g": jali.Keys(["A", "B", "C"]), name: jali.Keys([2, 1])}
    with protected(odd_table(name), columns=declared, unit=unit, max_rows=unit and 3) as db:
        rows = db.ask(f"SELECT {column}, COUNT(*), SUM({column}) FROM t GROUP BY {column}", epsilon=1).rows
        assert rows == [(2, 1, 2), (1, 1, 1)]
        rows = db.ask(f"SELECT g, COUNT(*), SUM({column}) FROM t WHERE {column} > 1 GROUP BY g", epsilon=1).rows
        assert rows == [("A", 0, 0), ("B", 1, 2), ("C", 0, 0)]
        rows = db.ask(f"SELECT g, {column}, AVG({column}) FROM t GROUP BY g, {column}", epsilon=1).rows
        assert rows == [
            ("A", 2, None),
            ("A", 1, 1),
            ("B", 2, 2),
            ("B", 1, None),
            ("C", 2, None),
            ("C", 1, None),
        ]


@thinned(3)
@pytest.mark.parametrize("name", ODD)
def test_a_unit_may_have_any_name(name: str) -> None:
    column = quoted(name)
    declared = {"g": jali.Keys(["A", "B"])}
    sql = f"SELECT g, COUNT(*), COUNT(DISTINCT {column}) FROM t WHERE {column} < 2 GROUP BY g"
    assert asked(odd_table(name), sql, unit=name, max_rows=1, columns=declared) == [("A", 1, 1), ("B", 0, 0)]


def test_columns_of_a_csv_file_may_have_any_name(tmp_path: Path) -> None:
    path = csv(tmp_path / "t.csv", '"a b","c""d",select,"e,f",é,it\'s\n1,2,3,4,5,6\n')
    declared = {'c"d': jali.Range(0, 9), "é": jali.Range(0, 9), "it's": jali.Range(0, 9)}
    sql = 'SELECT COUNT("a b"), SUM("c""d"), COUNT("select"), COUNT("e,f"), SUM("É"), SUM("it\'s") FROM t'
    assert asked(path, sql, columns=declared) == [(1, 2, 1, 1, 5, 6)]


def test_columns_that_differ_in_case_only_are_refused() -> None:
    with pytest.raises(jali.errors.CatalogError):
        protected(pa.table({"a": [1], "A": [2]}))


@pytest.mark.parametrize("name", ["", "1a", "a b", "a;b", "a.b", "é", 'a"b', "a'b"])
def test_a_table_is_named_by_letters_digits_and_underscores(name: str) -> None:
    with pytest.raises(jali.errors.CatalogError, match="name"):
        protected(PLAIN, name=name)


def test_a_table_may_be_named_by_a_word_of_sql() -> None:
    assert asked(PLAIN, 'SELECT COUNT(*) FROM "select"', name="select") == [(3,)]


TEXTS = ["", " ", "NULL", "null", '"', "'", "''", "\\", "\\n", "\n", "\t", ",", "[", "]", "{", "}", "a,b", '["a"]']
TEXTS += [
    " lead",
    "trail ",
    "é",
    "🙂",
    "%",
    "_",
    "--",
    ";",
    "/*",
    "true",
    "1",
    "\\'",
    '\\"',
    "a\\",
    "\u2028",
    "$1",
]


def test_keys_may_be_any_text() -> None:
    frame = pa.table({"g": [*TEXTS, "other", None], "uid": list(range(len(TEXTS) + 2))})
    for options in ({}, {"unit": "uid", "max_rows": 1}):
        rows = asked(
            frame, "SELECT g, COUNT(*) FROM t GROUP BY g", columns={"g": jali.Keys([*TEXTS, None])}, **options
        )
        assert rows == [*((text, 1) for text in TEXTS), (None, 1)]


@thinned(3)
@pytest.mark.parametrize("text", TEXTS)
def test_constants_may_be_any_text(text: str) -> None:
    frame = pa.table({"g": TEXTS})
    written = text.replace("'", "''")
    assert asked(frame, f"SELECT COUNT(*) FROM t WHERE g = '{written}'") == [(1,)]
    assert asked(frame, f"SELECT COUNT(*) FROM t WHERE g IN ('{written}')") == [(1,)]


@pytest.mark.parametrize("keys", [[1, 2**63], [-(2**63) - 1], [2**70]])
def test_keys_that_no_column_can_hold_are_refused_when_they_are_declared(keys: list[Any]) -> None:
    """Later it would be an engine error, after the question was paid for."""
    with pytest.raises(jali.errors.CatalogError):
        protected(PLAIN, columns={"n": jali.Keys(keys)})


@pytest.mark.parametrize("folder", ["it's", "a b", "é", "100%", "ward=A", "semi;colon"])
def test_a_file_may_lie_anywhere(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir()
    rows, sql = pa.table({"ward": ["x", "y"]}), "SELECT COUNT(*) FROM t WHERE ward = 'x'"
    assert asked(parquet(tmp_path / folder / "t.parquet", rows), sql) == [(1,)]
    assert asked(csv(tmp_path / folder / "t.csv", "ward\nx\ny\n"), sql) == [(1,)]
    assert asked(duckdb_file(tmp_path / folder / "t.duckdb", t=rows), sql) == [(1,)]


@pytest.mark.parametrize("name", ["v*.parquet", "v[1].parquet", "v?.parquet", "{v1,v2}.parquet"])
def test_a_path_that_could_be_a_pattern_is_refused(tmp_path: Path, name: str) -> None:
    """DuckDB would read other files with it, which may be protected under other budgets."""
    parquet(tmp_path / "v1.parquet", PLAIN.slice(0, 1))
    with pytest.raises(jali.errors.CatalogError, match="several files") as refused:
        protected(parquet(tmp_path / name))
    assert "Rename" in (refused.value.remedy or "")


# One source, one budget.


@pytest.mark.parametrize("link", ["same path", "symlink", "hard link", "dots"])
@pytest.mark.parametrize("ending", [".parquet", ".csv", ".duckdb"])
def test_one_source_under_two_names_is_refused(tmp_path: Path, link: str, ending: str) -> None:
    path = tmp_path / f"one{ending}"
    if ending == ".parquet":
        parquet(path)
    elif ending == ".csv":
        csv(path, "uid,g,n,x\n")
    else:
        duckdb_file(path, t=PLAIN)
    other = tmp_path / f"two{ending}"
    if link == "symlink":
        other.symlink_to(path)
    elif link == "hard link":
        os.link(path, other)
    else:
        other = path if link == "same path" else tmp_path / "x" / ".." / path.name
        (tmp_path / "x").mkdir()
    relation = "t" if ending == ".duckdb" else None
    with protected(path, relation=relation) as db:
        with pytest.raises(jali.errors.CatalogError, match="already protected") as refused:
            db.protect("u", other, unit=None, budget=BUDGET, relation=relation)
        assert refused.value.remedy
        assert [table.name for table in db.tables.list()] == ["t"]


def test_one_frame_under_two_names_is_refused() -> None:
    for frame in (PLAIN, pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})):
        with protected(frame) as db, pytest.raises(jali.errors.CatalogError, match="already protected"):
            db.protect("u", frame, unit=None, budget=BUDGET)


def test_names_that_differ_in_case_only_are_one_name() -> None:
    with protected(PLAIN) as db:
        with pytest.raises(jali.errors.CatalogError, match="already"):
            db.protect("T", pa.table({"a": [1]}), unit=None, budget=BUDGET)
        assert db.ask("SELECT COUNT(*) FROM T", epsilon=1).rows == [(3,)]


# Protecting again.


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "uid", "max_rows": 2},
        {"adjacency": "replace-one"},
        {"budget": jali.Budget(1)},
        {"budget": jali.Budget(10**6, 1e-6, delta_events=0)},
    ],
    ids=["unit", "adjacency", "budget", "split of delta"],
)
def test_what_the_ledger_counts_in_cannot_change(tmp_path: Path, change: dict[str, Any]) -> None:
    path = parquet(tmp_path / "t.parquet")
    with protected(path) as db:
        spent = db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        arguments: dict[str, Any] = {"unit": None, "budget": BUDGET} | change
        with pytest.raises(jali.errors.CatalogError, match="already protected"):
            db.protect("t", path, **arguments)
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).receipt == spent.receipt


def test_another_file_cannot_take_the_name_of_a_table(tmp_path: Path) -> None:
    with protected(parquet(tmp_path / "t.parquet")) as db, pytest.raises(jali.errors.CatalogError, match="source"):
        db.protect("t", parquet(tmp_path / "u.parquet"), unit=None, budget=BUDGET)


def test_ranges_keys_and_bounds_may_change_and_the_spending_stays(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet")
    with protected(path, unit="uid", max_rows=1, budget=jali.Budget(3), columns=COLUMNS) as db:
        assert db.ask("SELECT SUM(n) FROM t", epsilon=1).rows[0][0] == pytest.approx(1 + 6, abs=1e-4)
        wider = COLUMNS | {"n": jali.Range(0, 100)}
        db.protect("t", path, unit="uid", max_rows=2, budget=jali.Budget(3), columns=wider, rows=100)
        assert db.ask("SELECT SUM(n) FROM t", epsilon=1).rows == [(33,)]
        assert db.remaining("t").epsilon == 1
        assert [table.max_rows for table in db.tables.list()] == [2]


def test_a_refused_declaration_changes_nothing() -> None:
    with protected(PLAIN) as db:
        for wrong in ({"budget": jali.Budget(1)}, {"unit": "uid", "max_rows": 1}, {"columns": {"nope": "text"}}):
            arguments: dict[str, Any] = {"unit": None, "budget": BUDGET} | wrong
            with pytest.raises(jali.errors.CatalogError):
                db.protect("t", pa.table({"uid": [1], "z": [1]}), **arguments)
            assert db.ask(f"SELECT COUNT(*) AS n{len(wrong)}, COUNT(g) FROM t", epsilon=1).rows == [(3, 2)]


def test_a_frame_is_replaced_by_protecting_or_attaching_another() -> None:
    with protected(PLAIN) as db:
        db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        db.tables.attach("t", PLAIN.slice(0, 1))
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows == [(1,)]
        db.protect("t", PLAIN.slice(0, 2), unit=None, budget=BUDGET)
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows == [(2,)]


@pytest.mark.parametrize(
    "options",
    [
        {"max_rows": 2},
        {"unit": "uid"},
        {"unit": "uid", "max_rows": 0},
        {"unit": "uid", "max_rows": -1},
        {"unit": "uid", "max_rows": 1.5},
        {"unit": "uid", "max_rows": True},
        {"unit": "uid", "max_rows": 2**31},
        {"unit": "nope", "max_rows": 1},
        {"unit": "x", "max_rows": 1},
        {"rows": 0},
        {"rows": -5},
        {"adjacency": "both"},
        {"budget": 3},
        {"budget": None},
        {"columns": {"nope": jali.Range(0, 1)}},
        {"columns": {"n": "whole"}},
        {"columns": {"n": 5}},
        {"columns": {"n": "text"}},
        {"columns": {"g": jali.Range(0, 1)}},
        {"columns": {"n": jali.Keys(["A"])}},
        {"columns": {"x": jali.Keys([1])}},
    ],
    ids=str,
)
def test_a_wrong_declaration_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(jali.errors.CatalogError) as refused:
        protected(PLAIN, **options)
    assert str(refused.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: jali.Range(1, 0),
        lambda: jali.Range(0, math.inf),
        lambda: jali.Range(math.nan, 1),
        lambda: jali.Range(True, 1),
        lambda: jali.Keys([]),
        lambda: jali.Keys([1, 1]),
        lambda: jali.Keys([0.5]),  # type: ignore[list-item]
        lambda: jali.Keys([[1]]),  # type: ignore[list-item]
        lambda: jali.Keys(range(1_000_001)),
    ],
    ids=["backwards", "infinite", "NaN", "boolean", "no keys", "twice", "floating", "nested", "a million and one"],
)
def test_a_wrong_range_or_list_of_keys_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(jali.errors.CatalogError):
        make()


@pytest.mark.parametrize(
    "source",
    [None, 3, [1], {"a": [1]}, pd.Series([1]), pd.DataFrame([[1, 2]], columns=["a", "a"]), PLAIN.to_reader()],
    ids=["None", "number", "list", "dict", "Series", "two columns of one name", "a reader that is read once"],
)
def test_what_is_no_table_is_refused(source: Any) -> None:
    with pytest.raises(jali.errors.CatalogError):
        protected(source)


@pytest.mark.parametrize("name", ["gone.parquet", "t.txt", "junk.parquet", "junk.duckdb", "folder.parquet"])
def test_a_source_that_cannot_be_read_is_refused_without_its_content(tmp_path: Path, name: str) -> None:
    for junk in ("t.txt", "junk.parquet", "junk.duckdb"):
        (tmp_path / junk).write_text("secret 12345")
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(jali.errors.CatalogError, match=name) as refused:
        protected(tmp_path / name)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


# A source that goes away.


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_missing_file_is_noticed_before_anything_is_spent(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    if ending == ".parquet":
        parquet(path)
    else:
        csv(path, "uid,g\n1,A\n2,B\n3,C\n")
    with protected(path, budget=jali.Budget(1)) as db:
        path.rename(tmp_path / "away")
        with pytest.raises(jali.errors.EngineError, match="missing") as refused:
            db.ask("SELECT COUNT(*) FROM t", epsilon="1/4")
        assert str(tmp_path) not in str(refused.value)
        assert db.receipts() == ()
        assert db.remaining("t").epsilon == 1


def test_a_full_disk_leaves_a_receipt_to_redeem_when_it_is_mended(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet")
    with protected(path, budget=jali.Budget(1)) as db:
        db.grant("ana", "t", jali.Budget(1))
        with failing(), pytest.raises(jali.errors.EngineError, match=r"(?i)receipt") as refused:
            db.session("ana").ask("SELECT COUNT(*) FROM t", epsilon="1/4")
        assert str(tmp_path) not in str(refused.value)
        assert (refused.value.__cause__, refused.value.__context__) == (None, None)
        (receipt,) = db.session("ana").receipts()
        assert receipt.state is ReceiptState.OPEN
        assert db.remaining("t").epsilon == jali.Budget("3/4").epsilon
        answer = db.session("ana").redeem(receipt.id)
        assert answer.rows == [(3,)]
        assert db.remaining("t").epsilon == jali.Budget("3/4").epsilon
        assert db.session("ana").redeem(receipt.id).rows == answer.rows
        assert [r.state for r in db.receipts()] == [ReceiptState.RELEASED]
        assert db.verify().problems == ()


def test_asking_again_after_a_failure_takes_up_the_open_receipt(tmp_path: Path) -> None:
    path = parquet(tmp_path / "t.parquet")
    with protected(path, budget=jali.Budget(1)) as db:
        for _ in range(3):
            with failing(), pytest.raises(jali.errors.EngineError):
                db.ask("SELECT COUNT(*) FROM t", epsilon="1/4")
        assert db.ask("SELECT COUNT(*) FROM t", epsilon="1/4").rows == [(3,)]
        assert [r.state for r in db.receipts()] == [ReceiptState.RELEASED]
        assert db.remaining("t").epsilon == jali.Budget("3/4").epsilon
        assert db.verify().problems == ()


def test_a_frame_is_gone_when_the_database_is_reopened_until_it_is_attached(tmp_path: Path) -> None:
    with jali.connect(tmp_path / "db.jali") as db:
        db.protect("t", PLAIN, unit=None, budget=BUDGET)
    with jali.connect(tmp_path / "db.jali") as db:
        with pytest.raises(jali.errors.EngineError, match="attach"):
            db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        assert db.receipts() == ()
        db.tables.attach("t", PLAIN)
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows == [(3,)]


def test_a_file_cannot_be_attached_as_a_frame(tmp_path: Path) -> None:
    with (
        protected(parquet(tmp_path / "t.parquet")) as db,
        pytest.raises(jali.errors.CatalogError, match="not from a frame"),
    ):
        db.tables.attach("t", PLAIN)


def test_a_redeemed_receipt_runs_the_plan_as_it_was_frozen(tmp_path: Path) -> None:
    """The declaration may change in between: the receipt stands for what was paid."""
    path = parquet(tmp_path / "t.parquet")
    with protected(path, columns={"n": jali.Range(0, 10)}) as db:
        with failing(), pytest.raises(jali.errors.EngineError):
            db.ask("SELECT SUM(n) FROM t", epsilon=1)
        db.protect("t", path, unit=None, budget=BUDGET, columns={"n": jali.Range(0, 100)})
        assert db.redeem(db.receipts()[0].id).rows == [(13,)]
        assert db.ask("SELECT SUM(n) FROM t", epsilon=1).rows == [(33,)]
