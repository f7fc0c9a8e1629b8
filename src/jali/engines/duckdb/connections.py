"""Instances of DuckDB, each for one question at a time, and the private directories they spill rows to.

A fatal error invalidates a whole instance of DuckDB, with all its connections. So no two questions share one while
they run: what fails, fails alone. An instance that did its work waits for the next question, as opening one takes
longer than a small question; one that failed is closed. A spill directory is readable by its owner only, and is
deleted when it is no longer used.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jali.catalog.tables import Public, Source, Table
from jali.engines.base import Resources
from jali.engines.copy_storage import is_alive, remove_own
from jali.engines.duckdb.sources import name_attachment
from jali.engines.sql.dialect import quote, text
from jali.engines.sql.prepared_rows import person_column, rank_column

# Temporary copies of tables are left behind like spilled rows.
_NAME = re.compile(r"jali-(?:spill|prepared)-(\d+)-.*")


class SpillDirectory:
    """A private directory (mode 0700), removed when let go, at exit, or by the next process after a crash."""

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=f"jali-spill-{os.getpid()}-"))
        self._finalizer = weakref.finalize(self, remove_own, self.path, os.getpid())

    def remove(self) -> None:
        """Delete the directory and what is in it."""
        self._finalizer()


def _sweep() -> None:
    """Delete what killed processes of this user left behind: spilled rows are data."""
    for path in Path(tempfile.gettempdir()).glob("jali-*"):
        found = _NAME.fullmatch(path.name)
        try:
            if found and path.stat().st_uid == os.getuid() and not is_alive(int(found[1])):
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


# How many instances wait for questions in each engine, and without an engine in each process.
_IDLE = 4
_SIZES = {"bytes": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}


class Instance:
    """A private DuckDB in memory, with a directory for spilled rows that nobody else can read."""

    def __init__(self) -> None:
        import duckdb

        self._spill = SpillDirectory()
        self.connection = duckdb.connect(
            config={
                "temp_directory": str(self._spill.path),
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
                "preserve_insertion_order": False,
                "python_enable_replacements": False,
            }
        )
        self.connection.execute("SET enable_progress_bar = false")
        self._attached: dict[str, tuple[int, int]] = {}

    def limit(self, resources: Resources) -> None:
        """Set the limits of the next question. DuckDB's own limit of memory, which knows the container, stays."""
        execute = self.connection.execute
        execute("RESET memory_limit")
        ((found,),) = execute("SELECT current_setting('memory_limit')").fetchall()
        if _bytes(found) > resources.memory:
            execute(f"SET memory_limit = '{resources.memory} bytes'")
        execute(f"SET max_temp_directory_size = '{resources.spill} bytes'")
        execute("RESET threads" if resources.threads is None else f"SET threads = {resources.threads}")

    def attach(self, source: Source) -> None:
        """Attach a DuckDB file; attach again if another one has taken its place."""
        status = Path(source.location).stat()
        file = status.st_dev, status.st_ino
        if self._attached.get(source.location) == file:
            return
        if source.location in self._attached:
            self._detach(source.location)
        name = quote(name_attachment(source.location))
        self.connection.execute(f"ATTACH {text(source.location)} AS {name} (READ_ONLY)")
        self._attached[source.location] = file

    def empty(self, table: Table | Public) -> str:
        """Write the name of a table without rows, with the columns that questions read of a table."""
        columns = [(field.name, field.type) for field in table.columns]
        if isinstance(table, Table) and table.copy is not None:
            columns += [(name, "BIGINT") for name in (person_column(table), rank_column(table))]
        written = ", ".join(f"{quote(name)} {kind}" for name, kind in columns) or "one INTEGER"
        name = quote(f"empty {hashlib.sha256(written.encode()).hexdigest()}")
        self.connection.execute(f"CREATE TABLE IF NOT EXISTS memory.main.{name} ({written})")
        return f"memory.main.{name}"

    def detach_all(self) -> None:
        """Let go of all files."""
        for location in list(self._attached):
            self._detach(location)

    def _detach(self, location: str) -> None:
        del self._attached[location]
        self.connection.execute(f"DETACH {quote(name_attachment(location))}")

    def close(self) -> None:
        """Close it, and delete what it spilled."""
        with suppress(Exception):
            self.connection.close()
        self._spill.remove()


class Instances:
    """The instances of one engine.

    Args:
        resources: The limits of each question.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._lock = threading.Lock()
        self._idle: list[Instance] = []
        self._process = os.getpid()
        self._generation = 0

    @contextmanager
    def lease(self) -> Iterator[Instance]:
        """Give an instance that nobody else uses meanwhile. After an exception it is closed."""
        instance, generation = self._take()
        try:
            yield instance
        except BaseException:
            instance.close()
            raise
        with self._lock:
            if generation == self._generation and self._process == os.getpid() and len(self._idle) < _IDLE:
                self._idle.append(instance)
                return
        _hand_on(instance)

    def release(self) -> None:
        """Let go of all files; instances that are in use let go of them when they are given back."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._generation += 1
            if self._process != os.getpid():
                # DuckDB's threads do not survive a fork: the parent's instances are left alone.
                idle, self._process = [], os.getpid()
        for instance in idle:
            _hand_on(instance)

    def _take(self) -> tuple[Instance, int]:
        if self._process != os.getpid():
            self.release()
        with self._lock:
            generation = self._generation
            if self._idle:
                return self._idle.pop(), generation
        instance = _take_over() or Instance()
        instance.limit(self._resources)
        return instance, generation


# Instances of engines that were closed, with nothing attached: the next engine takes one of them.
_lock = threading.Lock()
_waiting: dict[int, list[Instance]] = {}


def _hand_on(instance: Instance) -> None:
    """Keep an instance for other engines of this process."""
    try:
        instance.detach_all()
    except Exception:
        instance.close()
        return
    with _lock:
        waiting = _waiting.setdefault(os.getpid(), [])
        if len(waiting) < _IDLE:
            waiting.append(instance)
            return
    instance.close()


def _take_over() -> Instance | None:
    with _lock:
        waiting = _waiting.get(os.getpid())
        return waiting.pop() if waiting else None


def _bytes(written: str) -> float:
    number, unit = written.split()
    return float(number) * (1 << _SIZES.get(unit, 50))
