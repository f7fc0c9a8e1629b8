"""What was checked is what is read: a source that changed refuses all questions before anything is charged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import jali
from jali.engines.duckdb import DuckDBEngine

COUNT = "SELECT COUNT(*) AS n FROM visits"
BUDGET = jali.Budget(epsilon=100)
ROWS: dict[str, list[Any]] = {"uid": [1, 2, 3], "age": [30, 40, 50]}
MORE: dict[str, list[Any]] = {"uid": [1, 2, 3, 4], "age": [30, 40, 50, 60]}


def write(place: Path, rows: dict[str, list[Any]]) -> None:
    frame = pa.table(rows)
    if place.suffix == ".parquet":
        pq.write_table(frame, place)
    elif place.suffix == ".csv":
        lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
        place.write_text("\n".join(lines) + "\n")
    elif place.suffix == ".jsonl":
        place.write_text("".join(f'{{"uid": {u}, "age": {a}}}\n' for u, a in zip(*rows.values(), strict=True)))
    else:
        # Beside it: a file that is attached here cannot be written here.
        fresh = place.with_name("fresh.duckdb")
        with duckdb.connect(fresh) as connection:
            connection.register("given", frame)
            connection.execute("CREATE TABLE visits AS FROM given")
        fresh.replace(place)


def protect(db: jali.Database, source: Any, name: str = "visits", **terms: Any) -> None:
    columns: Any = {"age": jali.Range(0, 120)}
    if isinstance(source, Path) and source.suffix in (".csv", ".jsonl"):
        columns["uid"] = "integer"
    db.protect(name, source, unit="uid", max_rows=1, columns=columns, budget=BUDGET, **terms)


@pytest.fixture(params=["parquet", "csv", "jsonl", "duckdb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    found = tmp_path / f"visits.{request.param}"
    write(found, ROWS)
    return found


def refused(db: jali.Database, sql: str = COUNT) -> jali.errors.EngineError:
    before = db.ledger.accounts(), db.receipts()
    with pytest.raises(jali.errors.EngineError) as problem:
        db.ask(sql, epsilon=1)
    assert (db.ledger.accounts(), db.receipts()) == before
    return problem.value


def test_a_changed_file_is_read_only_after_a_refresh(place: Path, tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, place)
        first = db.ask(COUNT, epsilon=1)
        write(place, MORE)
        assert refused(db, "SELECT AVG(age) FROM visits").code == "source-changed"
        # What was released before needs no data.
        assert db.ask(COUNT, epsilon=1).rows == first.rows
        with db.batch(epsilon=1) as batch:
            batch.ask(COUNT)
            with pytest.raises(jali.errors.EngineError):
                batch.run()
            db.refresh("visits")
        assert not db.ask(COUNT, epsilon=1).cached


def test_a_file_that_only_moved_in_time_is_another(place: Path, tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, place)
        os.utime(place, ns=(1, 1))
        assert "must refresh it" in str(refused(db))


def test_so_it_is_for_another_process_that_opens_the_database(place: Path, tmp_path: Path) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, place)
    write(place, MORE)
    with jali.connect(tmp_path / "clinic.jali") as db:
        refused(db)
        db.tables.check("visits")
        db.ask(COUNT, epsilon=1)


def test_what_changes_while_it_is_read_is_not_released(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, place)
        run = DuckDBEngine.run

        def changing(engine: DuckDBEngine, *arguments: Any) -> Any:
            found = run(engine, *arguments)
            write(place, MORE)
            return found

        monkeypatch.setattr(DuckDBEngine, "run", changing)
        with pytest.raises(jali.errors.EngineError) as problem:
            db.ask(COUNT, epsilon=1)
        monkeypatch.setattr(DuckDBEngine, "run", run)
        assert problem.value.code == "source-changed-while-read"
        (receipt,) = db.receipts()
        assert receipt.state == "open"
        assert not db.tables.state("visits").closed
        db.refresh("visits")
        assert db.redeem(receipt.id).receipt == receipt.id


def test_a_refused_refresh_leaves_the_table_closed(tmp_path: Path) -> None:
    place = tmp_path / "visits.parquet"
    write(place, ROWS)
    with jali.connect(tmp_path / "clinic.jali") as db:
        protect(db, place)
        whole = place.read_bytes()
        place.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(jali.errors.CatalogError):
            db.refresh("visits")
        assert refused(db).code == "table-closed"
        # Also when the old file is back: the curator has to look.
        place.write_bytes(whole)
        assert refused(db).code == "table-closed"
        db.refresh("visits")
        db.ask(COUNT, epsilon=1)


def test_a_reached_key_that_repeats_closes_the_table(tmp_path: Path) -> None:
    place = tmp_path / "visits.parquet"
    write(place, ROWS)
    with jali.connect() as db:
        protect(db, place)
        items = pa.table({"visit": [30, 40], "dose": [1, 2]})
        via = jali.Via("visits", on="visit = age", unit="uid")
        db.protect("items", items, unit=via, max_rows=3, budget=BUDGET)
        db.ask("SELECT COUNT(*) FROM items", epsilon=1)
        write(place, {"uid": [1, 2], "age": [30, 30]})
        with pytest.raises(jali.errors.CatalogError):
            db.refresh("visits")
        assert refused(db, "SELECT COUNT(*) FROM items").code == "table-closed"


@pytest.mark.parametrize("how", ["attach", "protect", "prepare", "refresh"])
def test_every_way_to_new_data_looks_at_the_reached_key(how: str, tmp_path: Path) -> None:
    place = tmp_path / "visits.parquet"
    twice = {"uid": [1, 2], "age": [30, 30]}
    write(place, ROWS)
    with jali.connect(tmp_path / "clinic.jali") as db:
        source = pa.table(ROWS) if how == "attach" else place
        db.protect("visits", source, unit="uid", max_rows=2, budget=BUDGET)
        items = pa.table({"visit": [30, 40], "dose": [1, 2]})
        db.protect(
            "items", items, unit=jali.Via("visits", on="visit = age", unit="uid"), max_rows=3, budget=BUDGET
        )
        if how == "refresh":
            db.prepare("visits")
        write(place, twice)
        ways: dict[str, Callable[[], object]] = {
            "attach": lambda: db.tables.attach("visits", pa.table(twice)),
            "protect": lambda: db.protect("visits", place, unit="uid", max_rows=2, budget=BUDGET),
            "prepare": lambda: db.prepare("visits"),
            "refresh": lambda: db.refresh("visits"),
        }
        with pytest.raises(jali.errors.CatalogError, match="not unique"):
            ways[how]()
        refused(db, "SELECT COUNT(*) FROM items")


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_is_read_as_it_was_when_it_was_protected(kind: str) -> None:
    frame = FRAMES[kind](ROWS)
    with jali.connect() as db:
        protect(db, frame)
        if kind == "pandas":
            frame.loc[:, "age"] = 10**6
        elif kind == "polars":
            frame[0, "age"] = 10**6
        found = db._engine.run('SELECT SUM("age") FROM "frame visits"', (db.tables.list()[0],))
        assert found == [(120,)]


@pytest.mark.parametrize("kind", FRAMES)
def test_a_protected_frame_has_no_second_budget(kind: str) -> None:
    frame = FRAMES[kind](ROWS)
    with jali.connect() as db:
        protect(db, frame)
        for given in (frame, FRAMES[kind](ROWS), pa.table(ROWS)):
            with pytest.raises(jali.errors.CatalogError):
                protect(db, given, "again")
            with pytest.raises(jali.errors.CatalogError):
                db.publish("known", given)
        protect(db, FRAMES[kind](MORE), "others")
        with pytest.raises(jali.errors.CatalogError):
            db.tables.attach("others", frame)
        found = db._engine.run('SELECT COUNT(*) FROM "frame others"', (db.tables.list()[1],))
        assert found == [(4,)]
