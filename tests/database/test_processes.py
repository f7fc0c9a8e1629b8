"""Many processes at once, and processes that die: the ledger never shows less spent than answers given."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import signal
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.database import clinic
from tests.depth import DEPTH

from jali.ledger import State


@pytest.fixture(scope="module")
def processes() -> multiprocessing.context.ForkServerContext:
    """Children are forked from a clean server that has imported everything, and nothing else."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["tests.database.clinic", "jali.database", "jali.engines.duckdb.engine", "sqlite3"]
    )
    return context


def run(processes: Any, target: Callable[..., None], *arguments: Any) -> int:
    child = processes.Process(target=target, args=arguments)
    child.start()
    child.join()
    assert child.exitcode is not None
    return int(child.exitcode)


def test_eight_processes_asking_at_once_never_overspend_and_never_lose_a_debit(
    tmp_path: Path, processes: Any
) -> None:
    """1,040 asks at 1/10 against a budget of 60: exactly 600 are answered, 440 refused."""
    clinic.open_clinic(tmp_path, epsilon=60).close()
    children = [
        processes.Process(target=clinic.ask_many, args=(tmp_path, first, 130, "1/10"))
        for first in range(0, 1040, 130)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 8
    answered = sum(int(path.read_text()) for path in tmp_path.glob("count-*"))
    with clinic.open_clinic(tmp_path, epsilon=60) as db:
        assert answered == 600
        assert db.accounts()[0].spent.epsilon == Fraction(60)
        assert db.remaining("visits").epsilon == 0
        assert len(db.receipts()) == 600
        assert {receipt.state for receipt in db.receipts()} == {State.RELEASED}
        assert db.verify().problems == ()


CASES = [(clinic.die_at, (step, after)) for step in range(len(clinic.STEPS)) for after in (False, True)]
STATEMENTS = [(clinic.die_at_statement, (count,)) for count in range(2, 40)]


def test_a_process_killed_at_any_step_leaves_a_true_ledger_and_a_receipt_to_redeem(
    tmp_path: Path, processes: Any
) -> None:
    """At least 200 questions are killed: 11 at every step of the walk, the others inside the ledger."""
    clinic.open_clinic(tmp_path, epsilon=1000).close()
    deaths = 0
    cases = CASES * (11 * DEPTH) + STATEMENTS
    for number, (deadly, arguments) in enumerate(cases):
        deaths += run(processes, clinic.ask_once, tmp_path, number, deadly, arguments) == -signal.SIGKILL
    assert deaths >= 200
    with clinic.open_clinic(tmp_path, epsilon=1000) as db:
        given = len(list(tmp_path.glob("answer-*")))
        receipts = db.receipts()
        released = [r for r in receipts if r.state is State.RELEASED]
        assert db.verify().problems == ()
        assert db.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        assert len(receipts) >= len(released) >= given
        owed = [r for r in receipts if r.state is State.OPEN]
        assert len(owed) >= 40
        for receipt in owed:
            first = db.redeem(receipt.id)
            again = db.redeem(receipt.id)
            assert first.rows == again.rows
            assert again.cached
        assert db.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        assert db.verify().problems == ()
        assert all(receipt.state is State.RELEASED for receipt in db.receipts())
