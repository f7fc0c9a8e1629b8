"""The file of a ledger: made whole or not at all, readable by its owner only."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.anchor_file import AnchorFile
from jali.ledger.stores.sqlite import creation
from jali.ledger.stores.sqlite.filesystem import check_place
from jali.ledger.stores.sqlite.lock import turnstile
from jali.ledger.stores.sqlite.trouble import translated

if TYPE_CHECKING:
    import sqlite3

# A page whose cells do not fit it is refused when it is read: rows would be lost in it.
_PRAGMAS = (
    "synchronous = FULL",
    "fullfsync = ON",
    "checkpoint_fullfsync = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
)


def prepare(path: Path, patience: float) -> None:
    """Make the file if there is none, and check who may read it and whether locks hold where it is.

    Nothing here opens an existing file: closing it again would drop the locks that SQLite holds on it for
    other connections of this process.
    """
    with _explained(path), translated(str(path)):
        check_place(path)
        if not path.exists():
            make(path, patience, creation.create)
        _check_rights(path)


def anchor_of(path: Path) -> AnchorFile:
    """Return the anchor beside a ledger."""
    return AnchorFile(_beside(path, ".anchor"))


def make(path: Path, patience: float, create: Callable[[sqlite3.Connection], None]) -> bool:
    """Make the file whole with what `create` puts into it; return False if there is one already."""
    with _explained(path), translated(str(path)), turnstile(lock_of(path), patience):
        if path.exists():
            return False
        _make(path, create)
        return True


def lock_of(path: Path) -> Path:
    """Return the lock file of a ledger."""
    return _beside(path, ".lock")


def settle(connection: sqlite3.Connection) -> None:
    """Make every commit of this connection reach the disk before it returns."""
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _make(path: Path, create: Callable[[sqlite3.Connection], None]) -> None:
    """Write a ledger beside `path`, then rename it: a crash leaves no half-made ledger behind."""
    import sqlite3

    if _beside(path, "-wal").exists():
        raise LedgerError("ledger-behind-file", path=path, journal=path.name)
    anchor = anchor_of(path)
    known = anchor.last()
    if known is not None and known.order > (0, 0):
        raise LedgerError("ledger-behind-missing", path=path, anchor=anchor.path.name, entries=known.head.seq)
    # Before the ledger: one without an anchor is a copy.
    anchor.create()
    draft = _beside(path, ".new")
    for ending in ("", "-wal", "-shm", "-journal"):
        _beside(draft, ending).unlink(missing_ok=True)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    connection = sqlite3.connect(draft, isolation_level=None)
    try:
        settle(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        create(connection)
    finally:
        connection.close()
    draft.rename(path)
    _sync_directory(path.parent)


def _check_rights(path: Path) -> None:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise LedgerError("ledger-rights-file", path=path)
    if status.st_mode & 0o077:
        raise LedgerError("ledger-rights", path=path)
    if status.st_nlink > 1:
        # Each name would get a journal and a lock of its own, and debits would be lost.
        raise LedgerError("ledger-locks-link", path=path)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerError("ledger-disk-open", path=path, problem=error.strerror) from None
