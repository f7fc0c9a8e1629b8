"""Opening a ledger by the name of its place: a file, a database of Postgres, or nothing for memory."""

from __future__ import annotations

import shlex
from pathlib import Path

from jali.errors import CatalogError
from jali.ledger.postgres import PostgresLedger
from jali.ledger.sqlite import SqliteLedger
from jali.ledger.stored import StoredLedger
from jali.postgres_address import is_address


def open_ledger(place: str | Path | None, *, create: bool = True, checked: bool = True) -> StoredLedger:
    """Open the ledger of a place, or make one there if that is wanted.

    Args:
        place: A file, the address of a Postgres database, or None for memory.
        create: Whether one is made where there is none.
        checked: Whether it must contain the last head that was anchored: not to look at a copy.

    Example:
        >>> open_ledger(None).durable
        False
    """
    if isinstance(place, str) and is_address(place):
        return PostgresLedger(place, create=create, checked=checked)
    if place is not None and not create and not Path(place).is_file():
        raise CatalogError("database-missing", place=place, written=shlex.quote(str(place)))
    return SqliteLedger(None if place is None else Path(place), checked=checked)
