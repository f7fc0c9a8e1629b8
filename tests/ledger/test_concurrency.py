"""Many processes and threads at once: nothing is overspent, lost, or answered twice."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.depth import DEPTH, thinned
from tests.ledger.conftest import Open
from tests.ledger.support import ANA, BEN, TENTH, VISITS, ask, behind_python, clinic, debit, in_child, times

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import Ledger, SqliteLedger
from jali.privacy import NOTHING, Budget

TINY = debit(ANA, "1/100000")


def together(count: int, action: Callable[[int], str]) -> list[str]:
    """Run `action` in `count` processes that start at the same moment, and return what each of them says."""
    start, go = os.pipe()
    pipes = [os.pipe() for _ in range(count)]

    def work(number: int) -> None:
        os.close(go)
        os.read(start, 1)
        os.write(pipes[number][1], action(number).encode())

    children = [in_child(partial(work, number)) for number in range(count)]
    os.close(start)
    os.close(go)
    assert [wait() for wait in children] == [0] * count
    return [_read_all(*pipe) for pipe in pipes]


def _read_all(out: int, into: int) -> str:
    os.close(into)  # a child that had nothing to say left its pipe empty: the read must meet its end
    with os.fdopen(out, "rb") as stream:
        return stream.read().decode()


def reserve_until_refused(ledger: Ledger, most: int) -> list[str]:
    names: list[str] = []
    for _ in range(most):
        try:
            names.append(ask(ledger, debit(), TINY))
        except BudgetExceeded:
            return names
    return names


@thinned(2)
def test_eight_processes_never_overspend_and_never_lose_a_debit(opened: Open) -> None:
    with opened() as ledger:
        clinic(ledger, epsilon=25 * DEPTH)

    def work(_: int) -> str:
        with opened() as mine:
            return " ".join(reserve_until_refused(mine, 40 * DEPTH))

    names = " ".join(together(8, work)).split()
    with opened() as ledger:
        assert sorted(names) == sorted(receipt.id for receipt in ledger.receipts())
        assert len(names) == 250 * DEPTH
        assert ledger.spent(VISITS) == times(250 * DEPTH)
        assert ledger.spent(ANA) == times(250 * DEPTH, TINY.event)
        assert ledger.verify().problems == ()


@thinned(2)
def test_eight_threads_never_overspend_and_never_lose_a_debit(opened: Open) -> None:
    with opened() as ledger:
        clinic(ledger, epsilon=20)
        names: list[str] = []
        threads = [
            threading.Thread(target=lambda: names.extend(reserve_until_refused(ledger, 40))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(names) == sorted(receipt.id for receipt in ledger.receipts())
        assert ledger.spent(VISITS) == times(200)
        assert ledger.verify().problems == ()


def test_of_two_processes_that_release_at_once_both_give_the_same_answer(opened: Open) -> None:
    with opened() as ledger:
        receipts = [ask(clinic(ledger)) for _ in range(20)]

    def work(number: int) -> str:
        with opened() as mine:
            return " ".join(mine.release(receipt, f"answer-of-{number}") for receipt in receipts)

    first, second = together(2, work)
    assert first == second
    with opened() as ledger:
        assert " ".join(ledger.begin(receipt, analyst="ana").answer or "" for receipt in receipts) == first
        assert ledger.verify().problems == ()


@thinned(2)
def test_processes_that_redeem_at_once_share_the_five_attempts(opened: Open) -> None:
    with opened() as ledger:
        receipt = ask(clinic(ledger))

    def work(_: int) -> str:
        with opened() as mine:
            try:
                return mine.begin(receipt, analyst="ana").plan
            except LedgerError:
                return "refused"

    assert sorted(together(8, work)) == ["refused"] * 4 + ['{"plan": 1}'] * 4


def test_an_analyst_in_many_processes_pays_once_for_what_is_recalled(opened: Open) -> None:
    with opened() as ledger:
        ledger.release(ask(clinic(ledger)), "42")

    def work(_: int) -> str:
        with opened() as mine:
            found = mine.recall("key", analyst="ben", grant=debit(BEN))
            return "" if found is None else found.answer or ""

    assert together(6, work) == ["42"] * 6
    with opened() as ledger:
        assert ledger.spent(BEN) == ledger.spent(VISITS) == TENTH
        assert ledger.verify().problems == ()


def test_a_forked_child_keeps_its_debits_when_its_parent_closes_the_ledger(opened: Open) -> None:
    """With an inherited or merely reopened connection, the child's last debit goes to a deleted journal."""
    ledger = clinic(opened())
    parents, to_child = os.pipe()
    childs, to_parent = os.pipe()

    def work() -> None:
        ask(ledger)
        os.write(to_parent, b"!")
        os.read(parents, 1)
        ask(ledger)

    ask(ledger)
    wait = in_child(work)
    os.read(childs, 1)
    ask(ledger)
    ledger.close()
    os.write(to_child, b"!")
    assert wait() == 0
    for end in (parents, to_child, childs, to_parent):
        os.close(end)
    with opened() as again:
        assert again.spent(VISITS) == times(4)
        assert again.verify().problems == ()


