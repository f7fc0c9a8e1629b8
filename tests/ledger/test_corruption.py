"""A changed byte of a ledger is an error or changes nothing: never a budget, an answer or a sum.

Every byte of a small ledger is changed in deep runs, and some hundred otherwise. After each change, all that a
question does with a ledger is done: each step gives what it gives without the change, or a `LedgerError`, or finds
nothing where that lets nobody in or charges again. `verify`
finds the change, unless nothing that is stored has changed by it (free space, counters of the file).
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
from tests.depth import DEPTH
from tests.ledger.support import ANA, BEN, VISITS, ask, clinic, debit
from tests.ledger.test_streams import NAME, append, begin, counting
from tests.ledger.test_subpopulation_sums import of_part

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger import Ledger, Role, SqliteLedger
from jali.ledger.stores.sqlite.file import anchor_of
from jali.privacy import Budget, Event

OWED = "owed"
PAGE = 512


@dataclass(frozen=True)
class Small:
    """A small ledger with everything in it, and what it answers."""

    data: bytes
    anchor: bytes
    owed: str
    steps: dict[str, object]
    contents: object


def write(path: Path) -> str:
    """Write a ledger with one row of everything, in small pages; return an open receipt."""
    with SqliteLedger(path) as ledger:
        clinic(ledger, epsilon=9)
        ledger.declare("visits", '{"unit": "patient"}')
        ledger.refresh("visits")
        ledger.release(ask(ledger, debit(), debit(ANA), key="answered"), "42")
        ledger.recall("answered", analyst="ben", grant=debit(BEN))
        owed = ask(ledger, key=OWED)
        ledger.begin(owed, analyst="ana")
        ask(ledger, of_part("A", "0.3"), key="part A")
        ask(ledger, of_part("B", "0.2"), key="part B")
        begin(ledger)
        append(ledger, "ana.1", "ben.1")
        ledger.streams.publish(NAME, 2, counting)
        append(ledger, "cai.1")
        ledger.access.create(id_="a1", name="ana", role=Role.ANALYST, digest="d" * 64, expires="2100")
        ledger.access.key("cookies")
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("PRAGMA journal_mode = DELETE")
        raw.execute(f"PRAGMA page_size = {PAGE}")
        raw.execute("VACUUM")
        raw.execute("PRAGMA journal_mode = WAL")
    return owed


STEPS: dict[str, Callable[[Ledger, str], object]] = {
    "sums": lambda ledger, _: {name: ledger.spent(name) for name in (VISITS, ANA, BEN)},
    "budget": lambda ledger, _: ledger.budget(VISITS),
    "declarations": lambda ledger, _: ledger.declarations(),
    "recall": lambda ledger, _: ledger.recall("answered", analyst="ana", grant=None),
    "recall by another": lambda ledger, _: ledger.recall("answered", analyst="ben", grant=debit(BEN)),
    "token": lambda ledger, _: ledger.access.token("a1"),
    "key": lambda ledger, _: ledger.access.key("cookies"),
    "streams": lambda ledger, _: ledger.streams.all(),
    "published": lambda ledger, _: ledger.streams.values(NAME),
    "attempt": lambda ledger, owed: ledger.begin(owed, analyst="ana"),
    "debit": lambda ledger, _: (ask(ledger, key="new"), ledger.spent(VISITS))[1],
    "debit of a part": lambda ledger, _: (ask(ledger, of_part("A", "0.1"), key="A"), ledger.spent(VISITS))[1],
    "debit of a new part": lambda ledger, _: (ask(ledger, of_part("C", "0.6"), key="C"), ledger.spent(VISITS))[1],
    "account": lambda ledger, _: ledger.open_account(VISITS, Budget(9)),
    "release": lambda ledger, owed: ledger.release(owed, "7"),
    "append": lambda ledger, _: append(ledger, "dan.1"),
    "publish": lambda ledger, _: (ledger.streams.publish(NAME, 3, counting), ledger.streams.values(NAME)),
    "sums in the end": lambda ledger, _: {name: ledger.spent(name) for name in (VISITS, ANA, BEN)},
}


def run(path: Path, owed: str) -> dict[str, object]:
    """Do everything with a ledger, and return what each step gave; steps after an error are not done."""
    found: dict[str, object] = {}
    try:
        with SqliteLedger(path) as ledger:
            for name, step in STEPS.items():
                found[name] = step(ledger, owed)
    except BudgetExceeded:
        found["sums"] = "refused by the budget"  # a changed sum is an error of the ledger, not of the budget
    except LedgerError:
        pass
    return found


def harmless(given: object, right: object) -> bool:
    """Say whether a step gave what is right; or nothing, which pays again or lets nobody in; or more spent."""
    if isinstance(right, dict) and isinstance(given, dict):
        return set(given) == set(right) and all(harmless(given[name], right[name]) for name in right)
    if isinstance(right, Event) and isinstance(given, Event):
        assert right.epsilon is not None
        return given.epsilon is None or (given.epsilon >= right.epsilon and given.rho >= right.rho)
    return given == right or given is None or given == ()


def contents(path: Path) -> object:
    """Return all that is stored, as SQLite reads it."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as raw:
        schema = sorted(raw.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall(), key=repr)
        tables = [name for kind, name, _, _ in schema if kind == "table"]
        rows = {name: sorted(raw.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in tables}
        return schema, rows, raw.execute("PRAGMA application_id").fetchone()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    path = tmp_path_factory.mktemp("small") / "clinic.jali"
    owed = write(path)
    data, anchor = path.read_bytes(), anchor_of(path).path.read_bytes()
    before = contents(path)
    steps = run(path, owed)
    assert list(steps) == list(STEPS)
    return Small(data, anchor, owed, steps, before)


def check(small: Small, path: Path, data: bytes) -> bool:
    """Do everything with a changed ledger; say whether a change was noticed. None may go unnoticed."""
    path.touch(mode=0o600)
    path.write_bytes(data)
    anchor_of(path).path.write_bytes(small.anchor)
    try:
        unchanged = contents(path) == small.contents
    except (sqlite3.Error, UnicodeDecodeError):
        unchanged = False
    try:
        with SqliteLedger(path, checked=False) as ledger:
            found = ledger.verify().problems != ()
    except LedgerError:
        found = True
    assert found or unchanged, "verify found nothing"
    for step, given in run(path, small.owed).items():
        assert harmless(given, small.steps[step]), (step, given)
    for file in path.parent.iterdir():
        file.unlink()
    return found


def changes(small: Small) -> Iterator[tuple[int, int]]:
    """Return offsets and what is changed there."""
    draw = random.Random(11)
    if DEPTH > 1:
        for offset in range(len(small.data)):
            yield offset, 1 << draw.randrange(8)
    for _ in range(2000 if DEPTH > 1 else 150):
        yield draw.randrange(len(small.data)), draw.randrange(1, 256)


def test_every_changed_byte_is_noticed_or_changes_nothing(small: Small, tmp_path: Path) -> None:
    noticed = 0
    for offset, change in changes(small):
        data = bytearray(small.data)
        data[offset] ^= change
        try:
            noticed += check(small, tmp_path / "clinic.jali", bytes(data))
        except AssertionError as problem:
            raise AssertionError(f"byte {offset} changed by {change}: {problem}") from problem
    assert noticed > 50


@pytest.mark.parametrize("name", ["stream_items", "stream_items_counted", "stream_people", "receipts", "parts"])
@pytest.mark.parametrize("change", [1, 2, 3, 16])
def test_a_page_that_lost_or_gained_rows_is_noticed(small: Small, tmp_path: Path, name: str, change: int) -> None:
    """The number of cells of a page, in its head: rows vanish, or what is no row becomes one."""
    path = tmp_path / "whole.jali"
    path.write_bytes(small.data)
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as raw:
        ((root,),) = raw.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchall()
    data = bytearray(small.data)
    data[(root - 1) * PAGE + 4] ^= change
    assert check(small, tmp_path / "clinic.jali", bytes(data))


def test_a_ledger_that_was_cut_off_is_noticed_wherever(small: Small, tmp_path: Path) -> None:
    draw = random.Random(13)
    sizes = {0, 1, 100, 511, 512, len(small.data) - 1, len(small.data) - 512}
    for size in sizes | {draw.randrange(len(small.data)) for _ in range(10 * DEPTH)}:
        assert check(small, tmp_path / "clinic.jali", small.data[:size])


def test_a_lost_row_is_no_fresh_budget(small: Small, tmp_path: Path) -> None:
    """What more than one changed byte can do: rows that are gone with all that points to them."""
    path = tmp_path / "clinic.jali"
    for table, where in (
        ("accounts", f"name = '{VISITS}'"),
        ("parts", "key = 'A'"),
        ("schemes", "scheme <> ''"),
        ("receipts", "released IS NULL"),
        ("seen", "true"),
        ("tokens", "true"),
        ("streams", "true"),
    ):
        path.touch(mode=0o600)
        path.write_bytes(small.data)
        anchor_of(path).path.write_bytes(small.anchor)
        with closing(sqlite3.connect(path)) as raw:
            for (trigger,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                raw.execute(f"DROP TRIGGER {trigger}")
            assert raw.execute(f"DELETE FROM {table} WHERE {where}").rowcount
            raw.commit()
        with SqliteLedger(path, checked=False) as ledger:
            assert ledger.verify().problems
        with SqliteLedger(path) as ledger:
            if table == "accounts":
                with pytest.raises(LedgerError, match="is missing"):
                    ledger.open_account(VISITS, Budget(9))
            elif table in ("parts", "schemes"):
                with pytest.raises(LedgerError):
                    ask(ledger, of_part("A", "1"), key="again")
            else:
                spent = ledger.spent(VISITS)
                assert spent.epsilon is not None
                ask(ledger, key=OWED)
                assert ledger.spent(VISITS).epsilon == spent.epsilon + Fraction(1, 10)
        for file in tmp_path.iterdir():
            file.unlink()
