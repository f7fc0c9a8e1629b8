"""What an engine must do. An engine never adds noise and never decides anything about privacy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from jali.engines.resources import Cancellation
from jali.noise import BitSource
from jali.query.aggregation import Aggregation
from jali.query.catalog import Field, Public, Source, Table
from jali.query.followed import Followed
from jali.query.nodes import Value


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

    def emit_ticks(self, followed: Followed, span: tuple[datetime, datetime], most: int) -> str:
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
                outside of the data (`engines/failures.py`).
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
