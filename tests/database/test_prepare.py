"""Questions on prepared copies: the same answers, the same bound, and nothing that depends on the data."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pytest
from tests.depth import thinned
from tests.frames import tagged
from tests.harness import in_measures, noise_off
from tests.parquet import write_parquet
from tests.seeded import SeededBits

import jali
from jali.catalog.tables import Table
from jali.engines.duckdb import prepared
from jali.errors import CatalogError, EngineError
from jali.ir.ownership import changes
from jali.planner import PLANS, Plan
from jali.planner.query_sensitivity import l1_sensitivity

COLUMNS: dict[str, jali.Range | jali.Keys] = {"g": jali.Keys(["A", "B"]), "x": jali.Range(-10, 10)}
BUDGET = jali.Budget(epsilon=10**6, delta=1e-6)
SUMS = "SELECT g, COUNT(*), SUM(x), COUNT(x) FROM t GROUP BY g"
CELLS = "SELECT g, HISTOGRAM(x, [-5, 0, 5]) FROM t GROUP BY g"
# Questions whose bound is not a rank: the copy has nothing to do with what they find.
OTHERWISE = (
    "SELECT g, COUNT(*), SUM(x) FROM t WHERE x > -3 GROUP BY g",
    "SELECT COUNT(DISTINCT uid) FROM t",
    "SELECT g, COUNT(DISTINCT uid) FROM t GROUP BY g",
    "SELECT COUNT(DISTINCT word) FROM t",
    "SELECT word, COUNT(*) FROM t GROUP BY word",
    "SELECT g, COUNT(*) FROM t GROUP BY ROLLUP (g)",
    "SELECT COUNT(*) FROM (SELECT uid, MAX(x) AS most FROM t GROUP BY uid) AS each WHERE most > 0",
    "SELECT COUNT(*) FROM t JOIN other ON t.uid = other.uid",
)
PEOPLE = "SELECT 'p' || i AS uid, 'A' AS g, 1.0::DOUBLE AS x, 'w' AS word FROM range({}) AS n(i)"
Row = tuple[str | None, str | None, float | None, str]


def frame_of(rows: Sequence[Row]) -> pa.Table:
    kinds = pa.string(), pa.string(), pa.float64(), pa.string()
    columns = zip(*rows, strict=True)
    return pa.table(
        {n: pa.array(list(c), k) for n, c, k in zip(("uid", "g", "x", "word"), columns, kinds, strict=True)}
    )


def some_rows(seed: int, people: int = 8, rows: int = 80) -> list[Row]:
    draw = random.Random(seed)
    units = [None, *(f"p{i}" for i in range(people))]
    values = (0.0, -0.0, math.nan, None, 12.5, -7.25, 3.0)
    words = [f"w{i}" for i in range(5)]
    return [
        (draw.choice(units), draw.choice(("A", "B", "C", None)), draw.choice(values), draw.choice(words))
        for _ in range(rows)
    ]


@contextmanager
def database(rows: Sequence[Row], max_rows: int = 3, **options: Any) -> Iterator[jali.Database]:
    other = pa.table({"uid": ["p0", "p1", "p1"], "y": [1.0, 2.0, 3.0]})
    with jali.connect() as db:
        db.protect("t", frame_of(rows), unit="uid", max_rows=max_rows, columns=COLUMNS, budget=BUDGET, **options)
        db.protect("other", other, unit="uid", max_rows=2, budget=BUDGET)
        yield db


def exact(db: jali.Database, sql: str, **terms: Any) -> tuple[Plan, list[Any]]:
    """The exact integers, in units of the measures."""
    with noise_off():
        plan = db.explain(sql, epsilon=1, **terms)
        return plan, in_measures(plan, db.ask(sql, epsilon=1, **terms).release.noisy)


@thinned(4)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("seed", range(4))
def test_one_person_moves_ranked_sums_by_no_more_than_declared(seed: int, adjacency: str) -> None:
    rows = some_rows(seed)
    mine = [row for row in some_rows(seed + 50, people=1, rows=9) if row[0] is not None]
    others = [row for row in rows if row[0] != "p0"]
    theirs = [("p9", "B", 12.5, "w0")] * 5 if adjacency == "replace-one" else []
    found = []
    for table in (others + mine, theirs + others[::-1]):
        bits = patch.object(prepared, "system_bits", lambda: SeededBits(seed))
        with bits, database(table, adjacency=adjacency) as db:
            db.prepare("t")
            found.append(exact(db, SUMS))
    (plan, before), (_, after) = found
    assert plan.aggregation.weights is not None
    assert plan.aggregation.weights.by_rank
    for i, measure in enumerate(plan.aggregation.measures):
        moved = sum(abs(x - y) for x, y in zip(before[i], after[i], strict=True))
        assert moved <= l1_sensitivity(plan.aggregation, measure, changes(plan.source, plan.table))


def test_the_bound_of_ranks_is_met() -> None:
    """A person with many rows adds as many as are declared, no fewer."""
    rows: list[Row] = [("p1", "A", 1.0, "w")]
    found = []
    for table in (rows, rows + [("p0", "A", 12.5, "w")] * 20):
        with database(table) as db:
            db.prepare("t")
            found.append(exact(db, "SELECT COUNT(*), SUM(x) FROM t")[1])
    unit = found[0][1][0]
    assert [found[1][0][0] - found[0][0][0], found[1][1][0] - found[0][1][0]] == [3, 30 * unit]


@pytest.mark.parametrize("sql", [SUMS, CELLS])
def test_without_anybody_above_the_bound_answers_are_those_of_plain_sql(sql: str) -> None:
    rows = [row for row in some_rows(5) if row[0] is not None]
    with database(rows, max_rows=100) as db, noise_off():
        plain = db.ask(sql, epsilon=1).rows
        db.prepare("t")
        plan = db.explain(sql, epsilon=1)
        assert plan.aggregation.weights is not None
        assert plan.aggregation.weights.by == "rank"
        assert [tuple(map(str, row)) for row in db.ask(sql, epsilon=1).rows] == [tuple(map(str, r)) for r in plain]
    counted = _holding(rows).execute("SELECT count(*) FROM rows").fetchall()
    with database(rows, max_rows=100) as db, noise_off():
        db.prepare("t")
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows[0][0] == counted[0][0]


def _holding(rows: Sequence[Row]) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("rows", frame_of(rows))
    return connection


@thinned(4)
@pytest.mark.parametrize("sql", OTHERWISE)
def test_questions_that_are_weighed_find_on_the_copy_what_they_find_in_the_source(sql: str) -> None:
    with database(some_rows(7)) as db:
        terms: dict[str, Any] = {"delta": 1e-7} if sql.startswith("SELECT word") else {}
        plan, before = exact(db, sql, **terms)
        db.prepare("t")
        weights = db.explain(sql, epsilon=1, **terms).aggregation.weights
        assert weights == plan.aggregation.weights
        assert exact(db, sql, **terms)[1] == before


def test_codes_are_never_hashed() -> None:
    """A code depends on who else is there: where owners are hashed, their unit is."""
    with database(some_rows(7)) as db:
        db.prepare("t")
        for sql, coded in (
            ("SELECT COUNT(*) FROM t WHERE x > 0", True),
            ("SELECT COUNT(DISTINCT word) FROM t", False),
        ):
            assert ('"person" AS owner' in db.explain(sql, epsilon=1).sql) is coded
        assert '"person"' not in db.explain("SELECT COUNT(*) FROM t GROUP BY word", epsilon=1, delta=1e-7).sql


def test_explain_names_the_bound_and_the_two_never_share_an_answer() -> None:
    with database(some_rows(2)) as db:
        weighed = db.explain(SUMS, epsilon=1)
        first = db.ask(SUMS, epsilon=1).receipt
        db.prepare("t")
        ranked = db.explain(SUMS, epsilon=1)
        second = db.ask(SUMS, epsilon=1)
        assert "in the prepared copy count 1 each" in str(ranked)
        assert "in the prepared copy count 1 each" not in str(weighed)
        assert "docs/proofs/prepared.md" in str(ranked)
        assert not second.cached
        assert second.receipt != first
        assert db.ask(SUMS, epsilon=1).cached
        db.tables.drop_prepared("t")
        assert db.explain(SUMS, epsilon=1) == weighed


def test_what_is_said_of_a_copy_does_not_depend_on_the_rows(tmp_path: Path) -> None:
    told = []
    for rows in (some_rows(1), some_rows(2, people=500, rows=4000)):
        with jali.connect(tmp_path / "t.jali") as db:
            db.protect("t", frame_of(rows), unit="uid", max_rows=3, columns=COLUMNS, budget=BUDGET)
            stages: list[str] = []
            table = db.prepare("t", on_stage=stages.append)
            told.append((stages, table, repr(table), str(db.explain(SUMS, epsilon=1))))
    assert told[0] == told[1]


def test_a_refresh_renews_the_copy_and_other_sessions_see_it(tmp_path: Path) -> None:
    source, path = tmp_path / "t.parquet", tmp_path / "t.jali"
    write_parquet(PEOPLE.format(10), source)
    with jali.connect(path) as db, jali.connect(path) as other, noise_off():
        db.protect("t", source, unit="uid", max_rows=3, columns=COLUMNS, budget=BUDGET)
        db.prepare("t")
        assert other.ask("SELECT COUNT(*) FROM t", epsilon=1).rows[0][0] == 10
        write_parquet(PEOPLE.format(25), source)
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=2).rows[0][0] == 10
        db.refresh("t")
        assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows[0][0] == 25
        assert other.ask("SELECT COUNT(*) FROM t", epsilon=3).rows[0][0] == 25


def test_a_missing_copy_is_an_error_that_says_the_remedy_and_spends_nothing(tmp_path: Path) -> None:
    with jali.connect(tmp_path / "t.jali") as db:
        db.protect("t", frame_of(some_rows(1)), unit="uid", max_rows=3, columns=COLUMNS, budget=BUDGET)
        copy = db.prepare("t").copy
        assert copy is not None
        Path(copy.location).unlink()
        with pytest.raises(EngineError, match=r"copy of table t is missing.*db\.prepare"):
            db.ask(SUMS, epsilon=1)
        assert db.receipts() == ()
        db.prepare("t")
        assert db.ask(SUMS, epsilon=1).rows


def test_a_copy_outlives_the_frame_and_other_ranges_but_not_other_kinds(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("uid,g,x,word\np1,A,1.5,7\np1,B,2,8\np2,A,x,9\n")
    with jali.connect(tmp_path / "t.jali") as db, noise_off():
        db.protect("t", source, unit="uid", max_rows=3, columns=COLUMNS, budget=BUDGET)
        copy = db.prepare("t").copy
        again = COLUMNS | {"x": jali.Range(0, 1)}
        assert db.protect("t", source, unit="uid", max_rows=2, columns=again, budget=BUDGET).copy == copy
        assert db.ask("SELECT SUM(x) FROM t", epsilon=1).rows[0][0] == 2
        other: dict[str, Any] = {**again, "word": "integer"}
        assert db.protect("t", source, unit="uid", max_rows=2, columns=other, budget=BUDGET).copy is None
        assert copy is not None
        assert not Path(copy.location).exists()
        assert db.ask("SELECT SUM(x) FROM t", epsilon=1).rows[0][0] == 2


def test_copies_of_a_database_in_memory_go_with_it() -> None:
    with database(some_rows(1)) as db:
        copy = db.prepare("t").copy
        assert copy is not None
        directory = Path(copy.location).parent
        assert directory.stat().st_mode & 0o777 == 0o700
    assert not directory.exists()


def test_a_rehearsal_never_reads_a_copy_nor_writes_one() -> None:
    with database(some_rows(1)) as db:
        copy = db.prepare("t").copy
        assert copy is not None
        with db.rehearse(rows=50) as stage:
            assert all(table.copy is None for table in stage.tables.list())
            assert copy.location not in stage.explain(SUMS, epsilon=1).sql
            with pytest.raises(CatalogError, match="Synthetic rows need no prepared copy"):
                stage.prepare("t")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"unit": None}, "each row is a person"),
        ({"unit": jali.Via("t", on="word = word", unit="uid"), "max_rows": 2}, "needs it in the table itself"),
    ],
)
def test_what_cannot_be_prepared_is_refused(options: dict[str, Any], text: str) -> None:
    unique: list[Row] = [(f"p{i}", "A", 1.0, f"w{i}") for i in range(3)]
    with database(unique) as db:
        db.protect("u", tagged(frame_of(unique), "u"), budget=BUDGET, **options)
        with pytest.raises(CatalogError, match=text):
            db.prepare("u")


def test_a_declaration_without_a_copy_is_read_as_before() -> None:
    with database(some_rows(1)) as db:
        table = db.tables.find("t")
        old = PLANS.encode(table).replace('"copy":null,', "").replace(',"unique":false', "")
        assert "copy" not in old
        assert "unique" not in old
        assert PLANS.decode(old) == table
        assert isinstance(table, Table)
        assert PLANS.decode(PLANS.encode(replace(table, unique=True))).unique
