"""Streams in the ledger. Each is created, appended to and published in one transaction.

The ledger knows texts, ticks and item keys. What they count, and with which noise, it does not know.

Statement:
    Whether an item counts depends on the items of its own owner alone: on which of them arrived in which tick, not
    on their order within a tick, on batches, or on anybody else's. Of one person's items in one tick those with
    the least item keys count, at most `items` of them, in at most `ticks` ticks that are `separation` apart. An
    item that cannot be read changes nothing: it is as if it had not come, and it may come again, rightly spelled.
Proof:
    docs/proofs/stream_ledger.md.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from jali.errors import LedgerError
from jali.ledger.chain import EntryKind, fingerprint, make_damage_error
from jali.ledger.charge import Debit
from jali.ledger.ledger_tables import LedgerTables
from jali.ledger.operations import ReceiptOrder, now, open_account, release_answer, reserve_receipt
from jali.ledger.row_digests import RowMarks
from jali.ledger.stores.base import StoreCursor
from jali.ledger.transactions import Transactions
from jali.privacy import Budget


@dataclass(frozen=True)
class StoredStream:
    """A stream, without its secrets.

    Attributes:
        seq: Its number in the file.
        name: What it is called.
        declaration: What was declared: a text that the ledger does not read.
        receipt: Under which its whole loss was charged.
        published: How many ticks were published.
        ended: Whether it cannot go on: the ledger was recovered from an older copy.
    """

    seq: int
    name: str
    declaration: str
    receipt: str
    published: int
    ended: bool = False


class Arrival(NamedTuple):
    """An item that arrives: whose, under which key, and what it adds, as text; None if that cannot be read."""

    owner: str
    item: str
    increments: str | None


class Attendance(NamedTuple):
    """In how many ticks one person counts so far, which was the last, and how many items count in it."""

    ticks: int = 0
    last: int = 0
    items: int = 0


@dataclass(frozen=True)
class AttendanceBounds:
    """What one person may add: in how many ticks, how far apart, and how many items in each.

    `persons` is False where each item is a person of its own, so that nobody has a second item to bound.
    """

    ticks: int = 1
    separation: int = 1
    items: int = 1
    persons: bool = True

    def admit(self, person: Attendance, tick: int) -> bool:
        """Say whether a person may count in a tick. It depends on that person's own ticks alone."""
        if person.last == tick or person.ticks == 0:
            return True
        return person.ticks < self.ticks and tick - person.last >= self.separation


@dataclass(frozen=True)
class AppendOutcome:
    """How many items are new, known, left out or unreadable. It depends on the data."""

    new: int = 0
    known: int = 0
    dropped: int = 0
    unreadable: int = 0


def stream_account(name: str) -> str:
    """Name the account of a stream that has a budget of its own. Names of streams are plain words.

    Example:
        >>> stream_account("admissions")
        'stream admissions'
    """
    return f"stream {name}"


_VALUES = (
    "SELECT tick, stream_values.body, entries.body FROM stream_values JOIN entries ON entries.seq = entry"
    " WHERE stream = ? AND tick BETWEEN ? AND ? ORDER BY tick"
)


class StreamTables:
    """The rows of streams, read and written through one connection."""

    def __init__(self, tables: LedgerTables) -> None:
        self._tables = tables
        self._connection = tables.connection
        self._marks = RowMarks(tables.connection)
        key = self._connection.lookup_expression
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
            raise make_damage_error("damage-stream-receipt", stream=name)
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
            raise make_damage_error("damage-stream-state")
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
                raise make_damage_error("damage-tick", tick=tick)
            found.append(body)
        if len(found) != len(due):
            raise make_damage_error("damage-stream-ticks", stream=stream.name)
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
            raise make_damage_error("damage-row", table="stream_items")
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

    def items_that_count(self, stream: int, owner: str, tick: int) -> list[str]:
        """Return the keys of a person's items that count in a tick."""
        # As expressions, neither is looked up in the index of ticks, which would be to read everybody's items.
        counts = "+tick = ? AND (increments || '') IS NOT NULL"
        statement = f"SELECT item FROM stream_items WHERE {self._own} AND {counts}"
        return [item for (item,) in self._run(statement, (stream, owner, tick))]

    def drop(self, stream: int, tick: int, owner: str, items: Iterable[str]) -> None:
        """Stop counting items of the open tick."""
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
            f" ON CONFLICT (stream, {self._connection.lookup_expression('owner')}) DO UPDATE"
            " SET ticks = excluded.ticks, last = excluded.last, items = excluded.items, mark = excluded.mark",
            [(*row, self._marks.of("stream_people", *row)) for row in rows],
        )

    def _run(self, statement: str, values: Sequence[Any] = ()) -> StoreCursor:
        return self._connection.execute(statement, values)


