"""One row, one name or one file cannot change how others are read."""

from __future__ import annotations

import datetime
import os
import traceback
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from tests.depth import thinned
from tests.harness import in_measures, noise_off
from tests.parquet import write_parquet

import jali
from jali.planner.query_sensitivity import l1_sensitivity

BUDGET = jali.Budget(epsilon=10**6, delta=1e-6)


def exact(db: jali.Database, sql: str) -> list[tuple[Any, ...]]:
    with noise_off():
        return db.ask(sql, epsilon=1).rows


def csv_database(path: Path, content: bytes, **options: Any) -> jali.Database:
    path.write_bytes(content)
    db = jali.connect()
    arguments: dict[str, Any] = {"unit": None, "columns": {"v": jali.Range(0, 100)}} | options
    db.protect("t", path, budget=BUDGET, **arguments)
    return db


ROWS = b"".join(b"%d,a,%d\n" % (i, i % 50) for i in range(100))
HOSTILE = [
    b'x,"ab"c,3\n',
    b'x,"unbalanced,3\n',
    b"x,a\rb,3\n",
    b"x,a,3\r\n",
    b"x,\xff\xfe,3\n",
    b"x\x1fy,a,3\n",
    b"x\x00y,a,3\n",
    b"x,a\n",
    b"x,a,3,4,5\n",
    b"\n",
    b'"""",",",3\n',
    b"x," + b"a" * 3_000_000 + b",3\n",
]


@thinned(3)
@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: repr(line[:12]))
@pytest.mark.parametrize("place", ["first", "middle", "last"])
def test_a_malformed_csv_line_costs_no_other_line(tmp_path: Path, line: bytes, place: str) -> None:
    lines = ROWS.splitlines(keepends=True)
    at = {"first": 0, "middle": 50, "last": 100}[place]
    content = b"id,note,v\n" + b"".join(lines[:at]) + line + b"".join(lines[at:])
    with csv_database(tmp_path / "t.csv", content) as db:
        count = exact(db, "SELECT COUNT(*) FROM t WHERE id NOT LIKE 'x%' AND id <> '\"'")[0][0]
        assert count == 100


def test_csv_quotes_commas_and_empty_fields_are_read_as_written(tmp_path: Path) -> None:
    content = b'id,note,v\n1,"a, b",2\n2,"say ""hi""",3\n3,,4\n4,"",5\n5,plain,6\r\n'
    with csv_database(tmp_path / "t.csv", content) as db:
        assert exact(db, "SELECT SUM(v) FROM t WHERE note = 'a, b'") == [(2,)]
        assert exact(db, "SELECT SUM(v) FROM t WHERE note = 'say \"hi\"'") == [(3,)]
        assert exact(db, "SELECT SUM(v) FROM t WHERE note IS NULL") == [(4,)]
        assert exact(db, "SELECT SUM(v) FROM t WHERE note = ''") == [(5,)]
        assert exact(db, "SELECT SUM(v) FROM t WHERE note = 'plain'") == [(6,)]


def test_a_csv_file_with_other_columns_is_not_read(tmp_path: Path) -> None:
    with csv_database(tmp_path / "t.csv", b"id,note,v\n1,a,2\n") as db:
        (tmp_path / "t.csv").write_bytes(b"note,id,v\n1,a,2\n")
        with pytest.raises(jali.errors.EngineError):
            db.ask("SELECT COUNT(*) FROM t", epsilon=1)


def test_a_declared_unit_of_a_csv_file_is_compared_as_declared(tmp_path: Path) -> None:
    rows = b"id,v\n" + b"1,1\n" * 10 + b"01,1\n" * 10 + b"x,1\n" * 10
    columns = {"id": "integer", "v": jali.Range(0, 1)}
    with csv_database(tmp_path / "t.csv", rows, unit="id", max_rows=5, columns=columns) as db:
        assert exact(db, "SELECT COUNT(*) FROM t")[0][0] == pytest.approx(5)
        assert exact(db, "SELECT COUNT(DISTINCT id) FROM t") == [(1,)]


def test_declarations_of_csv_columns_ignore_case(tmp_path: Path) -> None:
    with csv_database(tmp_path / "t.csv", b"Id,V\n1,7\n", columns={"v": jali.Range(0, 100)}) as db:
        assert exact(db, "SELECT SUM(v) FROM t") == [(7,)]


