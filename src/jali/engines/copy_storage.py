"""Where engines keep prepared copies of tables: their names, and the directories that only the owner can read.

A directory of copies lies beside the ledger, or is temporary and deleted with the process.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jali.errors import CatalogError, Phrase


def is_alive(process: int) -> bool:
    """Say whether a process runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def remove_own(path: Path, owner: int) -> None:
    """Delete a directory, if this is the process it belongs to: a forked child inherits finalizers with it."""
    if os.getpid() == owner:
        shutil.rmtree(path, ignore_errors=True)


# Names in Postgres have 63 characters: what remains is for the word of the database.
_LONGEST = 40


@dataclass(frozen=True)
class PreparedCopies:
    """What a database calls the copies that are kept for it elsewhere.

    Args:
        word: Returns a secret word of the database that never changes: two databases that share a server have
            copies of their own, and a copy that was cut off is found again under the name that it was to have.
        directory: A directory of the database on this machine; None where there is none.
    """

    word: Callable[[], bytes]
    directory: Path | None = None

    def name(self, table: str) -> str:
        """Return the name of a table's copy.

        Example:
            >>> from jali.engines.copy_storage import PreparedCopies
            >>> PreparedCopies(lambda: b"word").name("visits")
            'visits_b4ec15da82766781'
        """
        tag = hashlib.sha256(self.word() + table.lower().encode()).hexdigest()[:16]
        return f"{table.lower()[:_LONGEST]}_{tag}"


def require_copies(copies: PreparedCopies | None, table: str) -> PreparedCopies:
    """Return where copies are kept; refuse one that nobody would ever delete.

    Raises:
        CatalogError: if the database is in memory.
    """
    if copies is None:
        raise CatalogError("copy-in-memory", table=table)
    return copies


def make_write_failure(table: str, advice: Phrase) -> CatalogError:
    """Make the error of a copy that could not be written: it says nothing about rows."""
    return CatalogError("copy-not-written", table=table, advice=advice)


_UNFINISHED = re.compile(r"\w+\.(\d+)\.part(\.wal)?")


class CopyDirectory:
    """Holds copies, files or folders, by their names. What is not finished has a name that is swept away.

    Args:
        path: The directory, made when it is needed; None for a temporary one that goes with the process.
        ending: What the names of copies end with.
    """

    def __init__(self, path: Path | None, ending: str = "") -> None:
        self._kept = path
        self._ending = ending
        self._temporary: Path | None = None
        self._finalizer: weakref.finalize[..., CopyDirectory] | None = None

    def place(self, name: str) -> Path:
        """Return the path of a copy, in a directory that is there."""
        return self._ensure() / f"{name}{self._ending}"

    @contextmanager
    def stage_copy(self, name: str) -> Iterator[Path]:
        """Give a path to write a copy to; what is still there afterwards is deleted."""
        path = self._ensure() / f"{name}.{os.getpid()}.part"
        delete_copy(path)
        try:
            yield path
        finally:
            delete_copy(path)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Let no other process put a copy in place meanwhile."""
        directory = os.open(self._ensure(), os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def put(self, written: Path, name: str) -> bool:
        """Put a copy in place, for good; say whether it could be."""
        directory = os.open(self._ensure(), os.O_RDONLY)
        place, gone = self.place(name), self._ensure() / f"{name}_gone.{os.getpid()}.part"
        try:
            if place.is_dir():
                # A folder with something in it cannot be written over.
                place.replace(gone)
            written.replace(place)
            # What the ledger says next must not survive a power cut that this does not.
            os.fsync(directory)
        except OSError:
            return False
        finally:
            os.close(directory)
            delete_copy(gone)
        return True

    def delete(self, name: str) -> None:
        """Delete a copy, if it is there."""
        directory = self._kept or self._temporary
        if directory is not None:
            delete_copy(directory / f"{name}{self._ending}")

    def sweep(self) -> None:
        """Delete what killed processes left unfinished."""
        for path in self._ensure().glob("*.part*"):
            found = _UNFINISHED.fullmatch(path.name)
            if found and not is_alive(int(found[1])):
                delete_copy(path)

    def remove(self) -> None:
        """Delete the directory, unless it stays beside a ledger."""
        if self._finalizer is not None:
            self._finalizer()
        self._temporary, self._finalizer = None, None

    def _ensure(self) -> Path:
        if self._kept is not None:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            self._kept.chmod(0o700)
            return self._kept
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix=f"jali-prepared-{os.getpid()}-"))
            self._finalizer = weakref.finalize(self, remove_own, self._temporary, os.getpid())
        return self._temporary


def delete_copy(path: Path) -> None:
    """Delete a file with what DuckDB keeps beside it, or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        return
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)
