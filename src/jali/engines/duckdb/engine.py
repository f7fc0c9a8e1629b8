"""The DuckDB engine: one private in-memory DuckDB that reads the sources and keeps nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.engines.copies import copy_missing, not_written
from jali.engines.copy_directory import CopyDirectory
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.duckdb.emit import emit
from jali.engines.duckdb.expressions import Emitter
from jali.engines.duckdb.files import fingerprint, header, matches_header
from jali.engines.duckdb.frames import readable
from jali.engines.duckdb.literals import quoted, text
from jali.engines.duckdb.prepared import write_copy
from jali.engines.duckdb.schema_keys import is_keyed, is_table
from jali.engines.duckdb.sources import COPIED, FRAME_PREFIX, attached_name, plain_scan, scan
from jali.engines.duckdb.spill import SpillDirectory
from jali.engines.duckdb.types import field_of, text_field
from jali.engines.sql.prepared import read_from
from jali.errors import CatalogError, EngineError
from jali.noise import BitSource
from jali.query.aggregation import Aggregation
from jali.query.catalog import Field, Kind, Public, Source, Table
from jali.query.followed import Followed
from jali.query.nodes import Column, Value

if TYPE_CHECKING:
    import duckdb

# What DuckDB may hold in memory; the rest is spilled. By itself it would take four fifths of the machine.
_MEMORY = "3 GiB"
_SIZES = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}


class DuckDBEngine:
    """Runs exact integer aggregates in DuckDB. Opened at the first query, closed with the database.

    Args:
        copies: The directory of prepared copies; None keeps them in a temporary one, until the engine is closed.
    """

    def __init__(self, copies: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._spill: SpillDirectory | None = None
        self._frames: dict[str, tuple[Any, Any]] = {}
        self._attached: dict[str, tuple[int, int]] = {}
        self._copies = CopyDirectory(copies, ".duckdb")

    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return the path of a file; a frame is known by itself."""
        return None if source.format == "frame" else ("path", str(Path(source.location).resolve()))

    def emit(self, aggregation: Aggregation) -> str:
        """Write an aggregation in DuckDB's SQL."""
        return emit(aggregation)

    def emit_ticks(self, followed: Followed, span: tuple[datetime, datetime], most: int) -> str:
        """Write, in DuckDB's SQL, what a stream takes from a table."""
        # Read where a stream follows a table, which few do.
        from jali.engines.sql.ticks import emit_ticks

        return emit_ticks(followed, span, most, DUCKDB)

    def attach(self, name: str, frame: Any) -> None:
        """Make a pandas, polars or Arrow table readable under a name."""
        self._frames[name] = frame, readable(frame)

    def displaces(self, name: str, frame: Any) -> bool:
        """Say whether another frame than this one is attached under a name."""
        return name in self._frames and self._frames[name][0] is not frame

    def withhold(self, name: str) -> None:
        """Let nobody read the frame under a name until one is attached; which one it was is remembered."""
        self._frames[name] = self._frames[name][0], None

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
        # A view may be drawn at random, or read another protected table: only tables are one source.
        if source.format == "duckdb" and not is_table(cursor, source):
            return None
        return cursor.execute(f"DESCRIBE SELECT * FROM {plain_scan(source)}").fetchall()

    def ready(self, table: Table | Public) -> None:
        """Refuse a file that is gone, a frame that is not attached, and a source with other columns or no key."""
        if isinstance(table, Table) and table.copy is not None:
            self._copy_ready(table, table.copy)
            return
        source = table.source
        if source.format == "frame" and self._frames.get(source.location, (None, None))[1] is None:
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
        if source.format == "duckdb" and not self._has_columns(table):
            raise EngineError(
                f"The DuckDB file of table {table.name} has no table with the columns that were declared. "
                "Nothing was spent.",
                remedy="Put the table back as it was, or protect it under another name.",
            )
        if isinstance(table, Table) and table.unique and not self._is_keyed(table):
            raise EngineError(
                f"The source of table {table.name} no longer has a key on {table.unit}. Nothing was spent.",
                remedy=f"Put the key back, or protect {table.name} without unique.",
            )

    def _has_columns(self, table: Table | Public) -> bool:
        """Say whether a DuckDB file still has a table, not a view, with the declared columns in their types."""
        try:
            found = [field_of(row[0], row[1]) for row in self._described(table.source, None) or ()]
        except Exception:
            return False
        return {(f.name, f.kind, f.type) for f in table.fields} <= {(f.name, f.kind, f.type) for f in found}

    def _copy_ready(self, table: Table, copy: Source) -> None:
        if not Path(copy.location).is_file():
            said, remedy = copy_missing(table.name)
            raise EngineError(said, remedy=remedy)

    def run(self, sql: str, tables: Sequence[Table | Public]) -> list[tuple[Any, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        sources = [read_from(table) for table in tables]
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
            self._disconnect()
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
        if self._cursor([read_from(table)]).execute(twice).fetchall():
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
            self._disconnect()
        if not sound:
            raise CatalogError(
                f"{table.source.location} has values that cannot be read.",
                remedy="Write the file again: text must be UTF-8, and times must fit their type.",
            )

    def reopen(self, source: Source) -> None:
        """Detach a DuckDB file, which may have been replaced; other sources are opened anew for every question."""
        if source.format == "duckdb":
            self._disconnect()

    def check_unique(self, table: Table) -> None:
        """Refuse a unit that no key of the source keeps unique. Nothing is read but the schema."""
        if not self._is_keyed(table):
            raise CatalogError(
                f"No key of the source keeps {table.unit} unique in {table.name}: that takes a PRIMARY KEY or "
                "UNIQUE constraint of a DuckDB table, on this column alone.",
                remedy="Make the table with such a key, or leave unique out: then rows are weighed.",
            )

    def _is_keyed(self, table: Table) -> bool:
        if table.source.format != "duckdb" or table.unit is None:
            return False
        field = table.field(table.unit)
        assert field is not None
        try:
            return is_keyed(self._cursor([table.source]), table.source, field)
        except Exception:
            return False

    def prepare(
        self,
        table: Table,
        stage: Callable[[str], None],
        tell: Callable[[Source | None], None],
        bits: BitSource | None = None,
    ) -> None:
        """Write a private copy of a table with its people numbered and their rows ranked, and put it in place.

        `tell` is called with None before the earlier copy goes, and with the new one once it is there.
        """
        source, put = replace(table, copy=None), False
        self.ready(source)
        self._copies.sweep()
        with self._copies.unfinished(table.name) as path:
            if self._write_copy(source, path, stage, bits):
                with self._copies.alone():
                    tell(None)
                    put = self._copies.put(path, table.name)
                    if put:
                        tell(Source("duckdb", str(self._copies.place(table.name)), COPIED))
        # Raised outside all handlers: DuckDB's messages quote values of rows.
        if not put:
            raise not_written(
                table.name, "See that the disk has room, and that nobody writes to the source meanwhile."
            )

    def _write_copy(self, table: Table, path: Path, stage: Callable[[str], None], bits: BitSource | None) -> bool:
        """Write a copy, and say whether it is one of a source that stayed the same meanwhile."""
        before = fingerprint(table.source)
        try:
            write_copy(self._cursor([table.source]), table, path, stage, bits)
            return fingerprint(table.source) == before
        except Exception:
            return False
        finally:
            self._disconnect()

    def discard(self, table: Table) -> None:
        """Delete the prepared copy of a table, also one that was cut off before anybody could read it."""
        self._disconnect()
        if table.copy is not None:
            Path(table.copy.location).unlink(missing_ok=True)
        self._copies.delete(table.name)

    def close(self) -> None:
        """Close DuckDB, and delete its spill directory and temporary copies. The next question opens it again."""
        self._disconnect()
        self._copies.remove()

    def _disconnect(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()
            if self._spill is not None:
                self._spill.remove()
            self._spill, self._attached = None, {}

    def _cursor(self, sources: Sequence[Source], frame: Any = None) -> duckdb.DuckDBPyConnection:
        with self._lock:
            if self._process != os.getpid():
                # DuckDB's threads do not survive a fork: the child opens its own and leaves the parent's alone.
                self._connection, self._spill, self._attached, self._process = None, None, {}, os.getpid()
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
        _bound_memory(connection)
        return connection

    def _make_readable(self, cursor: duckdb.DuckDBPyConnection, source: Source, frame: Any) -> None:
        if source.format == "frame":
            # A registered frame is a temporary view of one cursor: each cursor needs its own.
            given = self._frames[source.location][1] if frame is None else frame
            cursor.register(FRAME_PREFIX + source.location, given)
        elif source.format == "duckdb":
            self._attach(cursor, source)

    def _attach(self, cursor: duckdb.DuckDBPyConnection, source: Source) -> None:
        """Attach a DuckDB file, anew where another one is in its place: another process may have refreshed it."""
        found = Path(source.location).stat()
        file = found.st_dev, found.st_ino
        if self._attached.get(source.location) == file:
            return
        if source.location in self._attached:
            del self._attached[source.location]
            cursor.execute(f"DETACH {quoted(attached_name(source))}")
        cursor.execute(f"ATTACH {text(source.location)} AS {quoted(attached_name(source))} (READ_ONLY)")
        self._attached[source.location] = file


def _bound_memory(connection: duckdb.DuckDBPyConnection) -> None:
    """Lower DuckDB's own limit, which knows the machine and the container; never raise it."""
    ((found,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    if _size(found) > _size(_MEMORY):
        connection.execute(f"SET memory_limit = '{_MEMORY}'")


def _size(written: str) -> float:
    number, unit = written.split()
    return float(number) * (1 << _SIZES.get(unit, 50))
