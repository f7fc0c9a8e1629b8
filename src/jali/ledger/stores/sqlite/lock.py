"""The turnstile: one writer at a time, over all processes on this machine."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from jali.errors import LedgerError

_SHORTEST, _LONGEST = 0.0002, 0.004


@contextmanager
def turnstile(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file `path` alone; raise `LedgerError` if that takes longer than `patience` seconds.

    SQLite's own lock starves: its waiters sleep ever longer, for seconds where there are many writers.
    """
    with _opened(path) as descriptor:
        _wait(descriptor, path, patience)
        try:
            yield
        finally:
            # Closing would not do: a child forked meanwhile has a copy of the descriptor, hence the lock.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LedgerError("ledger-rights-lock", path=path, problem=error.strerror) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _wait(descriptor: int, path: Path, patience: float) -> None:
    end, pause = time.monotonic() + patience, _SHORTEST
    while not _taken(descriptor, path):
        if time.monotonic() >= end:
            raise busy(path)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _taken(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LedgerError("ledger-locks-file", path=path, problem=error.strerror) from None
    return True


def busy(name: object) -> LedgerError:
    """Say that others used the ledger for too long. Nothing was written."""
    return LedgerError("ledger-busy", ledger=str(name))
