"""The book of streams: made, appended to and published, each in one transaction on the one file."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from jali.errors import LedgerError
from jali.ledger.arrivals import Arrivals
from jali.ledger.chain import Kind, fingerprint
from jali.ledger.debit import Debit
from jali.ledger.steps import Order, now, opened, released, reserved
from jali.ledger.stream import Arrival, Bounds, Entered, StoredStream
from jali.ledger.stream_tables import StreamTables
from jali.ledger.tables import Tables
from jali.ledger.transactions import Transactions
from jali.privacy import Budget

# From a state, what items add to the first of some ticks, and the number of the ticks: the state after them, and
# what is published at each.
Advance: TypeAlias = Callable[[str, Sequence[tuple[str, int]], int], tuple[str, Sequence[str]]]


class StreamBook:
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

    def paid_by(self, receipt: str) -> bool:
        """Say whether a receipt is that of a stream."""
        return any(stream.receipt == receipt for stream in self.all())

    def named(self, name: str) -> StoredStream | None:
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
                opened(tables, account, budget)
            reserved(tables, Order(receipt, analyst, question, key, declaration, debits))
            released(tables, receipt, f'"stream {name}"')
            seq = streams.put_stream(name, receipt, state)
            tables.append(Kind.STREAM, {"stream": name, "receipt": receipt, "at": now()})
        return StoredStream(seq, name, declaration, receipt, 0)

    def append(self, name: str, arrivals: Iterable[Arrival], bounds: Bounds, most: int | None) -> Entered:
        """Take items into the open tick: all of them durably, or none. After `most` ticks there is none open."""
        with self._writing(name) as (tables, streams, stream):
            if most is not None and stream.published >= most:
                raise _over(name, most)
            _check_going_on(stream)
            tables.check_here()  # items are in no entry
            return Arrivals(streams, stream.seq, stream.published + 1, bounds).enter(arrivals)

    def known(self, name: str, first: int) -> set[str]:
        """Return the keys of all items that were appended in a tick or later, whoever's they are."""
        with self._transactions.reading() as tables:
            streams = StreamTables(tables)
            return streams.names(_known(streams, name).seq, first)

    def publish(self, name: str, last: int, advance: Advance) -> bool:
        """Close ticks up to `last`; what was published before stays. Say whether `advance` could do it.

        If it could not, nothing has changed. This frame knows no exact number: errors may be raised from it.
        """
        with self._writing(name) as (tables, streams, stream):
            if stream.published < last:
                _check_going_on(stream)
            return stream.published >= last or _published(tables, streams, stream, last, advance)

    def values(self, name: str, first: int = 1, last: int | None = None) -> tuple[str, ...]:
        """Return what was published from one tick to another; by default all."""
        with self._transactions.reading() as tables:
            streams = StreamTables(tables)
            stream = _known(streams, name)
            found = streams.values(stream, first, stream.published if last is None else last)
            head = tables.head
        self._transactions.settle(head.seq)
        return found

    @contextmanager
    def _writing(self, name: str) -> Iterator[tuple[Tables, StreamTables, StoredStream]]:
        with self._transactions.writing() as tables:
            streams = StreamTables(tables)
            yield tables, streams, _known(streams, name)


def _published(tables: Tables, streams: StreamTables, stream: StoredStream, last: int, advance: Advance) -> bool:
    first = stream.published + 1
    before, increments = streams.state(stream.seq), streams.increments(stream.seq, first)
    try:
        state, values = advance(before, increments, last - first + 1)
    except Exception:  # whatever it says may tell of the items
        return False
    for tick, body in enumerate(values, first):
        # Neither a time nor a number of items: the head of the chain may be shown to others.
        streams.put_value(stream, tick, body)
        tables.append(Kind.TICK, {"stream": stream.name, "tick": tick, "value": fingerprint(body)})
    streams.put_state(stream.seq, last, state)
    return True


def _known(streams: StreamTables, name: str) -> StoredStream:
    found = streams.stream(name)
    if found is None:
        raise LedgerError("stream-unknown-in-ledger", stream=name)
    return found


def _check_going_on(stream: StoredStream) -> None:
    """Refuse a stream whose noise may have been used for ticks that an older copy does not know of."""
    if stream.ended:
        raise LedgerError("stream-ended-by-recovery", stream=stream.name)


def _over(name: str, most: int) -> LedgerError:
    return LedgerError("stream-over-in-ledger", stream=name, most=most)