class TickAdmission:
    """Takes the items of one batch into the open tick of a stream."""

    def __init__(self, tables: StreamTables, stream: int, tick: int, bounds: AttendanceBounds) -> None:
        self._tables, self._stream, self._tick, self._bounds = tables, stream, tick, bounds
        self._fresh: list[Arrival] = []
        self._people: list[tuple[str, Attendance]] = []
        self._given_way = 0

    def enter(self, arrivals: Iterable[Arrival]) -> AppendOutcome:
        """Keep the items that are not known, each as one that counts or as one that does not."""
        arrivals = tuple(arrivals)
        readable = [arrival for arrival in arrivals if arrival.increments is not None]
        asked, known = self._unknown(readable)
        for owner, items in asked.items():
            if self._bounds.persons:
                self._enter_person(owner, items)
            else:
                self._fresh += items.values()
        self._tables.put_items(self._stream, self._tick, self._fresh)
        self._tables.put_people(self._stream, self._people)
        new = sum(arrival.increments is not None for arrival in self._fresh)
        unreadable = len(arrivals) - len(readable)
        return AppendOutcome(new, known, len(self._fresh) - new + self._given_way, unreadable)

    def _unknown(self, arrivals: Iterable[Arrival]) -> tuple[dict[str, dict[str, Arrival]], int]:
        """Return the items that were never seen, by owner and key; and how many others there are."""
        asked: dict[str, dict[str, Arrival]] = {}
        known = 0
        for arrival in arrivals:
            own = asked.setdefault(arrival.owner, {})
            if arrival.item in own or self._tables.knows(self._stream, arrival.owner, arrival.item):
                known += 1
            else:
                own[arrival.item] = arrival
        return asked, known

    def _enter_person(self, owner: str, items: dict[str, Arrival]) -> None:
        person = self._tables.attendance(self._stream, owner)
        if not items or not self._bounds.admit(person, self._tick):
            self._fresh += [arrival._replace(increments=None) for arrival in items.values()]
            return
        stay = self._least(owner, person, list(items))
        self._fresh += [a if a.item in stay else a._replace(increments=None) for a in items.values()]
        ticks = person.ticks if person.last == self._tick else person.ticks + 1
        self._people.append((owner, Attendance(ticks, self._tick, len(stay))))

    def _least(self, owner: str, person: Attendance, wanted: list[str]) -> set[str]:
        """Return the keys of the items of this person that count now; earlier ones give way to lesser keys."""
        earlier = (
            self._tables.items_that_count(self._stream, owner, self._tick) if person.last == self._tick else []
        )
        stay = set(sorted([*earlier, *wanted])[: self._bounds.items])
        leaving = [item for item in earlier if item not in stay]
        if leaving:
            self._tables.drop(self._stream, self._tick, owner, leaving)
            self._given_way += len(leaving)
        return stay


# From a state, what items add to the first of some ticks, and the number of the ticks: the state after them, and
# what is published at each.
Advance: TypeAlias = Callable[[str, Sequence[tuple[str, int]], int], tuple[str, Sequence[str]]]


