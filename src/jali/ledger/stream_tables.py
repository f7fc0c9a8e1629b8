"""The tables of streams: every SQL statement about them, inside a transaction that someone else began and ends."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from jali.ledger.chain import fingerprint
from jali.ledger.damage import damaged
from jali.ledger.marks import Marks
from jali.ledger.stores.store import Cursor
from jali.ledger.stream import Arrival, Attendance, StoredStream
from jali.ledger.tables import Tables

_VALUES = (
    "SELECT tick, stream_values.body, entries.body FROM stream_values JOIN entries ON entries.seq = entry"
    " WHERE stream = ? AND tick BETWEEN ? AND ? ORDER BY tick"
)


class StreamTables:
    """The rows of streams, read and written through one connection."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._connection = tables.connection
        self._marks = Marks(tables.connection)
        key = self._connection.keyed
        self._own = f"stream = ? AND {key('owner')} = {key('?')}"
        self._item = f"{self._own} AND {key('item')} = {key('?')}"

    def streams(self) -> tuple[StoredStream, ...]:
        """Return all streams, in the order in which they were made."""
        return tuple(self._stream(row) for row in self._tables.all("streams", "ORDER BY seq"))

    def stream(self, name: str) -> StoredStream | None:
        """Return the stream of a name, ignoring case."""
        rows = self._tables.all("streams", "WHERE lower(name) = ?", (name.lower(),))
        return self._stream(rows[0]) if rows else None

    def _stream(self, row: tuple[Any, ...]) -> StoredStream:
        seq, name, receipt, published, ended = row
        line = self._tables.line(receipt)
        if line is None:
            raise damaged("damage-stream-receipt", stream=name)
        return StoredStream(seq, name, line.plan, receipt, published, bool(ended))

    def put_stream(self, name: str, receipt: str, state: str) -> int:
        """Keep a new stream, and the state before its first tick; return its number."""
        seq = self._tables.seq
        self._tables.put("streams", (seq, name, receipt, 0, 0))
        values = (seq, 0, state)
        self._run(
            "INSERT INTO stream_states VALUES (?, ?, ?, ?)", (*values, self._marks.of("stream_states", *values))
        )
        return seq

    def state(self, stream: int) -> str:
        """Return the secret state of a stream."""
        row = self._run(
            "SELECT stream, tick, body, mark FROM stream_states WHERE stream = ?", (stream,)
        ).fetchone()
        if row is None:
            raise damaged("damage-stream-state")
        self._marks.check(row[3], "stream_states", *row[:3])
        return str(row[2])

    def put_state(self, stream: int, tick: int, state: str) -> None:
        """Replace the state by that after a later tick."""
        mark = self._marks.of("stream_states", stream, tick, state)
        statement = "UPDATE stream_states SET tick = ?, body = ?, mark = ? WHERE stream = ?"
        self._run(statement, (tick, state, mark, stream))

    def put_value(self, stream: StoredStream, tick: int, body: str) -> None:
        """Keep what is published at the open tick, and close it."""
        self._run("INSERT INTO stream_values VALUES (?, ?, ?, ?)", (stream.seq, tick, body, self._tables.seq))
        self._tables.put("streams", (stream.seq, stream.name, stream.receipt, tick, int(stream.ended)))

    def values(self, stream: StoredStream, first: int, last: int) -> tuple[str, ...]:
        """Return what was published from one tick to another, as the entries name it, and all of it."""
        found: list[str] = []
        due = range(max(1, first), min(last, stream.published) + 1)
        for tick, body, entry in self._run(_VALUES, (stream.seq, first, last)):
            known = json.loads(entry)
            if (known.get("tick"), known.get("value")) != (tick, fingerprint(body)):
                raise damaged("damage-tick", tick=tick)
            found.append(body)
        if len(found) != len(due):
            raise damaged("damage-stream-ticks", stream=stream.name)
        return tuple(found)

    def increments(self, stream: int, tick: int) -> tuple[tuple[str, int], ...]:
        """Return what items add to a tick: each text, and how often it is added."""
        rows = self._run(
            "SELECT stream, owner, item, tick, increments, mark FROM stream_items"
            " WHERE stream = ? AND tick = ? AND increments IS NOT NULL",
            (stream, tick),
        )
        counts: Counter[str] = Counter()
        for *values, mark in rows:
            self._marks.check(mark, "stream_items", *values)
            counts[values[4]] += 1
        # Counted in the index alone: a damaged page may have lost a row that the index still has.
        ((indexed,),) = self._run(
            "SELECT count(*) FROM stream_items WHERE stream = ? AND tick = ? AND increments IS NOT NULL",
            (stream, tick),
        )
        if indexed != counts.total():
            raise damaged("damage-row", table="stream_items")
        return tuple(sorted(counts.items()))

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
        rows = [(stream, arrival.owner, arrival.item, tick, arrival.increments) for arrival in items]
        self._connection.executemany(
            "INSERT INTO stream_items VALUES (?, ?, ?, ?, ?, ?)",
            [(*row, self._marks.of("stream_items", *row)) for row in rows],
        )

    def counted(self, stream: int, owner: str, tick: int) -> list[str]:
        """Return the keys of a person's items that count in a tick."""
        # As expressions, neither is looked up in the index of ticks, which would be to read everybody's items.
        counts = "+tick = ? AND (increments || '') IS NOT NULL"
        statement = f"SELECT item FROM stream_items WHERE {self._own} AND {counts}"
        return [item for (item,) in self._run(statement, (stream, owner, tick))]

    def drop(self, stream: int, tick: int, owner: str, items: Iterable[str]) -> None:
        """Let items of the open tick count no longer."""
        self._connection.executemany(
            f"UPDATE stream_items SET increments = NULL, mark = ? WHERE {self._item}",
            [
                (self._marks.of("stream_items", stream, owner, item, tick, None), stream, owner, item)
                for item in items
            ],
        )

    def attendance(self, stream: int, owner: str) -> Attendance:
        """Return in which ticks a person counts so far."""
        statement = f"SELECT ticks, last, items, mark FROM stream_people WHERE {self._own}"
        row = self._run(statement, (stream, owner)).fetchone()
        if row is None:
            return Attendance()
        self._marks.check(row[3], "stream_people", stream, owner, *row[:3])
        return Attendance(*row[:3])

    def put_people(self, stream: int, people: Iterable[tuple[str, Attendance]]) -> None:
        """Replace the attendance of people."""
        rows = [(stream, owner, *person) for owner, person in people]
        self._connection.executemany(
            f"INSERT INTO stream_people VALUES (?, ?, ?, ?, ?, ?)"
            f" ON CONFLICT (stream, {self._connection.keyed('owner')}) DO UPDATE"
            " SET ticks = excluded.ticks, last = excluded.last, items = excluded.items, mark = excluded.mark",
            [(*row, self._marks.of("stream_people", *row)) for row in rows],
        )

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        return self._connection.execute(statement, values)
