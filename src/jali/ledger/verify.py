"""Verify a ledger: the replay of its entries, held against everything else that is stored.

Of streams, published texts are compared with the entries, and the secret tables with each other. What is found
names streams and ticks, never an owner or an item: findings may be shown to others than the curator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jali.errors import LedgerError
from jali.ledger.chain import ChainEntry, fingerprint
from jali.ledger.ledger_replay import LedgerReplay
from jali.ledger.ledger_schema import read_fact
from jali.ledger.row_digests import ROWS, RowMarks
from jali.ledger.stores.base import StoreConnection
from jali.privacy import Event


@dataclass(frozen=True)
class Verification:
    """The outcome of a replay.

    Attributes:
        entries: How many entries there are.
        receipts: How many questions were reserved.
        open: How many of them are not released yet.
        spent: The sum of every account, recomputed from the entries alone.
        problems: What does not hold, one sentence each; empty if the ledger is sound.
        head: The digest of the last entry. Noted elsewhere, it later shows whether the tail was cut off.
    """

    entries: int
    receipts: int
    open: int
    spent: dict[str, Event]
    problems: tuple[str, ...]
    head: str


_MARKED = {
    "stream_states": "stream, tick, body",
    "stream_items": "stream, owner, item, tick, increments",
    "stream_people": "stream, owner, ticks, last, items",
}

_STATES = (
    "SELECT name FROM streams LEFT JOIN stream_states ON stream = seq AND stream_states.tick = published"
    " WHERE stream IS NULL"
)
_ORPHANS = "SELECT count(*) FROM {table} LEFT JOIN streams ON seq = stream WHERE seq IS NULL"
_LATE = (
    "SELECT DISTINCT name FROM stream_items JOIN streams ON seq = stream"
    " WHERE tick NOT BETWEEN 1 AND published + 1"
)
# What `stream_people` must say: recomputed from the items that count, in two passes for the last tick of each.
_PEOPLE = (
    "SELECT stream, owner, count(DISTINCT tick), max(tick), count(*) FILTER (WHERE tick = newest) FROM"
    " (SELECT *, max(tick) OVER (PARTITION BY stream, owner) AS newest FROM stream_items"
    " WHERE increments IS NOT NULL) AS counted GROUP BY stream, owner"
)
_KEPT = "SELECT stream, owner, ticks, last, items FROM stream_people"
_WRONG_PEOPLE = (
    f"SELECT DISTINCT name FROM (SELECT * FROM ({_KEPT} EXCEPT {_PEOPLE}) AS kept"
    f" UNION ALL SELECT * FROM ({_PEOPLE} EXCEPT {_KEPT}) AS due) AS wrong"
    " JOIN streams ON seq = stream"
    # Where each item is a person of its own, owners have no names and attendance is not kept.
    " WHERE owner <> ''"
)


def stream_findings(connection: StoreConnection, ticks: dict[tuple[int, int], tuple[str, int]]) -> Iterator[str]:
    """Return what is wrong with the streams of a file, one sentence each."""
    yield from _values(connection, ticks)
    yield from _marks(connection)
    for (name,) in connection.execute(_STATES):
        yield f"The state of the stream {name} is not that after its last tick."
    for (name,) in connection.execute(_LATE):
        yield f"The stream {name} has items in ticks that it never had."
    for (name,) in connection.execute(_WRONG_PEOPLE):
        yield f"The attendance of the stream {name} does not follow from its items."
    for table in ("stream_states", "stream_items", "stream_people"):
        if connection.execute(_ORPHANS.format(table=table)).fetchone() != (0,):
            yield f"Rows of {table} are of no stream."


def _values(connection: StoreConnection, ticks: dict[tuple[int, int], tuple[str, int]]) -> Iterator[str]:
    missing = dict(ticks)
    for stream, tick, body, entry in connection.scan("SELECT stream, tick, body, entry FROM stream_values"):
        if missing.pop((stream, tick), None) != (fingerprint(str(body)), entry):
            yield f"What stream {stream} published at tick {tick} is not what its entry says."
    for stream, tick in missing:
        yield f"What stream {stream} published at tick {tick} is missing."


def _marks(connection: StoreConnection) -> Iterator[str]:
    """Check the mark of every secret row."""
    marks = RowMarks(connection)
    for table, columns in _MARKED.items():
        wrong = 0
        for *values, mark in connection.scan(f"SELECT {columns}, mark FROM {table}"):
            try:
                marks.check(mark, table, *values)
            except LedgerError:
                wrong += 1
        if wrong:
            yield f"Of the rows of {table}, {wrong:,} are not as they were written."


def inspect(
    connection: StoreConnection, noted: str | None, *, sealed: bool = True, guarded: bool = True
) -> Verification:
    """Replay all entries, and compare plans, answers and sums with what they say.

    Args:
        connection: The ledger.
        noted: A head that must be in the chain.
        sealed: Whether entries must name all rows: not before an upgrade.
        guarded: Whether the schema must have all its guards: not while it is filled.
    """
    replay = LedgerReplay()
    for row in connection.scan("SELECT seq, kind, body, previous, digest, form FROM entries ORDER BY seq"):
        replay.step(ChainEntry(*row))
    found = [
        *(connection.damage() if guarded else ()),
        *_facts(connection, sealed=sealed),
        *replay.problems,
        *_texts(connection, "plans", replay.plans()),
        *_texts(connection, "answers", replay.answers()),
        *_rows(connection, replay, sealed=sealed),
        *stream_findings(connection, replay.ticks()),
    ]
    if noted is not None and noted not in replay.heads:
        found.append("The noted head is not in the chain: the tail was cut off, or this is another ledger.")
    return Verification(
        replay.entries, replay.receipts, replay.open, replay.account_sums, tuple(found), replay.head
    )


def _facts(connection: StoreConnection, *, sealed: bool) -> Iterator[str]:
    """Check the facts that are in no entry."""
    try:
        read_fact(connection, "schema")
    except LedgerError as error:
        if sealed:
            yield error.message


def _texts(connection: StoreConnection, table: str, digests: dict[str, str]) -> Iterator[str]:
    """Compare long texts with their digests, one at a time: they may not fit into memory together."""
    missing = dict(digests)
    for receipt, body in connection.scan(f"SELECT receipt, body FROM {table}"):
        if missing.pop(receipt, None) != fingerprint(str(body)):
            yield f"The text of {receipt} in {table} is not the one in its entry."
    for receipt in missing:
        yield f"The text of {receipt} in {table} is missing."


def _rows(connection: StoreConnection, replay: LedgerReplay, *, sealed: bool) -> Iterator[str]:
    known = connection.tables()
    for table, expected in replay.rows().items():
        if table not in known:
            yield f"The table {table} is missing."
            continue
        actual = set(connection.scan(ROWS[table].select))
        if sealed and any(row[-1] == 0 for row in expected) and not replay.has_moved:
            yield f"Rows of {table} are named by no entry."
        for row in sorted(actual ^ expected, key=repr):
            state = "does not follow from the entries" if row in actual else "is missing"
            yield f"A row of {table} {state}: {row}."
