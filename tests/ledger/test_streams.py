"""Streams in the ledger: charged before they begin, frozen tick after tick, whole or nothing when killed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, thinned
from tests.ledger.earlier import downgrade
from tests.ledger.support import VISITS, ask, clinic, copy_ledger, debit, in_child, read_entries, rechain
from tests.ledger.test_kill import dying_after, script

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import (
    AppendOutcome,
    Arrival,
    AttendanceBounds,
    Debit,
    Ledger,
    SqliteLedger,
    StoredStream,
    stream_account,
)
from jali.ledger.chain import canonical
from jali.ledger.stores.sqlite.file import anchor_of
from jali.privacy import Budget, Pure

NAME = "admissions"
ACCOUNT = stream_account(NAME)
ONE = "[[0,1]]"


def begin(ledger: Ledger, name: str = NAME, epsilon: float = 1, declaration: str = "{}") -> StoredStream:
    account = stream_account(name)
    return ledger.streams.begin(
        name,
        declaration=declaration,
        question=f"stream {name}",
        key=f"key of {name}",
        analyst="curator",
        debits=(Debit(account, Pure(epsilon).event),),
        budgets=((account, Budget(1)),),
        state="[]",
    )


def counting(state: str, increments: Sequence[tuple[str, int]], ticks: int) -> tuple[str, list[str]]:
    """Publish the exact number so far; the state is all that was published."""
    told = json.loads(state)
    for tick in range(ticks):
        added = sum(count for _, count in increments) if tick == 0 else 0
        told.append((told[-1] if told else 0) + added)
    return json.dumps(told), [str(number) for number in told[len(told) - ticks :]]


def arrivals(*names: str) -> list[Arrival]:
    """Read items written as owner.item."""
    return [Arrival(owner, item, ONE) for owner, item in (name.split(".") for name in names)]


def append(ledger: Ledger, *names: str, bounds: AttendanceBounds = AttendanceBounds()) -> AppendOutcome:  # noqa: B008 - frozen
    return ledger.streams.append(NAME, arrivals(*names), bounds, None)


def counted(ledger: Ledger) -> list[tuple[str, str, int]]:
    """Return the owner, the key and the tick of every item that counts."""
    with ledger.store.reading() as connection:
        return list(
            connection.execute(
                "SELECT owner, item, tick FROM stream_items WHERE increments IS NOT NULL ORDER BY 1, 2"
            )
        )


# Made, appended to, published.


def test_the_whole_loss_is_charged_when_a_stream_is_made_and_never_again(ledger: Ledger) -> None:
    begin(ledger)
    assert ledger.spent(ACCOUNT) == Pure(1).event
    append(ledger, "ana.1", "ben.1")
    assert ledger.streams.publish(NAME, 3, counting)
    assert ledger.spent(ACCOUNT) == Pure(1).event
    assert ledger.streams.values(NAME) == ("2", "2", "2")
    assert ledger.streams.values(NAME, 2, 2) == ("2",)


def test_a_stream_that_is_made_again_is_the_first_one_and_costs_nothing(ledger: Ledger) -> None:
    first = begin(ledger)
    assert begin(ledger, declaration="other") == first
    assert begin(ledger, name=NAME.upper()).name == NAME
    assert ledger.streams.all() == (first,)
    assert ledger.verify().receipts == 1


def test_a_stream_beyond_its_budget_leaves_nothing_behind(ledger: Ledger) -> None:
    before = ledger.accounts(), ledger.verify().entries
    with pytest.raises(BudgetExceeded):
        begin(ledger, epsilon=1.5)
    assert (ledger.accounts(), ledger.verify().entries) == before
    assert ledger.streams.all() == ()


def test_what_was_published_is_not_published_again(ledger: Ledger) -> None:
    begin(ledger)
    append(ledger, "ana.1")
    ledger.streams.publish(NAME, 2, counting)

    def never(*_: object) -> tuple[str, list[str]]:
        raise AssertionError

    assert ledger.streams.publish(NAME, 2, never)
    assert ledger.streams.values(NAME) == ("1", "1")


def test_a_failing_mechanism_changes_nothing_and_its_words_stay_inside(ledger: Ledger) -> None:
    begin(ledger)
    append(ledger, "ana.1")

    def failing(*_: object) -> tuple[str, list[str]]:
        raise ValueError("ana was here")

    assert not ledger.streams.publish(NAME, 1, failing)
    assert ledger.streams.values(NAME) == ()
    assert append(ledger, "ana.1", "ben.1") == AppendOutcome(new=1, known=1)
    assert ledger.streams.publish(NAME, 1, counting)
    assert ledger.streams.values(NAME) == ("2",)


def test_an_item_is_known_by_its_owner_and_key_in_any_later_tick(ledger: Ledger) -> None:
    begin(ledger)
    wide = AttendanceBounds(ticks=9, items=9)
    assert append(ledger, "ana.1", "ana.1", "ben.1", bounds=wide) == AppendOutcome(new=2, known=1)
    ledger.streams.publish(NAME, 1, counting)
    assert append(ledger, "ana.1", "ben.1", "ana.2", bounds=wide) == AppendOutcome(new=1, known=2)


def test_after_the_horizon_nothing_enters(ledger: Ledger) -> None:
    begin(ledger)
    ledger.streams.publish(NAME, 2, counting)
    with pytest.raises(LedgerError, match="ticks of admissions are published"):
        ledger.streams.append(NAME, arrivals("ana.1"), AttendanceBounds(), 2)


def test_an_item_that_cannot_be_read_may_come_again_and_takes_nobodys_place(ledger: Ledger) -> None:
    begin(ledger)
    wrong, right = Arrival("ana", "1", None), Arrival("ana", "1", ONE)
    assert ledger.streams.append(NAME, [wrong], AttendanceBounds(), None) == AppendOutcome(unreadable=1)
    ledger.streams.publish(NAME, 1, counting)
    assert ledger.streams.append(NAME, [wrong, right, wrong], AttendanceBounds(), None) == AppendOutcome(
        new=1, unreadable=2
    )
    assert counted(ledger) == [("ana", "1", 2)]
    # One that was dropped stays known: in another tick it would be counted although its owner was there already.
    assert append(ledger, "ana.2") == AppendOutcome(dropped=1)
    ledger.streams.publish(NAME, 2, counting)
    assert append(ledger, "ana.2", bounds=AttendanceBounds(ticks=9)) == AppendOutcome(known=1)


# Participation: a reference that knows the sets of items alone.

BATCHES = st.lists(  # of ticks, each of batches, each of items
    st.lists(
        st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("123456"), st.booleans()), max_size=6),
        max_size=3,
    ),
    max_size=5,
)


def expected(
    ticks: list[list[list[tuple[str, str, bool]]]], bounds: AttendanceBounds
) -> list[tuple[str, str, int]]:
    """Say which items count, person by person: no batch, no order and nobody else is looked at.

    An item that cannot be read (False) is as if it had not come, and may come again as one that can.
    """
    found = []
    for owner in "abc":
        seen: set[str] = set()
        entered: list[int] = []
        for number, batches in enumerate(ticks, 1):
            own = {item for batch in batches for who, item, readable in batch if who == owner and readable}
            fresh = sorted(own - seen)
            seen |= own
            fits = not entered or (len(entered) < bounds.ticks and number - entered[-1] >= bounds.separation)
            if fresh and fits:
                entered.append(number)
                found += [(owner, item, number) for item in fresh[: bounds.items]]
    return sorted(found)


@settings(max_examples=60, deadline=None)
@given(
    BATCHES,
    st.builds(AttendanceBounds, ticks=st.integers(1, 3), separation=st.integers(1, 3), items=st.integers(1, 3)),
)
def test_which_items_count_depends_on_their_own_owner_alone(
    ticks: list[list[list[tuple[str, str, bool]]]], bounds: AttendanceBounds
) -> None:
    with SqliteLedger(None) as ledger:
        begin(ledger)
        total = AppendOutcome()
        for number, batches in enumerate(ticks, 1):
            for batch in batches:
                made = [Arrival(owner, item, ONE if readable else None) for owner, item, readable in batch]
                got = ledger.streams.append(NAME, made, bounds, None)
                total = AppendOutcome(*(a + b for a, b in zip(astuple(total), astuple(got), strict=True)))
            ledger.streams.publish(NAME, number, counting)
        assert counted(ledger) == expected(ticks, bounds)
        sent = [item for batches in ticks for batch in batches for item in batch]
        different = len({(who, item) for who, item, readable in sent if readable})
        assert total.unreadable == sum(not readable for _, _, readable in sent)
        assert total.known == len(sent) - total.unreadable - different
        assert total.dropped == different - len(counted(ledger))
        assert ledger.verify().problems == ()


# The file.


def test_a_ledger_of_an_earlier_schema_gets_streams_with_its_first_one(path: Path) -> None:
    for older in (False, True):
        path.unlink(missing_ok=True)
        anchor_of(path).path.unlink(missing_ok=True)
        with SqliteLedger(path) as ledger:
            ledger.release(ask(clinic(ledger)), "42")
        if older:
            downgrade(path, 1)
        with SqliteLedger(path) as ledger:
            assert ledger.streams.all() == ()
            assert ledger.verify().problems == ()
            begin(ledger)
            append(ledger, "ana.1")
            ledger.streams.publish(NAME, 1, counting)
        with SqliteLedger(path) as ledger:
            assert ledger.streams.values(NAME) == ("1",)
            ask(ledger, debit(VISITS))
            assert ledger.verify().problems == ()


def lived(path: Path) -> None:
    """Make a ledger with a stream of two people and three ticks, and items in the open one."""
    with SqliteLedger(path) as ledger:
        begin(ledger)
        append(ledger, "ana.1", "ben.1")
        ledger.streams.publish(NAME, 3, counting)
        append(ledger, "cai.1", "ana.2")


WAYS_IN = (
    "UPDATE stream_values SET body = '7' WHERE tick = 2",
    "DELETE FROM stream_values WHERE tick = 3",
    "INSERT OR REPLACE INTO stream_values SELECT stream, tick, '7', entry FROM stream_values WHERE tick = 3",
    "INSERT INTO stream_values SELECT stream, 5, '7', entry FROM stream_values WHERE tick = 3",
    "UPDATE stream_states SET body = '[]'",
    "UPDATE stream_states SET tick = 2",
    "INSERT OR REPLACE INTO stream_states SELECT stream, 0, '[]', mark FROM stream_states",
    "DELETE FROM stream_states",
    "UPDATE streams SET published = 2",
    "UPDATE streams SET published = 7",
    "DELETE FROM streams",
    "UPDATE stream_items SET increments = NULL WHERE owner = 'ana' AND item = '1'",
    "INSERT INTO stream_items SELECT stream, 'eli', '1', 2, increments, mark FROM stream_items"
    " WHERE owner = 'ben'",
    "DELETE FROM stream_items",
    "DELETE FROM stream_people",
)


@pytest.mark.parametrize("statement", WAYS_IN)
def test_the_file_refuses_to_change_what_was_published(path: Path, statement: str) -> None:
    lived(path)
    with sqlite3.connect(path) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute(statement)
    raw.close()


FALSIFIED = (
    *(w for w in WAYS_IN if "stream_states SET body" not in w and "SET increments = NULL" not in w),
    "UPDATE stream_people SET ticks = 0 WHERE owner = 'ana'",
    "UPDATE stream_items SET increments = NULL WHERE owner = 'ben'",
    "UPDATE stream_items SET tick = 9 WHERE owner = 'ben'",
    "INSERT INTO stream_people SELECT 99, 'zoe', ticks, last, items, mark FROM stream_people WHERE owner = 'ana'",
)


@pytest.mark.parametrize("statement", FALSIFIED)
def test_verify_finds_what_went_past_the_triggers_and_names_nobody(path: Path, statement: str) -> None:
    lived(path)
    with sqlite3.connect(path) as raw:
        for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {trigger}")
        raw.execute(statement)
    raw.close()
    with SqliteLedger(path) as ledger:
        problems = ledger.verify().problems
    assert problems != ()
    assert not any(owner in problem for problem in problems for owner in ("ana", "ben", "cai", "zoe", "eli"))


def rechained(path: Path, change: Callable[[list[tuple[str, dict[str, Any]]]], None]) -> None:
    """Change the entries and compute the chain anew, as someone who may write the file could."""
    with sqlite3.connect(path) as raw:
        entries = [(kind, json.loads(body)) for kind, body in read_entries(raw)]
        change(entries)
        for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {trigger}")
        rechain(raw, [(kind, canonical(body)) for kind, body in entries])
    raw.close()


def _tick_twice(entries: list[tuple[str, dict[str, Any]]]) -> None:
    entries.append(entries[-1])


def _tick_of_nothing(entries: list[tuple[str, dict[str, Any]]]) -> None:
    entries.append(("tick", {"stream": "other", "tick": 1, "value": "0" * 64}))


def _stream_twice(entries: list[tuple[str, dict[str, Any]]]) -> None:
    entries.append(next(entry for entry in entries if entry[0] == "stream"))


def _stream_on_anothers_receipt(entries: list[tuple[str, dict[str, Any]]]) -> None:
    kind, body = next(entry for entry in entries if entry[0] == "stream")
    entries.append((kind, body | {"stream": "other"}))


def _stream_without_receipt(entries: list[tuple[str, dict[str, Any]]]) -> None:
    entries.append(("stream", {"stream": "other", "receipt": "none", "at": "now"}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_tick_twice, "publishes tick 3 of admissions after 3"),
        (_tick_of_nothing, "never begun"),
        (_stream_twice, "a second time"),
        (_stream_on_anothers_receipt, "another stream has paid"),
        (_stream_without_receipt, "before its loss was charged"),
    ],
)
def test_entries_that_no_stream_could_have_made_are_found(
    path: Path, change: Callable[[list[tuple[str, dict[str, Any]]]], None], said: str
) -> None:
    lived(path)
    rechained(path, change)
    with SqliteLedger(path, checked=False) as ledger:
        assert any(said in problem for problem in ledger.verify().problems)


# Killed.

STEPS: dict[str, Callable[[Ledger], Any]] = {
    "begin": lambda ledger: begin(ledger, "visitors"),
    "first": lambda ledger: begin(ledger, "visitors"),
    "append": lambda ledger: append(ledger, "ana.2", "eli.1", "cai.0"),
    "publish": lambda ledger: ledger.streams.publish(NAME, 5, counting),
}


def everything(path: Path) -> dict[str, list[Any]]:
    """Return all rows of a file but names that differ by chance, and times."""
    with SqliteLedger(path) as ledger:
        assert ledger.verify().problems == ()
        receipts = [(receipt.question, receipt.state, receipt.debits) for receipt in ledger.receipts()]
        streams = [(s.seq, s.name, s.declaration, s.published) for s in ledger.streams.all()]
    found: dict[str, list[Any]] = {"receipts": receipts, "streams": streams}
    with sqlite3.connect(path) as raw:
        tables = raw.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'stream%'")
        for (table,) in tables.fetchall():
            if table != "streams":
                rows = raw.execute(f"SELECT * FROM {table} ORDER BY 1, 2")
                # Marks are keyed by chance; `verify` has checked them.
                shown = [i for i, column in enumerate(rows.description) if column[0] != "mark"]
                found[table] = [tuple(row[i] for i in shown) for row in rows]
    raw.close()
    return found


@thinned(2)
@pytest.mark.parametrize("name", STEPS)
def test_a_killed_step_of_a_stream_is_whole_or_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "base.jali"
    if name == "first":
        SqliteLedger(base).close()
    else:
        lived(base)
    before = everything(base)

    def run(path: Path) -> None:
        STEPS[name](SqliteLedger(path))

    done = tmp_path / "done.jali"
    copy_ledger(base, done)
    statements = script(monkeypatch, lambda: run(done))
    after = everything(done)
    assert after != before
    commit = len(statements) - statements[::-1].index("COMMIT")
    assert "BEGIN IMMEDIATE" in statements[:commit]
    for count in range(1, len(statements) + 1):
        if DEPTH == 1 and count % 4 and abs(count - commit) > 2:
            continue
        path = tmp_path / f"{count}.jali"
        copy_ledger(base, path)
        assert in_child(dying_after(count, partial(run, path)))() == -9
        assert everything(path) == (after if count >= commit else before)
