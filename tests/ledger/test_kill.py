"""Killed at every statement: the ledger then holds the whole step or nothing of it, and no answer is free."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.depth import deep, thinned
from tests.ledger.support import ANA, BEN, VISITS, ask, clinic, copy_ledger, debit, in_child, kill_self

from jali.ledger import Ledger, SqliteLedger

Step = Callable[[Ledger], Any]


class Mortal(sqlite3.Connection):
    """A connection that kills its process when its n-th statement has run."""

    said: list[str] = []  # noqa: RUF012 - shared by all connections of the child on purpose
    last = 0

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        cursor = super().execute(statement, *values)
        Mortal.said.append(statement)
        if len(Mortal.said) == Mortal.last:
            kill_self()
        return cursor


def dying_after(statements: int, action: Callable[[], Any]) -> Callable[[], None]:
    """Return `action` as a process runs it that is killed after so many statements (0: never)."""

    def run() -> None:
        Mortal.last = statements
        Mortal.said.clear()
        sqlite3.connect = partial(sqlite3.connect, factory=Mortal)  # type: ignore[assignment]
        action()

    return run


def script(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> list[str]:
    """Return the statements of `action`, in order."""
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Mortal))
        patch.setattr(Mortal, "last", 0)
        Mortal.said.clear()
        action()
    return list(Mortal.said)


def state(path: Path) -> tuple[Any, ...]:
    """Return all that a step may change, without names that differ by chance."""
    with SqliteLedger(path) as ledger:
        found = ledger.verify()
        assert found.problems == ()
        receipts = [(receipt.analyst, receipt.state, receipt.debits) for receipt in ledger.receipts()]
        return found.entries, found.receipts, found.open, found.spent, receipts, ledger.declarations()


def before_all_steps(path: Path) -> None:
    """Make a ledger with one released receipt and one open receipt of ana."""
    with SqliteLedger(path) as ledger:
        clinic(ledger).declare("visits", "{}")
        ledger.release(ask(ledger), "42")
        ask(ledger, key="other")


def open_receipt(ledger: Ledger) -> str:
    return ledger.receipts()[1].id


STEPS: dict[str, Step] = {
    "reserve": lambda ledger: ask(ledger, debit(), debit(ANA)),
    "begin": lambda ledger: ledger.begin(open_receipt(ledger), analyst="ana"),
    "release": lambda ledger: ledger.release(open_receipt(ledger), "43"),
    "recall": lambda ledger: ledger.recall("key", analyst="ben", grant=debit(BEN)),
    "declare": lambda ledger: ledger.declare("visits", "[]"),
    "refresh": lambda ledger: ledger.refresh("visits"),
}


@thinned(3)
@pytest.mark.parametrize("name", STEPS)
def test_a_killed_step_is_whole_or_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "base.jali"
    before_all_steps(base)
    before = state(base)

    def run(path: Path) -> None:
        STEPS[name](SqliteLedger(path))

    done = tmp_path / "done.jali"
    copy_ledger(base, done)
    statements = script(monkeypatch, lambda: run(done))
    after = state(done)
    assert after != before
    # The last commit is that of the writing transaction; those before it only read.
    commit = len(statements) - statements[::-1].index("COMMIT")
    assert "BEGIN IMMEDIATE" in statements[:commit]
    for count in range(1, len(statements) + 1):
        path = tmp_path / f"{count}.jali"
        copy_ledger(base, path)
        assert in_child(dying_after(count, partial(run, path)))() == -9
        assert state(path) == (after if count >= commit else before)


def test_after_a_crash_the_receipt_can_be_redeemed_once_and_costs_nothing_more(path: Path) -> None:
    def crash() -> None:
        ask(SqliteLedger(path), debit(), debit(ANA))
        kill_self()

    with SqliteLedger(path) as ledger:
        clinic(ledger)
    assert in_child(crash)() == -9
    with SqliteLedger(path) as ledger:
        (receipt,) = ledger.receipts("ana")
        spent = ledger.spent(VISITS)
        assert ledger.begin(receipt.id, analyst="ana").answer is None
        assert ledger.release(receipt.id, "42") == "42"
        assert ledger.spent(VISITS) == spent
        assert ledger.verify().problems == ()


@deep
def test_a_ledger_killed_while_it_is_made_can_be_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = script(monkeypatch, lambda: SqliteLedger(tmp_path / "whole.jali"))
    for count in range(1, len(statements) + 1):
        path = tmp_path / f"{count}.jali"
        assert in_child(dying_after(count, partial(SqliteLedger, path)))() == -9
        assert not path.exists()
        with SqliteLedger(path) as ledger:
            ask(clinic(ledger))
            assert ledger.verify().problems == ()
        assert not path.with_name(f"{count}.jali.new").exists()
