"""A new file, as a place that a ledger can be moved to."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from jali.errors import LedgerError
from jali.ledger.stores.sqlite.creation import create_with
from jali.ledger.stores.sqlite.file import make
from jali.ledger.stores.store import Connection, Fill


class FileTarget:
    """A file that is not there yet.

    Guarantee:
        The file is there with the whole ledger, on disk, or it is not there.
    """

    def __init__(self, path: Path, patience: float = 60.0) -> None:
        self._path, self._patience = path.resolve(), patience

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self._path)

    def check(self, source: Connection) -> None:  # noqa: ARG002 - a file can keep every ledger
        """Refuse a file that is there, and a directory that cannot be written."""
        if self._path.exists():
            raise LedgerError("file-exists", path=self._path)
        if not os.access(self._path.parent, os.W_OK | os.X_OK):
            raise LedgerError("file-not-made", path=self._path)

    def take(self, fill: Fill) -> bool:
        """Make the file with what `fill` puts into it; return False if there is one already."""
        return make(self._path, self._patience, partial(create_with, fill=fill))