class LedgerStreams:
    """The streams of one ledger.

    Guarantee:
        The whole loss of a stream is charged in the transaction that makes it, before its first item. What is
        published at a tick was computed once, from the items of that tick and from noise that is on disk, in the
        transaction that stores it; it never changes. An item that `append` has returned for is in one tick, once.
    Proof:
        docs/proofs/stream_ledger.md.
    """

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def all(self) -> tuple[StoredStream, ...]:
        """Return all streams."""
        with self._transactions.reading() as tables:
            return StreamTables(tables).streams()

    def has_receipt(self, receipt: str) -> bool:
        """Say whether a receipt is that of a stream."""
        return any(stream.receipt == receipt for stream in self.all())

    def find(self, name: str) -> StoredStream | None:
        """Return the stream of a name, ignoring case; None if there is none."""
        with self._transactions.reading() as tables:
            return StreamTables(tables).stream(name)

    def begin(
        self,
        name: str,
        *,
        declaration: str,
        question: str,
        key: str,
        analyst: str,
        debits: tuple[Debit, ...],
        state: str,
        budgets: Sequence[tuple[str, Budget]] = (),
    ) -> StoredStream:
        """Make a stream: open its account, charge its whole loss, and keep the state before its first tick.

        All of it happens, or nothing. A stream of this name that there is already is returned as it is, and
        nothing is charged.

        Raises:
            BudgetExceeded: An account cannot pay; nothing is recorded.
        """
        receipt = secrets.token_hex(16)
        with self._transactions.writing() as tables:
            streams = StreamTables(tables)
            found = streams.stream(name)
            if found is not None:
                return found
            for account, budget in budgets:
                open_account(tables, account, budget)
            reserve_receipt(tables, ReceiptOrder(receipt, analyst, question, key, declaration, debits))
            release_answer(tables, receipt, f'"stream {name}"')
            seq = streams.put_stream(name, receipt, state)
            tables.append(EntryKind.STREAM, {"stream": name, "receipt": receipt, "at": now()})
        return StoredStream(seq, name, declaration, receipt, 0)

    def append(
        self, name: str, arrivals: Iterable[Arrival], bounds: AttendanceBounds, most: int | None
    ) -> AppendOutcome:
        """Take items into the open tick: all of them durably, or none. After `most` ticks there is none open."""
        with self._writing(name) as (tables, streams, stream):
            if most is not None and stream.published >= most:
                raise _make_over_error(name, most)
            _check_going_on(stream)
            tables.check_here()  # items are in no entry
            return TickAdmission(streams, stream.seq, stream.published + 1, bounds).enter(arrivals)

    def item_keys(self, name: str, first: int) -> set[str]:
        """Return the keys of all items that were appended in a tick or later, whoever's they are."""
        with self._transactions.reading() as tables:
            streams = StreamTables(tables)
            return streams.names(_find_stream(streams, name).seq, first)

    def publish(self, name: str, last: int, advance: Advance) -> bool:
        """Close ticks up to `last`; what was published before stays. Say whether `advance` could do it.

        If it could not, nothing has changed. This frame knows no exact number: errors may be raised from it.
        """
        with self._writing(name) as (tables, streams, stream):
            if stream.published < last:
                _check_going_on(stream)
            return stream.published >= last or _publish_ticks(tables, streams, stream, last, advance)

    def values(self, name: str, first: int = 1, last: int | None = None) -> tuple[str, ...]:
        """Return what was published from one tick to another; by default all."""
        with self._transactions.reading() as tables:
            streams = StreamTables(tables)
            stream = _find_stream(streams, name)
            found = streams.values(stream, first, stream.published if last is None else last)
            head = tables.head
        self._transactions.settle(head.seq)
        return found

    @contextmanager
    def _writing(self, name: str) -> Iterator[tuple[LedgerTables, StreamTables, StoredStream]]:
        with self._transactions.writing() as tables:
            streams = StreamTables(tables)
            yield tables, streams, _find_stream(streams, name)


def _publish_ticks(
    tables: LedgerTables, streams: StreamTables, stream: StoredStream, last: int, advance: Advance
) -> bool:
    first = stream.published + 1
    before, increments = streams.state(stream.seq), streams.increments(stream.seq, first)
    try:
        state, values = advance(before, increments, last - first + 1)
    except Exception:  # whatever it says may tell of the items
        return False
    for tick, body in enumerate(values, first):
        # Neither a time nor a number of items: the head of the chain may be shown to others.
        streams.put_value(stream, tick, body)
        tables.append(EntryKind.TICK, {"stream": stream.name, "tick": tick, "value": fingerprint(body)})
    streams.put_state(stream.seq, last, state)
    return True


def _find_stream(streams: StreamTables, name: str) -> StoredStream:
    found = streams.stream(name)
    if found is None:
        raise LedgerError("stream-unknown-in-ledger", stream=name)
    return found


def _check_going_on(stream: StoredStream) -> None:
    """Refuse a stream whose noise may have been used for ticks that an older copy does not know of."""
    if stream.ended:
        raise LedgerError("stream-ended-by-recovery", stream=stream.name)


def _make_over_error(name: str, most: int) -> LedgerError:
    return LedgerError("stream-over-in-ledger", stream=name, most=most)
