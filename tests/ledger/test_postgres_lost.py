"""Connections are lost, processes killed, Postgres crashes: a step is whole or nothing, and it is known which."""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest
from tests.depth import DEPTH, deep, thinned
from tests.ledger.support import TENTH, VISITS, ask, clinic, debit, in_child, kill_self, times
from tests.ledger.test_kill import STEPS
from tests.ledger.test_streams import NAME, append, begin, counting
from tests.servers.postgres import Postgres
from tests.servers.proxy import Cut, Proxy, wire_to

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import AppendOutcome, Ledger, PostgresLedger, ReceiptState
from jali.ledger.stores.postgres import store
from jali.privacy import Budget

# The wire is cut as a commit is sent.


@pytest.fixture
def wire(postgres: Postgres) -> Iterator[Proxy]:
    with wire_to(postgres.port) as made:
        yield made


@pytest.fixture
def ledger(wire: Proxy, postgres: Postgres, address: str) -> Iterator[PostgresLedger]:
    """A ledger that is reached over the wire."""
    with PostgresLedger(address.replace(f":{postgres.port}/", f":{wire.port}/")) as made:
        yield clinic(made)
        assert made.verify().problems == ()


def test_a_commit_that_was_made_and_not_answered_is_found(ledger: PostgresLedger, wire: Proxy) -> None:
    wire.cut = Cut.AFTER
    receipt = ask(ledger)
    assert wire.cuts == 1
    assert [found.id for found in ledger.receipts()] == [receipt]
    wire.cut = Cut.AFTER
    assert ledger.release(receipt, "42") == "42"
    assert ledger.begin(receipt, analyst="ana").answer == "42"
    assert ledger.spent(VISITS) == TENTH


def test_a_commit_that_never_arrived_is_said_to_have_spent_nothing(ledger: PostgresLedger, wire: Proxy) -> None:
    wire.cut = Cut.BEFORE
    with pytest.raises(LedgerError, match="was lost before the commit") as refusal:
        ask(ledger)
    assert "Nothing was spent" in str(refusal.value)
    assert (refusal.value.__context__, refusal.value.__cause__) == (None, None)
    assert ledger.receipts() == ()
    receipt = ask(ledger)
    wire.cut = Cut.BEFORE
    with pytest.raises(LedgerError, match="was lost before the commit"):
        ledger.release(receipt, "42")
    # Nothing was given: another draw may take its place.
    assert ledger.release(receipt, "43") == "43"
    assert ledger.spent(VISITS) == TENTH


@pytest.mark.parametrize("cut", Cut)
@pytest.mark.parametrize(
    "word", [b"pg_advisory", b"INSERT INTO entries", b"INSERT INTO accounts", b"INSERT INTO plans"]
)
def test_whatever_is_lost_before_the_commit_has_spent_nothing(
    ledger: PostgresLedger, wire: Proxy, word: bytes, cut: Cut
) -> None:
    wire.word, wire.cut = word, cut
    if word == b"pg_advisory":
        # Nothing was sent but the beginning: it is begun again unseen.
        ask(ledger)
    else:
        with pytest.raises(LedgerError, match="cannot be reached") as refusal:
            ask(ledger)
        assert "Nothing was spent" in str(refusal.value)
    assert wire.cuts == 1
    assert len(ledger.receipts()) == (word == b"pg_advisory")
    ask(ledger, key="another")
    assert ledger.verify().receipts == 1 + (word == b"pg_advisory")


def test_a_read_that_is_lost_is_no_answer(ledger: PostgresLedger, wire: Proxy) -> None:
    wire.word, wire.cut = b"FROM accounts", Cut.AFTER
    with pytest.raises(LedgerError, match="cannot be reached"):
        ledger.spent(VISITS)
    assert ledger.spent(VISITS).epsilon == 0


def test_items_whose_commit_was_lost_are_appended_again_and_counted_once(
    ledger: PostgresLedger, wire: Proxy
) -> None:
    begin(ledger)
    wire.cut = Cut.AFTER
    with pytest.raises(LedgerError, match="Try again"):
        append(ledger, "ana.1", "ben.1")
    assert append(ledger, "ana.1", "ben.1") == AppendOutcome(known=2)
    wire.cut = Cut.AFTER
    assert ledger.streams.publish(NAME, 1, counting)
    assert ledger.streams.values(NAME) == ("2",)


