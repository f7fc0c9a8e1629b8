"""Open the ledger of a place: one SQLite file, a schema of a Postgres database, or memory."""

from __future__ import annotations

import shlex
from pathlib import Path

from jali.errors import CatalogError
from jali.ledger.anchor_places import anchors_of
from jali.ledger.ledger import Ledger
from jali.ledger.stores.postgres.connection import LedgerAddress
from jali.ledger.stores.postgres.store import PostgresStore, exists
from jali.ledger.stores.sqlite.file import anchor_of
from jali.ledger.stores.sqlite.store import SqliteStore
from jali.postgres_address import is_address


class SqliteLedger(Ledger):
    """The ledger of one file, for any number of threads and processes on one machine.

    Args:
        path: The file; it is made, readable by its owner only, if there is none. None keeps everything in
            memory: nothing survives the process then, and `durable` is False.
        patience: How many seconds to wait for others before giving up.
        checked: Whether the ledger must contain the last head that was anchored: not to look at a copy.

    Example:
        >>> from jali.ledger import Debit
        >>> from jali.privacy import Budget, Pure
        >>> ledger = SqliteLedger(None)
        >>> ledger.open_account("table visits", Budget(1))
        >>> debits = (Debit("table visits", Pure(0.1).event),)
        >>> receipt = ledger.reserve(analyst="ana", question="?", key="k", plan="{}", debits=debits)
        >>> ledger.release(receipt, "42"), ledger.release(receipt, "43")
        ('42', '42')
        >>> str(ledger.spent("table visits"))
        'epsilon 0.1'
    """

    def __init__(self, path: Path | None, *, patience: float = 60.0, checked: bool = True) -> None:
        store = SqliteStore(path, patience)
        own = None if path is None else anchor_of(path.resolve())
        super().__init__(store, lambda: anchors_of(store, own), checked=checked)


class PostgresLedger(Ledger):
    """The ledger of one schema of a database, for any number of servers on any number of machines.

    Args:
        address: The URL of the database, without a password; `?schema=` names a schema other than `jali`.
        patience: How many seconds to wait for others before giving up.
        create: Whether a ledger is made where there is none.
        checked: Whether the ledger must contain the last head that was anchored: not to look at a copy.
    """

    def __init__(
        self, address: str | LedgerAddress, *, patience: float = 60.0, create: bool = True, checked: bool = True
    ) -> None:
        place = LedgerAddress.of(address) if isinstance(address, str) else address
        store = PostgresStore(place, patience, create=create)
        super().__init__(store, lambda: anchors_of(store, None), checked=checked)


def has_ledger(address: str) -> bool:
    """Say whether there is a ledger at an address. None is made."""
    return exists(LedgerAddress.of(address))


def open_ledger(place: str | Path | None, *, create: bool = True, checked: bool = True) -> Ledger:
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
