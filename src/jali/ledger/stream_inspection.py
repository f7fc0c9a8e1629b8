"""The inspection of streams: published texts against the entries, and the secret tables against each other.

What it says names streams and ticks, never an owner or an item: findings may be shown to others than the curator.
"""

from __future__ import annotations

from collections.abc import Iterator

from jali.errors import LedgerError
from jali.ledger.chain import fingerprint
from jali.ledger.marks import Marks
from jali.ledger.stores.store import Connection

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


def stream_findings(connection: Connection, ticks: dict[tuple[int, int], tuple[str, int]]) -> Iterator[str]:
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


def _values(connection: Connection, ticks: dict[tuple[int, int], tuple[str, int]]) -> Iterator[str]:
    missing = dict(ticks)
    for stream, tick, body, entry in connection.scan("SELECT stream, tick, body, entry FROM stream_values"):
        if missing.pop((stream, tick), None) != (fingerprint(str(body)), entry):
            yield f"What stream {stream} published at tick {tick} is not what its entry says."
    for stream, tick in missing:
        yield f"What stream {stream} published at tick {tick} is missing."


def _marks(connection: Connection) -> Iterator[str]:
    """Check the mark of every secret row."""
    marks = Marks(connection)
    for table, columns in _MARKED.items():
        wrong = 0
        for *values, mark in connection.scan(f"SELECT {columns}, mark FROM {table}"):
            try:
                marks.check(mark, table, *values)
            except LedgerError:
                wrong += 1
        if wrong:
            yield f"Of the rows of {table}, {wrong:,} are not as they were written."
