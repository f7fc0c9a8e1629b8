"""A directory of prepared copies: for its owner's eyes only, beside the ledger or gone with the process."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jali.engines.processes import alive, remove_own

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
        return self._made() / f"{name}{self._ending}"

    @contextmanager
    def unfinished(self, name: str) -> Iterator[Path]:
        """Give a path to write a copy to; what is still there afterwards is deleted."""
        path = self._made() / f"{name}.{os.getpid()}.part"
        delete(path)
        try:
            yield path
        finally:
            delete(path)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Let no other process put a copy in place meanwhile."""
        directory = os.open(self._made(), os.O_RDONLY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def put(self, written: Path, name: str) -> bool:
        """Put a copy in place, for good; say whether it could be."""
        directory = os.open(self._made(), os.O_RDONLY)
        place, gone = self.place(name), self._made() / f"{name}_gone.{os.getpid()}.part"
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
            delete(gone)
        return True

    def delete(self, name: str) -> None:
        """Delete a copy, if it is there."""
        directory = self._kept or self._temporary
        if directory is not None:
            delete(directory / f"{name}{self._ending}")

    def sweep(self) -> None:
        """Delete what killed processes left unfinished."""
        for path in self._made().glob("*.part*"):
            found = _UNFINISHED.fullmatch(path.name)
            if found and not alive(int(found[1])):
                delete(path)

    def remove(self) -> None:
        """Delete the directory, unless it stays beside a ledger."""
        if self._finalizer is not None:
            self._finalizer()
        self._temporary, self._finalizer = None, None

    def _made(self) -> Path:
        if self._kept is not None:
            self._kept.mkdir(mode=0o700, exist_ok=True)
            self._kept.chmod(0o700)
            return self._kept
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix=f"jali-prepared-{os.getpid()}-"))
            self._finalizer = weakref.finalize(self, remove_own, self._temporary, os.getpid())
        return self._temporary


def delete(path: Path) -> None:
    """Delete a file with what DuckDB keeps beside it, or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        return
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)
