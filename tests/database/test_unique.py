"""Units that a key of the source keeps unique: rows are people, and need no weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.harness import in_measures, noise_off
from tests.parquet import write_parquet

import jali
from jali.errors import CatalogError, EngineError

COLUMNS: dict[str, jali.Range | jali.Keys] = {"g": jali.Keys(["A", "B"]), "x": jali.Range(0, 10)}
BUDGET = jali.Budget(epsilon=10**6, delta=1e-6)
KEYED = "CREATE TABLE t (uid BIGINT UNIQUE, g VARCHAR, x DOUBLE)"
ROWS = (
    "INSERT INTO t VALUES (1, 'A', 1), (2, 'B', 20), (3, 'A', NULL), (NULL, 'A', 5), (NULL, 'B', 5), (4, NULL, 2)"
)


def source(directory: Path, *statements: str, name: str = "t.duckdb") -> Path:
    path = directory / name
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def protect(db: jali.Database, path: Path, **options: Any) -> None:
    given: dict[str, Any] = {"unit": "uid", "columns": COLUMNS, "budget": BUDGET, "unique": True} | options
    db.protect("t", path, **given)


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        (
            "SELECT COUNT(*), SUM(x), COUNT(x) FROM t",
            "SELECT count(*), sum(CASE WHEN x > 10 THEN 10 ELSE x END), count(x) FROM o",
        ),
        ("SELECT COUNT(DISTINCT uid) FROM t", "SELECT count(DISTINCT uid) FROM o"),
        ("SELECT COUNT(DISTINCT uid) FROM t WHERE x > 1", "SELECT count(DISTINCT uid) FROM o WHERE x > 1"),
        ("SELECT COUNT(DISTINCT g) FROM t", "SELECT count(DISTINCT g) FROM o"),
        ("SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.uid = b.uid", "SELECT count(*) FROM o"),
    ],
)
def test_exact_answers_are_those_of_plain_sql_over_the_rows_with_an_owner(
    sql: str, plain: str, tmp_path: Path
) -> None:
    path = source(tmp_path, KEYED, ROWS)
    with duckdb.connect(path) as connection:
        wanted = connection.execute(f"WITH o AS (FROM t WHERE uid IS NOT NULL) {plain}").fetchall()
    with jali.connect() as db, noise_off():
        protect(db, path)
        assert [float(value) for value in db.ask(sql, epsilon=1).rows[0]] == [float(v) for v in wanted[0]]


@pytest.mark.parametrize("by", ["g", "x"])
def test_one_person_moves_a_measure_by_one_row(by: str, tmp_path: Path) -> None:
    """Also where groups are chosen: rows without an owner count nowhere."""
    sql = "SELECT g, COUNT(*), SUM(x), COUNT(DISTINCT uid) FROM t GROUP BY g"
    if by == "x":
        sql = "SELECT COUNT(*), SUM(x), MEDIAN(x) FROM t"
    moved = []
    for more in ("", "INSERT INTO t VALUES (9, 'A', 99)"):
        path = source(tmp_path, KEYED, ROWS, *([more] if more else []))
        with jali.connect() as db, noise_off():
            protect(db, path)
            plan = db.explain(sql, epsilon=1)
            assert plan.aggregation.weights is None
            assert "a key of the source enforces" in str(plan)
            moved.append(in_measures(plan, db.ask(sql, epsilon=1).release.noisy))
    for measure, (before, after) in enumerate(zip(*moved, strict=True)):
        if measure < len(plan.aggregation.measures):
            units = 1 / plan.aggregation.unit(plan.aggregation.measures[measure])
            assert sum(abs(x - y) for x, y in zip(before, after, strict=True)) in (0, units, 5 * units, 10 * units)


def test_groups_are_chosen_by_people_with_a_unit(tmp_path: Path) -> None:
    """A hundred rows without an owner do not make a group appear."""
    path = source(tmp_path, KEYED, "INSERT INTO t SELECT NULL, 'Z', 1 FROM range(100)")
    with jali.connect() as db, noise_off():
        protect(db, path, columns={})
        assert db.ask("SELECT g, COUNT(*) FROM t GROUP BY g", epsilon=1, delta=1e-7).rows == []


def test_a_join_that_multiplies_rows_is_weighed(tmp_path: Path) -> None:
    path = source(tmp_path, KEYED, ROWS)
    public = tmp_path / "public.parquet"
    write_parquet("SELECT 'A' AS g, i AS n FROM range(3) AS r(i)", public)
    with jali.connect() as db:
        protect(db, path)
        db.publish("p", public)
        joined = db.explain("SELECT COUNT(*) FROM t JOIN p ON t.g = p.g", epsilon=1)
        assert joined.aggregation.weights is not None
        assert db.explain("SELECT COUNT(*) FROM t", epsilon=1).aggregation.weights is None


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TABLE t (uid BIGINT, g VARCHAR, x DOUBLE)",
        "CREATE TABLE t (uid BIGINT, g VARCHAR, x DOUBLE, UNIQUE (uid, g))",
        "CREATE TABLE t (uid BIGINT, g VARCHAR UNIQUE, x DOUBLE)",
        "CREATE TABLE t (uid TIMESTAMP_NS UNIQUE, g VARCHAR, x DOUBLE)",
    ],
)
def test_a_unit_without_a_key_of_its_own_is_not_unique(made: str, tmp_path: Path) -> None:
    with jali.connect() as db, pytest.raises(CatalogError, match="No constraint keeps uid unique"):
        protect(db, source(tmp_path, made))


def test_only_a_duckdb_table_enforces_a_key(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet("SELECT 1 AS uid, 'A' AS g, 1.0 AS x", path)
    with jali.connect() as db:
        with pytest.raises(CatalogError, match="No constraint"):
            protect(db, path)
        with pytest.raises(CatalogError, match="max_rows must be 1"):
            protect(db, path, max_rows=2)
        with pytest.raises(CatalogError, match="unique must name the unit column of this table"):
            protect(db, path, unit=None)


def test_a_key_that_is_gone_stops_questions_before_they_are_charged(tmp_path: Path) -> None:
    path = source(tmp_path, KEYED, ROWS)
    with jali.connect() as db:
        protect(db, path)
        db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        db.refresh("t")
        source(tmp_path, KEYED.replace(" UNIQUE", ""), ROWS, name="new.duckdb").replace(path)
        with pytest.raises(EngineError, match=r"no longer has a key on uid\. Nothing was spent"):
            db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        assert len(db.receipts()) == 1
        with pytest.raises(CatalogError, match="No constraint"):
            db.refresh("t")
