"""Digests of rows: those that entries name, and keyed checksums of rows that no entry may speak of.

Statement:
    Every row of the tables in `ROWS` carries the number of the last entry that wrote it, and that entry names the
    row with the digest of its values. So one look at one entry tells whether a row is as it was written last: no
    byte of a row, of its key or of the entry can change without a mismatch. `verify` checks the same by a replay.

The items of streams, the people behind them and the noise of counters are in no entry: the head of the chain may
be shown to others, and a digest of a few possible values would tell which one it was. So such a row carries a
short digest under a key that never leaves the ledger. It shows changed bytes, not a forger who can read the key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from jali.ledger.chain import canonical, fingerprint, make_damage_error
from jali.ledger.ledger_schema import make_key, read_key
from jali.ledger.stores.base import StoreConnection

# 128 bits of SHA-256.
_DIGITS = 32


@dataclass(frozen=True)
class RowKind:
    """A table whose rows follow from the entries.

    Attributes:
        table: Its name.
        key: The columns by which a row is looked up.
        columns: All columns but `entry`, in the order of the table.
    """

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def key_of(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the key of a row."""
        return tuple(values[self.columns.index(name)] for name in self.key)

    def mention(self, values: Sequence[Any]) -> list[Any]:
        """Return how an entry names a row that it wrote: table, key and digest."""
        return [self.table, *self.key_of(values), digest_row(self.table, values)]

    @property
    def select(self) -> str:
        """The statement that reads all columns, the entry last."""
        return f"SELECT {', '.join(self.columns)}, entry FROM {self.table}"

    @property
    def lookup(self) -> str:
        """The statement that reads one row by its key."""
        return f"{self.select} WHERE {' AND '.join(f'{name} = ?' for name in self.key)}"

    @property
    def upsert(self) -> str:
        """The statement that writes a row in place of an earlier one with its key."""
        columns = (*self.columns, "entry")
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns if name not in self.key)
        return (
            f"INSERT INTO {self.table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
            f" ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET {changes}"
        )


ROWS = {
    kind.table: kind
    for kind in (
        RowKind("declarations", ("name",), ("seq", "name", "body", "version", "data_version")),
        RowKind("accounts", ("name",), ("seq", "name", "budget", "spent")),
        RowKind(
            "receipts",
            ("id",),
            ("seq", "id", "analyst", "question", "key", "debits", "at", "attempts", "released"),
        ),
        RowKind("seen", ("receipt", "analyst"), ("receipt", "analyst")),
        RowKind("schemes", ("account", "scheme"), ("seq", "account", "scheme", "together", "spent", "parts")),
        RowKind("parts", ("account", "scheme", "key"), ("account", "scheme", "key", "inside", "apart")),
        RowKind("streams", ("name",), ("seq", "name", "receipt", "published", "ended")),
        RowKind("tokens", ("id",), ("seq", "id", "name", "role", "digest", "expires", "at", "revoked")),
    )
}


def digest_row(table: str, values: Sequence[Any]) -> str:
    """Return the digest of the values of a row, `entry` excluded."""
    return fingerprint(canonical([table, *values]))[:_DIGITS]


_NAME = "key rows"
_SIZE = 8


class RowMarks:
    """The marks of one ledger."""

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection
        self._key: bytes | None = None

    def of(self, table: str, *values: Any) -> str:
        """Return the mark of a row; the key is made when the first row is marked."""
        if self._key is None:
            self._key = read_key(self._connection, _NAME) or make_key(self._connection, _NAME)
        return blake2b(canonical([table, *values]).encode(), key=self._key, digest_size=_SIZE).hexdigest()

    def check(self, mark: str, table: str, *values: Any) -> None:
        """Raise `LedgerError` for a row that is not as it was marked."""
        if self._key is None:
            self._key = read_key(self._connection, _NAME)
        try:
            unchanged = self._key is not None and mark == self.of(table, *values)
        except (TypeError, ValueError):  # a changed byte may have made a number or a text a blob
            unchanged = False
        if not unchanged:
            raise make_damage_error("damage-row", table=table)
