"""Prepared copies in Spark: rows lie by person, so that nothing is moved; and they are read like the source."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.depth import DEPTH, deep
from tests.engines import movement
from tests.engines.copied import (
    OTHERWISE,
    SUMS,
    Row,
    check_fair,
    check_otherwise,
    check_ranked,
    check_rows,
    check_whose,
    declared,
    house,
    prepared,
    protect_house,
    table_of,
    with_copies,
)
from tests.engines.tables import moved
from tests.harness import noise_off
from tests.servers.spark import hasten, written

import jali
from jali.catalog.copy_names import SCHEMA
from jali.catalog.tables import Source
from jali.engines.copy_storage import PreparedCopies
from jali.engines.spark import SparkEngine
from jali.engines.spark.sources import scan
from jali.errors import CatalogError, EngineError
from jali.planner import make_plan
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql

FILTERED = "SELECT g, COUNT(*), SUM(x) FROM t WHERE x > -3 GROUP BY g"


@pytest.fixture
def engine(spark: Any, tmp_path: Path) -> Iterator[SparkEngine]:
    made = SparkEngine(PreparedCopies(lambda: b"tests", tmp_path / "copies"))
    made.use(spark)
    hasten(made._session("session"))
    yield made
    made.close()


@pytest.fixture
def clinic(spark: Any, tmp_path: Path) -> Iterator[jali.Database]:
    """The tables as Parquet files that Spark reads, in a database of its own."""
    written(tmp_path, house())
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect_house(db, spark, lambda name: f"parquet:{tmp_path / name}.parquet")
        hasten(session_of(db))
        yield db


def session_of(db: jali.Database) -> Any:
    return db._engine._others["spark"]._session("session")  # type: ignore[attr-defined]


def folders(path: Path) -> list[str]:
    return sorted(found.name for found in path.iterdir()) if path.exists() else []


def test_ranks_are_those_of_a_persons_own_rows(engine: SparkEngine, tmp_path: Path) -> None:
    def copied(rows: Sequence[Row], seed: int) -> list[tuple[Any, ...]]:
        path = tmp_path / "t.parquet"
        pq.write_table(table_of(rows), path)
        source = Source("spark", "session", f"parquet:{path}")
        engine.reopen(source)
        place = prepared(engine, declared(engine, source), seed)
        folder = Path(place.relation.removeprefix("kept:"))
        found = []
        for file in folder.glob("*.parquet"):
            mine = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
            # Each file is in the order of its people: Spark does not look whether it is.
            assert [row[0] for row in mine] == sorted(row[0] for row in mine)
            found += mine
        assert len(list(folder.glob("*_00000.*.parquet"))) <= 1
        return found

    for seed in range(DEPTH):
        check_rows(copied, seed)
        check_whose(copied, seed)
    check_fair(copied)


def test_questions_on_a_copy_are_bounded_by_rank_or_find_what_the_source_has(
    clinic: jali.Database, tmp_path: Path
) -> None:
    check_otherwise(clinic, OTHERWISE if DEPTH > 1 else OTHERWISE[:1])
    copy = clinic.tables.find("t").copy
    assert copy is not None
    session, folder = session_of(clinic), copy.relation.removeprefix("kept:")
    first = f"SELECT g, x FROM parquet.`{folder}` WHERE place <= 3 AND g IN ('A', 'B')"

    def counted() -> list[tuple[Any, ...]]:
        query = f"SELECT g, count(*), count(nullif(x, double('NaN'))) FROM ({first}) GROUP BY g ORDER BY g"
        return [tuple(row) for row in session.sql(query).collect()]

    check_ranked(clinic, counted)
    clinic.tables.drop_prepared("t")
    assert folders(tmp_path / "clinic.jali.prepared") == []
    with noise_off():
        assert clinic.ask("SELECT COUNT(*) FROM t WHERE x > 0", epsilon=2).rows


@deep
def test_nobody_moves_a_question_on_copies_further_than_declared(engine: SparkEngine, tmp_path: Path) -> None:
    rows = movement.worlds(1)
    with jali.connect() as db:
        for name in movement.TABLES:
            budget = jali.Budget(10**6)
            db.protect(name, rows[name], unit="owner", max_rows=3, budget=budget, columns=movement.COLUMNS)
        catalog = with_copies(moved(db.tables.catalog, engine, written(tmp_path, rows)), engine, 5)
    ranked = 0
    for question in movement.QUESTIONS if DEPTH > 1 else movement.QUESTIONS[:2]:
        before, after = (
            make_plan(read_sql(question.format(name)), catalog, read_terms(epsilon=1)) for name in movement.TABLES
        )
        weights = before.aggregation.weights
        ranked += weights is not None and weights.by_rank
        found = movement.check_question(before, after, engine)
        # A bound that nobody comes near would let every query pass.
        assert any(one.furthest >= one.declared / 3 for one in found)
    assert ranked


def test_rows_of_a_copy_are_neither_moved_nor_sorted(clinic: jali.Database) -> None:
    """What is exchanged is a row for each group: counting people, and weighing rows, goes by buckets."""
    clinic.prepare("t")
    session = session_of(clinic)
    # Of a large table, counts are not sent to everybody.
    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    clinic._engine.ready(clinic.tables.find("t"))
    query = clinic.explain(FILTERED, epsilon=1).sql
    written_plan = session._jsparkSession.sql(query).queryExecution().executedPlan().toString()
    assert "SortMergeJoin" in written_plan
    assert "Window" not in written_plan
    moved_by = [line for line in written_plan.splitlines() if "Exchange" in line]
    assert len([line for line in moved_by if "hashpartitioning(k0" in line]) == 1
    assert not [line for line in moved_by if "owner" in line or "uid" in line]
    assert not [line for line in written_plan.splitlines() if "Sort [owner" in line or "Sort [uid" in line]


def test_a_copy_is_for_its_owner_only_and_found_again_by_other_processes(
    spark: Any, clinic: jali.Database, tmp_path: Path
) -> None:
    copy = clinic.prepare("t").copy
    assert copy is not None
    directory = tmp_path / "clinic.jali.prepared"
    (name,) = folders(directory)
    assert copy.relation == f"kept:{directory / name}"
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    with noise_off():
        found = clinic.ask("SELECT COUNT(*) FROM t", epsilon=1).rows
        # As if Spark had been started anew: its catalog has forgotten everything.
        spark.sql(f"DROP SCHEMA spark_catalog.{SCHEMA} CASCADE")
        assert clinic.ask("SELECT COUNT(*) FROM t", epsilon=2).rows == found
        with jali.connect(tmp_path / "clinic.jali") as other:
            other.tables.attach("t", spark)
            assert other.ask("SELECT COUNT(*) FROM t", epsilon=3).rows == found
            rows = house()["t"].to_pylist()
            more = rows + [{**rows[0], "uid": f"new{i}"} for i in range(5)]
            pq.write_table(house()["t"].from_pylist(more, schema=house()["t"].schema), tmp_path / "t.parquet")
            clinic.refresh("t")
            assert other.ask("SELECT COUNT(*) FROM t", epsilon=4).rows[0][0] == found[0][0] + 5
    assert folders(directory) == [name]


def test_what_is_cut_off_leaves_the_earlier_copy_and_is_swept_away(clinic: jali.Database, tmp_path: Path) -> None:
    directory = tmp_path / "clinic.jali.prepared"
    copy = clinic.prepare("t").copy
    left = directory / f"{folders(directory)[0]}.999999999.part"
    left.mkdir()
    with noise_off():
        found = clinic.ask("SELECT COUNT(*) FROM t", epsilon=1).rows
        with pytest.raises(CatalogError, match="could not be written") as refused:
            clinic._engine.prepare(clinic.tables.find("t"), lambda _: None, _fails)
        assert refused.value.__context__ is None
        assert clinic.tables.find("t").copy == copy
        assert clinic.ask("SELECT COUNT(*) FROM t", epsilon=2).rows == found
    assert len(folders(directory)) == 1


def _fails(copy: Source | None) -> None:
    raise OSError(copy)


@deep
def test_a_missing_copy_is_an_error_that_says_the_remedy_and_spends_nothing(
    clinic: jali.Database, tmp_path: Path
) -> None:
    clinic.prepare("t")
    directory = tmp_path / "clinic.jali.prepared"
    (directory / folders(directory)[0]).rename(tmp_path / "elsewhere")
    with pytest.raises(EngineError, match=r"copy of table t is missing.*db\.prepare"):
        clinic.ask(SUMS, epsilon=1)
    assert clinic.receipts() == ()
    clinic.prepare("t")
    assert clinic.ask(SUMS, epsilon=1).rows


def test_a_copy_is_no_source_and_a_database_in_memory_keeps_none(
    spark: Any, clinic: jali.Database, tmp_path: Path
) -> None:
    clinic.prepare("t")
    place = f"spark_catalog.{SCHEMA}.{folders(tmp_path / 'clinic.jali.prepared')[0]}"
    clinic._engine.ready(clinic.tables.find("t"))
    with pytest.raises(CatalogError, match="copies of protected tables"):
        clinic.protect("u", spark, relation=place, unit=None, budget=jali.Budget(1))
    with jali.connect() as db:
        protect_house(db, spark, lambda name: f"parquet:{tmp_path / name}.parquet")
        with pytest.raises(CatalogError, match="in-memory database"):
            db.prepare("t")


def test_files_of_a_copy_are_no_source_either(spark: Any, clinic: jali.Database) -> None:
    copy = clinic.prepare("t").copy
    assert copy is not None
    folder = Path(copy.relation.removeprefix("kept:"))
    with pytest.raises(CatalogError, match="copies of protected tables"):
        clinic.protect("u", spark, relation=f"parquet:{folder}", unit=None, budget=jali.Budget(1))
    with pytest.raises(CatalogError, match="copies of protected tables"):
        clinic.publish("u", spark, relation=f"parquet:file:{folder}")
    with pytest.raises(CatalogError, match="copies of protected tables"):
        clinic.protect("u", next(folder.glob("*.parquet")), unit=None, budget=jali.Budget(1))


def test_texts_that_are_no_unicode_have_contents_of_their_own(engine: SparkEngine, tmp_path: Path) -> None:
    """A byte that begins a long character seems to take in those after it, and lengths in characters lie."""
    rows = [(b"\xf0", b"x2:qr"), (b"\xf05:x", b"qr")]

    def ranks(order: Sequence[tuple[bytes, bytes]]) -> set[tuple[Any, ...]]:
        path = tmp_path / "t.parquet"
        columns = {"uid": ["p"] * len(order)} | {name: [row[i] for row in order] for i, name in enumerate("ab")}
        pq.write_table(pa.table(columns).cast(_TEXTS, safe=False), path)
        source = Source("spark", "session", f"parquet:{path}")
        engine.reopen(source)
        copy = prepared(engine, declared(engine, source), 1)
        shown = f"SELECT hex(a), hex(b), place FROM parquet.`{copy.relation.removeprefix('kept:')}`"
        return {tuple(row) for row in engine._session("session").sql(shown).collect()}

    found = ranks(rows)
    assert len(found) == 2
    assert ranks(rows[::-1]) == found


_TEXTS = pa.schema({"uid": pa.string(), "a": pa.string(), "b": pa.string()})


def test_databases_with_one_word_have_copies_of_their_own(
    spark: Any, clinic: jali.Database, tmp_path: Path
) -> None:
    """They have one word for them, and in one process one catalog of Spark."""
    clinic.prepare("t")
    with (
        closing(sqlite3.connect(tmp_path / "clinic.jali")) as one,
        closing(sqlite3.connect(tmp_path / "backup.jali")) as other,
    ):
        one.backup(other)
    (tmp_path / "backup.jali").chmod(0o600)
    shutil.copy(tmp_path / "clinic.jali.anchor", tmp_path / "backup.jali.anchor")
    rows = house()["t"]
    with noise_off(), jali.connect(tmp_path / "backup.jali") as backup:
        before = clinic.ask("SELECT COUNT(*) FROM t", epsilon=1).rows
        pq.write_table(rows.slice(0, 10), tmp_path / "t.parquet")
        backup.tables.attach("t", spark)
        backup.refresh("t")
        fewer = backup.ask("SELECT COUNT(*) FROM t", epsilon=2).rows
        assert fewer < before
        assert clinic.ask("SELECT COUNT(*) FROM t", epsilon=3).rows == before


def test_a_copy_that_another_process_wrote_with_more_columns_is_read(
    clinic: jali.Database, tmp_path: Path
) -> None:
    clinic.prepare("t")
    clinic._engine.ready(clinic.tables.find("t"))
    session, table = session_of(clinic), clinic.tables.find("t")
    assert table.copy is not None
    known = scan(table.copy)
    # What a catalog knows of a copy that had a column less.
    session.sql(f"DROP TABLE {known}")
    place = table.copy.relation.removeprefix("kept:")
    session.sql(f"CREATE TABLE {known} (uid STRING, g STRING) USING parquet LOCATION '{place}'")
    assert clinic.ask(SUMS, epsilon=1).rows


def test_a_copy_of_another_size_takes_the_place_of_the_last(clinic: jali.Database, tmp_path: Path) -> None:
    directory = tmp_path / "clinic.jali.prepared"
    clinic.prepare("t")
    (first,) = folders(directory)
    table = clinic.tables.find("t")
    clinic._tables.store(replace(table, rows=100_000_000))
    clinic.prepare("t")
    (second,) = folders(directory)
    assert (first, second) == (f"{first.rpartition('_')[0]}_1", f"{first.rpartition('_')[0]}_20")
    (directory / f"{first}.999999999.part").mkdir()
    clinic.tables.drop_prepared("t")
    assert folders(directory) == []


@deep
def test_a_table_of_many_columns_is_prepared(engine: SparkEngine, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"uid": ["p", "q"]} | {f"column{i}": [i, None] for i in range(600)}
    pq.write_table(pa.table(columns), tmp_path / "wide.parquet")
    assert prepared(
        engine, declared(engine, Source("spark", "session", f"parquet:{tmp_path / 'wide.parquet'}")), 1
    )


@deep
def test_where_the_catalog_lasts_a_copy_is_one_of_its_tables(tmp_path: Path) -> None:
    """In a process of its own: whether a catalog lasts is settled when Spark starts."""
    written(tmp_path, house())
    for turn in ("first", "second"):
        command = [sys.executable, "-W", "ignore", "-m", "tests.engines.hive_copies", str(tmp_path), turn]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=os.environ)
        assert done.returncode == 0, done.stderr[-3000:]
