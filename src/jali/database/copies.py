"""Where prepared copies are kept: beside a file; for a ledger in Postgres, in a directory of this machine's own.

Statement:
    The path of a copy names the directory of the machine that wrote it, by a random word. So a copy that another
    machine wrote is missing here, whatever machines call their directories: it is never mistaken for one of
    another version of the data.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from jali.engines.copies import BESIDE, Copies
from jali.ledger import PostgresLedger, StoredLedger

# The key of the ledger by which copies in Postgres and Spark are called.
_WORD = "copies"


def copies_of(place: str | Path | None, ledger: StoredLedger) -> Path | None:
    """Return the directory of the copies of a database; None if they go with the process."""
    if place is None:
        return None
    if isinstance(ledger, PostgresLedger):
        return _own_directory(ledger.name)
    file = Path(place)
    return file.absolute().with_name(file.name + BESIDE)


def copies_elsewhere(ledger: StoredLedger, directory: Path | None) -> Copies | None:
    """Return what copies are called that other engines keep; None for a database that goes with the process."""
    return None if directory is None else Copies(lambda: ledger.access.key(_WORD), directory)


def _own_directory(address: str) -> Path:
    """Return the directory of this user on this machine for a ledger; it is called by a word drawn once."""
    root = _state() / "jali" / "prepared" / hashlib.sha256(address.encode()).hexdigest()[:16]
    with suppress(OSError):  # whoever prepares a table is told then; others need no directory
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        known = sorted(path for path in root.iterdir() if path.is_dir())
        if known:
            return known[0]
    return root / secrets.token_hex(8)


def _state() -> Path:
    """Return where this user keeps what programs should remember; nowhere, if there is no home."""
    given = os.environ.get("XDG_STATE_HOME")
    if given:
        return Path(given)
    try:
        return Path.home() / ".local" / "state"
    except RuntimeError:
        return Path(os.devnull)  # beneath which nothing can be made: whoever prepares a table is told
