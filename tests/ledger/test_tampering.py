"""Every way to falsify a ledger is found by `verify`, also with a chain that was computed anew."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.support import ANA, BEN, VISITS, ask, clinic, debit, read_entries, rechain, times

from jali.ledger import SqliteLedger
from jali.ledger.chain import FORM, GENESIS, canonical, fingerprint, link
from jali.privacy import Budget

Body = dict[str, Any]


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    """A ledger with one entry of every kind, open to a falsifier who has dropped the triggers."""
    with SqliteLedger(path) as ledger:
        clinic(ledger).declare("visits", "{}")
        ledger.refresh("visits")
        first = ask(ledger, debit(), debit(ANA))
        ledger.begin(first, analyst="ana")
        ledger.release(first, "42")
        ledger.recall("key", analyst="ben", grant=debit(BEN))
        ask(ledger, key="other")
        assert ledger.verify().problems == ()
    connection = sqlite3.connect(path, isolation_level=None)
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    yield connection
    connection.close()


def problems(path: Path, noted: str | None = None) -> str:
    with SqliteLedger(path, checked=False) as ledger:
        return "\n".join(ledger.verify(noted=noted).problems)


def first_receipt(raw: sqlite3.Connection) -> str:
    return str(raw.execute("SELECT id FROM receipts ORDER BY seq").fetchone()[0])


STATEMENTS = {
    "body": ("UPDATE entries SET body = replace(body, '1/10', '1/20')", "digest that is not its own"),
    "kind": ("UPDATE entries SET kind = 'open' WHERE kind = 'see'", "digest that is not its own"),
    "previous": (f"UPDATE entries SET previous = '{GENESIS}' WHERE seq = 3", "does not follow"),
    "digest": (f"UPDATE entries SET digest = '{GENESIS}' WHERE seq = 3", "digest that is not its own"),
    "digest type": ("UPDATE entries SET digest = x'00' WHERE seq = 3", "digest that is not its own"),
    "bytes": ("UPDATE entries SET body = x'00' WHERE seq = 3", "cannot be read"),
    "first entry": ("DELETE FROM entries WHERE seq = 1", "is where entry 1 should be"),
    "middle entry": ("DELETE FROM entries WHERE seq = 5", "is where entry 5 should be"),
    "last entry": ("DELETE FROM entries WHERE seq = (SELECT max(seq) FROM entries)", "does not follow from"),
    "all entries": ("DELETE FROM entries", "does not follow from the entries"),
    "plan": ("UPDATE plans SET body = '{}'", "in plans is not the one"),
    "missing plan": ("DELETE FROM plans", "in plans is missing"),
    "extra plan": ("INSERT INTO plans VALUES ('x', '{}')", "x in plans is not the one"),
    "answer": ("UPDATE answers SET body = '43'", "in answers is not the one"),
    "missing answer": ("DELETE FROM answers", "in answers is missing"),
    "extra answer": ("INSERT INTO answers SELECT id, '1' FROM receipts WHERE released IS NULL", "in answers"),
    "sum": ("UPDATE accounts SET spent = replace(spent, '1/10', '1/20')", "row of accounts"),
    "budget": ("UPDATE accounts SET budget = replace(budget, '\"3\"', '\"4\"')", "row of accounts"),
    "missing account": (f"DELETE FROM accounts WHERE name = '{VISITS}'", "row of accounts is missing"),
    "extra account": ("INSERT INTO accounts VALUES (99, 'x', '{}', '{}', 1)", "row of accounts does not follow"),
    "state": ("UPDATE receipts SET released = NULL", "row of receipts"),
    "attempts": ("UPDATE receipts SET attempts = 1", "row of receipts"),
    "analyst": ("UPDATE receipts SET analyst = 'eve'", "row of receipts"),
    "key": ("UPDATE receipts SET key = 'x'", "row of receipts"),
    "question": ("UPDATE receipts SET question = 'x'", "row of receipts"),
    "debits": ("UPDATE receipts SET debits = '[]'", "row of receipts"),
    "time": ("UPDATE receipts SET at = 'x'", "row of receipts"),
    "seen": ("INSERT INTO seen SELECT id, 'eve', 1 FROM receipts LIMIT 1", "row of seen does not follow"),
    "unseen": ("DELETE FROM seen", "row of seen is missing"),
    "declaration": ("UPDATE declarations SET body = '[]'", "row of declarations"),
    "version": ("UPDATE declarations SET version = 2", "row of declarations"),
    "data version": ("UPDATE declarations SET data_version = 1", "row of declarations"),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_changed_row_is_found(name: str, raw: sqlite3.Connection, path: Path) -> None:
    statement, finding = STATEMENTS[name]
    assert raw.execute(statement).rowcount > 0
    assert finding in problems(path)


def test_swapped_entries_are_found(raw: sqlite3.Connection, path: Path) -> None:
    for old, new in ((4, 99), (5, 4), (99, 5)):
        raw.execute("UPDATE entries SET seq = ? WHERE seq = ?", (new, old))
    assert "does not follow the entry before it" in problems(path)


def edit(kind: str, change: Callable[[Body], Any], place: int = 0) -> Callable[[list[tuple[str, str]]], None]:
    """Return a change of the body of one entry of a kind."""

    def apply(entries: list[tuple[str, str]]) -> None:
        index = [number for number, (found, _) in enumerate(entries) if found == kind][place]
        body = json.loads(entries[index][1])
        change(body)
        entries[index] = kind, canonical(body)

    return apply


def repeat(kind: str) -> Callable[[list[tuple[str, str]]], None]:
    """Return a change that writes an entry of a kind twice."""
    return lambda entries: entries.append(next(entry for entry in entries if entry[0] == kind))


def drop(kind: str, place: int = 0) -> Callable[[list[tuple[str, str]]], None]:
    """Return a change that leaves out an entry of a kind."""
    return lambda entries: entries.remove([entry for entry in entries if entry[0] == kind][place])


def add(kind: str, **body: Any) -> Callable[[list[tuple[str, str]]], None]:
    """Return a change that appends an entry."""
    return lambda entries: entries.append((kind, canonical(body)))


def move_last_first(entries: list[tuple[str, str]]) -> None:
    entries.insert(0, entries.pop())


def set_epsilon(text: str | None) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        body["debits"][0]["event"]["epsilon"] = text

    return change


REWRITINGS = {
    "cheaper debit": (edit("reserve", set_epsilon("1/20")), "row of accounts"),
    "dearer debit": (edit("reserve", set_epsilon("31/10")), "more than its budget admits"),
    "dearer sight": (edit("see", set_epsilon("11/10")), "more than its budget admits"),
    "refund": (edit("reserve", set_epsilon("-1/10")), "what cannot be charged"),
    "long debit": (edit("reserve", set_epsilon(f"1/{7**2000}")), "what cannot be charged"),
    "endless debit": (edit("reserve", set_epsilon(f"1/{7**5000}")), "cannot be read"),
    "endless budget": (
        edit("open", lambda body: body["budget"].update(epsilon=str(7**5000))),
        "cannot be read",
    ),
    "no number": (edit("reserve", set_epsilon("much")), "cannot be read"),
    "division by zero": (edit("reserve", set_epsilon("1/0")), "cannot be read"),
    "another spelling": (edit("reserve", set_epsilon("0.1")), "cannot be read"),
    "no debit": (edit("reserve", lambda body: body["debits"].clear()), "reserves without a debit"),
    "free for the table": (edit("reserve", lambda body: body["debits"].pop(0)), "row of accounts"),
    "unknown account": (edit("reserve", lambda body: body["debits"][0].update(account="x")), "never opened"),
    "table pays for a sight": (
        edit("see", lambda body: body["debits"][0].update(account=VISITS)),
        "charges others",
    ),
    "larger budget": (edit("open", lambda body: body["budget"].update(epsilon="9")), "row of accounts"),
    "second budget": (repeat("open"), "a second time"),
    "second reservation": (repeat("reserve"), "reserves"),
    "second release": (repeat("release"), "releases"),
    "second sight": (repeat("see"), "charges ben again"),
    "sight by the owner": (edit("see", lambda body: body.update(analyst="ana")), "charges ana again"),
    "forgotten reservation": (drop("reserve"), "which was never reserved"),
    "forgotten open reservation": (drop("reserve", 1), "row of accounts"),
    "forgotten release": (drop("release"), "before its release"),
    "forgotten sight": (drop("see"), "row of seen"),
    "forgotten attempt": (drop("attempt"), "row of receipts"),
    "release of nothing": (add("release", receipt="x", answer="y"), "never reserved"),
    "attempt at nothing": (add("attempt", receipt="x", attempt=2, at=""), "never reserved"),
    "sight of nothing": (add("see", receipt="x", analyst="y", debits=[], at=""), "never reserved"),
    "skipped attempt": (edit("attempt", lambda body: body.update(attempt=3)), "is attempt 3"),
    "attempt after release": (repeat("attempt"), "after its release"),
    "skipped version": (edit("declare", lambda body: body.update(version=2)), "skips a version"),
    "skipped data version": (
        edit("refresh", lambda body: body.update(data_version=3)),
        "skips a data version",
    ),
    "refresh of nothing": (edit("refresh", lambda body: body.update(name="x")), "cannot be read"),
    "timed release": (edit("release", lambda body: body.update(at="now")), "Jali never writes"),
    "wrong type": (edit("reserve", lambda body: body.update(question={"a": 1})), "Jali never writes"),
    "unknown kind": (add("refund", receipt="x"), "Jali never writes"),
    "not canonical": (lambda entries: entries.append(("open", "{ }")), "Jali never writes"),
    "not an object": (lambda entries: entries.append(("open", "[]")), "cannot be read"),
    "not JSON": (lambda entries: entries.append(("open", "{")), "cannot be read"),
    "plan digest": (edit("reserve", lambda body: body.update(plan=fingerprint("x"))), "in plans is not"),
    "answer digest": (
        edit("release", lambda body: body.update(answer=fingerprint("x"))),
        "in answers is not",
    ),
    "another order": (move_last_first, "never opened"),
}


@pytest.mark.parametrize("name", REWRITINGS)
def test_a_rewritten_chain_is_found_by_its_meaning(name: str, raw: sqlite3.Connection, path: Path) -> None:
    change, finding = REWRITINGS[name]
    entries = read_entries(raw)
    change(entries)
    rechain(raw, entries)
    found = problems(path)
    assert finding in found
    assert "digest that is not its own" not in found


def test_a_sixth_attempt_is_found(raw: sqlite3.Connection, path: Path) -> None:
    entries = read_entries(raw)
    receipt = raw.execute("SELECT id FROM receipts WHERE released IS NULL").fetchone()[0]
    for attempt in range(2, 7):
        entries.append(("attempt", canonical({"receipt": receipt, "attempt": attempt, "at": ""})))
    rechain(raw, entries)
    raw.execute("UPDATE receipts SET attempts = 6 WHERE id = ?", (receipt,))
    assert f"Entry {len(entries)} is attempt 6 of {receipt} after 5." in problems(path)


def test_an_overspent_account_with_consistent_sums_is_found(raw: sqlite3.Connection, path: Path) -> None:
    raw.execute("UPDATE accounts SET budget = replace(budget, '\"3\"', '\"1/5\"')")
    entries = read_entries(raw)
    edit("open", lambda body: body["budget"].update(epsilon="1/10"))(entries)
    rechain(raw, entries)
    assert "more than its budget admits" in problems(path)


def test_a_cut_tail_is_found_if_a_later_head_was_noted(path: Path) -> None:
    old = path.with_name("old.jali")
    with SqliteLedger(path) as ledger:
        ask(clinic(ledger))
    shutil.copy(path, old)
    with SqliteLedger(path) as ledger:
        early = ledger.verify().head
        ask(ledger)
        late = ledger.verify().head
        assert ledger.verify(noted=early).problems == ledger.verify(noted=late).problems == ()
    path.unlink()
    old.rename(path)
    assert problems(path) == ""  # an older copy is a sound ledger: only a note made elsewhere tells
    assert problems(path, noted=early) == ""
    assert "noted head is not in the chain" in problems(path, noted=late)


def test_a_sound_ledger_is_summed_up(path: Path) -> None:
    with SqliteLedger(path) as ledger:
        clinic(ledger)
        ledger.release(ask(ledger, debit(), debit(ANA)), "42")
        ask(ledger)
        found = ledger.verify()
        assert (found.entries, found.receipts, found.open, found.problems) == (6, 2, 1, ())
        assert found.spent[VISITS] == times(2)
        assert found.spent[ANA] == times(1)
        assert ledger.budget(BEN) == Budget(1)


def test_an_empty_ledger_is_sound() -> None:
    found = SqliteLedger(None).verify()
    assert (found.entries, found.receipts, found.open, found.spent, found.problems) == (0, 0, 0, {}, ())
    assert found.head == GENESIS


def test_the_digest_of_an_entry_is_fixed_for_ever() -> None:
    expected = fingerprint(GENESIS + '[1,"open","{\\"a\\":\\"\\\\u00eb\\"}"]')
    assert link(GENESIS, 1, "open", canonical({"a": "ë"})) == expected
    formed = fingerprint(GENESIS + '[1,"open","{\\"a\\":\\"\\\\u00eb\\"}",2]')
    assert link(GENESIS, 1, "open", canonical({"a": "ë"}), FORM) == formed
    assert fingerprint("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
