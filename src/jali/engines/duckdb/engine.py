"""The DuckDB engine: private in-memory instances of DuckDB that read the sources and keep nothing."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Public, Source, Table
from jali.engines.base import Cancellation, Resources, make_change_failure, make_compile_refusal, make_failure
from jali.engines.copy_storage import CopyDirectory, make_write_failure
from jali.engines.duckdb.connections import Instances
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.duckdb.frame_snapshots import Snapshot, snapshot
from jali.engines.duckdb.prepared import write_copy
from jali.engines.duckdb.sources import (
    COPY_TABLE,
    FRAME_PREFIX,
    NAMES,
    field_of,
    fingerprint,
    is_keyed,
    is_table,
    matches_header,
    read_header,
    scan_source,
)
from jali.engines.sql.engine import SqlEngine
from jali.errors import CatalogError, EngineError, Phrase
from jali.sampling import BitSource

if TYPE_CHECKING:
    import duckdb

    Cursor = duckdb.DuckDBPyConnection

# A disk with less room than this is full.
_FULL = 1 << 26
# How many queries are known to run.
_MOST_KNOWN = 10_000
# Formats whose columns are what the curator says they are: every value is stored as text.
_TEXTUAL = ("csv", "json")


class DuckDBEngine(SqlEngine):
    """Runs exact integer aggregates in DuckDB. Opened at the first query, closed with the database.

    Args:
        copies: The directory of prepared copies; None keeps them in a temporary one, until the engine is closed.
        resources: What one question may use.
    """

    dialect = DUCKDB

    def __init__(self, copies: Path | None = None, resources: Resources | None = None) -> None:
        self._resources = resources or Resources()
        self._instances = Instances(self._resources)
        self._lock = threading.Lock()
        # The frames as they were given, and what was copied of them; None where one is withheld.
        self._frames: dict[str, tuple[Any, Snapshot | None]] = {}
        self._copies = CopyDirectory(copies, ".duckdb")
        # Digests of queries that DuckDB runs on some data.
        self._compiled: set[bytes] = set()

    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return the path of a file, or the digest of a frame that is attached."""
        if source.format == "frame":
            held = self._frames.get(source.location, (None, None))[1]
            return None if held is None else ("frame", held.digest)
        return ("path", str(Path(source.location).resolve()))

    def fingerprint(self, source: Source) -> str | None:
        """Return what tells this state of a source from others; None where it cannot be read."""
        if source.format == "frame":
            held = self._frames.get(source.location, (None, None))[1]
            return None if held is None else held.digest
        return fingerprint(source)

    def attach(self, name: str, frame: Any) -> None:
        """Make the values that a pandas, polars or Arrow table has now readable under a name."""
        held = snapshot(frame)
        with self._lock:
            self._frames[name] = frame, held

    def displaces(self, name: str, frame: Any) -> bool:
        """Say whether other values than those of this frame are attached under a name."""
        given, held = self._frames.get(name, (None, None))
        return held is not None and (given is not frame or snapshot(frame).digest != held.digest)

    def withhold(self, name: str) -> None:
        """Let nobody read the frame under a name until one is attached; which one it was is remembered."""
        with self._lock:
            self._frames[name] = self._frames[name][0], None

    def holder(self, frame: Any) -> str | None:
        """Return the name under which this very frame, or one with the same values, is attached."""
        known = [(name, given, held) for name, (given, held) in self._frames.items()]
        same = next((name for name, given, _ in known if given is frame), None)
        if same is not None or not known:
            return same
        values = snapshot(frame)
        return next((name for name, _, held in known if values.same(held)), None)

    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read names and kinds of the columns. Columns of CSV and JSON are text unless a kind is declared."""
        if source.format in _TEXTUAL:
            kinds = {name.lower(): Kind(kind) for name, kind in declared.items()}
            names = read_header(source.location) if source.format == "csv" else list(declared)
            if not names:
                raise CatalogError("json-columns-missing", location=source.location)
            return tuple(Field(n, kind := kinds.get(n.lower(), Kind.TEXT), NAMES[kind]) for n in names)
        try:
            described = self._describe_columns(source, frame)
        except CatalogError:
            raise
        except Exception:
            described = None
        if not described:
            raise CatalogError("source-unreadable", location=source.location, format=source.format)
        return tuple(field_of(row[0], row[1]) for row in described)

    def _describe_columns(self, source: Source, frame: Any) -> list[Any] | None:
        with self._cursor([source], None if frame is None else snapshot(frame)) as cursor:
            # A view may be drawn at random, or read another protected table: only tables are one source.
            if source.format == "duckdb" and not is_table(cursor, source):
                return None
            return cursor.execute(f"DESCRIBE SELECT * FROM {scan_source(source)}").fetchall()

    def ready(self, table: Table | Public) -> None:
        """Refuse a file that is gone, a frame that is not attached, and a source with other columns or no key."""
        if isinstance(table, Table) and table.copy is not None:
            self._copy_ready(table, table.copy)
            return
        source = table.source
        if source.format == "frame" and self.fingerprint(source) is None:
            raise EngineError("source-missing-frame", table=table.name)
        if source.format != "frame" and not Path(source.location).is_file():
            raise EngineError("source-missing", table=table.name)
        if not matches_header(table):
            raise EngineError("source-changed-csv", table=table.name)
        if source.format == "duckdb" and not self._has_columns(table):
            raise EngineError("source-changed-duckdb", table=table.name)
        if isinstance(table, Table) and table.unique and not self._is_keyed(table):
            raise EngineError("source-changed-key", table=table.name, unit=table.unit)

    def _has_columns(self, table: Table | Public) -> bool:
        """Say whether a DuckDB file still has a table, not a view, with the declared columns in their types."""
        try:
            found = [field_of(row[0], row[1]) for row in self._describe_columns(table.source, None) or ()]
        except Exception:
            return False
        return {(f.name, f.kind, f.type) for f in table.columns} <= {(f.name, f.kind, f.type) for f in found}

    def _copy_ready(self, table: Table, copy: Source) -> None:
        if copy.relation != COPY_TABLE or not Path(copy.location).is_file():
            raise EngineError("source-missing-copy", table=table.name)

    def compile(self, sql: str, tables: Sequence[Table | Public]) -> None:
        """Run emitted SQL over tables without rows. What ran once is not tried again."""
        known = hashlib.sha256(sql.encode()).digest()
        if known in self._compiled:
            return
        wrong = False
        try:
            with self._instances.lease() as instance, instance.connection.cursor() as cursor:
                text = sql
                for table in tables:
                    text = text.replace(DUCKDB.rows(table), instance.empty(table))
                cursor.execute(text).fetchall()
        except Exception as problem:
            wrong = _is_wrong(problem)
        if wrong:
            raise make_compile_refusal("DuckDB")
        if len(self._compiled) >= _MOST_KNOWN:
            self._compiled.clear()
        self._compiled.add(known)

    def run(
        self, sql: str, tables: Sequence[Table | Public], cancellation: Cancellation | None = None
    ) -> list[tuple[Any, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        sources = [table.read_from for table in tables]
        before = [self.fingerprint(source) for source in sources]
        cancellation = cancellation or Cancellation()
        rows: list[tuple[Any, ...]] | None = None
        interrupted, full = False, False
        try:
            for table in tables:
                self.ready(table)
            with self._cursor(sources) as cursor:
                stop = cancellation.interrupting(cursor.interrupt, self._resources.seconds)
                with stop:
                    rows = cursor.execute(sql).fetchall()
        except Exception as problem:
            # DuckDB's messages quote values of rows: nothing of them is kept but what kind of failure it was.
            interrupted = type(problem) is RuntimeError and problem.args == ("Query interrupted",)
            full = _is_full()
        if interrupted:
            raise KeyboardInterrupt
        # Raised outside the handler, so that DuckDB's own exception is not even the context of ours.
        if [self.fingerprint(source) for source in sources] != before:
            raise make_change_failure()
        if rows is None:
            raise make_failure("disk" if full and not cancellation.reason else cancellation.reason)
        return rows

    def _execute(self, sql: str, tables: Sequence[Table | Public]) -> list[tuple[Any, ...]]:
        with self._cursor([table.read_from for table in tables]) as cursor:
            return cursor.execute(sql).fetchall()

    def _read(self, table: Table | Public, query: str) -> list[tuple[Any, ...]]:
        return self._execute(query, [table])

    def check(self, table: Table | Public) -> None:
        """Read a source in full, through the normalising scan: text that is not UTF-8, or a damaged page."""
        columns = [f"bit_xor(hash({DUCKDB.quote(field.name)}))" for field in table.columns]
        sound = False
        with suppress(Exception), self._cursor([table.source]) as cursor:
            source = replace(table, copy=None) if isinstance(table, Table) else table
            cursor.execute(f"SELECT {', '.join(columns) or 'count(*)'} FROM {DUCKDB.scan(source)}").fetchall()
            sound = True
        if not sound:
            raise CatalogError("values-unreadable", location=table.source.location)

    def reopen(self, source: Source) -> None:
        """Let go of a DuckDB file, which may have been replaced; other sources are opened for every question."""
        if source.format == "duckdb":
            self._instances.release()

    def check_unique(self, table: Table) -> None:
        """Refuse a unit that no key of the source keeps unique. Nothing is read but the schema."""
        if not self._is_keyed(table):
            raise CatalogError("unique-without-key", unit=table.unit, table=table.name)

    def _is_keyed(self, table: Table) -> bool:
        if table.source.format != "duckdb" or table.unit is None:
            return False
        field = table.field(table.unit)
        assert field is not None
        try:
            with self._cursor([table.source]) as cursor:
                return is_keyed(cursor, table.source, field)
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
        with self._copies.stage_copy(table.name) as path:
            if self._write_copy(source, path, stage, bits):
                with self._copies.lock():
                    tell(None)
                    put = self._copies.put(path, table.name)
                    if put:
                        tell(Source("duckdb", str(self._copies.place(table.name)), COPY_TABLE))
        # Raised outside all handlers: DuckDB's messages quote values of rows.
        if not put:
            raise make_write_failure(table.name, Phrase("copy-needs-disk"))

    def _write_copy(self, table: Table, path: Path, stage: Callable[[str], None], bits: BitSource | None) -> bool:
        """Write a copy, and say whether it is one of a source that stayed the same meanwhile."""
        before = self.fingerprint(table.source)
        try:
            with self._cursor([table.source]) as cursor:
                write_copy(cursor, table, path, stage, bits)
            return self.fingerprint(table.source) == before
        except Exception:
            return False
        finally:
            self._instances.release()

    def discard(self, table: Table) -> None:
        """Delete the prepared copy of a table, also one that was cut off before anybody could read it."""
        self._instances.release()
        if table.copy is not None:
            Path(table.copy.location).unlink(missing_ok=True)
        self._copies.delete(table.name)

    def close(self) -> None:
        """Let go of all files, and delete temporary copies. The next question opens them again."""
        self._instances.release()
        self._copies.remove()

    @contextmanager
    def _cursor(self, sources: Sequence[Source], frame: Snapshot | None = None) -> Iterator[Cursor]:
        """Give a cursor that reads some sources, on an instance that no other question uses meanwhile."""
        with self._instances.lease() as instance:
            for source in sources:
                if source.format == "duckdb":
                    instance.attach(source)
            with instance.connection.cursor() as cursor:
                for source in sources:
                    if source.format == "frame":
                        held = frame or self._frames[source.location][1]
                        assert held is not None
                        # A registered frame is a temporary view of one cursor.
                        cursor.register(FRAME_PREFIX + source.location, held.table)
                yield cursor


def _is_wrong(problem: Exception) -> bool:
    """Say whether DuckDB failed for the query's sake, and not for want of memory or disk."""
    import duckdb

    machine = duckdb.IOException | duckdb.OutOfMemoryException | duckdb.InterruptException
    return isinstance(problem, duckdb.Error) and not isinstance(problem, machine)


def _is_full() -> bool:
    """Say whether the disk that DuckDB spills to has no room left."""
    return shutil.disk_usage(tempfile.gettempdir()).free < _FULL
