"""What an engine must do, what one question may use, and how failures are reported.

An engine never adds noise and never decides anything about privacy. Its errors do not depend on the data:
everything but `engine-failed` has a cause outside of the rows (somebody cancelled the question, the time was
over, the disk was full, the connection was lost, a source was replaced). What is left may be caused by the data,
so such a failure closes the table (`jali.execution.data_guard`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from jali.catalog.columns import Field
from jali.catalog.tables import Public, Source, Table
from jali.catalog.value_domain import Value
from jali.errors import CatalogError, EngineError, Unsupported
from jali.ir.aggregates import Aggregation
from jali.ir.stream_input import StreamInput
from jali.sampling import BitSource

_CAUSES = {
    "cancelled": "engine-cancelled",
    "time": "engine-time",
    "disk": "engine-disk",
    "away": "engine-away",
}


def make_failure(cause: str) -> EngineError:
    """Return the error of a question that an engine could not run; an empty cause may be the data."""
    return EngineError(_CAUSES.get(cause, "engine-failed"))


def make_compile_refusal(engine: str) -> Unsupported:
    """Return the refusal of a question that an engine runs on no data at all."""
    return Unsupported("engine-cannot-run", engine=engine)


def make_change_failure() -> EngineError:
    """Return the error of a source that was replaced while it was read."""
    return EngineError("source-changed-while-read")


_GIB = 1 << 30
# An interrupt that comes just before an engine begins is lost: it is sent again until the engine has stopped.
_AGAIN = 0.2


@dataclass(frozen=True)
class Resources:
    """The limits of one question in an engine. None of them concerns privacy.

    What the planner admits stays far below them (`planner.fanout`), so that no person's rows decide whether one is
    reached. Reaching the limit of memory or disk closes the table (docs/threat_model.md).

    Attributes:
        memory: How many bytes DuckDB holds in memory for a question; the rest is spilled to disk.
        spill: How many bytes it may spill.
        threads: How many threads it computes with; None for one on each core.
        seconds: After how many seconds an engine is stopped.
    """

    memory: int = 3 * _GIB
    spill: int = 256 * _GIB
    threads: int | None = None
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        for name in ("memory", "spill", "threads", "seconds"):
            value = getattr(self, name)
            if not (name == "threads" and value is None) and not 0 < value < float("inf"):
                raise CatalogError("resource-malformed", resource=name, given=value)


class Cancellation:
    """Stops one question from elsewhere: somebody cancels it, or its time is over.

    Attributes:
        reason: Why it was stopped: "cancelled" or "time"; empty while it was not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None
        self._timer: threading.Timer | None = None
        self.reason = ""

    def cancel(self, reason: str = "cancelled") -> None:
        """Stop the question: at once if an engine works on it, else before one begins."""
        with self._lock:
            self.reason = self.reason or reason
            if self._interrupt is None:
                return
            self._interrupt()
            self._start(_AGAIN, reason)

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None], seconds: float) -> Iterator[None]:
        """Let `interrupt` stop an engine meanwhile: when the question is cancelled, or after some seconds."""
        with self._lock:
            self._interrupt = interrupt
            self._start(_AGAIN if self.reason else seconds, self.reason or "time")
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None
                if self._timer is not None:
                    self._timer.cancel()

    def _start(self, seconds: float, reason: str) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(seconds, self.cancel, [reason])
        self._timer.daemon = True
        self._timer.start()


