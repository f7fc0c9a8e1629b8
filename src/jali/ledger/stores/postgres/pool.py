"""The connections of one process: each lent to one thread at a time, and kept for the next."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from jali.errors import LedgerError
from jali.ledger.stores.postgres.connection import LedgerAddress, Row, make_rows

if TYPE_CHECKING:
    from psycopg import Connection

_MOST = 12
# A machine that vanished is noticed within half a minute, on both sides: it may hold the lock of all writers.
_ALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
_SETTLED = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
_CONNECTING = 10


class ConnectionPool:
    """Connections to one database, made when they are needed.

    Guarantee:
        A connection that is lent is lent to nobody else. At most `_MOST` are lent. Those of a process are never
        used, nor closed, by a process that was forked from it.
    """

    def __init__(self, address: LedgerAddress, patience: float) -> None:
        self.process = os.getpid()
        self._address, self._patience = address, patience
        self._room = threading.BoundedSemaphore(_MOST)
        self._turn = threading.Lock()
        self._idle: list[Connection[Row]] = []
        self._closed = False
        self._finalizer = weakref.finalize(self, _close, self._idle, self.process)

    @contextmanager
    def room(self) -> Iterator[None]:
        """Wait until one more connection may be used."""
        with self._wait_for(self._room):
            yield

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn of this thread to write: others would only hold connections while they wait."""
        with self._wait_for(self._turn):
            yield

    @contextmanager
    def _wait_for(self, free: threading.Lock | threading.Semaphore) -> Iterator[None]:
        if not free.acquire(timeout=self._patience):
            raise LedgerError("ledger-busy", ledger=self._address.name)
        try:
            yield
        finally:
            free.release()

    def idle(self) -> Connection[Row] | None:
        """Take a connection that was used before, if there is one. It may be broken by now."""
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def connect(self) -> Connection[Row]:
        """Connect again."""
        import psycopg

        options: dict[str, Any] = {**_ALIVE, "tcp_user_timeout": int(1000 * self._patience)}
        made = psycopg.connect(
            self._address.url,
            autocommit=True,
            row_factory=make_rows,
            connect_timeout=_CONNECTING,
            application_name="jali",
            client_encoding="UTF8",
            target_session_attrs="read-write",
            **options,
        )
        made.execute(_SETTLED)
        return cast("Connection[Row]", made)

    def give(self, connection: Connection[Row]) -> None:
        """Take a connection back: to be used again, unless it is broken, or in the middle of something."""
        from psycopg.pq import TransactionStatus

        if self._closed or connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        else:
            self._idle.append(connection)

    def close(self) -> None:
        """Close all connections that are not in use, and the others as they come back."""
        self._closed = True
        _close(self._idle, self.process)

    def abandon(self) -> None:
        """In a forked process: never touch what belongs to the parent, whose sessions would end with it."""
        self._finalizer.detach()
        _abandoned.append(self)


_abandoned: list[ConnectionPool] = []


def _close(idle: list[Connection[Row]], process: int) -> None:
    while idle and process == os.getpid():
        idle.pop().close()
