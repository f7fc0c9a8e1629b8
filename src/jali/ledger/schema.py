"""The schema of the SQLite file, and the check that a file has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3

APPLICATION = int.from_bytes(b"Jali")
VERSION = "2"
# Schema 1 has no parts. Such a ledger is read as it is, and gets their tables with the first debit of a part.
BEFORE_PARTS = "1"

# `entries` is the truth, `plans` and `answers` hold the long texts that entries name by digest. All three
# only grow. The other tables follow from them, change in the same transaction, and are checked by `verify`.
_TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL,"
    " previous TEXT NOT NULL, digest TEXT NOT NULL)",
    "CREATE TABLE plans (receipt TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE answers (receipt TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE declarations (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL,"
    " version INTEGER NOT NULL, data_version INTEGER NOT NULL)",
    "CREATE TABLE accounts (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, budget TEXT NOT NULL,"
    " spent TEXT NOT NULL)",
    "CREATE TABLE receipts (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, analyst TEXT NOT NULL,"
    " question TEXT NOT NULL, key TEXT NOT NULL, debits TEXT NOT NULL, at TEXT NOT NULL,"
    " attempts INTEGER NOT NULL, released INTEGER)",
    "CREATE INDEX receipts_by_key ON receipts (key) WHERE released IS NOT NULL",
    "CREATE INDEX receipts_open ON receipts (key) WHERE released IS NULL",
    "CREATE INDEX receipts_by_analyst ON receipts (analyst)",
    "CREATE TABLE seen (receipt TEXT NOT NULL, analyst TEXT NOT NULL, PRIMARY KEY (receipt, analyst))",
)

# What was charged for parts: the sum of each scheme, under an empty name that of what concerns everybody, and the
# sums of each part. Only accounts with debits of parts are in them.
_PART_TABLES = (
    "CREATE TABLE schemes (seq INTEGER PRIMARY KEY, account TEXT NOT NULL, scheme TEXT NOT NULL,"
    " together INTEGER NOT NULL, spent TEXT NOT NULL, UNIQUE (account, scheme))",
    "CREATE TABLE parts (account TEXT NOT NULL, scheme TEXT NOT NULL, key TEXT NOT NULL, inside TEXT NOT NULL,"
    " apart TEXT NOT NULL, PRIMARY KEY (account, scheme, key))",
)

# The triggers stop mistakes; the chain shows what went past them. The trigger on INSERT also stops REPLACE,
# which deletes without firing the trigger on DELETE.
_TRIGGERS = (
    "CREATE TRIGGER entries_follow BEFORE INSERT ON entries"
    " WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)"
    " BEGIN SELECT RAISE(ABORT, 'entries only grow'); END",
    *(
        f"CREATE TRIGGER {table}_refuse_{verb.lower()} BEFORE {verb} ON {table}"
        f" BEGIN SELECT RAISE(ABORT, '{table} only grow'); END"
        for table in ("entries", "plans", "answers")
        for verb in ("UPDATE", "DELETE")
    ),
    *(
        f"CREATE TRIGGER {table}_refuse_replace BEFORE INSERT ON {table}"
        f" WHEN EXISTS (SELECT 1 FROM {table} WHERE receipt = NEW.receipt)"
        f" BEGIN SELECT RAISE(ABORT, '{table} only grow'); END"
        for table in ("plans", "answers")
    ),
)


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty ledger, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    for statement in _TABLES + _PART_TABLES + _TRIGGERS:
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES ('schema', ?)", (VERSION,))
    connection.execute("COMMIT")


def add_parts(connection: sqlite3.Connection) -> None:
    """Give a ledger of schema 1 the tables of parts, in the transaction of the caller."""
    if not has_parts(connection):
        for statement in _PART_TABLES:
            connection.execute(statement)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (VERSION,))


def has_parts(connection: sqlite3.Connection) -> bool:
    """Say whether a ledger has the tables of parts."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    return bool(row == (VERSION,))


def check(connection: sqlite3.Connection, name: str) -> None:
    """Raise `LedgerError` unless the file is a ledger of this schema. Nothing is written."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise LedgerError(f"{name} is not a Jali ledger.", remedy="Name another file.")
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    if row not in ((VERSION,), (BEFORE_PARTS,)):
        found = "none" if row is None else row[0]
        raise LedgerError(
            f"{name} has the ledger schema {found}; this version of Jali reads schema {VERSION}.",
            remedy="Use the version of Jali that wrote it.",
        )
