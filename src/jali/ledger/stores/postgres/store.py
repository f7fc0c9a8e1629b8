"""The store in Postgres: one writer at a time over all machines, and commits whose outcome is always found out.

Statement:
    A transaction that writes first takes the ledger's advisory lock, which it holds until it has ended; so each
    sees everything that was committed before, and a state is a sequence of whole transactions. If the connection
    is lost before COMMIT was sent, nothing was committed. If it is lost after that, whoever takes the lock next
    comes after the end of that transaction: its entries, which have its name, are there, or never will be.
Proof:
    docs/proofs/ledger.md, "In Postgres".
"""

from __future__ import annotations

import os
import secrets
import shlex
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from jali.errors import CatalogError, LedgerError
from jali.ledger.chain import ChainHead
from jali.ledger.ledger_schema import EARLIER
from jali.ledger.stores.postgres import creation
from jali.ledger.stores.postgres.connection import (
    LedgerAddress,
    PostgresConnection,
    Row,
    check_driver,
    make_replaced_error,
    make_undecided_error,
    make_unrecorded_error,
    translate_postgres_errors,
)
from jali.ledger.stores.postgres.pool import ConnectionPool
from jali.ledger.stores.postgres.session import COMMIT, RECORDED, PostgresSession, run, run_all, undo
from jali.ledger.upgrade import upgrade

if TYPE_CHECKING:
    from psycopg import Connection

_EARLIER = tuple((version,) for version in EARLIER)
_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
_CONNECTING = 60.0


