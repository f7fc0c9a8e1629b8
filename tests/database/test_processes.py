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

from jali.ledger import ReceiptState

# Of eight processes together, and kills at every step of the walk.
ASKS = 240 if DEPTH == 1 else 1200
KILLS = 3 if DEPTH == 1 else 11 * DEPTH


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
    """Each asks so often that together they want twice the budget; in deep runs that is 1,200 questions."""
    each, most = ASKS // 8, Fraction(ASKS, 20)
    clinic.open_clinic(tmp_path, epsilon=most).close()
    children = [
        processes.Process(target=clinic.ask_many, args=(tmp_path, first, each, "1/10", most))
        for first in range(0, ASKS, each)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 8
    answered = sum(int(path.read_text()) for path in tmp_path.glob("count-*"))
    with clinic.open_clinic(tmp_path, epsilon=most) as db:
        assert answered == ASKS // 2
        assert db.ledger.accounts()[0].spent.epsilon == most
        assert db.remaining("visits").epsilon == 0
        assert len(db.receipts()) == ASKS // 2
        assert {receipt.state for receipt in db.receipts()} == {ReceiptState.RELEASED}
        assert db.verify().problems == ()


CASES = [(clinic.die_at, (step, after)) for step in range(len(clinic.STEPS)) for after in (False, True)]
STATEMENTS = [(clinic.die_at_statement, (count,)) for count in range(2, 40)]


def test_a_process_killed_at_any_step_leaves_a_true_ledger_and_a_receipt_to_redeem(
    tmp_path: Path, processes: Any
) -> None:
    """So many questions are killed at every step of the walk, the others inside the ledger."""
    clinic.open_clinic(tmp_path, epsilon=1000).close()
    deaths = 0
    cases = CASES * KILLS + STATEMENTS
    for number, (deadly, arguments) in enumerate(cases):
        deaths += run(processes, clinic.ask_once, tmp_path, number, deadly, arguments) == -signal.SIGKILL
    assert deaths >= len(CASES) * KILLS + 24
    with clinic.open_clinic(tmp_path, epsilon=1000) as db:
        given = len(list(tmp_path.glob("answer-*")))
        receipts = db.receipts()
        released = [r for r in receipts if r.state is ReceiptState.RELEASED]
        assert db.verify().problems == ()
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        assert len(receipts) >= len(released) >= given
        owed = [r for r in receipts if r.state is ReceiptState.OPEN]
        # The debit is written, the answer is not: before or after six of the steps.
        assert len(owed) >= 6 * KILLS
        for receipt in owed:
            first = db.redeem(receipt.id)
            again = db.redeem(receipt.id)
            assert first.rows == again.rows
            assert again.cached
        assert db.ledger.accounts()[0].spent.epsilon == Fraction(len(receipts), 10)
        assert db.verify().problems == ()
        assert all(receipt.state is ReceiptState.RELEASED for receipt in db.receipts())
