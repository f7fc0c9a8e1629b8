"""The DuckDB engine: one private in-memory DuckDB that reads the sources and keeps nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.engines.duckdb.emit import emit
from jali.engines.duckdb.expressions import Emitter, quoted, text
from jali.engines.duckdb.files import fingerprint, header, matches_header
from jali.engines.duckdb.frames import readable
from jali.engines.duckdb.sources import FRAME_PREFIX, attached_name, plain_scan, scan
from jali.engines.duckdb.spill import SpillDirectory
from jali.engines.duckdb.types import field_of, text_field
from jali.errors import CatalogError, EngineError
from jali.query.aggregation import Aggregation
from jali.query.catalog import Field, Kind, Public, Source, Table
from jali.query.nodes import Column, Value

if TYPE_CHECKING:
    import duckdb


class DuckDBEngine:
    """Runs exact integer aggregates in DuckDB. Opened at the first query, closed with the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._spill: SpillDirectory | None = None
        self._frames: dict[str, tuple[Any, Any]] = {}
        self._attached: set[str] = set()

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in DuckDB's SQL."""
        return emit(aggregation)

    def attach(self, name: str, frame: Any) -> None:
        """Make a pandas, polars or Arrow table readable under a name."""
        self._frames[name] = frame, readable(frame)

    def holder(self, frame: Any) -> str | None:
        """Return the name under which this very frame is attached, if it is."""
        return next((name for name, (given, _) in self._frames.items() if given is frame), None)

    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read names and kinds of the columns. CSV columns are text unless a kind is declared."""
        if source.format == "csv":
            kinds = {name.lower(): Kind(kind) for name, kind in declared.items()}
            return tuple(text_field(n, kinds.get(n.lower(), Kind.TEXT)) for n in header(source.location))
        try:
            described = self._described(source, frame)
        except CatalogError:
            raise
        except Exception:
            described = None
        if not described:
            raise CatalogError(
                f"{source.location} cannot be read as {source.format}.",
                remedy="Check the path, the format and the name of the table (a view cannot be protected).",
            )
        return tuple(field_of(row[0], row[1]) for row in described)

    def _described(self, source: Source, frame: Any) -> list[Any] | None:
        cursor = self._cursor([source], None if frame is None else readable(frame))
        if source.format == "duckdb":
            # A view may be drawn at random, or read another protected table: only tables are one source.
            known = "SELECT 1 FROM duckdb_tables() WHERE database_name = ? AND lower(table_name) = lower(?)"
            if not cursor.execute(known, [attached_name(source), source.relation]).fetchall():
                return None
        return cursor.execute(f"DESCRIBE SELECT * FROM {plain_scan(source)}").fetchall()

    def ready(self, table: Table | Public) -> None:
        """Refuse a file that is gone, a frame that is not attached, and a CSV file with other columns."""
        source = table.source
        if source.format == "frame" and source.location not in self._frames:
            raise EngineError(
                f"The frame of table {table.name} is not attached. Nothing was spent.",
                remedy=f"Give it again: db.attach({table.name!r}, frame).",
            )
        if source.format != "frame" and not Path(source.location).is_file():
            raise EngineError(
                f"The file of table {table.name} is missing. Nothing was spent.",
                remedy="Put it back where it was.",
            )
        if not matches_header(table):
            raise EngineError(
                f"The CSV file of table {table.name} has other columns than were declared. Nothing was spent.",
                remedy="Put the columns back in their order, or protect the file under another name.",
            )

    def run(self, sql: str, tables: Sequence[Table | Public]) -> list[tuple[Any, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        sources = [table.source for table in tables]
        before = [fingerprint(source) for source in sources]
        interrupted = False
        try:
            for table in tables:
                self.ready(table)
            rows = self._cursor(sources).execute(sql).fetchall()
        except Exception as problem:
            # DuckDB's messages quote values of rows: nothing of them is kept but whether it was Ctrl-C.
            rows, interrupted = None, type(problem) is RuntimeError and problem.args == ("Query interrupted",)
            # An internal error of DuckDB would make every later question fail: start afresh.
            self.close()
        if interrupted:
            raise KeyboardInterrupt
        # Raised outside the handler, so that DuckDB's own exception is not even the context of ours.
        if rows is None or [fingerprint(source) for source in sources] != before:
            raise EngineError("The engine could not run this question.")
        return rows

    def contents(self, table: Public, most: int) -> dict[str, tuple[Value, ...]]:
        """Return the different values of each column of a public table that has at most so many."""
        cursor, found = self._cursor([table.source]), {}
        emitter = Emitter(table)
        for field in table.fields:
            if field.kind is Kind.OTHER:
                continue
            value = emitter.write(Column(field.name))
            rows = cursor.execute(
                f"SELECT DISTINCT {value} AS v FROM {scan(table)} ORDER BY v NULLS LAST LIMIT {most + 1}"
            ).fetchall()
            if len(rows) <= most:
                found[field.name] = tuple(row[0] for row in rows)
        return found

    def check_key(self, table: Table, column: str) -> None:
        """Refuse a column in which two rows of a table have the same value."""
        value = Emitter(table).write(Column(column))
        twice = (
            f"SELECT 1 FROM {scan(table)} WHERE {value} IS NOT NULL GROUP BY {value} HAVING count(*) > 1 LIMIT 1"
        )
        if self._cursor([table.source]).execute(twice).fetchall():
            raise CatalogError(
                f"Column {column} of {table.name} is not unique, so it cannot tell who owns a row.",
                remedy="Reach the unit through a column that is unique.",
            )

    def check(self, table: Table) -> None:
        """Read a Parquet file in full: text that is not UTF-8 or a damaged page would fail questions later."""
        if table.source.format != "parquet":
            return
        columns = ", ".join(f"bit_xor(hash({quoted(field.name)}))" for field in table.fields)
        try:
            self._cursor([table.source]).execute(f"SELECT {columns} FROM {plain_scan(table.source)}").fetchall()
            sound = True
        except Exception:
            sound = False
            self.close()
        if not sound:
            raise CatalogError(
                f"{table.source.location} has values that cannot be read.",
                remedy="Write the file again: text must be UTF-8, and times must fit their type.",
            )

    def reopen(self, source: Source) -> None:
        """Detach a DuckDB file, which may have been replaced; other sources are opened anew for every question."""
        if source.format == "duckdb":
            self.close()

    def close(self) -> None:
        """Close DuckDB and delete its spill directory. The next question opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()
            if self._spill is not None:
                self._spill.remove()
            self._spill, self._attached = None, set()

    def _cursor(self, sources: Sequence[Source], frame: Any = None) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._process != os.getpid():
                # DuckDB's threads do not survive a fork: the child opens its own and leaves the parent's alone.
                self._connection, self._spill, self._attached, self._process = None, None, set(), os.getpid()
            if self._connection is None:
                self._connection = self._open()
            cursor = self._connection.cursor()
            for source in sources:
                self._make_readable(cursor, source, frame)
            return cursor

    def _open(self) -> duckdb.DuckDBPyConnection:
        import duckdb

        self._spill = SpillDirectory()
        connection = duckdb.connect(
            config={
                "temp_directory": str(self._spill.path),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "preserve_insertion_order": False,
                "python_enable_replacements": False,
            }
        )
        connection.execute("SET enable_progress_bar = false")
        return connection

    def _make_readable(self, cursor: duckdb.DuckDBPyConnection, source: Source, frame: Any) -> None:
        if source.format == "frame":
            # A registered frame is a temporary view of one cursor: each cursor needs its own.
            given = self._frames[source.location][1] if frame is None else frame
            cursor.register(FRAME_PREFIX + source.location, given)
        elif source.format == "duckdb" and source.location not in self._attached:
            cursor.execute(f"ATTACH {text(source.location)} AS {quoted(attached_name(source))} (READ_ONLY)")
            self._attached.add(source.location)