def test_an_outcome_that_nobody_can_tell_is_told_as_such_and_costs_nothing_twice(
    wire: Proxy, postgres: Postgres, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_PAUSE", 0.01)
    over = address.replace(f":{postgres.port}/", f":{wire.port}/")
    with PostgresLedger(over, patience=0.3) as ledger:
        clinic(ledger)
        target, wire.target = wire.target, 1  # no further connection comes through
        wire.cut = Cut.AFTER
        with pytest.raises(LedgerError, match="it is unknown whether the commit succeeded") as refusal:
            ask(ledger)
        assert "nothing is charged twice" in str(refusal.value)
        wire.target = target
        # As the database does it: the same question again takes up what was paid.
        again = ledger.reserve(
            analyst="ana", question="how many?", key="key", plan='{"plan": 1}', debits=(debit(),), resume=True
        )
        assert [found.id for found in ledger.receipts()] == [again]
        assert ledger.spent(VISITS) == TENTH
        assert ledger.verify().problems == ()


# Processes that are killed.


class Mortal:
    """Counts the messages of this process to Postgres, and kills it after some."""

    def __init__(self, last: int) -> None:
        self.said: list[str] = []
        self.last = last
        self._real = psycopg.Connection.execute

    def execute(self, connection: psycopg.Connection[Any], query: Any, *values: Any, **options: Any) -> Any:
        found = self._real(connection, query, *values, **options)
        self.said.append(str(query))
        if len(self.said) == self.last:
            kill_self()
        return found

    def patch(self) -> Any:
        # A function, not a method: it is called as one of the connection.
        return lambda *values, **options: self.execute(*values, **options)  # noqa: PLW0108


def dying_after(messages: int, action: Callable[[], Any]) -> Callable[[], None]:
    """Return `action` as a process runs it that is killed after so many messages (0: never)."""

    def run() -> None:
        psycopg.Connection.execute = Mortal(messages).patch()  # type: ignore[method-assign]
        action()

    return run


def script(monkeypatch: pytest.MonkeyPatch, action: Callable[[], Any]) -> list[str]:
    """Return the messages of `action`, in order."""
    mortal = Mortal(0)
    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", mortal.patch())
        action()
    return mortal.said


def state(place: str) -> tuple[Any, ...]:
    """Return all that a step may change, without names that differ by chance."""
    with PostgresLedger(place) as ledger:
        found = ledger.verify()
        assert found.problems == ()
        receipts = [(receipt.analyst, receipt.state, receipt.debits) for receipt in ledger.receipts()]
        published = [(stream.name, stream.published) for stream in ledger.streams.all()]
        return found.entries, found.open, found.spent, receipts, ledger.declarations(), published


ALL_STEPS: dict[str, Callable[[Ledger], Any]] = {
    **STEPS,
    "stream": lambda ledger: begin(ledger, "visitors"),
    "publish": lambda ledger: ledger.streams.publish(NAME, 5, counting),
}


def before_all_steps(place: str) -> None:
    with PostgresLedger(place) as ledger:
        clinic(ledger).declare("visits", "{}")
        ledger.release(ask(ledger), "42")
        ask(ledger, key="other")
        begin(ledger)
        append(ledger, "ana.1", "ben.1")


@thinned(4)
@pytest.mark.parametrize("name", ALL_STEPS)
def test_a_killed_step_is_whole_or_nothing(name: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One ledger suffers all deaths before the commit, as nothing of them may remain; then come those after it."""

    def run(place: str) -> None:
        with PostgresLedger(place) as ledger:
            ALL_STEPS[name](ledger)

    done = f"{address}_done"
    for place in (address, done):
        before_all_steps(place)
    before = state(address)
    messages = script(monkeypatch, lambda: run(done))
    after = state(done)
    assert after != before
    commit = next(i for i, message in enumerate(messages, 1) if message.endswith("; COMMIT"))
    for count in range(1, commit):
        assert in_child(dying_after(count, lambda count=count: run(address)))() == -9  # type: ignore[misc]
        assert state(address) == before
    assert in_child(dying_after(commit, lambda: run(address)))() == -9
    assert state(address) == after


@deep
@thinned(2)
@pytest.mark.parametrize("rest", [0, 1])
def test_a_ledger_killed_while_it_is_made_can_be_made_again(
    rest: int, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = script(monkeypatch, lambda: PostgresLedger(f"{address}_whole").close())
    for count in range(1, len(whole) + 1):
        if count % 2 != rest:
            continue
        place = f"{address}_{count}"
        assert in_child(dying_after(count, lambda place=place: PostgresLedger(place)))() == -9  # type: ignore[misc]
        with PostgresLedger(place) as ledger:
            ask(clinic(ledger))
            assert ledger.verify().problems == ()


def test_many_processes_may_make_the_same_ledger_at_once(address: str) -> None:
    def work() -> None:
        with PostgresLedger(address) as ledger:
            ask(clinic(ledger))

    children = [in_child(work) for _ in range(6)]
    assert [wait() for wait in children] == [0] * 6
    with PostgresLedger(address) as ledger:
        assert (ledger.verify().problems, ledger.verify().receipts) == ((), 6)


def test_what_a_killed_writer_held_is_free_at_once(address: str) -> None:
    def crash() -> None:
        with PostgresLedger(address) as mine, mine.store.writing():
            kill_self()

    with PostgresLedger(address) as ledger:
        clinic(ledger)
        for _ in range(3):
            assert in_child(crash)() == -9
            ask(ledger)
        assert ledger.spent(VISITS) == times(3)


# Postgres itself crashes.

SAYINGS = ("cannot be reached", "was lost before the commit", "it is unknown whether the commit succeeded")


@dataclass
class Told:
    """What one thread was told."""

    reserved: dict[str, str] = field(default_factory=dict)
    released: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    errors: list[LedgerError] = field(default_factory=list)


def work(ledger: Ledger, told: Told, number: int, stop: threading.Event) -> None:
    """Ask and answer as the database does: what failed is asked again under the same key."""
    key, turn = f"{number}.0", 0
    while not stop.is_set():
        told.asked.add(key)
        try:
            receipt = told.reserved[key] = ledger.reserve(
                analyst="ana", question="?", key=key, plan="{}", debits=(debit(epsilon="1/1000"),), resume=True
            )
            draw = f"{key} {secrets.token_hex(4)}"
            told.released[receipt] = ledger.release(receipt, draw)
        except LedgerError as error:
            told.errors.append(error)
            continue
        turn += 1
        key = f"{number}.{turn}"


def test_a_crash_of_postgres_in_the_middle_of_writes_loses_and_doubles_nothing(
    address: str, postgres: Postgres
) -> None:
    chance = random.Random(DEPTH)
    told = [Told() for _ in range(6)]
    with PostgresLedger(address) as ledger, PostgresLedger(address) as other:
        ledger.open_account(VISITS, Budget(1000))
        stop = threading.Event()
        threads = [
            threading.Thread(target=work, args=((ledger, other)[number % 2], mine, number, stop))
            for number, mine in enumerate(told)
        ]
        for thread in threads:
            thread.start()
        for crash in (True, False) * DEPTH:
            before = sum(len(one.released) for one in told)
            while sum(len(one.released) for one in told) < before + 5 + chance.randrange(40):
                stop.wait(0.002)
            postgres.restart(crash=crash)
        before = sum(len(one.released) for one in told)
        while sum(len(one.released) for one in told) < before + 30:
            stop.wait(0.002)
        stop.set()
        for thread in threads:
            thread.join()
        errors = [error for one in told for error in one.errors]
        assert errors
        assert all(any(saying in error.message for saying in SAYINGS) for error in errors), errors
        assert all((error.__context__, error.__cause__) == (None, None) for error in errors)
        found = ledger.verify()
        assert found.problems == ()
        receipts = {receipt.id: receipt for receipt in ledger.receipts()}
        # What was told is there, and each question was paid once, however often it had to be asked.
        for one in told:
            assert set(one.reserved.values()) <= set(receipts)
            for receipt, answer in one.released.items():
                assert ledger.begin(receipt, analyst="ana").answer == answer
        assert len(receipts) <= len({key for one in told for key in one.asked})
        assert ledger.spent(VISITS) == times(len(receipts), debit(epsilon="1/1000").event)
        for owed in receipts.values():
            if owed.state is ReceiptState.OPEN:
                assert ledger.begin(owed.id, analyst="ana").plan == "{}"
                assert ledger.release(owed.id, "late") == "late"


def test_processes_never_overspend_while_postgres_restarts(address: str, postgres: Postgres) -> None:
    """Four processes ask until they are refused; a lost step is tried again."""
    with PostgresLedger(address) as ledger:
        clinic(ledger, epsilon=10)

    def spend() -> None:
        while True:
            with suppress(LedgerError), PostgresLedger(address) as mine:
                spend_all(mine)
                return

    def spend_all(mine: Ledger) -> None:
        while True:
            try:
                ask(mine)
            except BudgetExceeded:
                return
            except LedgerError:
                continue

    waits = [in_child(spend) for _ in range(4)]
    for crash in (True, False):
        postgres.restart(crash=crash)
    assert [wait() for wait in waits] == [0] * 4
    with PostgresLedger(address) as ledger:
        assert ledger.spent(VISITS) == times(100)
        assert len(ledger.receipts()) == 100
        assert ledger.verify().problems == ()
