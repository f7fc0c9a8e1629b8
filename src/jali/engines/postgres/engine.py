"""The Postgres engine: one read-only transaction for each query."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from jali.catalog.columns import Field, Kind
from jali.catalog.copy_names import SCHEMA, refuse_copy
from jali.catalog.tables import Public, Source, Table
from jali.engines.base import Cancellation, Resources, make_change_failure, make_compile_refusal, make_failure
from jali.engines.copy_storage import PreparedCopies, make_write_failure, require_copies
from jali.engines.postgres.connections import PostgresConnections
from jali.engines.postgres.dialect import POSTGRES
from jali.engines.postgres.prepared import (
    drop_copy,
    is_own,
    is_trusted,
    make_schema,
    place_of,
    put_copy,
    write_copy,
)
from jali.engines.postgres.sources import IDENTITY, quote_relation, read_columns, read_unique_columns, split_name
from jali.engines.sql.engine import SqlEngine
from jali.engines.sql.prepared_rows import draw_key, person_column, rank_column
from jali.errors import CatalogError, EngineError, JaliError, Phrase
from jali.sampling import BitSource, system_bits

if TYPE_CHECKING:
    import psycopg

# The code of Postgres's refusal.
_NOT_ALLOWED = "42501"
# Of a lost connection, of a server that stops or starts, of a replica that must go on with what it replays.
_AWAY = ("08", "57P", "40001")
_DISK_FULL = "53100"
# Of what is not supported, of constants that are no value of their type, of names and types, of limits.
_WRONG = ("0A", "22", "42", "54")


class PostgresEngine(SqlEngine):
    """Runs exact integer aggregates in Postgres, 13 or later.

    Each query is one transaction that sees one state of the data: the columns are compared with what was declared,
    and then nobody can change them until the query has ended. Questions write nothing, not even a temporary table:
    a role that may only read, or a replica, is enough. Prepared copies take a role that may write to their schema.

    Args:
        copies: What prepared copies are called; None where none are kept.
        resources: What one question may use: the limit of time. Memory and disk are those of the server.
    """

    dialect = POSTGRES

    def __init__(self, copies: PreparedCopies | None = None, resources: Resources | None = None) -> None:
        self._connections = PostgresConnections()
        self._copies = copies
        self._resources = resources or Resources()

    def fields(self, source: Source, declared: Mapping[str, str], frame: Any = None) -> tuple[Field, ...]:
        """Read names and kinds of the columns."""
        del declared, frame
        refuse_copy(split_name(source)[0], source.relation)
        try:
            with self._connections.transaction(source.location) as connection:
                found, reached = read_columns(connection, source), True
        except ImportError:
            raise CatalogError("postgres-not-installed") from None
        except Exception:
            found, reached = (), False
        if not reached:
            raise CatalogError("postgres-unreachable")
        if not found:
            raise CatalogError("postgres-table-missing", relation=source.relation)
        return found

    def identity(self, source: Source) -> tuple[str, ...] | None:
        """Return server, database and table by the numbers that Postgres has for them; a part is its whole."""
        with suppress(Exception), self._connections.transaction(source.location) as connection:
            for numbers in connection.execute(IDENTITY, split_name(source)).fetchall():
                return ("postgres", *map(str, numbers))
        return None

    def ready(self, table: Table | Public) -> None:
        """Refuse a server that cannot be reached, and a table with other columns or without its key."""
        try:
            with self._connections.transaction(table.source.location) as connection:
                reached, sound = True, _is_as_declared(connection, table)
                keyed = not (isinstance(table, Table) and table.unique) or self._is_keyed(connection, table)
        except Exception:
            reached, sound, keyed = False, False, False
        if not reached:
            raise EngineError("engine-away-postgres", table=table.name)
        if not sound and table.read_from != table.source:
            raise EngineError("source-missing-copy", table=table.name)
        if not sound:
            raise EngineError("source-changed-postgres", relation=table.source.relation)
        if not keyed:
            raise EngineError("source-changed-postgres-key", table=table.name)

    @staticmethod
    def _is_keyed(connection: psycopg.Connection[Any], table: Table) -> bool:
        return table.unit in read_unique_columns(connection, table.source)

    def fingerprint(self, source: Source) -> str | None:
        """Return which table it is. Its rows may change at any time: every question reads one state of them.

        Postgres has no number for the state of a table, and none is needed: a value that it holds is one of its
        type, so that there is nothing to be checked which a later row could break.
        """
        found = self.identity(source)
        return None if found is None else hashlib.sha256(repr(found).encode()).hexdigest()

    def compile(self, sql: str, tables: Sequence[Table | Public]) -> None:
        """Let Postgres read emitted SQL and find all types in it: what PREPARE does, without any statistics."""
        import psycopg

        sound = True
        try:
            with self._connections.transaction(tables[0].source.location) as connection:
                connection.execute(f"PREPARE checked AS {sql}".encode())
                connection.execute("DEALLOCATE checked")
        except psycopg.Error as problem:
            sound = (problem.sqlstate or "")[:2] not in _WRONG
        if not sound:
            raise make_compile_refusal("Postgres")

    def run(
        self, sql: str, tables: Sequence[Table | Public], cancellation: Cancellation | None = None
    ) -> list[tuple[Any, ...]]:
        """Run emitted SQL; whatever goes wrong becomes one error whose text does not depend on the data."""
        cancellation = cancellation or Cancellation()
        rows: list[tuple[Any, ...]] | None = None
        held, cause = True, ""
        try:
            with self._connections.transaction(tables[0].source.location) as connection:
                stop = cancellation.interrupting(connection.cancel, self._resources.seconds)
                with stop:
                    held = self._lock_columns(connection, tables)
                    if held:
                        rows = connection.execute(sql.encode()).fetchall()
        except Exception as problem:
            # Postgres's messages quote values of rows: nothing of them is kept but what kind of failure it was.
            rows, cause = None, cancellation.reason or _cause(problem)
        # Raised outside the handler, so that Postgres's own exception is not even the context of ours.
        if not held:
            raise make_change_failure()
        if rows is None:
            raise make_failure(cause)
        return _plain_rows(rows)

    def _lock_columns(self, connection: psycopg.Connection[Any], tables: Sequence[Table | Public]) -> bool:
        """Keep everybody from changing columns, and say whether they are as declared."""
        names = ", ".join(sorted({quote_relation(table.read_from) for table in tables}))
        connection.execute(f"LOCK TABLE {names} IN ACCESS SHARE MODE".encode())
        return all(_is_as_declared(connection, table) for table in tables)

    def _execute(self, sql: str, tables: Sequence[Table | Public]) -> list[tuple[Any, ...]]:
        with self._connections.transaction(tables[0].source.location) as connection:
            return _plain_rows(connection.execute(sql.encode()).fetchall())

    def _read(self, table: Table | Public, query: str) -> list[tuple[Any, ...]]:
        with suppress(Exception):
            return self._execute(query, [table])
        raise CatalogError("postgres-unreadable", relation=table.source.relation)

    def check(self, table: Table | Public) -> None:
        """Look whether the table is there. Nothing in it can be damaged so that reading it fails."""
        self.ready(replace(table, copy=None, unique=False) if isinstance(table, Table) else table)

    def check_unique(self, table: Table) -> None:
        """Refuse a unit that no key of the table keeps unique. Nothing is read but the schema."""
        with self._connections.transaction(table.source.location) as connection:
            keyed = self._is_keyed(connection, table)
        if not keyed:
            raise CatalogError("postgres-unique-without-key", unit=table.unit, table=table.name)

    def prepare(
        self,
        table: Table,
        stage: Callable[[str], None],
        tell: Callable[[Source | None], None],
        bits: BitSource | None = None,
    ) -> None:
        """Write a copy of a table beside it, in a schema of the same database, and put it in place.

        All of it is one transaction: what is cut off leaves the earlier copy, or none, as it was.
        """
        source, place = replace(table, copy=None), self._place(table)
        key = draw_key(bits or system_bits())
        allowed, trusted, put = True, True, False
        try:
            with self._connections.transaction(place.location, writing=True) as connection:
                make_schema(connection)
            with self._connections.transaction(place.location, writing=True) as connection:
                # First of all: the state that is copied is one after the wait for whoever changes the table.
                held, trusted = self._lock_columns(connection, [source]), is_trusted(connection)
                if held and trusted:
                    write_copy(connection, source, place, key, stage)
                    tell(None)
                    put_copy(connection, place)
                    put = True
        except JaliError:
            raise
        except Exception as problem:
            # Postgres's messages quote values of rows: nothing of them is kept but what kind of problem it was.
            put, allowed = False, getattr(problem, "sqlstate", None) != _NOT_ALLOWED
        # Raised outside all handlers, so that Postgres's own exception is not even the context of ours.
        if not put:
            role = urlsplit(place.location).username or "this role"
            advice = (
                Phrase("copy-schema-distrusted", schema=SCHEMA)
                if not trusted
                else Phrase("copy-needs-postgres")
                if allowed
                else Phrase("copy-needs-schema", role=role, schema=SCHEMA)
            )
            raise make_write_failure(table.name, advice)
        tell(place)
        stage("tidying up")
        self._connections.tidy(place.location, quote_relation(place))

    def _place(self, table: Table) -> Source:
        return place_of(table, require_copies(self._copies, table.name).name(table.name))

    def discard(self, table: Table) -> None:
        """Drop the prepared copy of a table, also one that was cut off before anybody could read it."""
        if self._copies is None:
            return
        place, gone = self._place(table), True
        try:
            with self._connections.transaction(place.location) as connection:
                there = bool(read_columns(connection, place))
            if there:
                with self._connections.transaction(place.location, writing=True) as connection:
                    drop_copy(connection, place)
        except Exception:
            gone = False
        if not gone:
            raise CatalogError("postgres-copy-undeleted", table=table.name)

    def reopen(self, source: Source) -> None:
        """Nothing is kept of a source between questions."""

    def close(self) -> None:
        """Close the connections; the next question opens them again."""
        self._connections.close()

    def attach(self, name: str, frame: Any) -> None:
        """No frame is read by Postgres."""
        del frame
        raise CatalogError("table-in-postgres", table=name)


def _cause(problem: Exception) -> str:
    """Say what kind of failure it was, where its cause is surely outside of the data."""
    import psycopg

    state = getattr(problem, "sqlstate", None)
    if isinstance(problem, psycopg.OperationalError) and (state is None or state.startswith(_AWAY)):
        return "away"
    return "disk" if state == _DISK_FULL else ""


def _is_as_declared(connection: psycopg.Connection[Any], table: Table | Public) -> bool:
    """Say whether what questions read has the columns that were declared; a copy has some more."""
    found = read_columns(connection, table.read_from)
    if isinstance(table, Public) or table.copy is None:
        return {(f.name, f.kind, f.type) for f in table.columns} <= {(f.name, f.kind, f.type) for f in found}
    numbers = {(name, Kind.INTEGER) for name in (person_column(table), rank_column(table))}
    as_copied = {(f.name, f.kind) for f in table.columns} | numbers == {(f.name, f.kind) for f in found}
    return as_copied and is_own(connection, table.copy)


def _plain_rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Make whole numbers of whole decimals: sums have no other type that is wide enough."""
    return [tuple(map(_plain, row)) for row in rows]


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value
