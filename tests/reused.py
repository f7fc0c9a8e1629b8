"""What one test hands on to the next, as it takes long to make: instances, verbs, certificates."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from unittest.mock import patch
from weakref import WeakKeyDictionary, finalize

import duckdb
import httpx
import typer.main

from jali.engines.duckdb import DuckDBEngine
from jali.engines.duckdb.engine import _bound_memory
from jali.engines.duckdb.literals import quoted
from jali.engines.duckdb.spill import SpillDirectory

Instance = duckdb.DuckDBPyConnection


class Instances:
    """Those that no engine uses, by process: DuckDB does not survive a fork.

    An engine has its instance for itself, and works on a cursor of it. Given back, when the engine is closed or
    let go, it has nothing attached, and frames are registered on cursors only. One that failed, or that has
    spilled rows, is closed.
    """

    def __init__(self) -> None:
        self._idle: defaultdict[int, list[Instance]] = defaultdict(list)
        self._used: WeakKeyDictionary[DuckDBEngine, finalize[..., DuckDBEngine]] = WeakKeyDictionary()
        self._open, self._disconnect = DuckDBEngine._open, DuckDBEngine._disconnect

    def open(self, engine: DuckDBEngine) -> Instance:
        """Give an idle instance the settings of a new one, or open a new one, with one thread."""
        idle = self._idle[os.getpid()]
        instance = idle.pop() if idle else None
        if instance is None or not _renewed(instance, engine):
            instance = self._open(engine)
            instance.execute("SET threads = 1")
        self._used[engine] = finalize(engine, self._keep, os.getpid(), instance)
        self._used[engine].atexit = False
        return instance.cursor()

    def disconnect(self, engine: DuckDBEngine) -> None:
        """Close the engine's cursor, and keep the instance."""
        self._disconnect(engine)
        if engine in self._used:
            self._used.pop(engine)()

    def _keep(self, process: int, instance: Instance) -> None:
        if process == os.getpid() and _emptied(instance):
            self._idle[process].append(instance)


def _renewed(instance: Instance, engine: DuckDBEngine) -> bool:
    engine._spill = SpillDirectory()
    try:
        instance.execute(f"SET temp_directory = '{engine._spill.path}'")
        instance.execute("RESET memory_limit")
        _bound_memory(instance)
    except duckdb.Error:
        return False
    return True


def _emptied(instance: Instance) -> bool:
    attached = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
    try:
        for (name,) in instance.execute(attached).fetchall():
            instance.execute(f"DETACH {quoted(name)}")
    except duckdb.Error:
        return False
    return True


@contextmanager
def reused_instances() -> Iterator[None]:
    """Let the engines of all tests share instances, one after the other."""
    instances = Instances()

    def opened(engine: DuckDBEngine) -> Instance:
        return instances.open(engine)

    def disconnected(engine: DuckDBEngine) -> None:
        instances.disconnect(engine)

    with patch.multiple(DuckDBEngine, _open=opened, _disconnect=disconnected):
        yield


@contextmanager
def reused_verbs() -> Iterator[None]:
    """Make the command line's tree of verbs once: typer makes it for every run, and programs run once."""
    with patch.object(typer.main, "get_command", cache(typer.main.get_command)):
        yield


@contextmanager
def reused_certificates() -> Iterator[None]:
    """Let all HTTP clients share the certificates that they trust; no test has a server with one."""
    once = cache(httpx.create_ssl_context)
    with patch("httpx._transports.default.create_ssl_context", once):
        yield