@thinned(3)
@pytest.mark.parametrize(
    "bounds", [(0, 2**31), (0, 4 * 10**9), (-3 * 10**9, 0), (2**40, 2**40 + 5), (-(2**62), 2**62)]
)
@pytest.mark.parametrize("value", [None, 0, 500, 2_500_000_000, 2**63 - 1, -(2**63)])
def test_no_value_makes_a_wide_integer_range_raise(bounds: tuple[int, int], value: int | None) -> None:
    table = pa.table({"id": [1, 2], "x": pa.array([value, 7], pa.int64())})
    with jali.connect() as db:
        db.protect("t", table, unit="id", max_rows=2, columns={"x": jali.Range(*bounds)}, budget=BUDGET)
        plan = db.explain("SELECT AVG(x), SUM(x), COUNT(x) FROM t", epsilon=1)
        with noise_off():
            noisy = db.ask("SELECT AVG(x), SUM(x), COUNT(x) FROM t", epsilon=1).release.noisy
        for measure, values in zip(plan.aggregation.measures, in_measures(plan, noisy), strict=True):
            assert abs(values[0]) <= 2 * l1_sensitivity(plan.aggregation, measure, 1)


def test_text_is_compared_by_its_bytes_whatever_the_collation_of_the_source(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (id VARCHAR COLLATE NOCASE, g VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t SELECT 'p', 'a' FROM range(10)")
        connection.execute("INSERT INTO t SELECT 'P', 'a' FROM range(10)")
    with jali.connect() as db:
        db.protect("t", path, unit="id", max_rows=5, columns={"g": jali.Keys(["a", "A"])}, budget=BUDGET)
        assert exact(db, "SELECT g, COUNT(*) FROM t GROUP BY g") == [("a", 10), ("A", 0)]
        assert exact(db, "SELECT COUNT(*) FROM t WHERE g = 'A'") == [(0,)]
        assert exact(db, "SELECT COUNT(DISTINCT id) FROM t") == [(2,)]


def test_a_path_is_never_read_as_a_pattern(tmp_path: Path) -> None:
    write_parquet("SELECT 1 AS x FROM range(1000)", tmp_path / "g1.parquet")
    write_parquet("SELECT 1 AS x", tmp_path / "g[1].parquet")
    with jali.connect() as db, pytest.raises(jali.errors.CatalogError, match="could match several files"):
        db.protect("g", tmp_path / "g[1].parquet", unit=None, budget=BUDGET)


def test_a_folder_named_like_a_partition_does_not_replace_a_column(tmp_path: Path) -> None:
    folder = tmp_path / "pid=7"
    folder.mkdir()
    write_parquet("SELECT unnest([1, 2, 3]) AS pid", folder / "t.parquet")
    with jali.connect() as db:
        db.protect("t", folder / "t.parquet", unit="pid", max_rows=1, budget=BUDGET)
        assert exact(db, "SELECT COUNT(DISTINCT pid) FROM t") == [(3,)]


def test_the_same_frame_is_not_protected_twice() -> None:
    frame = pa.table({"x": [1]})
    with jali.connect() as db:
        db.protect("a", frame, unit=None, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError, match="already protected as a"):
            db.protect("b", frame, unit=None, budget=BUDGET)


def test_the_same_table_in_other_case_and_views_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS x")
        connection.execute("CREATE VIEW shadow AS SELECT * FROM visits WHERE random() < 0.5")
    with jali.connect() as db:
        db.protect("visits", path, unit=None, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError, match="already"):
            db.protect("other", path, relation="VISITS", unit=None, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError, match="view"):
            db.protect("shadow", path, unit=None, budget=BUDGET)


NAMES = [
    "k0",
    "owner",
    "v0",
    "m0",
    "w",
    "value",
    "place",
    "contributions",
    "weights",
    "totals",
    "one",
    "f",
    "line",
]


@thinned(3)
@pytest.mark.parametrize("name", [*NAMES, 'a"b', "a b", "select", "é", "'"])
@pytest.mark.parametrize("unit", [None, "id"])
def test_a_column_may_have_any_name(tmp_path: Path, name: str, unit: str | None) -> None:
    table = pa.table({"id": [1, 2, 3], "g": [1, 2, 2], name: pa.array([10, 20, 30], pa.int64())})
    shown = '"' + name.replace('"', '""') + '"'
    with jali.connect() as db:
        columns = {"g": jali.Keys([1, 2]), name: jali.Keys([10, 20])}
        db.protect("t", table, unit=unit, max_rows=1 if unit else None, columns=columns, budget=BUDGET)
        assert exact(db, f"SELECT g, SUM({shown}) FROM t WHERE {shown} > 0 GROUP BY g") == [(1, 10), (2, 40)]
        assert exact(db, f"SELECT {shown}, COUNT(*) FROM t GROUP BY {shown}") == [(10, 1), (20, 1)]


def test_a_broken_frame_is_refused_when_it_is_protected_and_when_it_is_attached() -> None:
    text = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\x00\x00\x00\x00\x01\x00\x00\x00"), pa.py_buffer(b"\xff")]
    )
    broken = pa.table({"s": text})
    with jali.connect() as db:
        with pytest.raises(jali.errors.CatalogError, match="valid"):
            db.protect("t", broken, unit=None, budget=BUDGET)
        db.protect("t", pa.table({"s": ["a"]}), unit=None, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError, match="valid"):
            db.tables.attach("t", broken)
        with pytest.raises(jali.errors.CatalogError, match="columns"):
            db.tables.attach("t", pa.table({"s": [1]}))
        with pytest.raises(jali.errors.CatalogError, match="cannot be protected"):
            db.protect("r", pa.table({"x": [1]}).to_reader(), unit=None, budget=BUDGET)


def test_a_parquet_file_with_values_that_cannot_be_read_is_refused_to_its_curator(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    buffers = [None, pa.py_buffer(b"\x00\x00\x00\x00\x01\x00\x00\x00"), pa.py_buffer(b"\xff")]
    pq.write_table(pa.table({"s": pa.Array.from_buffers(pa.string(), 1, buffers)}), tmp_path / "t.parquet")
    with jali.connect() as db:
        with pytest.raises(jali.errors.CatalogError, match="cannot be read"):
            db.protect("t", tmp_path / "t.parquet", unit=None, budget=BUDGET)
        assert db.tables.list() == ()


def test_a_refused_declaration_leaves_the_data_as_it_was() -> None:
    with jali.connect() as db:
        db.protect("t", pa.table({"x": [1] * 1000}), unit=None, budget=BUDGET)
        with pytest.raises(jali.errors.CatalogError):
            db.protect("t", pa.table({"x": [1]}), unit="nope", max_rows=1, budget=BUDGET)
        assert exact(db, "SELECT COUNT(*) FROM t") == [(1000,)]


class Ward(StrEnum):
    A = "A"


def test_keys_are_stored_as_plain_values_or_refused(tmp_path: Path) -> None:
    stamp = pd.Timestamp("2020-01-01")
    assert jali.Keys([Ward.A]).values == ("A",)
    assert type(jali.Keys([Ward.A]).values[0]) is str
    assert jali.Keys([stamp]).values == (datetime.datetime(2020, 1, 1),)  # noqa: DTZ001 - keys have no time zone
    assert type(jali.Keys([stamp]).values[0]) is datetime.datetime
    for bad in ([stamp.tz_localize("UTC")], [1.5], [b"x"], [[1]], ["a", "a"], []):
        with pytest.raises(jali.errors.CatalogError):
            jali.Keys(bad)  # type: ignore[arg-type]


def test_a_replaced_duckdb_file_is_read_after_refresh(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    for rows in (1000, 5):
        fresh = tmp_path / f"fresh-{rows}.duckdb"
        with duckdb.connect(str(fresh)) as connection:
            connection.execute(f"CREATE TABLE t AS SELECT 1 AS x FROM range({rows})")
        if rows == 1000:
            fresh.replace(path)
            db = jali.connect()
            db.protect("t", path, unit=None, budget=BUDGET)
            assert exact(db, "SELECT COUNT(*) FROM t") == [(1000,)]
        else:
            fresh.replace(path)
    db.refresh("t")
    assert exact(db, "SELECT COUNT(*) FROM t") == [(5,)]
    db.close()


@pytest.mark.parametrize("name", ["curator", "", "  ", None, 3])
def test_a_session_needs_the_name_of_an_analyst(name: Any) -> None:
    with jali.connect() as db, pytest.raises(jali.errors.CatalogError):
        db.session(name)


def test_no_frame_of_an_error_holds_exact_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reporter that stores local variables must find nothing: neither exact integers nor an unreleased draw."""
    from jali.ledger import SqliteLedger

    def full(*_: Any) -> str:
        raise jali.errors.LedgerError("ledger-full", ledger="clinic")

    with jali.connect() as db:
        db.protect("t", pa.table({"x": [1] * 1234}), unit=None, budget=BUDGET)
        with monkeypatch.context() as patched, noise_off():
            patched.setattr(SqliteLedger, "release", full)
            with pytest.raises(jali.errors.LedgerError, match="the disk is full") as caught:
                db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
        assert "1234" not in "".join(shown.format())
        assert caught.value.__context__ is None
        receipt = db.receipts()[0].id
        assert receipt in str(caught.value)
        assert abs(db.redeem(receipt).rows[0][0] - 1234) < 1000


def test_spill_directories_are_private_and_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from jali.engines.duckdb.connections import SpillDirectory

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stale = tmp_path / "jali-spill-999999999-x"
    stale.mkdir()
    spill = SpillDirectory()
    assert not stale.exists()
    assert spill.path.stat().st_mode & 0o777 == 0o700
    assert str(os.getpid()) in spill.path.name
    path = spill.path
    del spill
    assert not path.exists()
