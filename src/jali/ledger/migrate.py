"""Moving a ledger to another store: all of it, once, and never with two that can be charged.

Statement:
    Of a ledger and what it is moved to, at most one takes debits at any moment, wherever the move is cut off; and
    a move that was cut off can be finished.
Proof:
    docs/proofs/ledger.md, "Moving".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from jali.errors import LedgerError
from jali.ledger.chain import EntryKind
from jali.ledger.ledger import Ledger
from jali.ledger.ledger_opening import open_ledger
from jali.ledger.ledger_schema import seal_facts
from jali.ledger.ledger_tables import LedgerTables, make_moved_error
from jali.ledger.operations import now
from jali.ledger.row_digests import ROWS
from jali.ledger.stores.base import LedgerStore, MoveTarget, StoreConnection
from jali.ledger.stores.postgres.connection import LedgerAddress
from jali.ledger.stores.targets import DatabaseTarget, FileTarget
from jali.ledger.verify import inspect
from jali.postgres_address import is_address

# Everything that a ledger holds. Of `meta` the keys move along, by which servers sign cookies; the rest is about
# the store.
COLUMNS = {
    "entries": "seq, kind, body, previous, digest, form",
    "plans": "receipt, body",
    "answers": "receipt, body",
    **{table: f"{', '.join(kind.columns)}, entry" for table, kind in ROWS.items()},
    "stream_values": "stream, tick, body, entry",
    "stream_states": "stream, tick, body, mark",
    "stream_items": "stream, owner, item, tick, increments, mark",
    "stream_people": "stream, owner, ticks, last, items, mark",
}
_KEYS = "SELECT name, value FROM meta WHERE name LIKE 'key %'"
_LAST = "SELECT kind, body, digest FROM entries ORDER BY seq DESC LIMIT 1"
_AT_ONCE = 500


@dataclass(frozen=True)
class LedgerMove:
    """A ledger that has moved.

    Attributes:
        source: Where it was.
        target: Where it is.
        entries: How many entries it has there.
        head: The digest of the last one.
    """

    source: str
    target: str
    entries: int
    head: str


@dataclass(frozen=True)
class _Departure:
    """The last entry of a ledger that has moved: where to, in which move."""

    to: str
    move: str
    head: str


def move_ledger(source: str | Path, target: str | Path) -> LedgerMove:
    """Move a ledger to a place that holds none; or finish a move there that was cut off.

    The source takes no debit from the first step on, for ever, and says where it has moved to.

    Raises:
        LedgerError: The ledger is empty, not sound, or has moved elsewhere; or the target is not empty, or cannot
            be written. Nothing has changed then, or the move has begun and can be finished by the same call.
    """
    place: MoveTarget = (
        DatabaseTarget(LedgerAddress.of(target))
        if isinstance(target, str) and is_address(target)
        else FileTarget(Path(target))
    )
    with open_ledger(source, create=False) as ledger:
        leaving = _leaving(ledger.store) or _leave(ledger, place)
        if leaving.to != place.name:
            raise make_moved_error(leaving.to)
        if not place.take(partial(_arrive, ledger.store, leaving)) and not _has_arrived(target, leaving):
            raise LedgerError("move-target-taken", place=place.name)
    with open_ledger(target, create=False) as ledger:
        found = ledger.verify(noted=leaving.head)
        if found.problems:
            raise LedgerError("move-target-unsound", place=place.name)
        return LedgerMove(str(source), place.name, found.entries, found.head)


def _leaving(store: LedgerStore) -> _Departure | None:
    """Return whereto a ledger has left, if it has."""
    with store.reading() as connection:
        last = connection.execute(_LAST).fetchone()
    if last is None or last[0] != EntryKind.MOVE:
        return None
    body = json.loads(last[1])
    return _Departure(body["to"], body["move"], last[2])


def _leave(ledger: Ledger, place: MoveTarget) -> _Departure:
    """Have a ledger leave: from now on nothing is charged to it."""
    found = ledger.verify()
    if found.problems:
        raise LedgerError("move-unsound", ledger=ledger.name)
    if not found.entries:
        raise LedgerError("move-empty", ledger=ledger.name)
    with ledger.store.reading() as connection:
        place.check(connection)
    with ledger.transactions.writing() as tables:
        tables.append(EntryKind.MOVE, {"to": place.name, "move": secrets.token_hex(16), "at": now()})
    left = _leaving(ledger.store)
    assert left is not None
    return left


def _arrive(source: LedgerStore, leaving: _Departure, connection: StoreConnection) -> None:
    """Copy everything, check it, and have the ledger arrive."""
    with source.reading() as old:
        for table, columns in COLUMNS.items():
            rows = old.scan(f"SELECT {columns} FROM {table}")
            places = ", ".join("?" * (columns.count(",") + 1))
            while some := list(islice(rows, _AT_ONCE)):
                connection.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", some)
        connection.executemany("INSERT INTO meta VALUES (?, ?)", list(old.scan(_KEYS)))
    seal_facts(connection)
    found = inspect(connection, leaving.head, guarded=False)
    if found.problems or found.head != leaving.head:
        raise LedgerError("move-copy-differs")
    body = {"from": source.name, "move": leaving.move, "at": now()}
    LedgerTables(connection).append(EntryKind.ARRIVE, body)


def _has_arrived(target: str | Path, leaving: _Departure) -> bool:
    """Say whether a ledger is the one that left."""
    with open_ledger(target, create=False) as ledger, ledger.store.reading() as connection:
        arrivals: Iterator[tuple[str]] = connection.scan("SELECT body FROM entries WHERE kind = 'arrive'")
        return any(json.loads(body)["move"] == leaving.move for (body,) in arrivals)
