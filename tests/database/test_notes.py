"""What is said beside an answer: counts per person that are clamped, and the delta that is left."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import jali
from jali.explain import explain_plan

VISITS = pa.table(
    {"uid": [1, 1, 1, 1, 2], "ward": ["A", "A", "B", "B", "A"], "cost": [1, 2, 3, 4, 5], "code": ["x"] * 5}
)
PER_PERSON = "SELECT uid, ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY uid, ward"


@pytest.fixture
def db() -> jali.Database:
    database = jali.connect()
    columns: dict[str, Any] = {"ward": jali.Keys(["A", "B"]), "cost": jali.Range(0, 10)}
    budget = jali.Budget(epsilon=100, delta=1e-6)
    database.protect("visits", VISITS, unit="uid", max_rows=3, columns=columns, budget=budget)
    return database


def test_an_answer_says_which_counts_per_person_are_clamped(db: jali.Database) -> None:
    answer = db.ask(f"SELECT ward, AVG(n) AS n, AVG(total) AS t FROM ({PER_PERSON}) GROUP BY ward", epsilon=1)
    assert [note.split(" per uid is clamped to ")[1] for note in answer.notes] == [
        "[0, 3] because max_rows is 3",
        "[0, 30] because max_rows is 3",
    ]
    assert all(f"{note}." in str(answer) for note in answer.notes)
    assert answer.to_json()["notes"] == list(answer.notes)


def test_a_count_is_clamped_where_a_note_says_so(db: jali.Database) -> None:
    """Person 1 has four rows; with three at most and next to no noise the largest count is 3."""
    answer = db.ask("SELECT MAX(n) AS n FROM (SELECT uid, COUNT(*) AS n FROM visits GROUP BY uid)", epsilon=90)
    assert answer.rows[0][0] <= 3
    clamped, rank = answer.notes
    assert "is clamped to [0, 3]" in clamped
    assert rank.startswith("The rank of n is within ")


def test_rows_that_a_subquery_made_one_of_are_not_cut_off(db: jali.Database) -> None:
    once = f"SELECT uid, MAX(n) AS n FROM ({PER_PERSON}) GROUP BY uid"
    twice = db.explain(f"SELECT AVG(k) FROM (SELECT uid, COUNT(n) AS k FROM ({once}) GROUP BY uid)", epsilon=1)
    assert [clamp.split(" per ")[0] for clamp in explain_plan(twice).clamps] == [
        "COUNT(*)",
        "SUM(visits.cost)",
    ]
    assert db.ask("SELECT AVG(cost) FROM visits", epsilon=1).notes == ()


def test_half_of_delta_is_left_for_questions_and_the_rest_is_for_adding_up(db: jali.Database) -> None:
    assert db.remaining("visits").delta == Fraction(1, 2_000_000)
    assert str(db.remaining("visits")).endswith(", delta 5e-07")
    db.grant("ana", "visits", jali.Budget(epsilon=1, delta=1e-7, delta_events=1e-7))
    ana = db.session("ana")
    ana.ask("SELECT code, COUNT(*) AS n FROM visits GROUP BY code", epsilon=1, delta="3e-8")
    assert ana.remaining("visits").delta == Fraction(7, 10**8)
    assert db.remaining("visits").delta == Fraction(47, 10**8)
    with pytest.raises(jali.BudgetExceeded) as refused:
        db.ask("SELECT code, COUNT(*) AS n FROM visits GROUP BY code", epsilon=1, delta="4.8e-7")
    assert (refused.value.kind, refused.value.remaining) == ("delta", db.remaining("visits").delta)


def test_explanations_name_files_without_their_folders(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    pq.write_table(pa.table({"uid": [1], "ward": ["A"]}), folder / "visits.parquet")
    pq.write_table(pa.table({"name": ["A"], "floor": [1]}), folder / "wards.parquet")
    with jali.connect() as db:
        db.protect("visits", folder / "visits.parquet", unit="uid", max_rows=1, budget=jali.Budget(10))
        db.publish("wards", folder / "wards.parquet")
        plan = db.explain("SELECT COUNT(*) AS n FROM visits JOIN wards ON ward = name", epsilon=1)
        assert "here" in plan.sql
        for shown in (str(plan), plan._repr_html_()):
            assert "visits.parquet" in shown
            assert "wards.parquet" in shown
            assert "here" not in shown.replace("there", "")
        assert db.ask("SELECT COUNT(*) AS n FROM visits JOIN wards ON ward = name", epsilon=1).rows


def test_plans_and_declarations_are_one_short_line(db: jali.Database) -> None:
    assert (
        repr(db.explain("SELECT COUNT(*) FROM visits", epsilon=1)) == "Plan(a question on visits; cost epsilon 1)"
    )
    assert (
        repr(db.tables.list()[0])
        == "Table(visits: unit uid, max_rows 3; 4 columns; budget epsilon=100, delta=1e-06)"
    )
    assert repr(db.publish("wards", pa.table({"w": ["A"]}))) == "Public(wards: 1 columns)"
    lone = db.protect("rows", pa.table({"x": [1]}), unit=None, budget=jali.Budget(1))
    assert repr(lone) == "Table(rows: each row a person; 1 columns; budget epsilon=1, delta=0)"
