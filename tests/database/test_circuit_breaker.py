"""If an engine fails for a reason that may be the data, the table is closed until its curator has looked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.database.clinic import open_clinic

import jali
from jali.engines.base import make_failure
from jali.engines.duckdb import DuckDBEngine
from jali.execution.data_guard import DataState

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[jali.Database]:
    with open_clinic(tmp_path, epsilon=100) as opened:
        for name in ("ana", "ben"):
            opened.grant(name, "visits", jali.Budget(epsilon=10))
        yield opened


def failing(monkeypatch: pytest.MonkeyPatch, cause: str | Exception) -> None:
    def run(*_: Any) -> Any:
        raise make_failure(cause) if isinstance(cause, str) else cause

    monkeypatch.setattr(DuckDBEngine, "run", run)


def ask(db: jali.Database, age: int, name: str = "ana") -> jali.JaliError | None:
    try:
        db.session(name).ask(f"{COUNT} WHERE age > {age}", epsilon="1/10")
    except jali.JaliError as problem:
        return problem
    return None


@pytest.mark.parametrize("cause", ["engine", ValueError("a row of Bob's"), MemoryError()])
def test_a_failure_that_may_be_the_data_closes_the_table_for_everybody(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch, cause: str | Exception
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, cause)
        first = ask(db, 1)
    assert isinstance(first, jali.errors.EngineError)
    assert "Bob" not in str(first)
    (receipt,) = db.receipts()
    assert receipt.state == "open"
    for name in ("ana", "ben"):
        problem = ask(db, 2, name)
        assert isinstance(problem, jali.errors.EngineError)
        assert problem.code == "table-closed"
    assert len(db.receipts()) == 1
    assert db.tables.state("visits").receipt == receipt.id
    deeds = [(deed.actor, deed.act, deed.about) for deed in db.access.trail()]
    assert ("jali", "close table", f"visits after receipt {receipt.id}") in deeds


def test_the_curator_looks_and_opens_it(db: jali.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        failing(patch, "engine")
        ask(db, 1)
    assert db.ledger.failure(db.receipts()[0].id) is None  # it runs now
    assert db.tables.check("visits").closed == "failure"
    assert ask(db, 2) is None
    db.redeem(db.receipts()[0].id)


@pytest.mark.parametrize("cause", ["away", "disk", "cancelled"])
def test_the_machine_and_the_analyst_close_nothing(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, cause)
        for age in range(5):
            assert isinstance(ask(db, age), jali.errors.EngineError)
    assert not db.tables.state("visits").closed
    assert ask(db, 6) is None


def test_a_limit_of_time_closes_it_when_it_is_reached_for_the_third_time(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        failing(patch, "time")
        for age in range(2):
            ask(db, age)
            assert not db.tables.state("visits").closed
        ask(db, 3)
    assert db.tables.state("visits").closed == "failure"


def test_a_closed_table_is_closed_in_joins_and_batches(db: jali.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        failing(patch, "engine")
        ask(db, 1)
    with pytest.raises(jali.errors.EngineError, match="is closed"):
        db.ask("SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id)", epsilon=1)
    batch = db.batch(epsilon=1)
    batch.ask(COUNT)
    with pytest.raises(jali.errors.EngineError, match="is closed"):
        batch.run()


def test_it_stays_closed_in_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_clinic(tmp_path, epsilon=100) as db, monkeypatch.context() as patch:
        db.grant("ana", "visits", jali.Budget(epsilon=10))
        failing(patch, "engine")
        ask(db, 1)
    with jali.connect(tmp_path / "clinic.jali") as db:
        problem = ask(db, 2)
        assert isinstance(problem, jali.errors.EngineError)
        assert problem.code == "table-closed"


def test_what_no_data_could_answer_is_refused_before_it_is_charged(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    emit = DuckDBEngine.emit
    monkeypatch.setattr(DuckDBEngine, "emit", lambda *given: emit(*given).replace("count(", "no_such_function("))
    problem = ask(db, 1)
    assert isinstance(problem, jali.errors.Unsupported)
    assert "Nothing was spent" in str(problem)
    assert db.receipts() == ()
    assert not db.tables.state("visits").closed


def test_so_is_what_lists_many_keys(db: jali.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the query is long: keys of tens of thousands of days are not bound twice."""
    columns: Any = {"day": jali.Keys([f"key {i}" for i in range(20_000)])}
    table = pa.table({"uid": [1, 2], "day": ["key 1", "key 2"]})
    db.protect("days", table, unit="uid", max_rows=1, columns=columns, budget=jali.Budget(epsilon=1))
    emit = DuckDBEngine.emit
    monkeypatch.setattr(DuckDBEngine, "emit", lambda *given: emit(*given).replace("sum(", "no_such_function("))
    with pytest.raises(jali.errors.Unsupported, match="cannot run this question on any data"):
        db.ask("SELECT day, COUNT(*) FROM days GROUP BY day", epsilon=1)
    assert db.receipts() == ()


