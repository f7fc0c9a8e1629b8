"""Nothing that depends on the data leaves except through noise: no message, log line, warning, length or order.

Two tables differ in one extreme person. Whatever is asked, everything that can be observed besides the noisy
values is the same on both.
"""

from __future__ import annotations

import logging
import math
import struct
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import thinned
from tests.harness import noise_off

import jali
from jali.engines.duckdb import DuckDBEngine
from jali.engines.duckdb.connections import Instances

BUDGET = jali.Budget(10**6, 1e-6)
SCHEMA = pa.schema(
    [
        ("uid", pa.int64()),
        ("g", pa.string()),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("n", pa.int64()),
        ("u", pa.uint64()),
        ("s", pa.string()),
        ("b", pa.bool_()),
        ("d", pa.date32()),
        ("at", pa.timestamp("us")),
        ("ns", pa.timestamp("ns")),
    ]
)
COLUMNS: dict[str, Any] = {
    "g": jali.Keys(["A", "B", None]),
    "x": jali.Range(-10, 10),
    "f": jali.Range(0, 1),
    "n": jali.Range(0, 100),
    "u": jali.Range(0, 100),
}
Row = tuple[Any, ...]
OTHERS: list[Row] = [
    (1, "A", 1.0, 0.5, 3, 4, "1", True, 0, 0, 0),
    (2, "B", -2.0, 0.25, 5, 6, "two", False, 1, 1, 1),
    (2, "A", 0.0, 0.0, 0, 0, "", None, 2, 2, 2),
]
EXTREME: dict[str, list[Row]] = {
    "NULL": [(9, *[None] * 10)],
    "a NULL unit": [(None, "A", 1.0, 1.0, 1, 1, "1", True, 0, 0, 0)],
    "NaN": [(9, "A", math.nan, math.nan, 1, 1, "nan", True, 0, 0, 0)],
    "inf": [(9, "A", math.inf, math.inf, 1, 1, "inf", True, 0, 0, 0)],
    "-inf": [(9, "A", -math.inf, -math.inf, 1, 1, "-inf", True, 0, 0, 0)],
    "huge": [(9, "A", 1.7e308, 3.4e38, 2**63 - 1, 2**64 - 1, "1e308", True, 2**31 - 1, 2**63 - 1, 2**63 - 1)],
    "negative": [(9, "A", -1.7e308, -3.4e38, -(2**63), 0, "-1e308", True, -(2**31), -(2**63), -(2**63) + 1)],
    "tiny": [(9, "A", 5e-324, 1e-45, 0, 0, "1e-400", False, 0, 0, 0)],
    "zero": [(9, "A", -0.0, -0.0, 0, 0, "0", False, 0, 0, 0)],
    "odd text": [(9, "\x00'\";--\n\\ İß🙂\u2028", 0.0, 0.0, 0, 0, "\x00%_\\'\"" * 50, True, 0, 0, 0)],
    "long text": [(9, "A" * 100_000, 0.0, 0.0, 0, 0, "9" * 100_000, True, 0, 0, 0)],
    "a thousand rows": [(9, "C", 1e300, 1.0, 2**62, 2**63, "x", None, 5, 5, 5)] * 1000,
}
# Questions that would trip an engine somewhere, were they run as they are written.
VALUES = [
    "x",
    "n",
    "f",
    "u",
    "x * x * x",
    "n * n * n * n - n",
    "x / n",
    "n / (n - n)",
    "x / (x - x)",
    "-n",
    "ABS(n)",
    "ABS(x - n)",
    "FLOOR(x) + CEIL(x) + ROUND(x)",
    "ROUND(x, 15)",
    "ROUND(n * 1000000000000)",
    "CAST(s AS DOUBLE)",
    "CAST(s AS INTEGER)",
    "CAST(x AS BIGINT)",
    "CAST(b AS DOUBLE)",
    "COALESCE(x, n, 0)",
    "LEAST(x, n, u)",
    "GREATEST(x, f)",
    "CASE WHEN x > 0 THEN n ELSE x END",
    "CASE WHEN CAST(s AS DOUBLE) > 0 THEN 1e300 * x END",
]
CONDITIONS = [
    "x > 0",
    "x = x",
    "x <> x",
    "n > 9223372036854775806",
    "u > 18446744073709551614",
    "n = 99999999999999999999",
    "x + n * u > f",
    "s LIKE '%1%'",
    "LOWER(s) = UPPER(s)",
    "UPPER(g) = 'A'",
    "CAST(s AS DOUBLE) < 1",
    "CAST(s AS BIGINT) = 1",
    "d < '2026-01-01'",
    "at >= '2026-01-01 00:00:00'",
    "ns >= '2026-01-01 00:00:00'",
    "d BETWEEN '1970-01-01' AND '9999-12-31'",
    "b",
    "NOT b OR b IS NULL",
    "g IN ('A', '')",
    "COALESCE(g, s) = 'A'",
    "uid = 9",
]
FOURS = [VALUES[i : i + 4] for i in range(0, len(VALUES), 4)]


