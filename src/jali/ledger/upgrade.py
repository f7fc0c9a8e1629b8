"""Upgrade a ledger of an earlier schema when it is first opened.

Statement:
    The whole ledger is replayed first, and one that is not sound is refused and left as it was. Then entries are
    appended that name every row with its digest, so that rows can be checked one by one from now on. No entry is
    changed. Versions of Jali that know only the earlier schema can write nothing any more, also where they have
    the ledger open: their entries lack a column that must be given.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

from jali.errors import LedgerError
from jali.ledger.chain import EntryKind
from jali.ledger.ledger_schema import VERSION, read_fact, seal_facts, write_fact
from jali.ledger.ledger_tables import LedgerTables
from jali.ledger.operations import now
from jali.ledger.row_digests import ROWS, RowMarks
from jali.ledger.stores.base import StoreConnection
from jali.ledger.verify import inspect

# How many rows one entry names: a row is checked by reading the whole entry.
_AT_ONCE = 200


def upgrade(connection: StoreConnection, name: str) -> None:
    """Fill in what the present schema adds, in the transaction of the caller, who has reshaped the tables."""
    seal_facts(connection)
    _fill(connection)
    found = inspect(connection, None, sealed=False, guarded=False).problems
    if found:
        raise LedgerError("ledger-damaged-upgrade", ledger=name, problem=found[0])
    tables = LedgerTables(connection)
    last = connection.execute("SELECT kind FROM entries ORDER BY seq DESC LIMIT 1").fetchone()
    # A ledger that has moved takes no entry, and nothing is charged to it any more.
    if last is not None and last[0] != EntryKind.MOVE:
        _seal(tables)
    write_fact(connection, "schema", VERSION)
    if read_fact(connection, "ledger") is None:
        write_fact(connection, "ledger", secrets.token_hex(16))


def _fill(connection: StoreConnection) -> None:
    """Count parts, name the entries of published values, and mark secret rows."""
    connection.execute(
        "UPDATE schemes SET parts = CASE scheme WHEN '' THEN (SELECT count(*) - 1 FROM schemes AS others"
        " WHERE others.account = schemes.account) ELSE (SELECT count(*) FROM parts"
        " WHERE parts.account = schemes.account AND parts.scheme = schemes.scheme) END"
    )
    for stream, tick, seq in list(_ticks(connection)):
        statement = "UPDATE stream_values SET entry = ? WHERE stream = ? AND tick = ?"
        connection.execute(statement, (seq, stream, tick))
    marks = RowMarks(connection)
    for table, (columns, key) in _MARKED.items():
        where = " AND ".join(f"{column} = ?" for column in key)
        for row in list(connection.scan(f"SELECT {', '.join(columns)} FROM {table}")):
            found = dict(zip(columns, row, strict=True))
            statement = f"UPDATE {table} SET mark = ? WHERE {where}"
            connection.execute(statement, (marks.of(table, *row), *(found[column] for column in key)))


_MARKED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "stream_states": (("stream", "tick", "body"), ("stream",)),
    "stream_items": (("stream", "owner", "item", "tick", "increments"), ("stream", "owner", "item")),
    "stream_people": (("stream", "owner", "ticks", "last", "items"), ("stream", "owner")),
}


def _ticks(connection: StoreConnection) -> Iterator[tuple[int, int, int]]:
    """Return the entry of each published value."""
    numbers = dict(connection.execute("SELECT name, seq FROM streams"))
    for seq, text in connection.scan("SELECT seq, body FROM entries WHERE kind = 'tick'"):
        body: dict[str, Any] = json.loads(text)
        if body["stream"] in numbers:
            yield numbers[body["stream"]], body["tick"], seq


def _seal(tables: LedgerTables) -> None:
    """Name every row in entries of their own."""
    pending = 0
    for table, kind in ROWS.items():
        for *values, _ in list(tables.connection.scan(kind.select)):
            tables.put(table, tuple(values))
            pending += 1
            if pending == _AT_ONCE:
                tables.append(EntryKind.SEAL, {"schema": VERSION, "at": now()})
                pending = 0
    tables.append(EntryKind.SEAL, {"schema": VERSION, "at": now()})
