"""A new ledger in SQLite, and the check that a file is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.schema import (
    ALL_GUARDS,
    ALL_TABLES,
    GUARDS,
    PART_TABLES,
    TABLES,
    VERSION,
    WITH_MOVES,
    check_version,
)
from jali.ledger.stores.sqlite.connection import SqliteConnection
from jali.ledger.stores.store import Fill

if TYPE_CHECKING:
    import sqlite3

APPLICATION = int.from_bytes(b"Jali")


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty ledger, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    for statement in (*TABLES, *PART_TABLES, *(guard.trigger for guard in GUARDS)):
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('schema', ?)", (VERSION,))
    connection.execute("COMMIT")


def create_with(connection: sqlite3.Connection, fill: Fill) -> None:
    """Make a ledger that is not empty, in one transaction: the guards come after its rows."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    for statement in ALL_TABLES:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('schema', ?)", (WITH_MOVES,))
    fill(SqliteConnection(connection))
    for guard in ALL_GUARDS:
        connection.execute(guard.trigger)
    connection.execute("COMMIT")


def check(connection: sqlite3.Connection, name: str) -> None:
    """Raise `LedgerError` unless the file is a ledger of a known schema. Nothing is written."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise LedgerError(f"{name} is not a Jali ledger.", remedy="Name another file.")
    check_version(SqliteConnection(connection).version(), name)
