"""The Spark engine: exact integer aggregates on a cluster, in a session of our own."""

from __future__ import annotations

import secrets
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali.catalog.columns import Field
from jali.catalog.copy_names import refuse_copied_files, refuse_copy
from jali.catalog.tables import Public, Source, Table
from jali.engines.base import Cancellation, Resources, make_compile_refusal, make_failure
from jali.engines.copy_storage import PreparedCopies, make_write_failure, require_copies
from jali.engines.spark.connections import end, is_here, is_ours, own_session, silent, start
from jali.engines.spark.dialect import SPARK
from jali.engines.spark.prepared import find_home, name_buckets, register
from jali.engines.spark.sources import GIVEN, PARQUET, field_of, fingerprint_of, parts_of, place_of, scan
from jali.engines.sql.engine import SqlEngine
from jali.engines.sql.prepared_rows import draw_key
from jali.errors import CatalogError, EngineError, JaliError, Phrase
from jali.sampling import BitSource, system_bits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TABLES = ("MANAGED", "EXTERNAL")


class SparkEngine(SqlEngine):
    """Runs exact integer aggregates in Spark.

    A source is `Source("spark", address, relation)`: the address of a cluster, or "session" for the session that
    `use` was given; a table of the catalog, or `parquet:` and the path of Parquet files. Spark does the whole
    aggregation: one row for each group leaves it.

    Args:
        copies: What prepared copies are called, and where; None where none are kept.
        resources: What one question may use: the limit of time. Memory and disk are those of the cluster.
    """

    dialect = SPARK

    def __init__(self, copies: PreparedCopies | None = None, resources: Resources | None = None) -> None:
        self._copies = copies
        self._resources = resources or Resources()
        self._lock = threading.Lock()
        self._given: SparkSession | None = None
        self._sessions: dict[str, SparkSession] = {}
        self._started: set[str] = set()

    @silent
    def use(self, session: SparkSession) -> None:
        """Read the sources at "session" through this session's cluster and catalog; its settings stay."""
        with self._lock:
            earlier, self._given = self._sessions.get(GIVEN), session
            self._sessions[GIVEN] = _quietly(lambda: own_session(session))
        if earlier is not None and not is_here(earlier):
            _quietly(lambda: end(earlier))

    @silent
    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read names and kinds of the columns: the schema, and no row."""
        del declared
        if frame is not None:
            self.attach(source.location, frame)
        scan(source)
        if source.relation.startswith(PARQUET):
            refuse_copied_files(Path(source.relation.removeprefix(PARQUET).removeprefix("file:")))
        else:
            refuse_copy(*["", *parts_of(source.relation)][-2:])
        reached, found = False, None
        try:
            reached = self._session(source.location) is not None
            found = self._describe_columns(source)
        except EngineError as problem:
            raise problem.like(CatalogError) from None
        except Exception:
            found = None
        if not reached:
            raise EngineError("engine-away-spark", location=source.location)
        if not found:
            raise CatalogError("spark-table-missing", location=source.location, relation=source.relation)
        if len({field.name.lower() for field in found}) < len(found):
            raise CatalogError("spark-columns-case", relation=source.relation)
        return found

    def _describe_columns(self, source: Source) -> tuple[Field, ...] | None:
        session = self._session(source.location)
        # A view may be drawn at random, or read another protected table: only tables are one source.
        if not source.relation.startswith(PARQUET) and not _is_table(session, source):
            return None
        schema = session.sql(f"SELECT * FROM {scan(source)}").schema
        return tuple(field_of(column.name, column.dataType.simpleString()) for column in schema.fields)

    @silent
    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return where the files of a table are, or its whole name where that is not told."""
        with suppress(Exception):
            return place_of(self._session(source.location), source)
        return None

    @silent
    def ready(self, table: Table | Public) -> None:
        """Refuse a cluster that cannot be reached, and a source with other columns than declared."""
        if isinstance(table, Table) and table.copy is not None:
            self._copy_ready(table)
            return
        try:
            found = self._describe_columns(table.source)
        except EngineError:
            raise
        except Exception:
            found = None
        if found is None:
            raise EngineError("engine-away-spark-source", table=table.name)
        if not {(f.name, f.kind, f.type) for f in table.columns} <= {(f.name, f.kind, f.type) for f in found}:
            raise EngineError("source-changed-spark", table=table.name)

    def _copy_ready(self, table: Table) -> None:
        """Refuse a copy that is gone; let Spark know one that was written by another process."""
        session, there = self._session(table.source.location), False
        with suppress(Exception):
            there = _quietly(lambda: register(session, table))
        if not there:
            raise EngineError("source-missing-copy", table=table.name)

    @silent
    def fingerprint(self, source: Source) -> str | None:
        """Return what tells this state of a source from others: its files."""
        with suppress(Exception):
            return fingerprint_of(self._session(source.location), source)
        return None

    @silent
    def compile(self, sql: str, tables: Sequence[Table | Public]) -> None:
        """Let Spark find all names and types in emitted SQL: what it does before it reads anything."""
        from pyspark.errors import AnalysisException, ParseException

        sound = True
        try:
            _quietly(lambda: self._session(_address(tables)).sql(sql).schema)
        except (AnalysisException, ParseException):
            sound = False
        except Exception:
            # Spark is away: the run says so.
            return
        if not sound:
            raise make_compile_refusal("Spark")

    @silent
    def run(
        self, sql: str, tables: Sequence[Table | Public], cancellation: Cancellation | None = None
    ) -> list[tuple[Any, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        cancellation = cancellation or Cancellation()
        problem: EngineError | None = None
        try:
            for table in tables:
                self.ready(table)
            rows = self._stoppable(sql, _address(tables), cancellation)
        except EngineError as refused:
            rows, problem = None, refused
        except Exception:
            rows = None
        # Raised outside the handler: Spark's own exception, which may quote rows, is not even the context of ours.
        if problem is not None:
            raise problem.like(EngineError)
        if rows is None:
            raise make_failure(cancellation.reason or ("" if self._answers(_address(tables)) else "away"))
        return rows

    def _stoppable(self, sql: str, address: str, cancellation: Cancellation) -> list[tuple[Any, ...]]:
        """Run a query under a tag of its own, by which Spark can be told to stop it."""
        session, tag = self._session(address), f"jali-{secrets.token_hex(8)}"
        with cancellation.interrupting(lambda: _interrupt(session, tag), self._resources.seconds):
            session.addTag(tag)
            try:
                return self._rows(sql, address)
            finally:
                session.removeTag(tag)

    def _answers(self, address: str) -> bool:
        """Say whether Spark still answers anything at all."""
        with suppress(Exception):
            return bool(self._rows("SELECT 1", address))
        return False

    def _rows(self, sql: str, address: str) -> list[tuple[Any, ...]]:
        found = _quietly(lambda: self._session(address).sql(sql).collect())
        return [tuple(map(_plain, row)) for row in found]

    @silent
    def _execute(self, sql: str, tables: Sequence[Table | Public]) -> list[tuple[Any, ...]]:
        return self._rows(sql, _address(tables))

    def _read(self, table: Table | Public, query: str) -> list[tuple[Any, ...]]:
        return self._execute(query, [table])

    def check_key(self, table: Table, column: str) -> None:
        """Refuse a column in which two rows of the source of a table have the same value."""
        super().check_key(replace(table, copy=None), column)

    def attach(self, name: str, frame: Any) -> None:
        """Take a session. A DataFrame is no source: what it reads may be another at every reading."""
        if not hasattr(frame, "newSession"):
            raise CatalogError("spark-session-expected", given=name)
        self.use(frame)

    @silent
    def check(self, table: Table | Public) -> None:
        """Read a source in full: a damaged file would fail questions later."""
        names = ", ".join(SPARK.quote(field.name) for field in table.columns)
        source = replace(table, copy=None) if isinstance(table, Table) else table
        try:
            self._rows(
                f"SELECT bit_xor(xxhash64({names or '1'})) FROM {SPARK.scan(source)}", table.source.location
            )
            sound = True
        except Exception:
            sound = False
        if not sound:
            raise CatalogError("spark-values-unreadable", relation=table.source.relation)

    def check_unique(self, table: Table) -> None:
        """Refuse: Spark enforces no keys."""
        raise CatalogError("spark-unique", unit=table.unit, table=table.name)

    @silent
    def prepare(
        self,
        table: Table,
        stage: Callable[[str], None],
        tell: Callable[[Source | None], None],
        bits: BitSource | None = None,
    ) -> None:
        """Write a copy of a table where Spark keeps tables, or beside the database, and put it in place."""
        source = replace(table, copy=None)
        self.ready(source)
        session = self._session(table.source.location)
        home, stem = (
            find_home(session, self._copies, table),
            require_copies(self._copies, table.name).name(table.name),
        )
        name, key = name_buckets(session, stem, table), draw_key(bits or system_bits())
        put = False
        stage("ranking rows")
        try:
            home.sweep(stem)
            with home.write(source, name, key) as put_in_place:
                tell(None)
                put_in_place()
                tell(home.place(table, name))
                put = True
        except JaliError:
            raise
        except Exception:
            put = False
        # Raised outside all handlers: Spark's messages quote values of rows.
        if not put:
            raise make_write_failure(table.name, Phrase("copy-needs-spark"))
        with suppress(Exception):
            # Earlier ones of another size, by another guess of the rows.
            home.delete(stem, keep=name)

    @silent
    def discard(self, table: Table) -> None:
        """Delete the prepared copy of a table, also one that was cut off before anybody could read it."""
        if self._copies is None:
            return
        gone, session = True, self._session(table.source.location)
        try:
            find_home(session, self._copies, table).delete(self._copies.name(table.name))
        except CatalogError:
            pass  # there is no place where one could be
        except Exception:
            gone = False
        if not gone:
            raise CatalogError("spark-copy-undeleted", table=table.name)

    @silent
    def reopen(self, source: Source) -> None:
        """Forget what Spark keeps of a source: the list of its files, and its schema."""
        done = source.location not in self._sessions
        with suppress(Exception):
            # One that is opened just now knows nothing that it could forget.
            if not done:
                _refresh(self._session(source.location), source)
            done = True
        if not done:
            raise EngineError("engine-away-spark-table", relation=source.relation)

    @silent
    def close(self) -> None:
        """Let go of our sessions, and stop what was started here. A session that was given stays open."""
        with self._lock:
            sessions, self._sessions = self._sessions, {}
            started, self._started = self._started, set()
            self._given = None
        for address, session in sessions.items():
            # In this process, stopping ours would stop the one that was given, too.
            if address in started or not is_here(session):
                _quietly(partial(end, session))

    def _session(self, address: str) -> SparkSession:
        with self._lock:
            found = self._sessions.get(address)
            if found is None or not _quietly(lambda: is_ours(found)):
                self._sessions[address], mine = _quietly(lambda: self._open_session(address))
                self._started |= {address} if mine else set()
            return self._sessions[address]

    def _open_session(self, address: str) -> tuple[SparkSession, bool]:
        """Open a session, at first or after a server ended ours; say whether it is ours to stop."""
        if address != GIVEN:
            return start(address)
        if self._given is None:
            raise EngineError("source-missing-spark")
        return own_session(self._given), False


def _interrupt(session: SparkSession, tag: str) -> None:
    with suppress(Exception):
        session.interruptTag(tag)


def _refresh(session: SparkSession, source: Source) -> None:
    if source.relation.startswith(PARQUET):
        session.catalog.refreshByPath(source.relation.removeprefix(PARQUET))
    else:
        session.catalog.refreshTable(scan(source))


def _is_table(session: SparkSession, source: Source) -> bool:
    name = ".".join(SPARK.quote(part) for part in parts_of(source.relation))
    return session.catalog.getTable(name).tableType in _TABLES


def _address(tables: Sequence[Table | Public]) -> str:
    """Return the one cluster that all tables are on."""
    (address,) = {table.source.location for table in tables}
    return address


def _plain(value: Any) -> Any:
    """Return a decimal, which holds a whole number here, as an integer."""
    return int(value) if isinstance(value, Decimal) else value


def _quietly(action: Callable[[], Any]) -> Any:
    """Do something without Spark's warnings: of pandas, of Arrow, of its plans."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return action()
