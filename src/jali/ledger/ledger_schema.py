"""The schema of the ledger: tables and guards in SQL that SQLite and Postgres share, and the facts in `meta`.

The facts are the schema's version, the ledger's name and secret keys, under one checksum. None of them is in the
chain: keys are secret, and a ledger keeps its name when its entries are moved elsewhere.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from jali.errors import LedgerError
from jali.ledger.chain import canonical, detect_damage, fingerprint, make_damage_error
from jali.ledger.stores.base import StoreConnection

# Ledgers of earlier schemas are upgraded when they are opened (`upgrade.py`). Schema 1 had no parts, 2 no streams,
# 3 no tokens, 4 had never moved; up to 5, rows did not name the entries that wrote them.
VERSION = "6"
EARLIER = ("1", "2", "3", "4", "5")

# `entries` is the truth, `plans` and `answers` hold the long texts that entries name by digest. All three
# only grow. The other tables follow from them, change in the same transaction, and are checked against them: each
# row by the entry that wrote it last (`row_digests.py`), all of them by `verify`.
TABLES = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL,"
    " previous TEXT NOT NULL, digest TEXT NOT NULL, form INTEGER NOT NULL)",
    "CREATE TABLE plans (receipt TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE answers (receipt TEXT PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE declarations (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL,"
    " version INTEGER NOT NULL, data_version INTEGER NOT NULL, entry INTEGER NOT NULL)",
    "CREATE TABLE accounts (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, budget TEXT NOT NULL,"
    " spent TEXT NOT NULL, entry INTEGER NOT NULL)",
    "CREATE TABLE receipts (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, analyst TEXT NOT NULL,"
    " question TEXT NOT NULL, key TEXT NOT NULL, debits TEXT NOT NULL, at TEXT NOT NULL,"
    " attempts INTEGER NOT NULL, released INTEGER, entry INTEGER NOT NULL)",
    "CREATE TABLE seen (receipt TEXT NOT NULL, analyst TEXT NOT NULL, entry INTEGER NOT NULL,"
    " PRIMARY KEY (receipt, analyst))",
)
INDEXES = (
    "CREATE INDEX entries_open ON entries (seq) WHERE kind = 'open'",
    "CREATE INDEX entries_restore ON entries (seq) WHERE kind = 'restore'",
    "CREATE INDEX receipts_by_key ON receipts (key) WHERE released IS NOT NULL",
    "CREATE INDEX receipts_open ON receipts (key, analyst) WHERE released IS NULL",
    "CREATE INDEX receipts_by_analyst ON receipts (analyst)",
)

# What was charged for parts: the sum of each scheme with the number of its parts; under an empty name that of what
# concerns everybody, with the number of schemes; and the sums of each part. Only accounts with debits of parts are
# in them.
PART_TABLES = (
    "CREATE TABLE schemes (seq INTEGER PRIMARY KEY, account TEXT NOT NULL, scheme TEXT NOT NULL,"
    " together INTEGER NOT NULL, spent TEXT NOT NULL, parts INTEGER NOT NULL, entry INTEGER NOT NULL,"
    " UNIQUE (account, scheme))",
    "CREATE TABLE parts (account TEXT NOT NULL, scheme TEXT NOT NULL, key TEXT NOT NULL, inside TEXT NOT NULL,"
    " apart TEXT NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (account, scheme, key))",
)

# The streams. `streams` follows from the entries; `stream_values` holds the texts that they name by digest, and
# only grows. Items, people and states are secret, and no entry speaks of them: an item enters the open tick only,
# and is frozen with it; a state is replaced by that of a later tick only. Their rows carry a keyed mark.
STREAM_TABLES = (
    "CREATE TABLE streams (seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, receipt TEXT NOT NULL UNIQUE,"
    " published INTEGER NOT NULL, ended INTEGER NOT NULL, entry INTEGER NOT NULL)",
    "CREATE TABLE stream_values (stream INTEGER NOT NULL, tick INTEGER NOT NULL, body TEXT NOT NULL,"
    " entry INTEGER NOT NULL, PRIMARY KEY (stream, tick)) WITHOUT ROWID",
    "CREATE TABLE stream_states (stream INTEGER PRIMARY KEY, tick INTEGER NOT NULL, body TEXT NOT NULL,"
    " mark TEXT NOT NULL)",
    "CREATE TABLE stream_items (stream INTEGER NOT NULL, owner TEXT NOT NULL, item TEXT NOT NULL,"
    " tick INTEGER NOT NULL, increments TEXT, mark TEXT NOT NULL, PRIMARY KEY (stream, owner, item))"
    " WITHOUT ROWID",
    "CREATE TABLE stream_people (stream INTEGER NOT NULL, owner TEXT NOT NULL, ticks INTEGER NOT NULL,"
    " last INTEGER NOT NULL, items INTEGER NOT NULL, mark TEXT NOT NULL, PRIMARY KEY (stream, owner))"
    " WITHOUT ROWID",
)
STREAM_INDEXES = (
    "CREATE INDEX stream_items_counted ON stream_items (stream, tick, increments) WHERE increments IS NOT NULL",
)

# Who may come in through a server. `tokens` follows from the entries.
ACCESS_TABLES = (
    "CREATE TABLE tokens (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,"
    " role TEXT NOT NULL, digest TEXT NOT NULL, expires TEXT NOT NULL, at TEXT NOT NULL,"
    " revoked INTEGER NOT NULL, entry INTEGER NOT NULL)",
)


@dataclass(frozen=True)
class TableGuard:
    """A trigger that refuses: before an event on a table, always or when a condition holds."""

    name: str
    event: str
    table: str
    reason: str
    when: str = ""

    @property
    def trigger_name(self) -> str:
        """The name of the trigger."""
        return f"{self.table}_{self.name}"

    @property
    def trigger(self) -> str:
        """The trigger, as SQLite writes it."""
        condition = f" WHEN {self.when}" if self.when else ""
        return (
            f"CREATE TRIGGER {self.trigger_name} BEFORE {self.event} ON {self.table}{condition}"
            f" BEGIN SELECT RAISE(ABORT, '{self.reason}'); END"
        )


# The guards stop mistakes; the chain shows what went past them. The guard on INSERT also stops REPLACE of SQLite,
# which deletes without firing the trigger on DELETE.
GUARDS = (
    TableGuard(
        "follow",
        "INSERT",
        "entries",
        "entries only grow",
        "NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM entries)",
    ),
    *(
        TableGuard(f"refuse_{verb.lower()}", verb, table, f"{table} only grow")
        for table in ("entries", "plans", "answers")
        for verb in ("UPDATE", "DELETE")
    ),
    *(
        TableGuard(
            "refuse_replace",
            "INSERT",
            table,
            f"{table} only grow",
            f"EXISTS (SELECT 1 FROM {table} WHERE receipt = NEW.receipt)",
        )
        for table in ("plans", "answers")
    ),
)
_OPEN_TICK = "(SELECT published + 1 FROM streams WHERE seq = {row}.stream)"
STREAM_GUARDS = (
    *(
        TableGuard("refuse_delete", "DELETE", table, f"{table} only grow")
        for table in ("streams", "stream_values", "stream_states", "stream_items", "stream_people")
    ),
    TableGuard("refuse_update", "UPDATE", "stream_values", "published values never change"),
    TableGuard(
        "follow",
        "INSERT",
        "stream_values",
        "ticks are published in order",
        f"NEW.tick IS NOT {_OPEN_TICK.format(row='NEW')}",
    ),
    TableGuard(
        "follow",
        "UPDATE",
        "streams",
        "ticks are published in order",
        "(NEW.seq, NEW.name, NEW.receipt) IS NOT (OLD.seq, OLD.name, OLD.receipt)"
        " OR NEW.published NOT BETWEEN OLD.published AND OLD.published + 1 OR NEW.ended < OLD.ended",
    ),
    TableGuard(
        "refuse_replace",
        "INSERT",
        "stream_states",
        "noise is drawn once",
        "EXISTS (SELECT 1 FROM stream_states WHERE stream = NEW.stream)",
    ),
    TableGuard("refuse_redrawing", "UPDATE", "stream_states", "noise is drawn once", "NEW.tick <= OLD.tick"),
    TableGuard(
        "enter",
        "INSERT",
        "stream_items",
        "items enter the open tick",
        f"NEW.tick IS NOT {_OPEN_TICK.format(row='NEW')}",
    ),
    TableGuard(
        "freeze",
        "UPDATE",
        "stream_items",
        "closed ticks are frozen",
        f"OLD.tick IS NOT {_OPEN_TICK.format(row='OLD')}",
    ),
)
ACCESS_GUARDS = (
    TableGuard("refuse_delete", "DELETE", "tokens", "tokens only grow"),
    TableGuard(
        "refuse_change",
        "UPDATE",
        "tokens",
        "tokens can only be revoked",
        "(NEW.seq, NEW.id, NEW.name, NEW.role, NEW.digest, NEW.expires, NEW.at, NEW.revoked)"
        " IS NOT (OLD.seq, OLD.id, OLD.name, OLD.role, OLD.digest, OLD.expires, OLD.at, 1)",
    ),
)
# A ledger that has moved takes no entry, whatever version of Jali still has it open.
MOVE_GUARDS = (
    TableGuard(
        "stay",
        "INSERT",
        "entries",
        "the ledger has moved",
        "NEW.kind <> 'arrive' AND 'move' = (SELECT kind FROM entries ORDER BY seq DESC LIMIT 1)",
    ),
)

ALL_TABLES = TABLES + INDEXES + PART_TABLES + STREAM_TABLES + STREAM_INDEXES + ACCESS_TABLES
ALL_GUARDS = GUARDS + STREAM_GUARDS + ACCESS_GUARDS + MOVE_GUARDS


def check_version(found: str | None, name: str) -> None:
    """Raise `LedgerError` for a schema of a later version of Jali."""
    if found != VERSION and found not in EARLIER:
        raise LedgerError("ledger-schema", ledger=name, found=found or "none")


_CHECK = "check"
_DIGITS = 16


def read_fact(connection: StoreConnection, name: str) -> str | None:
    """Return a fact; None if it was never written. A changed byte in any of them is an error."""
    with detect_damage():
        facts = dict(connection.execute("SELECT name, value FROM meta"))
        sound = facts.pop(_CHECK, None) == _checksum(facts)
    if not sound:
        raise make_damage_error("damage-identity")
    return facts.get(name)


def write_fact(connection: StoreConnection, name: str, value: str) -> None:
    """Write a fact, inside a transaction that writes."""
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
    )
    seal_facts(connection)


def seal_facts(connection: StoreConnection) -> None:
    """Compute the checksum of all facts, inside a transaction that has written some."""
    facts = dict(connection.execute("SELECT name, value FROM meta"))
    facts.pop(_CHECK, None)
    connection.execute(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (_CHECK, _checksum(facts)),
    )


def read_key(connection: StoreConnection, name: str) -> bytes | None:
    """Return a secret key of the ledger; None if it was never made."""
    found = read_fact(connection, name)
    return None if found is None else bytes.fromhex(found)


def make_key(connection: StoreConnection, name: str) -> bytes:
    """Make a secret key, inside a transaction that writes."""
    text = secrets.token_hex(32)
    write_fact(connection, name, text)
    return bytes.fromhex(text)


def _checksum(facts: dict[str, str]) -> str:
    return fingerprint(canonical(sorted(facts.items())))[:_DIGITS]
