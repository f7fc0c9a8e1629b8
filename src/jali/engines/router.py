"""Route tables to engines: the engine of its source reads a table, and one engine answers a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from jali.catalog.columns import Field
from jali.catalog.tables import Public, Source, Table
from jali.catalog.validate import SERVED_FORMATS
from jali.catalog.value_domain import Value
from jali.engines.base import Cancellation, Resources, make_change_failure, make_failure
from jali.errors import Unsupported
from jali.ir.aggregates import Aggregation
from jali.ir.relations import sources
from jali.ir.stream_input import StreamInput
from jali.sampling import BitSource

if TYPE_CHECKING:
    from jali.engines.base import Engine
    from jali.engines.copy_storage import PreparedCopies

# What queries returned, by their SQL.
RowsByQuery: TypeAlias = dict[str, list[tuple[Any, ...]]]


class Router:
    """The engine of a database: DuckDB for files and frames, others for the tables that they hold.

    An engine is imported and opened when the first table needs it.

    Args:
        duckdb: The engine of files and frames.
        copies: What prepared copies are called that other engines keep; None where they keep none.
        resources: What one question may use of those.
    """

    def __init__(
        self, duckdb: Engine, copies: PreparedCopies | None = None, resources: Resources | None = None
    ) -> None:
        self._duckdb = duckdb
        self._copies = copies
        self._resources = resources or Resources()
        self._others: dict[str, Engine] = {}

    def of(self, source: Source) -> Engine:
        """Return the engine that reads a source."""
        if source.format not in SERVED_FORMATS:
            return self._duckdb
        if source.format not in self._others:
            self._others[source.format] = _open_engine(source.format, self._copies, self._resources)
        return self._others[source.format]

    def _of_all(self, tables: Iterable[Table | Public]) -> Engine:
        """Return the engine that reads all of these tables; refuse to read several at once."""
        places = {(table.source.format, table.source.location): table for table in tables}
        elsewhere = [place for place in places if place[0] in SERVED_FORMATS]
        if len(elsewhere) > 1 or (elsewhere and len(places) > 1):
            names = tuple(sorted(table.name for table in places.values())[:2])
            raise Unsupported("tables-apart", tables=names)
        return self.of(next(iter(places.values())).source) if elsewhere else self._duckdb

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in the SQL of the engine that runs it."""
        return self._of_all(sources(aggregation.source)).emit(aggregation)

    def emit_ticks(self, followed: StreamInput, span: tuple[datetime, datetime], most: int) -> str:
        """Write what a stream takes from a table."""
        return self._of_all(sources(followed.rows)).emit_ticks(followed, span, most)

    def compile(self, sql: str, tables: Sequence[Table | Public]) -> None:
        """Refuse emitted SQL that the engine of these tables runs on no data at all."""
        self._of_all(tables).compile(sql, tables)

    def run(
        self, sql: str, tables: Sequence[Table | Public], cancellation: Cancellation | None = None
    ) -> list[tuple[Any, ...]]:
        """Run emitted SQL over these tables."""
        return self._of_all(tables).run(sql, tables, cancellation)

    def failure(self, sql: str, tables: Sequence[Table | Public]) -> str | None:
        """Return the message of the engine that fails on emitted SQL, for the curator alone."""
        return self._of_all(tables).failure(sql, tables)

    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read the schema of a source."""
        return self.of(source).fields(source, declared, frame)

    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return what a source is, however it is called."""
        return self.of(source).identity(source)

    def fingerprint(self, source: Source) -> str | None:
        """Return what tells this state of a source from others."""
        return self.of(source).fingerprint(source)

    def ready(self, table: Table | Public) -> None:
        """Refuse, before anything is charged, a source that is not there."""
        self.of(table.source).ready(table)

    def check(self, table: Table | Public) -> None:
        """Read a source in full, for its curator."""
        self.of(table.source).check(table)

    def contents(self, table: Public, most: int) -> dict[str, tuple[Value, ...]]:
        """Return the different values of each column of a public table."""
        return self.of(table.source).contents(table, most)

    def count(self, table: Public) -> tuple[int, dict[str, int]]:
        """Return how many rows a public table has, and how often values of its columns repeat."""
        return self.of(table.source).count(table)

    def check_key(self, table: Table, column: str) -> None:
        """Make sure that no two rows of a table have the same value in a column."""
        self.of(table.source).check_key(table, column)

    def check_unique(self, table: Table) -> None:
        """Make sure that a key of the source keeps the unit of a table unique."""
        self.of(table.source).check_unique(table)

    def prepare(
        self,
        table: Table,
        stage: Callable[[str], None],
        tell: Callable[[Source | None], None],
        bits: BitSource | None = None,
    ) -> None:
        """Write a private copy of a table."""
        self.of(table.source).prepare(table, stage, tell, bits)

    def discard(self, table: Table) -> None:
        """Delete the prepared copy of a table."""
        self.of(table.source).discard(table)

    def reopen(self, source: Source) -> None:
        """Let go of what is kept of a source."""
        self.of(source).reopen(source)

    def attach(self, name: str, frame: Any) -> None:
        """Make an in-memory frame readable under a name."""
        self._duckdb.attach(name, frame)

    def displaces(self, name: str, frame: Any) -> bool:
        """Say whether another frame than this one is attached under a name."""
        return self._duckdb.displaces(name, frame)

    def withhold(self, name: str) -> None:
        """Let nobody read the frame under a name until one is attached."""
        self._duckdb.withhold(name)

    def holder(self, frame: Any) -> str | None:
        """Return the name under which this very frame is attached."""
        return self._duckdb.holder(frame)

    def close(self) -> None:
        """Close all engines; the next question opens them again."""
        for engine in (self._duckdb, *self._others.values()):
            engine.close()


def run_unchanged(
    engine: Engine,
    queries: Mapping[str, Sequence[Table | Public]],
    checked: Sequence[tuple[Source, str]],
    cancellation: Cancellation,
) -> RowsByQuery:
    """Run queries over sources that are as they were checked before the first of them, and still after the last.

    Args:
        engine: What runs them.
        queries: Emitted SQL, each with the tables that it reads.
        checked: The sources, with their fingerprints when they were checked.
        cancellation: Stops a query; one that was cancelled before is not begun.
    """
    rows: RowsByQuery = {}
    for source, fingerprint in checked:
        if engine.fingerprint(source) != fingerprint:
            raise make_change_failure()
    for sql, tables in queries.items():
        if cancellation.reason:
            raise make_failure(cancellation.reason)
        rows[sql] = engine.run(sql, tables, cancellation)
    for source, fingerprint in checked:
        if engine.fingerprint(source) != fingerprint:
            raise make_change_failure()
    return rows


def _open_engine(format: str, copies: PreparedCopies | None, resources: Resources) -> Engine:  # noqa: A002 - the word of Source
    if format == "postgres":
        from jali.engines.postgres import PostgresEngine

        return PostgresEngine(copies, resources)
    from jali.engines.spark import SparkEngine

    return SparkEngine(copies, resources)
