"""Marks: keyed checksums of rows that no entry may speak of, because they are secret.

The items of streams, the people behind them and the noise of counters are in no entry: the head of the chain may
be shown to others, and a digest of a few possible values would tell which one it was. So a row carries a short
digest under a key that never leaves the ledger. It shows changed bytes, not a forger who can read the key.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from jali.ledger.chain import canonical
from jali.ledger.damage import damaged
from jali.ledger.meta import make_key, read_key
from jali.ledger.stores.store import Connection

_NAME = "key rows"
_SIZE = 8


class Marks:
    """The marks of one ledger."""

    def __init__(self, connection: Connection) -> None:
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
            raise damaged("damage-row", table=table)
