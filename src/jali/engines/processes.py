"""Directories that belong to one process."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def alive(process: int) -> bool:
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
