"""Follow a table with a stream: at each tick the rows that are new become items, and nothing is revised."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Container
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Field, Range, since_1970
from jali.catalog.tables import Catalog, Table
from jali.errors import CatalogError, EngineError, QueryError
from jali.execution.streams.measure_protocol import MeasureTerms
from jali.execution.streams.tick_clock import Clock, to_datetime
from jali.ir.functions.date_functions import count_date_parts
from jali.ir.stream_input import StreamInput
from jali.planner.stream_question import read_stream_input
from jali.privacy.planning.plan_table import write_count
from jali.sql.reader.read_select import read_sql
from jali.streams.stream_item import Item

if TYPE_CHECKING:
    from jali.engines import Engine


@dataclass(frozen=True)
class Follows:
    """What a stream follows, as it is stored with the stream.

    Attributes:
        query: The question, as it was written.
        followed: What it takes from each row.
        late: How many ticks back rows are looked for that came late; None for all since the start.
    """

    query: str
    followed: StreamInput
    late: int | None = None

    @classmethod
    def read(cls, query: str, catalog: Catalog, *, key: str | None = None, late: int | None = None) -> Follows:
        """Read the question that a stream is to follow, or refuse it. Free: no data is read."""
        if late is not None and (isinstance(late, bool) or not isinstance(late, int) or late < 0):
            raise CatalogError("late-malformed", given=late)
        if not isinstance(query, str):
            raise QueryError("stream-query-not-text")
        return cls(query, read_stream_input(read_sql(query), catalog, key=key), late)

    def first(self, ticks: range) -> int:
        """Return the first tick whose rows are looked at when some are closed."""
        return 1 if self.late is None else max(1, ticks[0] - self.late)

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return self.followed.measure

    @property
    def measure_terms(self) -> MeasureTerms:
        """What the question says about keys, values and cells."""
        found = self.followed
        keys = None if not found.keys else tuple(self.labels)
        if found.measure == "count":
            return MeasureTerms(keys)
        if found.measure == "cdf":
            return MeasureTerms(keys, None, found.ends)
        return MeasureTerms(keys, Range(found.low, found.high))

    @property
    def labels(self) -> list[Any]:
        """All combinations of the further keys; a key that is alone stands for itself."""
        lists = [key.values or () for key in self.followed.keys]
        return [None] if not lists else list(lists[0]) if len(lists) == 1 else list(product(*lists))

    def describe(self, clock: Clock) -> tuple[str, str]:
        """Say what is followed, and which rows count when."""
        back = "" if self.late is None else f", from up to {write_count(self.late, 'tick')} back"
        rows = (
            f"those since {clock.label(1)}, as they are when a tick is closed; late ones{back} count in that tick"
        )
        return self.query, f"{rows}; what was published is never revised"

    def clock(self, start: Any) -> Clock:
        """Return the public clock: its ticks are those of the question, so it starts where one of them does."""
        every = self.followed.every
        clock = Clock.declare(every, start)
        begins = to_datetime(clock.start)
        if (every == "week" and begins.weekday() != 0) or (every == "hour" and (begins.minute or begins.second)):
            what, fits = "Mondays" if every == "week" else "full hours", _find_last_boundary(every, begins)
            raise CatalogError("start-of-question", ticks=every.capitalize(), begin=what, start=fits)
        return clock


class TableFollower:
    """Reads the tables that streams follow."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def check_ready(self, follows: Follows) -> None:
        """Refuse, before anything is charged, a table that cannot be read, and a key that is not unique."""
        for table in follows.followed.tables:
            self._engine.ready(table)
        first, key = follows.followed.tables[0], follows.followed.key
        if key is not None:
            self._engine.check_key(first, key)

    def items(
        self, follows: Follows, clock: Clock, ticks: range, most: int, known: Container[str] = ()
    ) -> dict[int, list[Item]]:
        """Return the items of the ticks that are to be closed, as the table is now.

        Rows of earlier ticks come late, and are items of the first. Rows from before the start, from before what
        is looked back at, and from after the last of the ticks are left out.

        Args:
            follows: What is followed.
            clock: When ticks begin.
            ticks: Those that are to be closed, at least one.
            most: How many rows that are alike one person can count for, over all ticks.
            known: The keys of items that were appended before; the same key is never another person's.
        """
        first = follows.first(ticks)
        span = to_datetime(clock.begins(first)), to_datetime(clock.begins(ticks[-1]))
        found: dict[int, list[Item]] = {tick: [] for tick in ticks}
        labels, tick_of = follows.labels, _Ticks(follows.followed.every, span[0], first, ticks[0])
        for owner, moment, cell, value, count in self._read_rows(follows, span, most):
            into = found[tick_of[moment]]
            for number in range(count):
                name = _compute_item_key(owner, moment, cell, value, number)
                if name not in known:
                    into.append(Item(name, owner, labels[cell], value))
        return found

    def _read_rows(
        self, follows: Follows, span: tuple[datetime.datetime, datetime.datetime], most: int
    ) -> list[tuple[Any, ...]]:
        tables = follows.followed.tables
        for table in tables:
            # New rows are what a stream is for: they are checked before each tick, by whoever publishes it.
            self._engine.reopen(table.source)
            self._engine.ready(table)
            self._engine.check(replace(table, fields=self._find_fields(table)))
        try:
            return self._engine.run(self._engine.emit_ticks(follows.followed, span, most), tables)
        except EngineError as problem:
            failed = problem.like(EngineError)
        # Raised outside the handler. What it says depends on the schema of the sources alone.
        for table in tables:
            self._check_columns(table)
        raise failed

    def _find_fields(self, table: Table) -> tuple[Field, ...]:
        """Return the columns that a source still has of those that it had when the table was protected."""
        try:
            found = {field.name.lower() for field in self._engine.fields(table.source, _map_kinds(table))}
        except CatalogError:
            return table.fields
        return tuple(field for field in table.fields if field.name.lower() in found)

    def _check_columns(self, table: Table) -> None:
        """Refuse a source that has lost a column."""
        gone = [field.name for field in table.fields if field not in self._find_fields(table)]
        if gone:
            raise EngineError("source-changed-column", table=table.name, column=gone[0])


def _map_kinds(table: Table) -> dict[str, str]:
    return {field.name: field.kind.value for field in table.columns}


class _Ticks(dict[int, int]):
    """The tick that rows of a moment enter: their own, or the open one if they are late. Each is found once."""

    def __init__(self, every: str, begins: datetime.datetime, first: int, opened: int) -> None:
        self._every, self._open = every, opened
        self._origin = count_date_parts(every, since_1970(begins)) - first

    def __missing__(self, moment: int) -> int:
        self[moment] = max(self._open, count_date_parts(self._every, Fraction(moment)) - self._origin)
        return self[moment]


def _compute_item_key(owner: str, moment: int, cell: int, value: float, number: int) -> str:
    """Return the key of an item: the same for the same row, and in no order that the values decide."""
    written = f"{len(owner)}|{owner}|{moment}|{cell}|{value.hex()}|{number}"
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def _find_last_boundary(every: str, moment: datetime.datetime) -> str:
    """Return the last Monday or full hour by a moment, as text."""
    if every == "week":
        return str(moment.date() - datetime.timedelta(days=moment.weekday()))
    return str(moment.replace(minute=0, second=0, microsecond=0))
