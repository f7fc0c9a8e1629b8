"""Advice: planned, charged and released like any question; its call declares what it proposes."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.parquet import write_parquet

import jali

# 1,000 people: 940 with two rows, 60 with seven.
PEOPLE = "(SELECT i, unnest(range(CASE WHEN i < 60 THEN 7 ELSE 2 END)) AS k FROM range(1000) t(i))"
ROWS = f"""SELECT i::INTEGER AS patient_id, 100.0 + k AS cost, ['a', 'b', 'c, d'][1 + k % 3] AS ward,
    DATE '2025-03-01' + (i % 20)::INTEGER AS seen, 'name' || i AS name, true AS truth FROM {PEOPLE}"""
# So large that a draw which is not the best one has a chance below 1e-9.
SURE = 1000


def opened(directory: Path, rows: str = ROWS, epsilon: Any = 5000, **options: Any) -> jali.Database:
    source = write_parquet(rows, directory / "visits.parquet")
    db = jali.connect(directory / "clinic.jali")
    budget = jali.Budget(epsilon=epsilon, delta="1e-3")
    given: dict[str, Any] = {"unit": "patient_id", "max_rows": 3, "budget": budget} | options
    db.protect("visits", source, **given)
    return db


def test_a_dry_run_is_free_and_the_same_whatever_the_data(tmp_path: Path) -> None:
    shown = []
    for number, rows in enumerate((ROWS, f"SELECT * FROM ({ROWS}) LIMIT 3")):
        folder = tmp_path / str(number)
        folder.mkdir()
        with opened(folder, rows) as db:
            advice = db.advise("visits", epsilon=1, delta="1e-5", dry_run=True)
            assert not advice.paid
            assert db.receipts() == ()
            assert db.remaining("visits").epsilon == 5000
            shown.append(str(advice))
    assert shown[0] == shown[1]
    assert shown[0].splitlines()[0] == "Plan of an advice for visits, epsilon 1, delta 1e-05"


def test_it_costs_what_was_said_and_every_release_has_a_receipt(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        advice = db.advise("visits", epsilon="1/3", delta="1e-5")
        assert [p.subject for p in advice.proposals] == ["max_rows", "cost", "ward", "seen", "name"]
        assert {p.cost.epsilon for p in advice.proposals} == {Fraction(1, 15)}
        assert [r.id for r in db.receipts()] == [p.receipt for p in advice.proposals]
        (account,) = db.ledger.accounts()
        assert account.spent.epsilon == advice.cost.epsilon == Fraction(1, 3)
        assert account.spent.delta == advice.cost.delta == Fraction(1, 10**5)
        assert db.verify().problems == ()


def test_what_was_bought_before_is_free(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        first = db.advise("visits", epsilon=1)
        again = db.advise("visits", epsilon=1)
        assert [p.value for p in again.proposals] == [p.value for p in first.proposals]
        assert again.cost.epsilon == 0
        left = db.remaining("visits")
        table = db.tables.find("visits")
        options = {"unit": "patient_id", "max_rows": 3, "budget": table.budget}
        auto = {"cost": jali.Range(auto=True)}
        declared = db.protect("visits", tmp_path / "visits.parquet", columns=auto, **options)  # type: ignore[arg-type]
        bought = {p.subject: p.value for p in first.proposals}["cost"]
        assert isinstance(bought, jali.Range)
        assert db.remaining("visits") == left
        field = declared.field("cost")
        assert field is not None
        assert field.range is not None
        assert (field.range.low, field.range.high) == (bought.low, bought.high)


def test_with_a_large_loss_the_proposals_are_the_truth(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        advice = db.advise("visits", epsilon=SURE, delta="1e-10")
        found = {p.subject: p.value for p in advice.proposals}
        # 94 % of people have two rows, so that the 0.95 quantile is 7.
        assert found["max_rows"] == 7
        assert isinstance(found["ward"], jali.Keys)
        assert set(found["ward"].values) == {"a", "b", "c, d"}
        # All costs lie between 100 and 106, all days in the first twenty of March; a cell is two days wide.
        assert found["cost"] == jali.Range(64, 128)
        days = found["seen"]
        assert isinstance(days, jali.Range)
        assert isinstance(days.low, datetime.date)
        assert isinstance(days.high, datetime.date)
        assert datetime.date(2025, 2, 25) <= days.low < days.high <= datetime.date(2025, 3, 26)
        assert found["name"] is None
        assert "nothing: none" in str(advice)


def test_the_call_declares_what_is_proposed(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        advice = db.advise("visits", epsilon=SURE, delta="1e-4")
        made = eval(advice.call, {"db": db, "jali": jali, "datetime": datetime})
        assert made == advice.declaration
        assert db.tables.version("visits") == 2


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_table_that_cannot_pay_for_all_of_it_pays_for_nothing(tmp_path: Path, adjacency: str) -> None:
    with opened(tmp_path, epsilon=1, adjacency=adjacency) as db:
        with pytest.raises(jali.BudgetExceeded):
            db.advise("visits", epsilon=2)
        assert db.receipts() == ()
        db.advise("visits", epsilon=1)
        assert db.remaining("visits").epsilon == 0


def test_only_named_columns_are_looked_at_even_if_they_are_declared(tmp_path: Path) -> None:
    columns = {"cost": jali.Range(0, 1), "ward": jali.Keys(["z"])}
    with opened(tmp_path, columns=columns) as db:
        advice = db.advise("visits", epsilon=SURE, delta="1e-4", columns=["ward", "COST"])
        assert [p.subject for p in advice.proposals] == ["ward", "cost"]
        found = {p.subject: p.value for p in advice.proposals}
        assert isinstance(found["ward"], jali.Keys)
        assert set(found["ward"].values) == {"a", "b", "c, d"}
        assert found["cost"] == jali.Range(64, 128)
        (rows,) = db.advise("visits", epsilon=1, columns=["max_rows"], dry_run=True).proposals
        assert rows.subject == "max_rows"


def test_what_is_left_out_has_its_reason(tmp_path: Path) -> None:
    with opened(tmp_path, rows=ROWS) as db:
        advice = db.advise("visits", epsilon=1, dry_run=True)
        assert dict(advice.left_out) == dict.fromkeys(("ward", "name"), "keys are chosen for a delta: give one")
        named = db.advise("visits", epsilon=1, columns=["max_rows", "patient_id", "truth"], dry_run=True)
        assert set(dict(named.left_out)) == {"patient_id", "truth"}
        few = db.protect(
            "visits",
            tmp_path / "visits.parquet",
            unit="patient_id",
            max_rows=3,
            budget=db.tables.list()[0].budget,
            rows=2300,
        )
        assert few.rows == 2300
        little = db.advise("visits", epsilon="0.01", dry_run=True)
        assert [p.subject for p in little.proposals] == ["max_rows"]
        assert little.cost.epsilon == Fraction(1, 100)
        assert "rows could lie beyond each end, 100 % of the 2,300" in dict(little.left_out)["cost"]


def test_a_table_whose_rows_are_people_has_no_rows_to_bound(tmp_path: Path) -> None:
    with opened(tmp_path, unit=None, max_rows=None) as db:
        advice = db.advise("visits", epsilon=1, columns=["cost", "max_rows"], dry_run=True)
        assert [p.subject for p in advice.proposals] == ["cost"]


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": 1, "delta": 1}, "delta must be in"),
        ({"epsilon": 1, "columns": ["nothing"]}, "visits has no column nothing"),
        ({"epsilon": 1, "columns": ["patient_id"]}, "There is nothing to advise on visits"),
        ({"epsilon": 1, "most_rows": 0}, "most_rows must be"),
        ({"epsilon": 1, "columns": "cots"}, "visits has no column cots. Did you mean cost?"),
    ],
)
def test_wrong_use_is_refused_with_a_reason(tmp_path: Path, terms: dict[str, Any], message: str) -> None:
    with opened(tmp_path) as db:
        with pytest.raises(jali.JaliError, match=message):
            db.advise("visits", **terms)
        assert db.receipts() == ()


def test_what_the_curator_declared_stays_in_the_call(tmp_path: Path) -> None:
    with opened(tmp_path, columns={"cost": jali.Range(0, 1)}) as db:
        planned = db.advise("visits", epsilon=SURE, columns="cost", dry_run=True)
        assert "its declared range would be kept" in planned.proposals[0].asked
        advice = db.advise("visits", epsilon=SURE, columns="cost")
        assert "declared is Range(0, 1), which the call keeps" in dict(advice.facts())["cost"]
        assert advice.declaration == advice.table


def test_a_range_that_could_cut_off_much_is_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        table = db.tables.list()[0]
        source = tmp_path / "visits.parquet"
        db.protect("visits", source, unit="patient_id", max_rows=3, budget=table.budget, rows=2300)
        assert "cost" in dict(db.advise("visits", epsilon=1, dry_run=True).left_out)
        assert "cost" not in dict(db.advise("visits", epsilon=SURE, dry_run=True).left_out)
        with pytest.raises(jali.errors.CatalogError, match="too small to advise on visits"):
            db.advise("visits", epsilon=1, columns="cost")
        assert db.receipts() == ()
