"""The store: one SQLite connection per process, shared by its threads, never carried across a fork."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.ledger_schema import read_fact
from jali.ledger.stores.sqlite import creation
from jali.ledger.stores.sqlite.connection import SqliteConnection, translate_sqlite_errors
from jali.ledger.stores.sqlite.file import anchor_of, lock_of, lock_writer, make_busy_error, prepare, settle

if TYPE_CHECKING:
    import sqlite3

# What a connection may not survive, as the beginning of `LedgerError.code`.
_SPOILT = ("ledger-locks", "ledger-disk", "ledger-full", "ledger-damaged")


class SqliteStore:
    """Read and write transactions on one file, or in memory.

    Guarantee:
        `writing` is one transaction, alone among all threads and processes, and on disk when it ends without
        an exception; with one, nothing of it remains. `reading` sees the whole transactions of one moment.
        No wait is longer than `patience` seconds, three times over.
    """

    def __init__(self, path: Path | None, patience: float) -> None:
        # Resolved, so that all names of the file lead to one lock and one journal.
        self._path = None if path is None else path.resolve()
        self._patience = patience
        self._threads = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._process = os.getpid()
        self._closed = self._paused = False
        if self._path is not None:
            prepare(self._path, patience)
            _stores.add(self)

    @property
    def name(self) -> str:
        """The path of the file."""
        return "in memory" if self._path is None else str(self._path)

    @property
    def durable(self) -> bool:
        """Whether the store is a file."""
        return self._path is not None

    def identity(self) -> str:
        """Return the name of the ledger, which is random and its own for ever."""
        with self.reading() as connection:
            return str(read_fact(connection, "ledger"))

    @contextmanager
    def reading(self) -> Iterator[SqliteConnection]:
        """Give a connection that reads, at one moment."""
        with self._alone(), self._fresh(), translate_sqlite_errors(self.name), self._begin("BEGIN") as connection:
            yield SqliteConnection(connection)

    @contextmanager
    def writing(self) -> Iterator[SqliteConnection]:
        """Give a connection that writes: all of it durably, or nothing."""
        with (
            self._alone(),
            self._writer_lock(),
            self._fresh(),
            translate_sqlite_errors(self.name),
            self._begin("BEGIN IMMEDIATE") as connection,
        ):
            yield SqliteConnection(connection)

    def close(self) -> None:
        """Close the connection for good."""
        with self._alone():
            self._closed = True
            self._disconnect()

    def pause(self) -> None:
        """Before a fork: wait for the threads' transactions to end, and close the connection.

        SQLite keeps its view of file locks in memory. A child that inherits it believes that it holds locks
        which only its parent holds, even on a new connection of its own; when the parent closes the file, the
        journal is removed under the child, and what the child commits is lost.
        """
        if self._threads.acquire(timeout=self._patience):
            self._paused = True
            self._disconnect()

    def resume(self) -> None:
        """After a fork, in parent and child: go on. Each connects again when it needs to."""
        if self._paused:
            self._paused = False
            self._process = os.getpid()
            self._threads.release()

    def _begin(self, begin: str) -> AbstractContextManager[sqlite3.Connection]:
        return _transaction(self._connect(), begin)

    @contextmanager
    def _fresh(self) -> Iterator[None]:
        """After a failure of the disk or of locks, connect again: the old connection may hold locks for ever."""
        try:
            yield
        except LedgerError as error:
            if self._path is not None and error.code.startswith(_SPOILT):
                with suppress(Exception):
                    self._disconnect()
                self._connection = None
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        self._check_process()
        if not self._threads.acquire(timeout=self._patience):
            raise make_busy_error(self.name)
        try:
            yield
        finally:
            self._threads.release()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise LedgerError("process-other")

    def _writer_lock(self) -> AbstractContextManager[None]:
        return nullcontext() if self._path is None else lock_writer(lock_of(self._path), self._patience)

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerError("ledger-closed")
        if self._connection is None:
            self._connection = self._open_in_memory() if self._path is None else self._open_file(self._path)
            # What nobody closes is closed when it is forgotten: Python 3.13 warns of a file left open.
            weakref.finalize(self, self._connection.close).atexit = False
        if self._path is not None and self._identity != _identity(self._path):
            raise LedgerError("ledger-behind-replaced", ledger=self._path)
        return self._connection

    def _open_in_memory(self) -> sqlite3.Connection:
        import sqlite3

        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        creation.create(connection)
        return connection

    def _open_file(self, path: Path) -> sqlite3.Connection:
        import sqlite3

        self._identity = _identity(path)
        _check_inherited(self._identity)
        connection = sqlite3.connect(
            f"{path.as_uri()}?mode=rw",  # never create: an empty file would be a new budget
            uri=True,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            earlier = creation.check(connection, str(path))
            settle(connection)
            _check_journal(connection, path)
            if earlier:
                self._upgrade(connection, path)
        except BaseException:
            connection.close()
            raise
        _connections[id(self)] = self._identity, os.getpid()
        return connection

    def _upgrade(self, connection: sqlite3.Connection, path: Path) -> None:
        """Bring a ledger of an earlier schema to the present one, and give it an anchor."""
        anchor_of(path).create()
        creation.upgrade_file(connection, str(path))

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            _connections.pop(id(self), None)


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[sqlite3.Connection]:
    try:
        # Inside: an interrupt that waited for the lock is raised right after it was taken.
        connection.execute(begin)
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_inherited(identity: tuple[int, int] | None) -> None:
    """Refuse a file whose connection this process inherited by a fork that `pause` did not handle.

    SQLite's table of file locks came along with it: even a new connection would believe that it holds them.
    """
    if any(known == identity and process != os.getpid() for known, process in _connections.values()):
        raise LedgerError("process-forked")


def _check_journal(connection: sqlite3.Connection, path: Path) -> None:
    if connection.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
        raise LedgerError("ledger-locks-journal", ledger=path)


_stores: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_connections: dict[int, tuple[tuple[int, int] | None, int]] = {}


def _in_order() -> list[SqliteStore]:
    # One order in all threads, so that two that fork at once do not wait for each other.
    return sorted(_stores, key=id)


def _pause_all() -> None:
    for store in _in_order():
        store.pause()


def _resume_all() -> None:
    for store in _in_order():
        store.resume()


os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_resume_all)
