"""Durable streams: created once, appended to, published tick after tick. Items, noise and the ledger meet here."""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from jali.catalog.spelling import suggest_name
from jali.errors import CatalogError, LedgerError, QueryError
from jali.execution.accounts import CURATOR
from jali.execution.streams.create_stream import choose_counter, compute_receipt_key, declare_stream, find_payers
from jali.execution.streams.follow_table import TableFollower
from jali.execution.streams.measure_protocol import TickNoise
from jali.execution.streams.stream_arguments import StreamArguments
from jali.execution.streams.stream_declaration import StreamDeclaration, read_stream_declaration
from jali.ledger import Arrival, AttendanceBounds
from jali.mechanisms.exact_values import narrow
from jali.stream import Appended, Stream, StreamView, Tick
from jali.streams.stream_item import Item, items_in, read_name

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.execution.declared_tables import DeclaredTables
    from jali.execution.streams.tick_clock import Moment
    from jali.ledger import Ledger

_T = TypeVar("_T")
# Noise of so many ticks is drawn at once: little of it is kept in the state, which is written at every tick.
_AHEAD, _KEPT = 16, 4096
# So many ticks are published in one transaction, and so many by one call.
_TOGETHER, _MOST = 512, 1 << 20
# Where there is no horizon, a time that is mistyped closes no more ticks than these.
_MOST_UNTIL = 10_000


