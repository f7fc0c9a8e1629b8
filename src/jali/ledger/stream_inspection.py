"""The inspection of streams: published texts against the entries, and the secret tables against each other.

What it says names streams and ticks, never an owner or an item: findings may be shown to others than the curator.
"""

from __future__ import annotations

from collections.abc import Iterator

from jali.ledger.chain import fingerprint
from jali.ledger.schema import has_streams
from jali.ledger.stores.store import Connection

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
_WRONG_PEOPLE = (
    f"SELECT DISTINCT name FROM (SELECT * FROM (SELECT * FROM stream_people EXCEPT {_PEOPLE}) AS kept"
    f" UNION ALL SELECT * FROM ({_PEOPLE} EXCEPT SELECT * FROM stream_people) AS due) AS wrong"
    " JOIN streams ON seq = stream"
    # Where each item is a person of its own, owners have no names and attendance is not kept.
    " WHERE owner <> ''"
)


def stream_findings(connection: Connection, ticks: dict[tuple[int, int], str]) -> Iterator[str]:
    """Return what is wrong with the streams of a file, one sentence each."""
    if not has_streams(connection):
        if ticks:
            yield "The tables of streams are missing."
        return
    yield from _values(connection, ticks)
    for (name,) in connection.execute(_STATES):
        yield f"The state of the stream {name} is not that after its last tick."
    for (name,) in connection.execute(_LATE):
        yield f"The stream {name} has items in ticks that it never had."
    for (name,) in connection.execute(_WRONG_PEOPLE):
        yield f"The attendance of the stream {name} does not follow from its items."
    for table in ("stream_states", "stream_items", "stream_people"):
        if connection.execute(_ORPHANS.format(table=table)).fetchone() != (0,):
            yield f"Rows of {table} are of no stream."


def _values(connection: Connection, ticks: dict[tuple[int, int], str]) -> Iterator[str]:
    missing = dict(ticks)
    for stream, tick, body in connection.scan("SELECT stream, tick, body FROM stream_values"):
        if missing.pop((stream, tick), None) != fingerprint(str(body)):
            yield f"What stream {stream} published at tick {tick} is not what its entry says."
    for stream, tick in missing:
        yield f"What stream {stream} published at tick {tick} is missing."
