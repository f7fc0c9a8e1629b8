"""What clamping and bounding removed: counted as plain SQL counts it, by questions that are paid for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.harness import noise_off

import jali
from jali.execution.bias import Removed

MOST = 4
random = np.random.default_rng(5)
LENGTHS = random.integers(1, 60, 200)  # rows of a person, mostly beyond the bound
OWNER = np.repeat(np.arange(200), LENGTHS)
SIZE = len(OWNER)
VISITS = pa.table(
    {
        "uid": OWNER,
        "ward": np.where(np.arange(SIZE) % 3 == 0, "A", "B"),
        "cost": random.normal(50, 40, SIZE),
        "age": [None if i % 10 == 0 else int(age) for i, age in enumerate(random.integers(-5, 130, SIZE))],
        "score": np.where(np.arange(SIZE) % 7 == 0, np.nan, random.normal(0, 1, SIZE)),
    }
)
ONCE = pa.table({"uid": np.arange(50), "cost": np.arange(50) * 3.0})
COLUMNS: dict[str, Any] = {
    "ward": jali.Keys(["A", "B"]),
    "cost": jali.Range(0, 100),
    "age": jali.Range(0, 120),
    "score": jali.Range(-1, 1),
}


@pytest.fixture
def db() -> Iterator[jali.Database]:
    with jali.connect() as opened:
        budget = jali.Budget(epsilon=100)
        opened.protect("visits", VISITS, unit="uid", max_rows=MOST, columns=COLUMNS, budget=budget, rows=SIZE)
        opened.protect("once", ONCE, unit=None, columns={"cost": jali.Range(0, 100)}, budget=budget)
        people = pa.table({"pid": np.arange(200)})
        opened.protect("people", people, unit="pid", max_rows=1, budget=budget)
        opened.protect(
            "tests",
            pa.table({"patient": [1, 2], "cost": [5.0, 500.0]}),
            unit=jali.Via("people", on="patient = pid", unit="pid"),
            max_rows=2,
            columns={"cost": jali.Range(0, 100)},
            budget=budget,
        )
        yield opened


def _exact(db: jali.Database, sql: str, **terms: Any) -> Removed:
    with noise_off():
        return db.removed(sql, epsilon=1, **terms)


def _plain(sql: str) -> tuple[Any, ...]:
    with duckdb.connect() as connection:
        connection.register("visits", VISITS)
        found = connection.execute(sql).fetchone()
    assert found is not None
    return found


def test_rows_beyond_the_bound_are_counted_as_far_as_they_are_told_apart(db: jali.Database) -> None:
    found = _exact(db, "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 3 ORDER BY ward LIMIT 1")
    assert (found.max_rows, found.reach, found.clamped) == (MOST, 8 * MOST, None)
    assert found.bounded is not None
    told = np.minimum(LENGTHS, 8 * MOST)
    expected = (told.sum(), np.maximum(told - MOST, 0).sum(), (LENGTHS > MOST).sum())
    assert found.bounded.rows[0] == pytest.approx(expected, abs=1e-2)


def test_the_bound_and_the_condition_are_those_of_the_question(db: jali.Database) -> None:
    found = _exact(db, "SELECT COUNT(*) FROM visits v WHERE v.ward = 'A'", max_rows=10)
    each = "SELECT uid, COUNT(*) AS c FROM visits WHERE ward = 'A' GROUP BY uid"
    expected = _plain(f"SELECT SUM(LEAST(c, 80)), SUM(GREATEST(LEAST(c, 80) - 10, 0)) FROM ({each})")
    assert (found.max_rows, found.reach) == (10, 80)
    assert found.bounded is not None
    assert found.bounded.rows[0][:2] == pytest.approx([float(x) for x in expected], abs=1e-2)


def test_values_beyond_their_ranges_are_counted(db: jali.Database) -> None:
    sql = "SELECT ward, AVG(cost), SUM(age) FILTER (WHERE cost > 50), MEDIAN(cost) FROM visits GROUP BY ward"
    found = _exact(db, sql, max_rows=60)  # nobody has more rows, so that all of them weigh 1
    assert found.clamped is not None
    assert found.clamped.columns == (
        "rows that count",
        "cost below 0",
        "cost above 100",
        "age below 0 where cost > 50",
        "age above 120 where cost > 50",
    )
    plain = """
        SELECT COUNT(*), COUNT(*) FILTER (cost < 0), COUNT(*) FILTER (cost > 100),
            COUNT(*) FILTER (age < 0 AND cost > 50), COUNT(*) FILTER (age > 120 AND cost > 50) FROM visits
    """
    assert found.clamped.rows[0] == pytest.approx(_plain(plain))


def test_what_is_no_number_is_not_above_its_range(db: jali.Database) -> None:
    found = _exact(db, "SELECT REGR_SLOPE(cost, score) FROM visits", max_rows=60)
    assert found.clamped is not None
    counts = dict(zip(found.clamped.columns, found.clamped.rows[0], strict=True))
    (above,) = _plain("SELECT COUNT(*) FROM visits WHERE score > 1 AND NOT isnan(score)")
    assert counts["score above 1"] == pytest.approx(above)
    assert "cost below 0" in counts


def test_a_clamp_of_the_question_is_looked_through(db: jali.Database) -> None:
    found = _exact(db, "SELECT AVG(CLAMP(cost, 40, 60)) FROM visits", max_rows=60)
    assert found.clamped is not None
    assert found.clamped.columns[1:] == ("cost below 40", "cost above 60")
    assert found.clamped.rows[0][1] == pytest.approx(_plain("SELECT COUNT(*) FROM visits WHERE cost < 40")[0])


def test_both_questions_together_cost_the_loss_and_are_charged_once(db: jali.Database) -> None:
    sql = "SELECT AVG(cost) FROM visits"
    first = db.removed(sql, epsilon="1/2")
    assert str(first.cost) == "epsilon 0.5"
    assert db.remaining("visits").epsilon == 99.5
    again = db.removed(sql, epsilon="1/2")
    assert [a.rows for a in again.answers] == [a.rows for a in first.answers]
    assert db.remaining("visits").epsilon == 99.5
    assert {receipt.id for receipt in db.receipts()} == {answer.receipt for answer in first.answers}


def test_what_cannot_be_paid_in_full_is_not_begun(db: jali.Database) -> None:
    db.ask("SELECT COUNT(*) FROM visits", epsilon=99)
    with pytest.raises(jali.BudgetExceeded):
        db.removed("SELECT AVG(cost) FROM visits", epsilon="3/2")
    assert db.remaining("visits").epsilon == 1


def test_an_analyst_pays_from_the_grant(db: jali.Database) -> None:
    db.grant("ana", "visits", jali.Budget(epsilon=1))
    session = db.session("ana")
    with pytest.raises(jali.BudgetExceeded):
        session.removed("SELECT AVG(cost) FROM visits", epsilon="3/2")
    assert session.remaining("visits").epsilon == 1
    session.removed("SELECT AVG(cost) FROM visits", epsilon=1)
    assert session.remaining("visits").epsilon == 0


def test_looking_whether_a_grant_can_pay_charges_nothing(db: jali.Database) -> None:
    """Both counts are in the ledger, paid by the curator; the grant pays for one of them, so for none."""
    sql = "SELECT SUM(cost) FROM visits"
    db.removed(sql, epsilon=1)
    db.grant("ana", "visits", jali.Budget(epsilon="3/4"))
    with pytest.raises(jali.BudgetExceeded, match="these counts"):
        db.session("ana").removed(sql, epsilon=1)
    assert db.session("ana").remaining("visits").epsilon == Fraction(3, 4)


def test_a_person_moves_the_wider_counts_by_no_more_than_is_paid_for(db: jali.Database) -> None:
    """The noise of the rows beyond the bound is for all that one person can add: 28 of them, where 32 are told."""
    without = VISITS.filter(pa.array(np.not_equal(OWNER, np.argmax(LENGTHS))))
    with jali.connect() as other:
        other.protect("visits", without, unit="uid", max_rows=MOST, columns=COLUMNS, budget=jali.Budget(epsilon=9))
        one, two = (_exact(d, "SELECT COUNT(*) FROM visits").bounded for d in (db, other))
    assert one is not None
    assert two is not None
    moved = [a - b for a, b in zip(one.rows[0], two.rows[0], strict=True)]
    assert moved == pytest.approx([32, 28, 1], abs=1e-2)
    widths = [(high - low) / 2 for low, high in one.interval()[0]]
    # A Laplace noise of scale 1/epsilon times the move has 95 % within three times as much; three share the loss.
    assert all(width > 2.9 * move for width, move in zip(widths, moved, strict=True))


def test_where_nothing_is_clamped_or_bounded_nothing_is_asked(db: jali.Database) -> None:
    found = db.removed("SELECT COUNT(*) FROM once", epsilon=1)
    assert str(found) == "Nothing is clamped or bounded."
    assert not found.answers
    assert db.remaining("once").epsilon == 100
    assert db.removed("SELECT AVG(cost) FROM once", epsilon=1).bounded is None


def test_people_whom_no_column_names_are_not_looked_at_and_it_says_so(db: jali.Database) -> None:
    found = db.removed("SELECT AVG(cost) FROM tests", epsilon=1)
    assert found.bounded is None
    assert found.clamped is not None
    assert "a table with a unit of its own" in str(found)


def test_joined_rows_are_counted_by_the_person(db: jali.Database) -> None:
    found = _exact(db, "SELECT COUNT(*) FROM visits JOIN people ON uid = pid")
    assert found.bounded is not None
    assert found.bounded.rows[0][0] == pytest.approx(np.minimum(LENGTHS, 8 * MOST).sum(), abs=1e-2)


def test_a_question_that_is_refused_is_refused_here_too(db: jali.Database) -> None:
    with pytest.raises(jali.errors.QueryError, match="agee"):
        db.removed("SELECT AVG(agee) FROM visits", epsilon=1)
    assert db.remaining("visits").epsilon == 100


def test_its_document_is_json(db: jali.Database) -> None:
    document = json.loads(json.dumps(db.removed("SELECT AVG(cost) FROM visits", epsilon=1).to_json()))
    assert document["clamped"]["cost below 0"]["interval"][0] < document["clamped"]["cost below 0"]["value"]
    assert document["cost"] == {"kind": "epsilon", "amount": "1", "delta": "0"}
    assert len(document["receipts"]) == 2


def test_declared_rows_tell_for_nothing_what_bounding_removed(db: jali.Database) -> None:
    with noise_off():
        answer = db.ask("SELECT COUNT(*) AS n, AVG(cost) AS c FROM visits", epsilon=1)
    lost = np.maximum(LENGTHS - MOST, 0).sum()
    found = answer.removed_rows()
    assert found is not None
    value, (low, high) = found
    assert value == pytest.approx(lost, abs=1)
    assert low < value < high
    assert f"Of the {SIZE:,} rows that are declared, {round(lost):,} ± " in str(answer)
    assert "nobody counts for more than 4" in str(answer)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits WHERE age > 3",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT AVG(cost) FROM visits",
        "SELECT COUNT(*) FROM once",
    ],
)
def test_they_tell_nothing_of_other_questions(db: jali.Database, sql: str) -> None:
    answer = db.ask(sql, epsilon=1)
    assert answer.removed_rows() is None
    assert "declared" not in str(answer)