def each(form: str, values: list[str]) -> str:
    return ", ".join(form.format(value) for value in values)


BATTERY = [
    "SELECT g, COUNT(*) FROM t GROUP BY g",
    "SELECT COUNT(d), COUNT(at), COUNT(ns), COUNT(s), COUNT(b), SUM(x), SUM(u), SUM(f), AVG(n) FROM t",
    "SELECT 1 / (COUNT(*) - COUNT(*)), ROUND(AVG(x) * 1e300, 3), LEAST(SUM(n), NULL) FROM t",
    *(f"SELECT g, {each('SUM(LEAST(GREATEST({}, -5), 5))', four)} FROM t GROUP BY g" for four in FOURS),
    *(f"SELECT {each('COUNT({})', four)} FROM t WHERE {four[0]} IS NOT NULL" for four in FOURS),
    *(f"SELECT g, COUNT(*) FROM t WHERE {condition} GROUP BY g" for condition in CONDITIONS),
]


def table_of(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.table(arrays, schema=SCHEMA)


def database(source: Any, unit: str | None) -> jali.Database:
    db = jali.connect()
    db.protect("t", source, unit=unit, max_rows=2 if unit else None, columns=COLUMNS, budget=BUDGET)
    return db


def outcome(db: jali.Database, sql: str) -> dict[str, Any]:
    """Everything that an analyst can see of a question, besides the noisy values."""
    stages: list[str] = []
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer = db.ask(sql, epsilon=1, on_stage=stages.append)
        except Exception as error:
            seen: dict[str, Any] = error_facts(error)
        else:
            keys = [j for j, name in enumerate(answer.columns) if name == "g"]
            seen = {
                "columns": answer.columns,
                "keys": [tuple(row[j] for j in keys) for row in answer.rows],
                "cost": answer.cost,
                "question": answer.release.question,
                "laws": [level.laws for level in answer.release.levels],
            }
    return seen | {"stages": stages, "warned": [str(w.message) for w in warned]}


def error_facts(error: BaseException) -> dict[str, Any]:
    return {
        "type": type(error),
        "text": str(error),
        "repr": repr(error),
        "args": error.args,
        "fields": {name: value for name, value in vars(error).items() if not name.startswith("_")},
        "cause": error.__cause__,
        "context": error.__context__,
        "notes": getattr(error, "__notes__", []),
    }


@pytest.fixture(scope="module", params=[None, "uid"], ids=["rows", "people"])
def plain(request: pytest.FixtureRequest) -> tuple[str | None, list[dict[str, Any]]]:
    """What is seen of the battery on the table without the extreme person."""
    with noise_off(), database(table_of(OTHERS), request.param) as db:
        seen = [outcome(db, sql) for sql in BATTERY]
    return request.param, seen


@thinned(4)
@pytest.mark.parametrize("person", EXTREME)
def test_an_extreme_person_changes_nothing_but_the_noisy_values(
    person: str, plain: tuple[str | None, list[dict[str, Any]]], caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    unit, expected = plain
    with caplog.at_level(logging.DEBUG), noise_off(), database(table_of(OTHERS + EXTREME[person]), unit) as db:
        for sql, before in zip(BATTERY, expected, strict=True):
            assert outcome(db, sql) == before, sql
            assert "columns" in before, sql
            assert before["warned"] == []
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def seen_in_parquet(path: Path, rows: list[Row]) -> list[dict[str, Any]]:
    pq.write_table(table_of(rows), path)
    with noise_off(), database(path, "uid") as db:
        return [outcome(db, sql) for sql in BATTERY[::4]]


@pytest.fixture(scope="module")
def plain_parquet(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The same of a file."""
    return seen_in_parquet(tmp_path_factory.mktemp("plain") / "t.parquet", OTHERS)


@thinned(2)
@pytest.mark.parametrize("person", EXTREME)
def test_an_extreme_person_in_a_parquet_file_changes_nothing_either(
    person: str, plain_parquet: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert seen_in_parquet(tmp_path / "t.parquet", OTHERS + EXTREME[person]) == plain_parquet


CELLS = [
    "",
    "NaN",
    "inf",
    "-1e999",
    "abc",
    "9" * 400,
    '"a,b"',
    '"new\nline"',
    "'",
    "é",
    "0x1F",
    "NULL",
    "2026-13-45",
]


@thinned(2)
@pytest.mark.parametrize("cell", CELLS)
def test_an_extreme_person_in_a_csv_file_changes_nothing_either(cell: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"x": jali.Range(0, 1), "d": "date", "g": jali.Keys(["A"]), "n": "integer"}
    questions = [
        "SELECT g, COUNT(*), SUM(x), COUNT(d) FROM t GROUP BY g",
        "SELECT COUNT(*), COUNT(n) FROM t WHERE d > '2026-01-01' OR n > 1 OR x < 1",
        "SELECT AVG(x) FROM t WHERE g = 'A'",
    ]
    seen = []
    for more in ("", f"p,{cell},{cell},{cell},{cell}\n"):
        path = tmp_path / "t.csv"
        path.write_text(f"uid,g,x,d,n\no,A,0.5,2026-01-02,3\n{more}")
        db = jali.connect()
        db.protect("t", path, unit="uid", max_rows=2, columns=columns, budget=BUDGET)
        with db, noise_off():
            seen.append([outcome(db, sql) for sql in questions])
    assert seen[0] == seen[1]
    assert all("columns" in found for found in seen[0])


def test_the_order_of_the_rows_is_the_order_of_the_declared_keys() -> None:
    rows = [(i, key, 1.0, 0.5, 3, 4, "1", True, 0, 0, 0) for i, key in enumerate(["B", None, "A", "Z", "B"])]
    for shuffled in (rows, rows[::-1], rows[2:] + rows[:2], rows[:1]):
        with noise_off(), database(table_of(shuffled), "uid") as db:
            found = db.ask("SELECT g, COUNT(*) FROM t GROUP BY g", epsilon=1).rows
            assert [key for key, _ in found] == ["A", "B", None]


# An exact total that is easily recognised, and noise that will not hit it (less than once in 10^9 runs each).
TOTAL = 987_654_321
PARTS = [TOTAL - 900_000_000, 500_000_000, 400_000_000]
SECRET = "SECRET-WARD-4711"


def recognisable(directory: Path, unit: str | None) -> jali.Database:
    rows = pa.table({"uid": [11, 12, 13], "n": PARTS, "g": ["A", SECRET, "A"]})
    db = jali.connect(directory / "db.jali")
    columns: dict[str, Any] = {"n": jali.Range(0, 10**9), "g": jali.Keys(["A", "B"])}
    db.protect("t", rows, unit=unit, max_rows=2 if unit else None, columns=columns, budget=BUDGET)
    return db


def traces(total: int) -> list[bytes]:
    """The ways in which an exact integer could be written down."""
    written = [f"{total}", f"{total:,}", f"{total:_}", f"{total:x}", f"{total:.6e}"]
    packed = [struct.pack(form, total) for form in ("<q", ">q", "<d", ">d") if total < 2**63]
    return [text.encode() for text in written] + packed


@pytest.mark.parametrize("unit", [None, "uid"])
def test_exact_values_are_written_nowhere(
    tmp_path: Path, unit: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    shown: list[str] = []
    with caplog.at_level(logging.DEBUG), recognisable(tmp_path, unit) as db:
        for sql in (
            "SELECT SUM(n) FROM t",
            "SELECT g, SUM(n), COUNT(*) FROM t GROUP BY g",
            "SELECT AVG(n), SUM(n) FROM t WHERE n > 0",
        ):
            for loss in ({"epsilon": 1}, {"rho": "1/8"}):
                plan, answer = db.explain(sql, **loss), db.ask(sql, **loss)
                shown += [repr(plan), str(plan), repr(answer), str(answer), str(answer.to_json())]
                shown += [answer._repr_html_(), plan._repr_html_(), repr(answer.rows), repr(answer.release)]
        shown += [repr(db.receipts()), repr(db.ledger.accounts()), repr(db.tables.list()), repr(db.verify())]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    everything = stored + "\n".join([*shown, caplog.text]).encode()
    exact = [TOTAL, TOTAL << 20, PARTS[0] + PARTS[2], (PARTS[0] + PARTS[2]) << 20]
    for total in exact:
        for trace in traces(total):
            assert trace not in everything
    assert SECRET.encode() not in everything
    assert b"SELECT SUM(n) FROM t" in stored  # the ledger is read in the clear: the search would have found them


def test_the_search_for_exact_values_would_find_them(tmp_path: Path) -> None:
    with noise_off(), recognisable(tmp_path, None) as db:
        answer = db.ask("SELECT SUM(n) FROM t", epsilon=1)
        assert str(TOTAL) in repr(answer.rows)
    assert str(TOTAL).encode() in b"".join(path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize("step", [(DuckDBEngine, "_cursor"), (Instances, "lease")])
def test_an_error_of_the_engine_leaves_no_trace_of_what_it_said(
    tmp_path: Path, step: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError(f"Could not convert string '{SECRET}' to INT32 in row {TOTAL}")

    with recognisable(tmp_path, "uid") as db:
        monkeypatch.setattr(*step, fail)
        with pytest.raises(jali.errors.EngineError) as refused:
            db.ask("SELECT SUM(n) FROM t", epsilon=1)
        error: BaseException | None = refused.value
        while error is not None:
            told = repr(error_facts(error))
            assert SECRET not in told
            assert str(TOTAL) not in told
            error = error.__cause__ or error.__context__
        frames, traceback = [], refused.value.__traceback__
        while traceback is not None:
            frames.append(traceback.tb_frame)
            traceback = traceback.tb_next
        inside = [frame for frame in frames if "jali" in frame.f_code.co_filename]
        assert not any(SECRET in repr(value) for frame in inside for value in frame.f_locals.values())
    assert SECRET.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_the_same_refusal_is_given_whatever_the_data_is() -> None:
    """Refusals come before the data: on both tables they are equal in every part."""
    seen = []
    for rows in (OTHERS, OTHERS + EXTREME["huge"]):
        with database(table_of(rows), "uid") as db:
            found: list[tuple[Any, ...]] = []
            for sql in ("SELECT nope FROM t", "SELECT SUM(s) FROM t", "SELECT s, COUNT(*) FROM t GROUP BY s"):
                with pytest.raises(jali.errors.QueryError) as refused:
                    db.ask(sql, epsilon=1)
                found.append((type(refused.value), str(refused.value), refused.value.position))
            with pytest.raises(jali.BudgetExceeded) as over:
                db.ask("SELECT COUNT(*) FROM t", epsilon=10**7)
            found.append((type(over.value), str(over.value), None))
            seen.append(found)
    assert seen[0] == seen[1]
