"""Where DuckDB may spill rows: a directory for the owner's eyes only, gone when it is no longer used."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from pathlib import Path

from jali.engines.processes import alive, remove_own

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
            if found and path.stat().st_uid == os.getuid() and not alive(int(found[1])):
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue
