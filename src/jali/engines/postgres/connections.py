"""Connections to Postgres, kept between questions: read-only, and with no functions but those of Postgres."""

from __future__ import annotations

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

_PATIENCE = 10
# No function or operator of a user can stand in for one of Postgres; texts and times are written in one way.
_SETTINGS = "; ".join(
    (
        "SET search_path = pg_catalog",
        "SET TimeZone = 'UTC'",
        "SET DateStyle = 'ISO, YMD'",
        "SET IntervalStyle = 'postgres'",
        "SET extra_float_digits = 1",
        "SET standard_conforming_strings = on",
        "SET client_min_messages = error",
        "SET default_transaction_read_only = on",
        "SET default_transaction_isolation = 'repeatable read'",
        # Counting a million people takes 100 MB: with less they are sorted on the disk of the server.
        "SET work_mem = '128MB'",
        # Compiling takes longer than most questions, and is told by the size of tables.
        "SET jit = off",
    )
)


class PostgresConnections:
    """Idle connections by address. One that failed is closed, and the next question opens another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._idle: defaultdict[str, list[psycopg.Connection[Any]]] = defaultdict(list)

    @contextmanager
    def transaction(self, url: str, *, writing: bool = False) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection for one transaction that sees one state of the data, and may change it if asked to."""
        connection = self._take(url)
        try:
            with connection.transaction():
                if writing:
                    connection.execute("SET TRANSACTION READ WRITE")
                yield connection
        except BaseException:
            # Also when interrupted: what is still running at the server ends with its connection.
            connection.close()
            raise
        self._give_back(url, connection)

    def tidy(self, url: str, relation: str) -> None:
        """Let Postgres note that everybody sees all rows of a new table, so that reading takes less; if it can."""
        connection = self._take(url)
        with suppress(Exception):
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"VACUUM {relation}".encode())
        # It was changed, and is opened again.
        connection.close()

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, defaultdict(list)
            if self._process == os.getpid():
                for connection in (c for some in idle.values() for c in some):
                    connection.close()

    def _take(self, url: str) -> psycopg.Connection[Any]:
        with self._lock:
            if self._process != os.getpid():
                # A forked child leaves the parent's connections alone.
                self._idle, self._process = defaultdict(list), os.getpid()
            idle = self._idle[url]
            while idle:
                connection = idle.pop()
                if _is_alive(connection):
                    return connection
                connection.close()
        return _open_connection(url)

    def _give_back(self, url: str, connection: psycopg.Connection[Any]) -> None:
        with self._lock:
            self._idle[url].append(connection)


def _is_alive(connection: psycopg.Connection[Any]) -> bool:
    """Say whether the server still answers: one that was started again does not know us."""
    try:
        connection.execute("SELECT 1")
    except Exception:
        return False
    return True


def _open_connection(url: str) -> psycopg.Connection[Any]:
    import psycopg

    connection = psycopg.connect(url, autocommit=True, connect_timeout=_PATIENCE, application_name="jali")
    # What is sent once is not prepared: plans would be made for any values.
    connection.prepare_threshold = None
    connection.execute(_SETTINGS)
    return connection