class Engine(Protocol):
    """Runs exact integer aggregates over one kind of store.

    Every engine passes the same suite (`tests/exact`): with the noise off, every question equals plain SQL on
    the clamped and weighted data, and nothing in the data can make it raise.
    """

    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read the schema of a source: the names and kinds of its columns, nothing about its rows."""

    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return what a source is, however it is called; None where that cannot be told.

        A path of this machine is ("path", it): files in a folder are part of it, for every engine.
        """

    def fingerprint(self, source: Source) -> str | None:
        """Return what tells this state of a source from others, by public facts about it; None if it is missing.

        Of files: path, inode, size and time of the last change. Of frames: their values. Of tables: which one it
        is, and its snapshot where the engine has one.
        """

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in the engine's own SQL. Needs no connection and no data."""

    def emit_ticks(self, followed: StreamInput, span: tuple[datetime, datetime], most: int) -> str:
        """Write what a stream takes from a table: owner, moment, cell, value, and how many rows are alike.

        Args:
            followed: What a stream follows.
            span: When the first and the last of the ticks begin that are looked at.
            most: Up to how many rows that are alike are counted.
        """

    def ready(self, table: Table | Public) -> None:
        """Refuse, before anything is charged, a source that is not there or has other columns than declared.

        Raises:
            EngineError: with what is missing: a file, a frame, a column. Nothing about rows.
        """

    def compile(self, sql: str, tables: Sequence[Table | Public]) -> None:
        """Refuse, before anything is charged, emitted SQL that the engine runs on no data at all. No row is read.

        Raises:
            Unsupported: if the engine cannot bind it: a function that it lacks, types that it does not compare.
        """

    def run(
        self, sql: str, tables: Sequence[Table | Public], cancellation: Cancellation | None = None
    ) -> list[tuple[Any, ...]]:
        """Run emitted SQL over these tables and return its rows, as `emit` describes them.

        Args:
            sql: What `emit` wrote.
            tables: What it reads.
            cancellation: Stops it, from another thread.

        Raises:
            EngineError: with a text that does not depend on the data, and a code that tells whether the cause is
                outside of the data (see above).
        """

    def failure(self, sql: str, tables: Sequence[Table | Public]) -> str | None:
        """Run emitted SQL once more and return the engine's own message, which may quote rows; None if it runs.

        For the curator alone, after a failure closed a table. The result of the query is discarded.
        """

    def attach(self, name: str, frame: Any) -> None:
        """Make an in-memory frame readable under a name."""

    def displaces(self, name: str, frame: Any) -> bool:
        """Say whether another frame than this one is attached under a name."""

    def withhold(self, name: str) -> None:
        """Let nobody read the frame under a name until one is attached; which one it was is remembered."""

    def holder(self, frame: Any) -> str | None:
        """Return the name under which this very frame is attached, if it is."""

    def check(self, table: Table | Public) -> None:
        """Read a source in full through the normalising scan, for its curator: a damaged one would fail questions.

        Raises:
            CatalogError: if the source is damaged. No analyst and no plan ever learns of this check.
        """

    def contents(self, table: Public, most: int) -> dict[str, tuple[Value, ...]]:
        """Return the different values of each column of a public table that has at most so many."""

    def count(self, table: Public) -> tuple[int, dict[str, int]]:
        """Return how many rows a public table has, and for each column how many have the same value at most."""

    def check_key(self, table: Table, column: str) -> None:
        """Make sure, for the curator, that no two rows of a table have the same value in a column.

        Raises:
            CatalogError: if two have.
        """

    def check_unique(self, table: Table) -> None:
        """Make sure, for the curator, that a key of the source keeps the unit of a table unique.

        Raises:
            CatalogError: if none does.
        """

    def prepare(
        self,
        table: Table,
        stage: Callable[[str], None],
        tell: Callable[[Source | None], None],
        bits: BitSource | None = None,
    ) -> None:
        """Write a private copy of a table for faster questions, and put it in place of an earlier one.

        Args:
            table: What to copy.
            stage: Called with the name of each stage as it begins.
            tell: Called with None before the earlier copy goes, and with the new one once it is there. Nobody
                else puts a copy in place between the two.
            bits: Where the key of the ranks is drawn from.

        Raises:
            CatalogError: if it cannot be written; an earlier copy is as it was.
        """

    def discard(self, table: Table) -> None:
        """Delete the prepared copy of a table, if there is one."""

    def reopen(self, source: Source) -> None:
        """Let go of what is kept of a source, because its data is new."""

    def close(self) -> None:
        """Let go of connections and open files; the next question opens them again."""
