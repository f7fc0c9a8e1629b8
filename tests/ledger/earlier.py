"""Ledgers as earlier versions wrote them: schemas 1 to 4, without rows in entries and without an anchor."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.ledger.support import read_entries

from jali.ledger.chain import GENESIS, link
from jali.ledger.stores.sqlite.creation import APPLICATION
from jali.ledger.stores.sqlite.file import anchor_of

_TABLES = {
    "meta": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "entries": "seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, previous TEXT NOT NULL,"
    " digest TEXT NOT NULL",
    "plans": "receipt TEXT PRIMARY KEY, body TEXT NOT NULL",
    "answers": "receipt TEXT PRIMARY KEY, body TEXT NOT NULL",
    "declarations": "seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body TEXT NOT NULL,"
    " version INTEGER NOT NULL, data_version INTEGER NOT NULL",
    "accounts": "seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, budget TEXT NOT NULL, spent TEXT NOT NULL",
    "receipts": "seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, analyst TEXT NOT NULL, question TEXT NOT NULL,"
    " key TEXT NOT NULL, debits TEXT NOT NULL, at TEXT NOT NULL, attempts INTEGER NOT NULL, released INTEGER",
    "seen": "receipt TEXT NOT NULL, analyst TEXT NOT NULL, PRIMARY KEY (receipt, analyst)",
}
_PARTS = {
    "schemes": "seq INTEGER PRIMARY KEY, account TEXT NOT NULL, scheme TEXT NOT NULL, together INTEGER NOT NULL,"
    " spent TEXT NOT NULL, UNIQUE (account, scheme)",
    "parts": "account TEXT NOT NULL, scheme TEXT NOT NULL, key TEXT NOT NULL, inside TEXT NOT NULL,"
    " apart TEXT NOT NULL, PRIMARY KEY (account, scheme, key)",
}
_INDEX = "CREATE INDEX receipts_open ON receipts (key) WHERE released IS NULL"


def downgrade(path: Path, schema: int) -> None:
    """Rewrite a closed ledger without streams or tokens as schema 1 or 2 had it."""
    tables = _TABLES | (_PARTS if schema > 1 else {})
    old = path.with_name("old.jali")
    with closing(sqlite3.connect(path)) as new, closing(sqlite3.connect(old)) as raw:
        raw.execute(f"PRAGMA application_id = {APPLICATION}")
        raw.execute("PRAGMA journal_mode = WAL")
        for table, columns in tables.items():
            raw.execute(f"CREATE TABLE {table} ({columns})")
            names = [row[1] for row in raw.execute(f"PRAGMA table_info({table})")]
            if table not in ("entries", "meta"):
                rows = new.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
                raw.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)
        raw.execute(_INDEX)
        previous = GENESIS
        for seq, (kind, body) in enumerate(read_entries(new), start=1):
            digest = link(previous, seq, kind, body)
            raw.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", (seq, kind, body, previous, digest))
            previous = digest
        raw.execute("INSERT INTO meta VALUES ('schema', ?)", (str(schema),))
        raw.commit()
    path.unlink()
    anchor_of(path).path.unlink()
    old.rename(path)
    path.chmod(0o600)