@thinned(2)
def test_forking_while_other_threads_write_neither_deadlocks_nor_loses(opened: Open) -> None:
    with opened() as ledger, opened() as other:
        clinic(ledger, epsilon=100)
        stop = threading.Event()
        counts = [0, 0]

        def write(number: int, mine: Ledger) -> None:
            while not stop.is_set():
                ask(mine, debit(epsilon="1/100"))
                counts[number] += 1

        threads = [threading.Thread(target=write, args=pair) for pair in enumerate((ledger, other))]
        for thread in threads:
            thread.start()
        children = [in_child(lambda: ask(ledger, debit(epsilon="1/100"))) for _ in range(10)]
        assert [wait() for wait in children] == [0] * 10
        stop.set()
        for thread in threads:
            thread.join()
        assert ledger.spent(VISITS) == times(sum(counts) + 10, debit(epsilon="1/100").event)
        assert ledger.verify().problems == ()


def test_a_budget_in_memory_is_not_doubled_by_a_fork() -> None:
    ledger = clinic(SqliteLedger(None))

    def work() -> None:
        with pytest.raises(LedgerError, match="belongs to the process"):
            ask(ledger)

    assert in_child(work)() == 0
    assert ledger.spent(VISITS) == NOTHING


def test_a_fork_behind_the_back_of_python_cannot_use_the_ledger(path: Path) -> None:
    def work() -> None:
        with clinic(SqliteLedger(path)) as ledger:

            def refused() -> int:
                with pytest.raises(LedgerError):
                    ask(ledger)
                return 7

            assert behind_python(refused) == 7
            ask(ledger)
            assert ledger.spent(VISITS) == TENTH

    assert in_child(work)() == 0


def test_a_forked_child_of_a_closed_ledger_finds_it_closed(opened: Open) -> None:
    ledger = clinic(opened())
    ledger.close()

    def work() -> None:
        with pytest.raises(LedgerError, match="closed"):
            ask(ledger)

    assert in_child(work)() == 0


def test_two_ledger_objects_in_one_process_share_one_budget(opened: Open) -> None:
    with opened() as first, opened() as second:
        first.open_account(VISITS, Budget(1))
        ask(first, debit(VISITS, 0.6))
        with pytest.raises(BudgetExceeded):
            ask(second, debit(VISITS, 0.6))


def test_a_child_of_an_unseen_fork_cannot_open_the_file_anew(path: Path) -> None:
    """Its new connection would believe in its parent's file locks, and what it commits would be lost."""

    def work() -> None:
        with clinic(SqliteLedger(path)) as ledger:
            ask(ledger)

            def refused() -> int:
                with pytest.raises(LedgerError, match="forked while the ledger was in use"):
                    ask(SqliteLedger(path))
                return 7

            assert behind_python(refused) == 7
            ask(ledger)

    assert in_child(work)() == 0
    with SqliteLedger(path) as again:
        assert again.spent(VISITS) == times(2)
        assert again.verify().problems == ()


def test_a_child_of_a_fork_during_a_long_transaction_cannot_open_the_file_anew(path: Path) -> None:
    with clinic(SqliteLedger(path, patience=0.05)) as ledger, ledger.store.reading():

        def reopen() -> None:
            with pytest.raises(LedgerError, match="forked while"):
                ask(SqliteLedger(path))

        assert in_child(reopen)() == 0


def test_an_interrupt_while_waiting_for_the_file_leaves_no_transaction_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jali.ledger.stores.sqlite import store

    with clinic(SqliteLedger(path)) as ledger:
        assert isinstance(ledger.store, store.SqliteStore)
        connection = ledger.store._connect()

        class Interrupted:
            in_transaction = property(lambda _: connection.in_transaction)

            def execute(self, statement: str) -> object:
                done = connection.execute(statement)
                if statement.startswith("BEGIN"):
                    raise KeyboardInterrupt
                return done

        with pytest.raises(KeyboardInterrupt), store._transaction(Interrupted(), "BEGIN IMMEDIATE"):  # type: ignore[arg-type]
            pass
        assert not connection.in_transaction
        ask(ledger)
