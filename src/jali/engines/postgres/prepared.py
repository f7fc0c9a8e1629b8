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

from jali.catalog.copy_names import SCHEMA
from jali.catalog.tables import Source, Table
from jali.engines.postgres.dialect import POSTGRES
from jali.engines.postgres.sources import quote_relation, split_name
from jali.engines.sql.prepared_rows import person_column, rank_column, rank_rows, rename_columns

if TYPE_CHECKING:
    import psycopg

# What is being written, until it takes its place.
_NEW = "new"
# So long a copy that is to go is waited for, while questions read it.
_PATIENCE = "60s"
# A schema of this role's, of the owner of the database, or of a superuser.
_TRUSTED = """
    SELECT 1 FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = %s
    AND (r.rolsuper OR r.rolname = current_user OR r.oid = (
        SELECT datdba FROM pg_database WHERE datname = current_database()))
"""
_OWN = """
    SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_roles r ON r.oid = c.relowner
    WHERE n.nspname = %s AND c.relname = %s AND c.relkind = 'r' AND r.rolname = current_user
    AND NOT c.relrowsecurity AND NOT c.relhasrules AND NOT c.relhassubclass
"""


def make_schema(connection: psycopg.Connection[Any]) -> None:
    """Make the schema of copies, in a transaction of its own, unless it is there."""
    _run(connection, f"SELECT pg_advisory_xact_lock(hashtextextended({POSTGRES.text(SCHEMA)}, 0))")
    # Whoever had the turn before may have made it: the catalog is asked as it is now, not as it was at first.
    if connection.execute("SELECT to_regnamespace(%s) IS NULL", (SCHEMA,)).fetchall() == [(True,)]:
        _run(connection, f"CREATE SCHEMA {SCHEMA}")
        _run(connection, f"REVOKE ALL ON SCHEMA {SCHEMA} FROM PUBLIC")


def is_trusted(connection: psycopg.Connection[Any]) -> bool:
    """Say whether the schema of copies is in good hands: its owner can put other tables in the place of copies."""
    return bool(connection.execute(_TRUSTED, (SCHEMA,)).fetchall())


def is_own(connection: psycopg.Connection[Any], place: Source) -> bool:
    """Say whether a copy is a plain table of this role, which nobody else can have put there.

    The policies of a table run as whoever reads it: one of somebody else's could read the source.
    """
    return bool(connection.execute(_OWN, split_name(place)).fetchall())


def write_copy(
    connection: psycopg.Connection[Any], table: Table, place: Source, key: str, stage: Callable[[str], None]
) -> None:
    """Write the copy of a table beside its place, in the transaction of a connection."""
    _run(connection, f"SELECT pg_advisory_xact_lock(hashtextextended({POSTGRES.text(place.relation)}, 0))")
    new = _new(place)
    stage("ranking rows")
    _run(connection, f"CREATE TABLE {new} AS {_rows(table, key)}")
    _keep_from_others(connection, new)
    stage("indexing people")
    _run(connection, f"CREATE INDEX ON {new} ({POSTGRES.quote(person_column(table))})")
    _run(connection, f"ANALYZE {new}")
    # Until the transaction ends the earlier one is only hidden. Who reads it is waited for now, not later.
    drop_copy(connection, place)


def put_copy(connection: psycopg.Connection[Any], place: Source) -> None:
    """Put what was written in place, in the same transaction."""
    name = place.relation.rpartition(".")[2]
    _run(connection, f"ALTER TABLE {_new(place)} RENAME TO {POSTGRES.quote(name)}")


def drop_copy(connection: psycopg.Connection[Any], place: Source) -> None:
    """Drop a copy, if it is there, once nobody reads it."""
    _run(connection, f"SET LOCAL lock_timeout = '{_PATIENCE}'")
    _run(connection, f"DROP TABLE IF EXISTS {quote_relation(place)}")


def place_of(table: Table, name: str) -> Source:
    """Return where the copy of a table is kept: in the same database."""
    return Source(table.source.format, table.source.location, f"{SCHEMA}.{name}")


def _rows(table: Table, key: str) -> str:
    """Write the rows with codes and ranks, person by person."""
    quoted = POSTGRES.quote
    person = f"dense_rank() OVER (ORDER BY unit) AS {quoted(person_column(table))}"
    columns = f"{rename_columns(table, POSTGRES)}, {person}, place AS {quoted(rank_column(table))}"
    return f"SELECT {columns} FROM {POSTGRES.nest_query(rank_rows(table, POSTGRES, key))} ORDER BY derived.unit"


def _keep_from_others(connection: psycopg.Connection[Any], new: str) -> None:
    """Take away what the defaults of the database let others do with a new table."""
    _run(connection, f"REVOKE ALL ON {new} FROM PUBLIC")
    acl = f"aclexplode((SELECT relacl FROM pg_class WHERE oid = '{new}'::regclass))"
    others = f"SELECT DISTINCT grantee::regrole::text FROM {acl} WHERE grantee::regrole <> current_user::regrole"
    for (role,) in connection.execute(others.encode()).fetchall():
        _run(connection, f"REVOKE ALL ON {new} FROM {role}")


def _new(place: Source) -> str:
    schema, _, name = place.relation.rpartition(".")
    return f"{POSTGRES.quote(schema)}.{POSTGRES.quote(f'{name}_{_NEW}')}"


def _run(connection: psycopg.Connection[Any], statement: str) -> None:
    connection.execute(statement.encode())
