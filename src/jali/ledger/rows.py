"""Rows of the ledger that follow from its entries, and their digests.

Statement:
    Every row of these tables carries the number of the last entry that wrote it, and that entry names the row with
    the digest of its values. So one look at one entry tells whether a row is as it was written last: no byte of a
    row, of its key or of the entry can change without a mismatch. `verify` checks the same by a replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jali.ledger.chain import canonical, fingerprint

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
