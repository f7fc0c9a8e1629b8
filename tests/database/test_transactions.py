"""How often one question goes to the ledger: two transactions that read, and two that write."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.database.clinic import open_clinic
from tests.servers.postgres import Postgres

import jali
from jali.ledger import SqliteLedger

WARDS = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
Counted = Callable[[Callable[[], Any]], tuple[str, ...]]


@pytest.fixture(params=["file", "memory", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[jali.Database]:
    """A clinic whose ledger is a file, in memory or in Postgres."""
    places: dict[str, Callable[[], str | None]] = {
        "file": lambda: None,
        "memory": lambda: ":memory:",
        "postgres": lambda: _address(request.getfixturevalue("postgres")),
    }
    place = places[request.param]()
    if place == ":memory:":
        open_clinic(tmp_path, epsilon=10).close()
        with jali.connect() as made:
            columns: Any = {"age": jali.Range(0, 120), "ward": jali.Keys(["A", "B", "C"])}
            source, budget = tmp_path / "visits.parquet", jali.Budget(epsilon=10)
            made.protect("visits", source, unit="patient_id", max_rows=5, columns=columns, budget=budget)
            yield _granted(made)
        return
    with open_clinic(tmp_path, epsilon=10, place=place) as made:
        yield _granted(made)


def _address(server: Postgres) -> str:
    return f"{server.url}?schema=test_{secrets.token_hex(6)}"


def _granted(db: jali.Database) -> jali.Database:
    db.grant("ana", "visits", jali.Budget(epsilon=5))
    return db


@pytest.fixture
def counted(db: jali.Database, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """What calls a function and returns which transactions it took, in order."""
    taken: list[str] = []
    store: Any = db._ledger.store

    def watch(kind: str) -> None:
        real: Callable[[], AbstractContextManager[Any]] = getattr(store, kind)

        def begin() -> AbstractContextManager[Any]:
            taken.append(kind)
            return real()

        monkeypatch.setattr(store, kind, begin)

    def count(call: Callable[[], Any]) -> tuple[str, ...]:
        taken.clear()
        call()
        return tuple(taken)

    watch("reading")
    watch("writing")
    return count


@pytest.mark.parametrize("analyst", [None, "ana"])
def test_a_question_takes_two_reads_and_two_writes(
    db: jali.Database, counted: Counted, analyst: str | None
) -> None:
    whole = lambda: db.ask(WARDS, epsilon=0.1, analyst=analyst)  # noqa: E731
    part = lambda: db.ask("SELECT AVG(age) FROM visits", epsilon=0.1, part={"ward": "A"}, analyst=analyst)  # noqa: E731
    for ask in (whole, part):
        assert counted(ask) == ("reading", "reading", "writing", "writing")
        assert counted(ask) == ("reading", "reading")
    assert db.verify().problems == ()


def test_a_question_is_planned_anew_when_its_table_was_declared_anew(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process declares it, or its data is new, after the question was planned and before it is paid."""
    real, left = type(db._ledger).reserve, [db._tables.refresh, db._tables.refresh]

    def reserve(ledger: Any, **order: Any) -> str:
        if left:
            left.pop()("visits", lambda _: None)
        return real(ledger, **order)

    monkeypatch.setattr(type(db._ledger), "reserve", reserve)
    answer = db.ask(WARDS, epsilon=0.1)
    assert not left
    assert len(answer.rows) == 3
    assert [receipt.id for receipt in db.receipts()] == [answer.receipt]
    # It is recalled under the versions of now, at which it was answered.
    assert db.ask(WARDS, epsilon=0.1).cached


def test_a_table_that_is_closed_before_a_question_is_paid_costs_nothing(
    db: jali.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = type(db._ledger).reserve

    def reserve(ledger: Any, **order: Any) -> str:
        db._guard.close("visits")
        return real(ledger, **order)

    monkeypatch.setattr(type(db._ledger), "reserve", reserve)
    with pytest.raises(jali.errors.EngineError, match="closed"):
        db.ask(WARDS, epsilon=0.1)
    assert db.receipts() == ()
    assert db.ledger.accounts()[0].spent.epsilon == 0


def test_a_question_that_waited_sees_that_its_table_was_closed(db: jali.Database) -> None:
    """A server pays and runs in two steps: between them another question may have closed the table."""
    begun: Any = db.serving.begin(WARDS, {"epsilon": "0.1"}, analyst=None, stage=lambda _: None)
    db._guard.close("visits")
    with pytest.raises(jali.errors.EngineError, match="closed"):
        begun.finish(jali.execution.reservation.RunContext())


def test_a_ledger_refuses_what_rests_on_an_older_declaration(monkeypatch: pytest.MonkeyPatch) -> None:
    from jali.ledger import Debit, DeclarationsChanged, table_account
    from jali.privacy import Budget, Pure

    with SqliteLedger(None) as ledger:
        ledger.open_account(table_account("visits"), Budget(1))
        first = ledger.declare("visits", "{}")
        debits = (Debit(table_account("visits"), Pure(0.1).event),)
        order: Any = {"analyst": "ana", "question": "?", "key": "k", "plan": "{}", "debits": debits}
        ledger.reserve(**order, declared={"visits": first, "data of visits": None})
        changes: tuple[Callable[[], object], ...] = (
            lambda: ledger.refresh("visits"),
            lambda: ledger.declare("data of visits", "closed"),
        )
        for change in changes:
            known = {name: ledger.declaration(name) for name in ("visits", "data of visits")}
            change()
            with pytest.raises(DeclarationsChanged):
                ledger.reserve(**order, declared=known)
        assert len(ledger.receipts()) == 1
