"""The DuckDB engine: one private in-memory DuckDB that reads the sources and keeps nothing."""

from __future__ import annotations

import csv
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.engines.duckdb.emit import emit
from jali.engines.duckdb.expressions import quoted, text
from jali.engines.duckdb.frames import readable
from jali.engines.duckdb.sources import FRAME_PREFIX, attached_name, scan_of
from jali.engines.duckdb.spill import SpillDirectory
from jali.engines.duckdb.types import field_of, text_field
from jali.errors import CatalogError, EngineError
from jali.query.aggregation import Aggregation
from jali.query.catalog import Field, Kind, Source

if TYPE_CHECKING:
    import duckdb


class DuckDBEngine:
    """Runs exact integer aggregates in DuckDB. Opened at the first query, closed with the database."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._spill: SpillDirectory | None = None
        self._frames: dict[str, Any] = {}
        self._attached: set[str] = set()

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in DuckDB's SQL."""
        return emit(aggregation)

    def attach(self, name: str, frame: Any) -> None:
        """Make a pandas, polars or Arrow table readable under a name."""
        self._frames[name] = readable(frame)

    def fields(self, source: Source, declared: dict[str, str]) -> tuple[Field, ...]:
        """Read names and kinds of the columns. CSV columns are text unless a kind is declared."""
        if source.format == "csv":
            return tuple(text_field(n, Kind(declared.get(n, Kind.TEXT))) for n in _header(source.location))
        try:
            cursor = self._cursor(source)
            described = cursor.execute(f"DESCRIBE SELECT * FROM {scan_of(source, ())}").fetchall()
        except EngineError:
            raise
        except Exception:
            described = None
        if described is None:
            raise CatalogError(
                f"{source.location} cannot be read as {source.format}.",
                remedy="Check the path, the format and the name of the table.",
            )
        return tuple(field_of(row[0], row[1]) for row in described)

    def run(self, sql: str, source: Source) -> list[tuple[int, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        try:
            rows = self._cursor(source).execute(sql).fetchall()
        except Exception:
            rows = None
        # Raised outside the handler, so that DuckDB's own exception is not even the context of ours.
        if rows is None:
            raise EngineError(
                "The engine could not run this question.",
                remedy="Its receipt stays open: `redeem` it when the source can be read again.",
            )
        return rows

    def close(self) -> None:
        """Close DuckDB and delete its spill directory."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._spill is not None:
                self._spill.remove()
                self._spill = None

    def _cursor(self, source: Source) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._process != os.getpid():
                # DuckDB's threads do not survive a fork: the child opens its own and leaves the parent's alone.
                self._connection, self._spill, self._attached, self._process = None, None, set(), os.getpid()
            if self._connection is None:
                self._connection = self._open()
            cursor = self._connection.cursor()
            self._make_readable(cursor, source)
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

    def _make_readable(self, cursor: duckdb.DuckDBPyConnection, source: Source) -> None:
        if source.format == "frame":
            # A registered frame is a temporary view of one cursor: each cursor needs its own.
            cursor.register(FRAME_PREFIX + source.location, self._frames[source.location])
        elif source.format == "duckdb" and source.location not in self._attached:
            cursor.execute(f"ATTACH {text(source.location)} AS {quoted(attached_name(source))} (READ_ONLY)")
            self._attached.add(source.location)


def _header(location: str) -> list[str]:
    """Read the names in the first line of a CSV file."""
    try:
        with Path(location).open(newline="", encoding="utf-8-sig") as file:
            names = next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError):
        names = []
    if not names or len(set(names)) != len(names) or not all(names):
        raise CatalogError(f"{location} has no header line with distinct column names.")
    return names
