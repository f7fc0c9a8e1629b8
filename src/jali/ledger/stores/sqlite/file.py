"""The file of a ledger: made whole or not at all, readable by its owner only, written by one process at a time.

SQLite keeps the journal and its locks beside the file, by name. A file that is mounted by itself has another
directory around it in each place, so each would have a journal of its own and spend the whole budget. On a network
file system locks may hold on one machine only. Both are refused.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jali.errors import LedgerError
from jali.ledger.anchor_file import AnchorFile
from jali.ledger.stores.sqlite import creation
from jali.ledger.stores.sqlite.connection import translate_sqlite_errors

if TYPE_CHECKING:
    import sqlite3


# Of Linux; elsewhere mounts cannot be told apart like this.
_MOUNTS = Path("/proc/self/mountinfo")
_NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "coda", "ncpfs", "ceph", "lustre", "beegfs", "gpfs"}
)
_NETWORK_FUSE = frozenset(
    {"fuse.sshfs", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.blobfuse", "fuse.glusterfs", "fuse.davfs2"}
)


def check_place(path: Path) -> None:
    """Raise `LedgerError` for a file that is mounted by itself, or that lies on a network file system."""
    mounts = _mounts()
    if str(path) in mounts:
        raise LedgerError("ledger-locks-mount", path=path)
    kind = next((mounts[str(place)] for place in path.parents if str(place) in mounts), "")
    if kind in _NETWORK | _NETWORK_FUSE:
        raise LedgerError("ledger-locks-network", path=path, filesystem=kind)


def _mounts() -> dict[str, str]:
    """Return the kind of file system of each place where one is mounted, the last mounted one winning."""
    try:
        lines = _MOUNTS.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        found[_unescape(fields[4])] = kind
    return found


def _unescape(name: str) -> str:
    r"""Read the octal escapes of blanks and backslashes.

    Example:
        >>> _unescape("/a\\040b")
        '/a b'
    """
    if "\\" not in name:
        return name
    octal = {f"\\{code:03o}": chr(code) for code in (32, 9, 10, 92)}
    for escape, letter in octal.items():
        name = name.replace(escape, letter)
    return os.fspath(name)


_SHORTEST, _LONGEST = 0.0002, 0.004


@contextmanager
def lock_writer(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file `path` alone; raise `LedgerError` if that takes longer than `patience` seconds.

    SQLite's own lock starves: its waiters sleep ever longer, for seconds where there are many writers.
    """
    with _open_lock(path) as descriptor:
        _wait(descriptor, path, patience)
        try:
            yield
        finally:
            # Closing would not do: a child forked meanwhile has a copy of the descriptor, hence the lock.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)


@contextmanager
def _open_lock(path: Path) -> Iterator[int]:
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
    while not _take_lock(descriptor, path):
        if time.monotonic() >= end:
            raise make_busy_error(path)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST)


def _take_lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise LedgerError("ledger-locks-file", path=path, problem=error.strerror) from None
    return True


def make_busy_error(name: object) -> LedgerError:
    """Say that others used the ledger for too long. Nothing was written."""
    return LedgerError("ledger-busy", ledger=str(name))


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
    with _translate_making_errors(path), translate_sqlite_errors(str(path)):
        check_place(path)
        if not path.exists():
            make(path, patience, creation.create)
        _check_rights(path)


def anchor_of(path: Path) -> AnchorFile:
    """Return the anchor beside a ledger."""
    return AnchorFile(_beside(path, ".anchor"))


def make(path: Path, patience: float, create: Callable[[sqlite3.Connection], None]) -> bool:
    """Make the file whole with what `create` puts into it; return False if there is one already."""
    with _translate_making_errors(path), translate_sqlite_errors(str(path)), lock_writer(lock_of(path), patience):
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
def _translate_making_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LedgerError("ledger-disk-open", path=path, problem=error.strerror) from None