class DurableStreams:
    """The streams of a database.

    Guarantee:
        Everything that a stream ever publishes is one release of its counter, whose loss was charged before the
        first item; for neighbours that differ in one person's items, whatever their item keys and batches.
    Proof:
        docs/proofs/stream_ledger.md.
    """

    def __init__(self, ledger: Ledger, engine: Engine, tables: DeclaredTables) -> None:
        self._ledger = ledger
        self._tables = tables
        self._following = TableFollower(engine)

    def names(self) -> tuple[str, ...]:
        """Return the names of all streams, in the order in which they were made."""
        return tuple(stream.name for stream in self._ledger.streams.all())

    def holds(self, receipt: str) -> bool:
        """Say whether a receipt is that of a stream."""
        return self._ledger.streams.has_receipt(receipt)

    def view(self, name: str) -> StreamView:
        """Return a stream as anybody may see it."""
        return StreamView(self, self._find_declaration(name))

    def stream(self, name: str, said: StreamArguments) -> Stream:
        """Open the stream of a name; or make it, if more than the name is said and there is none."""
        if said.nothing:
            return Stream(self, self._find_declaration(name))
        wanted = declare_stream(name, said, self._tables.build_catalog())
        stored = self._ledger.streams.find(name)
        known = self._create(wanted) if stored is None else read_stream_declaration(stored.declaration)
        if not known.same(wanted):
            raise CatalogError("stream-exists", stream=known.name)
        return Stream(self, known)

    def append(self, declaration: StreamDeclaration, items: Iterable[Item | Mapping[str, Any]]) -> Appended:
        """Take items into the open tick; what is no item, or cannot be read, changes nothing."""
        if declaration.follows is not None:
            raise QueryError("stream-follows-table", stream=declaration.name)
        found = items_in(items)
        if declaration.horizon is not None and self.published(declaration) >= declaration.horizon:
            raise _build_over_error(declaration)
        return self._append_items(declaration, found)

    def publish(self, declaration: StreamDeclaration, tick: int | None, until: str | Moment | None) -> Tick:
        """Close ticks up to the one that is asked for, and return what was published at it."""
        first = self.published(declaration) + 1
        last = self._find_last_tick(declaration, first, tick, until)
        if declaration.follows is not None:
            self._follow(declaration, range(first, last + 1))
        for end in range(first + _TOGETHER - 1, last, _TOGETHER):
            self._advance(declaration, end)
        self._advance(declaration, last)
        return self.value(declaration, last)

    def published(self, declaration: StreamDeclaration) -> int:
        """Return how many ticks were published."""
        stored = self._ledger.streams.find(declaration.name)
        return 0 if stored is None else stored.published

    def value(self, declaration: StreamDeclaration, tick: int | None) -> Tick:
        """Return what was published at a tick; by default at the last."""
        number = check_published_tick(tick, self.published(declaration))
        (body,) = self._ledger.streams.values(declaration.name, number, number)
        return read_tick(declaration, number, body)

    def bodies(self, declaration: StreamDeclaration) -> tuple[str, ...]:
        """Return all that was published, as the ledger keeps it."""
        return self._ledger.streams.values(declaration.name)

    def ticks(self, declaration: StreamDeclaration) -> tuple[Tick, ...]:
        """Return all that was published."""
        bodies = self._ledger.streams.values(declaration.name)
        return tuple(read_tick(declaration, number, body) for number, body in enumerate(bodies, 1))

    def _find_declaration(self, name: str) -> StreamDeclaration:
        stored = self._ledger.streams.find(name)
        if stored is None:
            names = list(self.names())
            raise QueryError(
                "stream-unknown", stream=name, nearest=suggest_name(name, names), streams=tuple(names)
            )
        return read_stream_declaration(stored.declaration)

    def _create(self, wanted: StreamDeclaration) -> StreamDeclaration:
        """Choose the counter, charge its whole loss and store the stream: all in one transaction, or nothing."""
        if wanted.follows is not None:
            self._following.check_ready(wanted.follows)
        made = choose_counter(wanted)
        text, width = made.text(), made.measure.width
        if read_stream_declaration(text) != made:
            raise CatalogError("declaration-too-long")
        debits, budgets = find_payers(made)
        running = made.mechanism.start(width=width, ahead=max(1, min(_AHEAD, _KEPT // width)))
        stored = self._ledger.streams.begin(
            made.name,
            declaration=text,
            question=f"stream {made.name}: {made.what}, {_describe_life(made)}",
            key=compute_receipt_key(text),
            analyst=CURATOR,
            debits=debits,
            budgets=budgets,
            state=running.state(),
        )
        return read_stream_declaration(stored.declaration)

    def _append_items(self, declaration: StreamDeclaration, items: Sequence[Item | None]) -> Appended:
        arrivals = [None if item is None else _build_arrival(declaration, item) for item in items]
        named = [arrival for arrival in arrivals if arrival is not None]
        bounds = AttendanceBounds(
            declaration.max_ticks, declaration.separation, declaration.max_items, declaration.unit is not None
        )
        entered = _raise_anew(
            lambda: self._ledger.streams.append(declaration.name, named, bounds, declaration.horizon)
        )
        nameless = len(arrivals) - len(named)
        return Appended(entered.new, entered.known, entered.dropped, entered.unreadable + nameless)

    def _find_last_tick(
        self, declaration: StreamDeclaration, first: int, tick: int | None, until: str | Moment | None
    ) -> int:
        """Return up to which tick is to be published: a public number."""
        horizon, last = declaration.horizon, first if tick is None else _check_tick(tick)
        if until is not None:
            last = _count_ended_ticks(declaration, first, tick, until)
        if horizon is not None and last > horizon:
            raise (
                _build_over_error(declaration)
                if tick is None
                else QueryError("stream-ticks-over", stream=declaration.name, horizon=horizon)
            )
        if last - first >= _MOST:
            raise QueryError("too-many-ticks", most=_MOST)
        return last

    def _follow(self, declaration: StreamDeclaration, ticks: range) -> None:
        """Take the rows of the table that is followed into the ticks that are to be closed, one by one."""
        if not ticks:
            return
        follows, clock = declaration.follows, declaration.clock
        assert clock is not None
        most = declaration.max_ticks * declaration.max_items
        known = self._ledger.streams.item_keys(declaration.name, follows.first(ticks))
        found = self._following.items(follows, clock, ticks, most, known)
        for tick in ticks:
            self._enter(declaration, found[tick], tick)
            self._advance(declaration, tick)

    def _enter(self, declaration: StreamDeclaration, items: Sequence[Item], tick: int) -> None:
        """Append what a tick is to be closed with; nothing if it is closed, as another process was faster."""
        try:
            self._append_items(declaration, items)
        except LedgerError:
            if self.published(declaration) < tick:
                raise

    def _advance(self, declaration: StreamDeclaration, last: int) -> None:
        first = self.published(declaration) + 1
        if first > last:
            return
        declaration.check(first, last)
        advance = partial(_advance_ticks, declaration)
        if not _raise_anew(lambda: self._ledger.streams.publish(declaration.name, last, advance)):
            raise LedgerError("stream-unpublished", stream=declaration.name)


def _raise_anew(action: Callable[[], _T]) -> _T:
    """Run a step of the ledger; raise its errors again, as the frames they come from hold items and exact sums."""
    try:
        return action()
    except LedgerError as problem:
        told = problem.like(LedgerError)
    raise told


def _advance_ticks(
    declaration: StreamDeclaration, state: str, increments: Sequence[tuple[str, int]], ticks: int
) -> tuple[str, list[str]]:
    """Pass ticks, of which the first has all increments. The exact integers go no further than this."""
    width, sums = declaration.measure.width, Tally[int]()
    for text, count in increments:
        for column, amount in json.loads(text):
            sums[column] += count * amount
    rows = np.zeros((ticks, width), dtype=object)
    rows[0] = [sums[column] for column in range(width)]
    running = declaration.mechanism.resume(state)
    values = running.extend(narrow(rows[:, 0] if width == 1 else rows)).reshape(ticks, width)
    return running.state(), [json.dumps(row) for row in values.tolist()]


def _build_arrival(declaration: StreamDeclaration, item: Item) -> Arrival | None:
    """Return an item as the ledger takes it; None for one without an item key, or without an owner."""
    name, owner = read_name(item.item), read_name(item.owner)
    if declaration.unit is None:
        # Each item is a person: one that names another is dropped, as it must not keep others out.
        owner = "" if item.owner is None else None
    if name is None or owner is None:
        return None
    return Arrival(owner, name, _compute_increments(declaration, item))


def _compute_increments(declaration: StreamDeclaration, item: Item) -> str | None:
    try:
        found = declaration.measure.increments(item)
    except Exception:  # whatever an item holds, it must not keep other people's items out
        found = None
    if found is None:
        return None
    return "[" + ",".join(f"[{column},{amount}]" for column, amount in sorted(found.items())) + "]"


def check_published_tick(tick: int | None, last: int) -> int:
    """Return the number of a published tick, the last one by default; or refuse one that is not."""
    number = last if tick is None else _check_tick(tick)
    if not 1 <= number <= last:
        if not last:
            raise QueryError("tick-none-published", tick=number or 1)
        raise QueryError("tick-unpublished", tick=number or 1, last=last)
    return number


def read_tick(declaration: StreamDeclaration, number: int, body: str) -> Tick:
    """Read a published tick."""
    columns, measure = np.array(json.loads(body), dtype=np.float64), declaration.measure
    label = None if declaration.clock is None else declaration.clock.label(number)
    noise = TickNoise(declaration.mechanism, number)
    return Tick(number, label, measure.values(columns), partial(measure.intervals, columns, noise))


def _count_ended_ticks(declaration: StreamDeclaration, first: int, tick: int | None, until: str | Moment) -> int:
    """Return how many ticks have ended by a time; one that must be mistyped is refused, as ticks stay closed."""
    if tick is not None or declaration.clock is None:
        raise QueryError("until-misplaced")
    ended, horizon = declaration.clock.count_ended(until), declaration.horizon
    if ended == 0:
        raise QueryError("until-too-early", stream=declaration.name, until=until)
    if horizon is not None and ended > horizon + 1:
        last = declaration.clock.label(horizon + 1)
        raise QueryError("until-beyond-horizon", until=until, stream=declaration.name, last=last)
    if horizon is None and ended - first >= _MOST_UNTIL:
        raise QueryError("until-too-far", until=until, more=ended - first + 1, stream=declaration.name, last=ended)
    return ended if horizon is None else min(ended, horizon)


def _build_over_error(declaration: StreamDeclaration) -> QueryError:
    return QueryError("stream-over", stream=declaration.name, horizon=declaration.horizon)


def _check_tick(tick: int) -> int:
    if isinstance(tick, bool) or not isinstance(tick, int | np.integer) or tick < 1:
        raise QueryError("tick-malformed", given=tick)
    return int(tick)


def _describe_life(declaration: StreamDeclaration) -> str:
    return "no horizon" if declaration.horizon is None else f"{declaration.horizon} ticks"
