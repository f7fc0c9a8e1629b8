"""Places that a ledger can be moved to: a new file, or a schema of a Postgres database."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.ledger_schema import EARLIER, VERSION, seal_facts
from jali.ledger.stores.base import Fill, StoreConnection
from jali.ledger.stores.postgres import creation
from jali.ledger.stores.postgres.connection import (
    LedgerAddress,
    PostgresConnection,
    Row,
    check_driver,
    translate_postgres_errors,
)
from jali.ledger.stores.postgres.pool import ConnectionPool
from jali.ledger.stores.postgres.session import PostgresSession, run, run_all
from jali.ledger.stores.sqlite.creation import create_with
from jali.ledger.stores.sqlite.file import make

if TYPE_CHECKING:
    import psycopg


class FileTarget:
    """A file that is not there yet.

    Guarantee:
        The file is there with the whole ledger, on disk, or it is not there.
    """

    def __init__(self, path: Path, patience: float = 60.0) -> None:
        self._path, self._patience = path.resolve(), patience

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self._path)

    def check(self, source: StoreConnection) -> None:  # noqa: ARG002 - a file can keep every ledger
        """Refuse a file that is there, and a directory that cannot be written."""
        if self._path.exists():
            raise LedgerError("file-exists", path=self._path)
        if not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise LedgerError("file-not-made", path=self._path)

    def take(self, fill: Fill) -> bool:
        """Make the file with what `fill` puts into it; return False if there is one already."""
        return make(self._path, self._patience, partial(create_with, fill=fill))


# What Postgres has in an index, of which a row may have some 2,700 bytes.
_NAMES = {
    "declarations": "name",
    "accounts": "name",
    "receipts": "key || analyst",
    "seen": "receipt || analyst",
    "schemes": "account || scheme",
    "parts": "account || scheme || key",
    "streams": "name",
    "tokens": "id",
}
_LONGEST = 600


class DatabaseTarget:
    """A schema without a ledger, or with an empty one.

    Guarantee:
        The whole ledger is there, durably, or nothing of it.
    """

    def __init__(self, address: LedgerAddress, patience: float = 60.0) -> None:
        check_driver()
        self._session = PostgresSession(address, patience)
        self._pool = ConnectionPool(address, patience)

    @property
    def name(self) -> str:
        """The address, without a password."""
        return self._session.address.name

    def check(self, source: StoreConnection) -> None:
        """Refuse what is not empty or cannot be written, by making a ledger and undoing it; and endless names."""
        for table in sorted(source.tables() & set(_NAMES)):
            found = source.execute(f"SELECT 1 FROM {table} WHERE length({_NAMES[table]}) > {_LONGEST} LIMIT 1")
            if found.fetchone() is not None:
                raise LedgerError("ledger-names-too-long", table=table, most=_LONGEST)
        with self._make() as (connection, empty):
            if empty:
                run_all(connection, creation.guards(self._session.address.schema))
        if not empty:
            raise LedgerError("ledger-exists", ledger=self.name)

    def take(self, fill: Fill) -> bool:
        """Make a ledger with what `fill` puts into it; return False if there is one already."""
        with self._make() as (connection, empty):
            if empty:
                fill(PostgresConnection(connection))
                seal_facts(PostgresConnection(connection))
                run_all(connection, creation.guards(self._session.address.schema))
                run(connection, "COMMIT")
        return empty

    @contextmanager
    def _make(self) -> Iterator[tuple[psycopg.Connection[Row], bool]]:
        """Give a transaction with the tables of an empty ledger, unguarded; undo it unless it was committed."""
        with translate_postgres_errors(self.name), closing(self._pool.connect()) as connection:
            run(connection, self._session.making(secrets.token_hex(16)))
            if self._session.ledger_at(connection) is None:
                self._session.make_schema(connection)
                run_all(connection, creation.tables())
                run_all(connection, creation.marks())
                yield connection, True
            elif run(connection, "SELECT 1 FROM entries LIMIT 1") is None:
                run_all(connection, creation.without_guards())
                if PostgresConnection(connection).version() in EARLIER:
                    run_all(connection, creation.reshape())
                    run(connection, f"UPDATE meta SET value = '{VERSION}' WHERE name = 'schema'")
                run(connection, "DELETE FROM meta WHERE name LIKE 'key %'")
                yield connection, True
            else:
                yield connection, False