class PostgresStore:
    """Read and write transactions on one schema of a database.

    Guarantee:
        As `Store`. A commit that returned is durable: `synchronous_commit` is on, or remote_apply, whatever the
        database says, and a server without fsync is refused. A connection that broke while nobody used it is
        replaced unseen. An entry that this process has seen is there, or nothing is written any more.
    """

    def __init__(self, address: LedgerAddress, patience: float, *, create: bool = True) -> None:
        check_driver()
        self._address, self._patience = address, patience
        self._session = PostgresSession(address, patience)
        self._own = ConnectionPool(address, patience)
        self._closed = False
        self._seen = ChainHead()
        self._ledger = self._open(create=create)

    @property
    def name(self) -> str:
        """The address, without a password."""
        return self._address.name

    @property
    def durable(self) -> bool:
        """It outlives the process."""
        return True

    def identity(self) -> str:
        """Return the name of the ledger, which is random and its own for ever."""
        return self._ledger

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """Give a connection that reads, at one moment."""
        with (
            translate_postgres_errors(self.name),
            self._transaction(self._session.reading()) as (connection, told),
        ):
            if told != (self._ledger,):
                raise make_replaced_error(self.name)
            yield PostgresConnection(connection)

    @contextmanager
    def writing(self) -> Iterator[PostgresConnection]:
        """Give a connection that writes: all of it durably, or nothing."""
        write = secrets.token_hex(16)
        with self._pool().turn(), translate_postgres_errors(self.name):
            with self._transaction(self._session.writing(write, self._seen)) as (connection, told):
                before = self._check_head(told)
                yield PostgresConnection(connection)
                committed = self._commit(connection)
            if not committed:
                self._find_out(before, write)

    def close(self) -> None:
        """Close the connections for good."""
        if not self._closed:
            self._pool().close()
            self._closed = True

    def _open(self, *, create: bool) -> str:
        """Return the name of the ledger, which is made where there is none."""
        with translate_postgres_errors(self.name):
            connection = self._own.connect()
            try:
                found = self._session.ledger_at(connection)
                if found is None and create:
                    found = self._make(connection)
                if found is not None:
                    self._upgrade(connection)
            finally:
                undo(connection)
                self._own.give(connection)
        if found is None:
            self._own.close()
            raise CatalogError("ledger-missing", ledger=self.name, written=shlex.quote(self.name))
        return found

    def _make(self, connection: Connection[Row]) -> str | None:
        """Make a ledger, unless another process was faster, and return its name."""
        run(connection, self._session.making("making"))
        if self._session.ledger_at(connection) is None:
            self._session.make(connection)
        run(connection, "COMMIT")
        return self._session.ledger_at(connection)

    def _upgrade(self, connection: Connection[Row]) -> None:
        """Bring a ledger of an earlier schema to the present one, whole or not at all."""
        schema = self._address.schema
        if run(connection, f"SELECT value FROM \"{schema}\".meta WHERE name = 'schema'") not in _EARLIER:
            return
        run(connection, self._session.making("upgrade"))
        if run(connection, "SELECT value FROM meta WHERE name = 'schema'") in _EARLIER:  # nobody was faster
            run_all(connection, creation.without_guards())
            run_all(connection, creation.reshape())
            upgrade(PostgresConnection(connection), self.name)
            run_all(connection, creation.guards(schema))
        run(connection, "COMMIT")

    def _pool(self) -> ConnectionPool:
        """Return the connections of this process, which are not those of the process that it was forked from."""
        if self._closed:
            raise LedgerError("ledger-closed")
        if self._own.process != os.getpid():
            self._own.abandon()
            self._own = ConnectionPool(self._address, self._patience)
        return self._own

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[tuple[Connection[Row], Row | None]]:
        """Give a connection with a transaction; what was not committed in the end is undone."""
        pool = self._pool()
        with pool.room():
            connection, told = self._begin(pool, begin)
            try:
                yield connection, told
            finally:
                undo(connection)
                pool.give(connection)

    def _begin(self, pool: ConnectionPool, begin: str) -> tuple[Connection[Row], Row | None]:
        """Begin a transaction on a connection that was used before; on a new one where those are broken."""
        import psycopg

        while (used := pool.idle()) is not None:
            try:
                return used, run(used, begin)
            except BaseException as problem:
                undo(used)
                pool.give(used)
                if not isinstance(problem, psycopg.Error) or not used.closed:
                    raise
        made = pool.connect()
        try:
            self._check_same(made)
            return made, run(made, begin)
        except BaseException:
            made.close()
            raise

    def _check_same(self, connection: Connection[Row]) -> None:
        """Refuse a server that has become another one since."""
        if self._session.ledger_at(connection) != self._ledger:
            raise make_replaced_error(self.name)

    def _check_head(self, told: Row | None) -> ChainHead:
        """Return the head of the chain. Refuse a chain without the entry that was its head before."""
        ledger, seq, digest, seen = told or (None, None, None, None)
        if ledger != self._ledger or (self._seen.seq and seen != self._seen.digest):
            raise make_replaced_error(self.name)
        self._seen = ChainHead() if seq is None else ChainHead(seq, digest)
        return self._seen

    def _commit(self, connection: Connection[Row]) -> bool:
        """Commit, and say whether that is certain. It is not where the connection was lost meanwhile."""
        import psycopg

        try:
            cursor = connection.execute(COMMIT, prepare=False)
            head = cursor.fetchone()
            cursor.nextset()
        except psycopg.Error:
            if connection.closed:
                return False
            raise
        if cursor.statusmessage != "COMMIT":  # an error that nobody raised has undone everything
            raise make_unrecorded_error(self.name)
        self._seen = ChainHead() if head is None else ChainHead(*head)
        return True

    def _find_out(self, before: ChainHead, write: str) -> None:
        """Return if a commit is recorded whose outcome was lost; raise if it is not, and never will be.

        One that wrote no entry is taken for unrecorded. To do it again does no harm then: it charges nothing.
        """
        end, pause = time.monotonic() + self._patience, _PAUSE
        while (recorded := self._is_recorded(before, write)) is None:
            if time.monotonic() >= end:
                raise make_undecided_error(self.name)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        if not recorded:
            raise make_unrecorded_error(self.name)

    def _is_recorded(self, before: ChainHead, write: str) -> bool | None:
        """Say whether the entries of a transaction that has ended are there; None if nobody can be asked."""
        import psycopg

        try:
            with closing(self._pool().connect()) as connection:
                self._check_same(connection)
                # With the lock: the backend that was cut off has ended then, one way or the other.
                self._check_head(run(connection, self._session.writing(secrets.token_hex(16), before)))
                found = connection.execute(RECORDED, (before.seq + 1, write)).fetchone()
        except psycopg.Error:
            return None
        return found is not None


def exists(address: LedgerAddress) -> bool:
    """Say whether there is a ledger at an address. None is made."""
    check_driver()
    pool = ConnectionPool(address, _CONNECTING)
    with translate_postgres_errors(address.name), closing(pool.connect()) as connection:
        return PostgresSession(address, _CONNECTING).ledger_at(connection) is not None
