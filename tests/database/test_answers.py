"""Answers: the cache, receipts, order and limits, intervals, and the forms an answer takes."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.database.clinic import COLUMNS, make_visits, open_clinic
from tests.frames import failing
from tests.harness import noise_off

import jali
from jali.ledger import ReceiptState

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


@pytest.fixture
def db(tmp_path: Path) -> Any:
    with open_clinic(tmp_path, epsilon=10) as opened:
        opened.grant("ana", "visits", jali.Budget(epsilon=2))
        opened.grant("ben", "visits", jali.Budget(epsilon=1))
        yield opened


def spent(db: jali.Database, account: str = "table visits") -> Fraction:
    found = next(a.spent for a in db.ledger.accounts() if a.name == account)
    assert found.epsilon is not None
    return found.epsilon


def test_ten_questions_at_a_tenth_fit_in_one_exactly_and_the_eleventh_is_refused(tmp_path: Path) -> None:
    with open_clinic(tmp_path, epsilon=1) as db:
        for age in range(10):
            db.ask(f"{COUNT} WHERE age > {age}", epsilon=0.1)
        with pytest.raises(jali.BudgetExceeded) as refused:
            db.ask(f"{COUNT} WHERE age > 10", epsilon=0.1)
        assert (refused.value.requested, refused.value.remaining) == (Fraction(1, 10), Fraction(0))
        assert spent(db) == 1
        with pytest.raises(jali.BudgetExceeded):
            db.ask(f"{COUNT} WHERE age > 10", epsilon="1e-9")


def test_the_same_question_is_answered_from_the_ledger_and_costs_the_table_nothing(db: jali.Database) -> None:
    first = db.ask(COUNT, epsilon=1)
    again = db.ask("select count(*) as n\nfrom VISITS", epsilon="1")
    assert again.rows == first.rows
    assert (first.cached, again.cached) == (False, True)
    assert again.receipt == first.receipt
    assert spent(db) == 1


def test_where_memory_is_common_an_analyst_pays_once_for_an_answer_that_others_have_had(
    db: jali.Database, tmp_path: Path
) -> None:
    open_clinic(tmp_path, epsilon=10, memory="common").close()
    first = db.ask(COUNT, epsilon=1)
    ana = db.session("ana")
    for _ in range(2):
        assert ana.ask(COUNT, epsilon=1).rows == first.rows
    assert spent(db) == 1
    assert spent(db, "grant ana on visits") == 1
    ben = db.session("ben")
    ben.ask(f"{COUNT} WHERE age > 30", epsilon="1/2")
    with pytest.raises(jali.BudgetExceeded, match="grant ben"):
        ben.ask(COUNT, epsilon=1)
    with pytest.raises(jali.errors.CatalogError, match="no grant"):
        db.session("eve").ask(COUNT, epsilon=1)


def test_new_data_is_answered_anew_and_budgets_never_reset(db: jali.Database) -> None:
    first = db.ask(COUNT, epsilon=1)
    db.refresh("visits")
    second = db.ask(COUNT, epsilon=1)
    assert second.receipt != first.receipt
    assert spent(db) == 2


def test_another_loss_or_another_declaration_is_another_question(db: jali.Database, tmp_path: Path) -> None:
    receipts = {db.ask(COUNT, epsilon=1).receipt, db.ask(COUNT, epsilon=2).receipt}
    db.protect(
        "visits",
        tmp_path / "visits.parquet",
        unit="patient_id",
        max_rows=7,
        columns=COLUMNS,
        budget=jali.Budget(epsilon=10),
    )
    receipts.add(db.ask(COUNT, epsilon=1).receipt)
    assert len(receipts) == 3


def test_a_receipt_is_redeemed_by_its_owner_with_its_frozen_plan(db: jali.Database, tmp_path: Path) -> None:
    source = tmp_path / "visits.parquet"
    ana = db.session("ana")
    with failing(), pytest.raises(jali.errors.EngineError) as failed:
        ana.ask(BY_WARD, epsilon=1)
    receipt = ana.receipts()[0]
    assert receipt.state is ReceiptState.OPEN
    assert receipt.id in str(failed.value)
    assert spent(db) == 1
    narrow = COLUMNS | {"ward": jali.Keys(["A"])}
    db.protect("visits", source, unit="patient_id", max_rows=2, columns=narrow, budget=jali.Budget(epsilon=10))
    with pytest.raises(jali.errors.LedgerError):
        db.session("ben").redeem(receipt.id)
    answer = ana.redeem(receipt.id)
    assert [row[0] for row in answer.rows] == ["A", "B", "C"]
    assert ana.redeem(receipt.id).rows == answer.rows
    assert spent(db) == 1
    assert ana.receipts()[0].state is ReceiptState.RELEASED


def test_a_receipt_that_keeps_failing_is_given_up_after_a_few_attempts(db: jali.Database) -> None:
    with failing(), pytest.raises(jali.errors.EngineError):
        db.ask(COUNT, epsilon=1)
    receipt = db.receipts()[0].id
    for _ in range(4):
        with failing(), pytest.raises(jali.errors.EngineError):
            db.redeem(receipt)
    with pytest.raises(jali.errors.LedgerError):
        db.redeem(receipt)


def test_having_order_and_limit_act_on_the_noisy_values(db: jali.Database) -> None:
    with noise_off():
        exact = db.ask(BY_WARD, epsilon="1/100").rows
        largest = max(row[1] for row in exact)
        ordered = db.ask(f"{BY_WARD} ORDER BY n DESC, ward LIMIT 2", epsilon="2/100").rows
        assert ordered == sorted(exact, key=lambda row: (-row[1], row[0]))[:2]
        kept = db.ask(f"{BY_WARD} HAVING COUNT(*) >= {math.floor(largest)} ORDER BY 1", epsilon="3/100").rows
        assert kept == sorted(row for row in exact if row[1] >= math.floor(largest))
        assert db.ask(f"{BY_WARD} HAVING n < 0", epsilon="4/100").rows == []
        skipped = db.ask(f"{BY_WARD} ORDER BY ward LIMIT 1 OFFSET 1", epsilon="5/100").rows
        assert [row[0] for row in skipped] == ["B"]
        both = db.ask(
            "SELECT SUM(cost) / COUNT(*) AS m, -COUNT(*) + 1, ROUND(AVG(age)) FROM visits", epsilon="6/100"
        )
        total, count = db.ask("SELECT SUM(cost), COUNT(*) FROM visits", epsilon="7/100").rows[0]
        assert both.rows[0][0] == pytest.approx(total / count)
        assert both.rows[0][1] == pytest.approx(1 - count)
        assert isinstance(both.rows[0][2], int)


def test_missing_means_come_last_or_first_as_asked(tmp_path: Path) -> None:
    table = pa.table({"g": ["a", "b"], "x": [1.0, None]})
    with jali.connect() as db:
        columns: dict[str, jali.Keys | jali.Range] = {"g": jali.Keys(["a", "b", "c"]), "x": jali.Range(0, 2)}
        db.protect("t", table, unit=None, columns=columns, budget=jali.Budget(10))
        asked = "SELECT g, AVG(x) AS m FROM t GROUP BY g ORDER BY m"
        with noise_off():
            assert [row[0] for row in db.ask(asked, epsilon=1).rows] == ["a", "b", "c"]
            first = db.ask(f"{asked} DESC NULLS FIRST", epsilon=2).rows
            assert [row[0] for row in first] == ["b", "c", "a"]


def test_intervals_hold_the_answer_and_grow_with_confidence(db: jali.Database) -> None:
    answer = db.ask(
        "SELECT COUNT(*) AS n, SUM(cost) AS s, AVG(age) AS a, ABS(COUNT(*) * AVG(age)) AS p, COUNT(*) - 5 AS d, "
        "SUM(cost) + 3 * COUNT(*) AS l, CASE WHEN COUNT(*) > 5 THEN 1 END AS c FROM visits",
        epsilon=5,
    )
    narrow, wide = answer.interval(0.5)[0], answer.interval(0.99)[0]
    for value, low, high in zip(answer.rows[0][:6], narrow[:6], wide[:6], strict=True):
        assert low is not None
        assert high is not None
        assert high[0] <= low[0] <= value <= low[1] <= high[1]
        assert high != low
    assert narrow[6] is None
    with pytest.raises(jali.errors.MechanismError, match="confidence"):
        answer.interval(1.0)


def test_numbers_beyond_every_double_do_not_raise_after_they_were_paid_for(db: jali.Database) -> None:
    huge = " * ".join(["1e300"] * 4)
    answer = db.ask(f"SELECT COUNT(*) * {huge} AS x, COUNT(*) * COUNT(*) * {huge} AS y FROM visits", epsilon=1)
    assert answer.interval()
    assert repr(answer)
    assert json.dumps(answer.to_json())


def test_an_answer_turns_into_frames_with_its_intervals(db: jali.Database) -> None:
    answer = db.ask(f"{BY_WARD} ORDER BY ward", epsilon=5)
    assert answer.columns == ("ward", "n", "age")
    wide = ["ward", "n", "n_low", "n_high", "age", "age_low", "age_high"]
    assert answer.to_arrow().column_names == wide
    assert list(answer.to_pandas().columns) == wide
    assert answer.to_polars().columns == wide
    assert answer.to_pandas()["n"].tolist() == [row[1] for row in answer.rows]
    assert answer.to_dicts()[0]["ward"] == "A"
    assert len(answer) == 3
    assert [row[0] for row in answer] == ["A", "B", "C"]
    assert [label for label, _, _ in answer.plot_data("age")] == ["A", "B", "C"]
    assert "<table" in answer._repr_html_()
    assert "±" in repr(answer)
    taken = db.ask("SELECT COUNT(*) AS n, SUM(cost) AS n_low FROM visits", epsilon=1).to_pandas()
    assert len(set(taken.columns)) == 6


def test_the_builder_asks_the_same_questions(db: jali.Database) -> None:
    ana = db.session("ana")
    built = ana.table("visits").where("age > 30").where("cost < 50").group_by("ward")
    built = built.agg(n=jali.count(), a=jali.mean("age"), s=jali.sum("cost * 2"), k=jali.count("age"))
    written = (
        "SELECT ward, COUNT(*) AS n, AVG(age) AS a, SUM(cost * 2) AS s, COUNT(age) AS k FROM visits "
        "WHERE age > 30 AND cost < 50 GROUP BY ward"
    )
    assert built.explain(epsilon=1) == ana.explain(written, epsilon=1)
    assert built.ask(epsilon=1).rows == ana.ask(written, epsilon=1).rows
    assert ana.receipts()[0].question == written
    people = ana.table("visits").agg(p=jali.count_people("patient_id")).explain(epsilon=1)
    assert people == ana.explain("SELECT COUNT(DISTINCT patient_id) AS p FROM visits", epsilon=1)


def test_what_remains_is_what_would_be_granted(db: jali.Database) -> None:
    ana = db.session("ana")
    assert ana.remaining("visits").epsilon == 2
    ana.ask(COUNT, epsilon="3/2")
    assert ana.remaining("visits").epsilon == Fraction(1, 2)
    assert db.remaining("visits").epsilon == Fraction(17, 2)
    assert ana.remaining("visits").rho == 0


def test_a_database_is_one_file_for_its_owner_and_is_found_again(tmp_path: Path) -> None:
    make_visits(tmp_path / "visits.parquet")
    with open_clinic(tmp_path, epsilon=3) as db:
        first = db.ask(COUNT, epsilon=1)
        assert db.ledger.durable
    assert (tmp_path / "clinic.jali").stat().st_mode & 0o777 == 0o600
    with jali.connect(tmp_path / "clinic.jali") as again:
        assert again.ask(COUNT, epsilon=1).rows == first.rows
        assert again.remaining("visits").epsilon == 2
        assert again.verify().problems == ()
    assert not jali.connect().ledger.durable


def test_a_frame_is_attached_again_after_reopening(tmp_path: Path) -> None:
    frame = pa.table({"x": [1] * 50})
    with jali.connect(tmp_path / "a.jali") as db:
        db.protect("t", frame, unit=None, budget=jali.Budget(10))
    with jali.connect(tmp_path / "a.jali") as db:
        with pytest.raises(jali.errors.EngineError, match="attach"):
            db.ask("SELECT COUNT(*) FROM t", epsilon=1)
        db.tables.attach("t", frame)
        with noise_off():
            assert db.ask("SELECT COUNT(*) FROM t", epsilon=1).rows == [(50,)]


def test_stages_are_told_in_order(db: jali.Database) -> None:
    stages: list[str] = []
    db.ask(COUNT, epsilon=1, on_stage=stages.append)
    assert stages == ["planning", "reserving", "reading"]
    db.ask(COUNT, epsilon=1, on_stage=stages.append)
    assert stages[3:] == ["planning"]


def test_an_interrupt_while_reading_stops_the_question_and_leaves_its_receipt(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB answers Ctrl-C with a RuntimeError; a notebook or a loop must still be stopped by it."""

    def interrupted(*_: Any) -> Any:
        raise RuntimeError("Query interrupted")

    with monkeypatch.context() as patched:
        patched.setattr("jali.engines.duckdb.engine.DuckDBEngine._cursor", interrupted)
        with pytest.raises(KeyboardInterrupt):
            db.ask(COUNT, epsilon=1)
    assert [receipt.state for receipt in db.receipts()] == [ReceiptState.OPEN]
    assert db.ask(COUNT, epsilon=1).rows
    assert [receipt.state for receipt in db.receipts()] == [ReceiptState.RELEASED]


def test_an_answer_is_comma_separated_values_too(tmp_path: Path) -> None:
    import csv
    import io

    with open_clinic(tmp_path) as db:
        answer = db.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.1)
        bins = db.ask("SELECT HISTOGRAM(age, [40, 60]) AS h FROM visits", epsilon=0.1)
    head, *rows = csv.reader(io.StringIO(answer.to_csv()))
    assert head == ["ward", "n", "n_low", "n_high"]
    assert [(ward, float(n)) for ward, n, *_ in rows] == answer.rows
    (told,) = csv.DictReader(io.StringIO(bins.to_csv()))
    assert list(json.loads(told["h"])) == [str(label) for label in bins.rows[0][0]]
