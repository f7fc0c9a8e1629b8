"""The tables of streams: every SQL statement about them, inside a transaction that someone else began and ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jali.ledger import schema
from jali.ledger.stores.store import Connection, Cursor
from jali.ledger.stream import Arrival, Attendance, StoredStream

_STREAM = "SELECT seq, name, body, streams.receipt, published FROM streams JOIN plans USING (receipt)"


class StreamTables:
    """The rows of streams, read and written through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        key = connection.keyed
        self._own = f"stream = ? AND {key('owner')} = {key('?')}"
        self._item = f"{self._own} AND {key('item')} = {key('?')}"

    @property
    def there(self) -> bool:
        """Whether the file has had a stream."""
        return schema.has_streams(self._connection)

    def streams(self) -> tuple[StoredStream, ...]:
        """Return all streams, in the order in which they were made."""
        return tuple(StoredStream(*row) for row in self._run(f"{_STREAM} ORDER BY seq")) if self.there else ()

    def stream(self, name: str) -> StoredStream | None:
        """Return the stream of a name, ignoring case."""
        if not self.there:
            return None
        row = self._run(f"{_STREAM} WHERE lower(name) = ?", (name.lower(),)).fetchone()
        return None if row is None else StoredStream(*row)

    def put_stream(self, seq: int, name: str, receipt: str, state: str) -> None:
        """Keep a new stream, and the state before its first tick."""
        self._run("INSERT INTO streams VALUES (?, ?, ?, 0)", (seq, name, receipt))
        self._run("INSERT INTO stream_states VALUES (?, 0, ?)", (seq, state))

    def state(self, stream: int) -> str:
        """Return the secret state of a stream."""
        return str(self._run("SELECT body FROM stream_states WHERE stream = ?", (stream,)).fetchone()[0])

    def put_state(self, stream: int, tick: int, state: str) -> None:
        """Replace the state by that after a later tick."""
        self._run("UPDATE stream_states SET tick = ?, body = ? WHERE stream = ?", (tick, state, stream))

    def put_value(self, stream: int, tick: int, body: str) -> None:
        """Keep what is published at the open tick, and close it."""
        self._run("INSERT INTO stream_values VALUES (?, ?, ?)", (stream, tick, body))
        self._run("UPDATE streams SET published = ? WHERE seq = ?", (tick, stream))

    def values(self, stream: int, first: int, last: int) -> tuple[str, ...]:
        """Return what was published from one tick to another."""
        rows = self._run(
            "SELECT body FROM stream_values WHERE stream = ? AND tick BETWEEN ? AND ? ORDER BY tick",
            (stream, first, last),
        )
        return tuple(body for (body,) in rows)

    def increments(self, stream: int, tick: int) -> tuple[tuple[str, int], ...]:
        """Return what items add to a tick: each text, and how often it is added."""
        rows = self._run(
            "SELECT increments, count(*) FROM stream_items"
            " WHERE stream = ? AND tick = ? AND increments IS NOT NULL GROUP BY increments",
            (stream, tick),
        )
        return tuple(rows)

    def knows(self, stream: int, owner: str, item: str) -> bool:
        """Say whether an item was appended before."""
        statement = f"SELECT 1 FROM stream_items WHERE {self._item}"
        return self._run(statement, (stream, owner, item)).fetchone() is not None

    def names(self, stream: int, first: int) -> set[str]:
        """Return the keys of all items that were appended in a tick or later."""
        rows = self._run("SELECT item FROM stream_items WHERE stream = ? AND +tick >= ?", (stream, first))
        return {item for (item,) in rows}

    def put_items(self, stream: int, tick: int, items: Iterable[Arrival]) -> None:
        """Keep items, also those that were dropped: they are known from now on."""
        self._connection.executemany(
            "INSERT INTO stream_items VALUES (?, ?, ?, ?, ?)",
            [(stream, arrival.owner, arrival.item, tick, arrival.increments) for arrival in items],
        )

    def counted(self, stream: int, owner: str, tick: int) -> list[str]:
        """Return the keys of a person's items that count in a tick."""
        # As expressions, neither is looked up in the index of ticks, which would be to read everybody's items.
        counts = "+tick = ? AND (increments || '') IS NOT NULL"
        statement = f"SELECT item FROM stream_items WHERE {self._own} AND {counts}"
        return [item for (item,) in self._run(statement, (stream, owner, tick))]

    def drop(self, stream: int, owner: str, items: Iterable[str]) -> None:
        """Let items of the open tick count no longer."""
        self._connection.executemany(
            f"UPDATE stream_items SET increments = NULL WHERE {self._item}",
            [(stream, owner, item) for item in items],
        )

    def attendance(self, stream: int, owner: str) -> Attendance:
        """Return in which ticks a person counts so far."""
        statement = f"SELECT ticks, last, items FROM stream_people WHERE {self._own}"
        row = self._run(statement, (stream, owner)).fetchone()
        return Attendance() if row is None else Attendance(*row)

    def put_people(self, stream: int, people: Iterable[tuple[str, Attendance]]) -> None:
        """Replace the attendance of people."""
        self._connection.executemany(
            f"INSERT INTO stream_people VALUES (?, ?, ?, ?, ?)"
            f" ON CONFLICT (stream, {self._connection.keyed('owner')}) DO UPDATE"
            " SET ticks = excluded.ticks, last = excluded.last, items = excluded.items",
            [(stream, owner, *person) for owner, person in people],
        )

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        return self._connection.execute(statement, values)
