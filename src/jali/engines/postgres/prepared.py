"""Prepared copies in Postgres: a table of its own, in the order of its people, with an index on them.

Statement:
    A copy is written and put in the place of an earlier one in a single transaction: whatever is cut off, there is
    the earlier one or the new one, whole, and nothing else. It has one state of the source.
Proof:
    docs/proofs/prepared.md. Postgres undoes a transaction that did not commit, also the making of tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jali.engines.copies import SCHEMA
from jali.engines.postgres.dialect import POSTGRES
from jali.engines.postgres.sources import relation
from jali.engines.sql.prepared import person_column, rank_column, ranked_rows, shown_columns
from jali.query.catalog import Source, Table

if TYPE_CHECKING:
    import psycopg

# What is being written, until it takes its place.
_NEW = "new"
# So long a copy that is to go is waited for, while questions read it.
_PATIENCE = "60s"


def write_copy(
    connection: psycopg.Connection[Any], table: Table, place: Source, key: str, stage: Callable[[str], None]
) -> None:
    """Write the copy of a table beside its place, in the transaction of a connection."""
    _write_to_schema(connection, place)
    new = _new(place)
    stage("ranking rows")
    _run(connection, f"CREATE TABLE {new} AS {_rows(table, key)}")
    _keep_from_others(connection, new)
    stage("indexing people")
    _run(connection, f"CREATE INDEX ON {new} ({POSTGRES.quoted(person_column(table))})")
    _run(connection, f"ANALYZE {new}")
    # Until the transaction ends the earlier one is only hidden. Who reads it is waited for now, not later.
    drop_copy(connection, place)


def put_copy(connection: psycopg.Connection[Any], place: Source) -> None:
    """Put what was written in place, in the same transaction."""
    name = place.relation.rpartition(".")[2]
    _run(connection, f"ALTER TABLE {_new(place)} RENAME TO {POSTGRES.quoted(name)}")


def drop_copy(connection: psycopg.Connection[Any], place: Source) -> None:
    """Drop a copy, if it is there, once nobody reads it."""
    _run(connection, f"SET LOCAL lock_timeout = '{_PATIENCE}'")
    _run(connection, f"DROP TABLE IF EXISTS {relation(place)}")


def place_of(table: Table, name: str) -> Source:
    """Return where the copy of a table is kept: in the same database."""
    return Source(table.source.format, table.source.location, f"{SCHEMA}.{name}")


def has_schema(connection: psycopg.Connection[Any]) -> bool:
    """Say whether there is a schema for copies."""
    return bool(connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (SCHEMA,)).fetchall())


def _write_to_schema(connection: psycopg.Connection[Any], place: Source) -> None:
    """Take the turn of this copy, in a schema that is there."""
    _run(connection, f"SELECT pg_advisory_xact_lock(hashtextextended({POSTGRES.text(place.relation)}, 0))")
    # Asking for what is there already takes the right to make it.
    if not has_schema(connection):
        _run(connection, f"CREATE SCHEMA {SCHEMA}")
        _run(connection, f"REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC")


def _rows(table: Table, key: str) -> str:
    """Write the rows with codes and ranks, person by person."""
    quoted = POSTGRES.quoted
    person = f"dense_rank() OVER (ORDER BY unit) AS {quoted(person_column(table))}"
    columns = f"{shown_columns(table, POSTGRES)}, {person}, place AS {quoted(rank_column(table))}"
    return f"SELECT {columns} FROM {POSTGRES.derived(ranked_rows(table, POSTGRES, key))} ORDER BY unit"


def _keep_from_others(connection: psycopg.Connection[Any], new: str) -> None:
    """Take away what the defaults of the database let others do with a new table."""
    _run(connection, f"REVOKE ALL ON {new} FROM PUBLIC")
    acl = f"aclexplode((SELECT relacl FROM pg_class WHERE oid = '{new}'::regclass))"
    others = f"SELECT DISTINCT grantee::regrole::text FROM {acl} WHERE grantee::regrole <> current_user::regrole"
    for (role,) in connection.execute(others.encode()).fetchall():
        _run(connection, f"REVOKE ALL ON {new} FROM {role}")


def _new(place: Source) -> str:
    schema, _, name = place.relation.rpartition(".")
    return f"{POSTGRES.quoted(schema)}.{POSTGRES.quoted(f'{name}_{_NEW}')}"


def _run(connection: psycopg.Connection[Any], statement: str) -> None:
    connection.execute(statement.encode())
