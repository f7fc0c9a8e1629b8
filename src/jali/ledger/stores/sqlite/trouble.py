"""What SQLite says when it cannot, in the words of the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jali.errors import LedgerError

# By SQLite's primary result code.
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
_REASONS = {
    _BUSY: ("is busy: another program holds it.", "Nothing was spent; try again."),
    _LOCKED: ("is busy: another program holds it.", "Nothing was spent; try again."),
    _READONLY: ("cannot be written.", "Check the rights of the file and of its directory."),
    _IOERR: ("could not be read or written: the disk failed.", "Check the disk; then run `jali verify`."),
    _CORRUPT: ("is damaged.", "Restore a copy; never repair a ledger by hand."),
    _FULL: ("could not be written: the disk is full.", "Make room; then try again."),
    _CANTOPEN: ("cannot be opened.", "Check the directory and its rights."),
    _NOTADB: ("is not a Jali ledger.", "Name another file."),
}


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn every error of SQLite into a `LedgerError` that says what to do."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _explained(name, error) from None
    except UnicodeError:
        raise LedgerError("A text is not valid Unicode.", remedy="Nothing was spent; mend the text.") from None


def _explained(name: str, error: Exception) -> LedgerError:
    code = int(getattr(error, "sqlite_errorcode", 0))
    what, remedy = _REASONS.get(code & 0xFF, ("is damaged, or is not a ledger.", "Run `jali verify`."))
    return LedgerError(f"The ledger {name} {what}", remedy=remedy)