def held_at_reading(db: jali.Database, age: int, before: Any) -> jali.JaliError | None:
    """Ask; when the question is paid and about to be read, do something else first."""

    def watch(stage: str) -> None:
        if stage == "reading":
            before()

    try:
        db.ask(f"{COUNT} WHERE age > {age}", epsilon="1/10", on_stage=watch)
    except jali.JaliError as problem:
        return problem
    return None


def code(problem: jali.JaliError | None) -> str:
    return "answered" if problem is None else str(problem.code)


def test_a_table_that_is_closed_while_a_question_is_read_answers_nothing(db: jali.Database) -> None:
    problem = held_at_reading(db, 1, lambda: db._guard.close("visits"))
    assert code(problem) == "table-closed"
    assert "Nothing was spent" not in str(problem)
    (receipt,) = db.receipts()
    assert receipt.state == "open"
    db.tables.check("visits")
    assert db.redeem(receipt.id).receipt == receipt.id


def test_a_batch_that_was_paid_answers_nothing_of_a_closed_table(db: jali.Database) -> None:
    def watch(stage: str) -> None:
        if stage == "reading":
            db._guard.close("visits")

    with pytest.raises(jali.errors.EngineError, match="closed"), db.batch(epsilon="1/10", on_stage=watch) as batch:
        batch.ask(COUNT)
    assert [receipt.state for receipt in db.receipts()] == ["open"]


@pytest.mark.parametrize("fails", [False, True])
def test_of_two_questions_under_way_only_the_first_failure_tells_a_bit(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """The second one is told the same whether it failed on the data too or not."""
    codes = []

    def first() -> None:
        with monkeypatch.context() as patch:
            failing(patch, "engine")
            codes.append(code(ask(db, 1)))
        if fails:
            failing(monkeypatch, "engine")

    assert code(held_at_reading(db, 2, first)) == "table-closed"
    assert codes == ["engine-failed"]
    assert [receipt.state for receipt in db.receipts()] == ["open", "open"]
    acts = [deed.about for deed in db.access.trail() if deed.act == "close table"]
    assert len(acts) == 1


def test_a_limit_of_time_does_not_reopen_what_a_failure_closed(db: jali.Database) -> None:
    table = db.tables.find("visits")
    assert db._guard._count_failure(table, "r1", "engine-failed")[1].closed == "failure"
    before, after = db._guard._count_failure(table, "r2", "engine-time")
    assert (before, after.closed, after.receipt) == (after, "failure", "r1")


def test_a_table_that_was_never_checked_and_then_closed_is_not_opened_by_a_question(db: jali.Database) -> None:
    table = db.tables.find("visits")
    db._guard._put("visits", DataState(closed="failure"))
    with pytest.raises(jali.errors.EngineError, match="closed"):
        db._guard._check_first(table)
    assert db.tables.state("visits").closed == "failure"
