"""A new ledger in SQLite, and the check that a file is one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.chain import make_damage_error
from jali.ledger.ledger_schema import ALL_GUARDS, ALL_TABLES, EARLIER, VERSION, check_version, seal_facts
from jali.ledger.stores.base import Fill
from jali.ledger.stores.sqlite.connection import SqliteConnection
from jali.ledger.upgrade import upgrade

if TYPE_CHECKING:
    import sqlite3

APPLICATION = int.from_bytes(b"Jali")


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty ledger, in one transaction."""
    create_with(connection, lambda _: None)


def create_with(connection: sqlite3.Connection, fill: Fill) -> None:
    """Make a ledger that is not empty, in one transaction: the guards come after its rows."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    for statement in ALL_TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('schema', ?)", (VERSION,))
    connection.execute("INSERT INTO meta VALUES ('ledger', ?)", (secrets.token_hex(16),))
    fill(SqliteConnection(connection))
    seal_facts(SqliteConnection(connection))
    for guard in ALL_GUARDS:
        connection.execute(guard.trigger)
    connection.execute("COMMIT")


def check(connection: sqlite3.Connection, name: str) -> bool:
    """Say whether a ledger has an earlier schema. Raise `LedgerError` for what is no ledger of a known one."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise LedgerError("ledger-damaged-foreign", ledger=name)
    found = SqliteConnection(connection).version()
    check_version(found, name)
    present = any(row[1] == "form" for row in connection.execute("PRAGMA table_info(entries)"))
    if present != (found == VERSION):
        raise make_damage_error("damage-schema-number")
    return not present


def upgrade_file(connection: sqlite3.Connection, name: str) -> None:
    """Bring a ledger of an earlier schema to the present one, whole or not at all."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        if SqliteConnection(connection).version() in EARLIER:  # nobody else was faster
            for statement in _reshape(connection):
                connection.execute(statement)
            upgrade(SqliteConnection(connection), name)
            for guard in ALL_GUARDS:
                connection.execute(guard.trigger)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _reshape(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the statements that give the tables of an earlier schema their present form, unguarded."""
    there = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'").fetchall()
    old = {name for kind, name in there if kind == "table"}
    for kind, name in there:
        if kind in ("trigger", "index"):
            yield f"DROP {kind} {name}"
    for name in sorted(old):
        yield f"ALTER TABLE {name} RENAME TO old_{name}"
    yield from ALL_TABLES
    for name in sorted(old):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        kept = [row[1] for row in connection.execute(f"PRAGMA table_info(old_{name})")]
        new = [column for column in columns if column not in kept]
        filled = ", ".join([*kept, *(_DEFAULTS[column] for column in new)])
        yield f"INSERT INTO {name} ({', '.join([*kept, *new])}) SELECT {filled} FROM old_{name}"
        yield f"DROP TABLE old_{name}"


# What columns that earlier schemas had not begin with; `upgrade` fills in the rest.
_DEFAULTS = {"entry": "0", "form": "1", "parts": "0", "ended": "0", "mark": "''"}
