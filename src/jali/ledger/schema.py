"""The schema of the SQLite file, and the check that a file has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.errors import LedgerError

if TYPE_CHECKING:
    import sqlite3

APPLICATION = int.from_bytes(b"Jali")
# Schema 1 has no parts: such a ledger is read as it is, and gets their tables with the first debit of a part.
# Schema 2 has no streams: it gets their tables with the first stream. Schema 3 has no tokens: it gets their table
# with the first token or administrative act. Older versions of Jali then refuse it.
BEFORE_PARTS, VERSION, WITH_STREAMS, WITH_ACCESS = "1", "2", "3", "4"

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

# The streams. `streams` follows from the entries; `stream_values` holds the texts that they name by digest, and
# only grows. Items, people and states are secret, and no entry speaks of them: an item enters the open tick only,
# and is frozen with it; a state is replaced by that of a later tick only.
_STREAM_TABLES = (
    "CREATE TABLE streams (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, receipt TEXT NOT NULL UNIQUE,"
    " published INTEGER NOT NULL)",
    "CREATE TABLE stream_values (stream INTEGER NOT NULL, tick INTEGER NOT NULL, body TEXT NOT NULL,"
    " PRIMARY KEY (stream, tick)) WITHOUT ROWID",
    "CREATE TABLE stream_states (stream INTEGER PRIMARY KEY, tick INTEGER NOT NULL, body TEXT NOT NULL)",
    "CREATE TABLE stream_items (stream INTEGER NOT NULL, owner TEXT NOT NULL, item TEXT NOT NULL,"
    " tick INTEGER NOT NULL, increments TEXT, PRIMARY KEY (stream, owner, item)) WITHOUT ROWID",
    "CREATE INDEX stream_items_counted ON stream_items (stream, tick, increments) WHERE increments IS NOT NULL",
    "CREATE TABLE stream_people (stream INTEGER NOT NULL, owner TEXT NOT NULL, ticks INTEGER NOT NULL,"
    " last INTEGER NOT NULL, items INTEGER NOT NULL, PRIMARY KEY (stream, owner)) WITHOUT ROWID",
)

# Who may come in through a server. `tokens` follows from the entries.
_ACCESS_TABLES = (
    "CREATE TABLE tokens (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " role TEXT NOT NULL, digest TEXT NOT NULL, expires TEXT NOT NULL, at TEXT NOT NULL,"
    " revoked INTEGER NOT NULL)",
)


def _refusing(name: str, event: str, table: str, reason: str, when: str = "") -> str:
    condition = f" WHEN {when}" if when else ""
    return (
        f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}{condition}"
        f" BEGIN SELECT RAISE(ABORT, '{reason}'); END"
    )


_ACCESS_TRIGGERS = (
    _refusing("refuse_delete", "DELETE", "tokens", "tokens only grow"),
    _refusing(
        "refuse_change",
        "UPDATE",
        "tokens",
        "tokens can only be revoked",
        "(NEW.seq, NEW.id, NEW.name, NEW.role, NEW.digest, NEW.expires, NEW.at, NEW.revoked)"
        " IS NOT (OLD.seq, OLD.id, OLD.name, OLD.role, OLD.digest, OLD.expires, OLD.at, 1)",
    ),
)
_OPEN_TICK = "(SELECT published + 1 FROM streams WHERE seq = {row}.stream)"
_STREAM_TRIGGERS = (
    *(
        _refusing("refuse_delete", "DELETE", table, f"{table} only grow")
        for table in ("streams", "stream_values", "stream_states", "stream_items", "stream_people")
    ),
    _refusing("refuse_update", "UPDATE", "stream_values", "published values never change"),
    _refusing(
        "follow",
        "INSERT",
        "stream_values",
        "ticks are published in order",
        f"NEW.tick IS NOT {_OPEN_TICK.format(row='NEW')}",
    ),
    _refusing(
        "follow",
        "UPDATE",
        "streams",
        "ticks are published in order",
        "(NEW.seq, NEW.name, NEW.receipt, NEW.published)"
        " IS NOT (OLD.seq, OLD.name, OLD.receipt, OLD.published + 1)",
    ),
    _refusing(
        "refuse_replace",
        "INSERT",
        "stream_states",
        "noise is drawn once",
        "EXISTS (SELECT 1 FROM stream_states WHERE stream = NEW.stream)",
    ),
    _refusing("refuse_redrawing", "UPDATE", "stream_states", "noise is drawn once", "NEW.tick <= OLD.tick"),
    _refusing(
        "enter",
        "INSERT",
        "stream_items",
        "items enter the open tick",
        f"NEW.tick IS NOT {_OPEN_TICK.format(row='NEW')}",
    ),
    _refusing(
        "freeze",
        "UPDATE",
        "stream_items",
        "closed ticks are frozen",
        f"OLD.tick IS NOT {_OPEN_TICK.format(row='OLD')}",
    ),
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


def add_streams(connection: sqlite3.Connection) -> None:
    """Give a ledger the tables of streams, in the transaction of the caller."""
    add_parts(connection)
    if not has_streams(connection):
        for statement in _STREAM_TABLES + _STREAM_TRIGGERS:
            connection.execute(statement)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (WITH_STREAMS,))


def add_access(connection: sqlite3.Connection) -> None:
    """Give a ledger the table of tokens, in the transaction of the caller."""
    add_streams(connection)
    if not has_access(connection):
        for statement in _ACCESS_TABLES + _ACCESS_TRIGGERS:
            connection.execute(statement)
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema'", (WITH_ACCESS,))


def has_parts(connection: sqlite3.Connection) -> bool:
    """Say whether a ledger has the tables of parts."""
    return _version(connection) in (VERSION, WITH_STREAMS, WITH_ACCESS)


def has_streams(connection: sqlite3.Connection) -> bool:
    """Say whether a ledger has the tables of streams."""
    return _version(connection) in (WITH_STREAMS, WITH_ACCESS)


def has_access(connection: sqlite3.Connection) -> bool:
    """Say whether a ledger has the table of tokens."""
    return _version(connection) == WITH_ACCESS


def _version(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    return None if row is None else str(row[0])


def check(connection: sqlite3.Connection, name: str) -> None:
    """Raise `LedgerError` unless the file is a ledger of this schema. Nothing is written."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION,):
        raise LedgerError(f"{name} is not a Jali ledger.", remedy="Name another file.")
    found = _version(connection)
    if found not in (BEFORE_PARTS, VERSION, WITH_STREAMS, WITH_ACCESS):
        raise LedgerError(
            f"{name} has the ledger schema {found or 'none'}; this version of Jali reads up to {WITH_ACCESS}.",
            remedy="Use the version of Jali that wrote it.",
        )
