"""What SQLite says when it cannot, in the words of the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jali.errors import LedgerError
from jali.ledger.damage import damaged

# By SQLite's primary result code.
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
_PROTOCOL, _NOLFS, _NOMEM = 15, 22, 7
_REPAIR = "Run `jali verify`; if it finds problems, `jali ledger recover` goes on from an undamaged copy."
_REASONS = {
    _BUSY: ("is busy: another program holds it.", "Nothing was spent; try again.", "ledger-busy"),
    _LOCKED: ("is busy: another program holds it.", "Nothing was spent; try again.", "ledger-busy"),
    _PROTOCOL: ("could not be locked.", "Nothing was spent; keep it on a local disk.", "ledger-locks"),
    _READONLY: ("cannot be written.", "Check the rights of the file and of its directory.", "ledger-rights"),
    _IOERR: (
        "could not be read or written: the disk failed.",
        "Check the disk; then run `jali verify`.",
        "ledger-disk",
    ),
    _NOLFS: (
        "could not be read or written: the disk failed.",
        "Check the disk; then run `jali verify`.",
        "ledger-disk",
    ),
    _NOMEM: ("could not be read or written: memory is short.", "Nothing was spent; try again.", "ledger-disk"),
    _CORRUPT: ("is damaged, or could not be read.", _REPAIR, "ledger-damaged"),
    _FULL: ("could not be written: the disk is full.", "Make room; then try again.", "ledger-full"),
    _CANTOPEN: ("cannot be opened.", "Check the directory and its rights.", "ledger-rights"),
    _NOTADB: ("is not a Jali ledger.", "Name another file.", "ledger-damaged"),
}
# Extended codes of _IOERR that are about locks: UNLOCK, RDLOCK, CHECKRESERVEDLOCK, LOCK, SHMLOCK.
_IOERR_LOCKS = frozenset(_IOERR | extension << 8 for extension in (8, 9, 14, 15, 20))


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Turn every error of SQLite and of the system into a `LedgerError` that says what to do."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _explained(name, error) from None
    except OSError as error:
        raise LedgerError(
            f"The ledger {name} could not be read or written: {error.strerror}.",
            remedy="Check the disk; then run `jali verify`.",
            code="ledger-disk",
        ) from None
    except UnicodeDecodeError:
        raise damaged("a text cannot be read") from None
    except UnicodeEncodeError:
        raise LedgerError("A text is not valid Unicode.", remedy="Nothing was spent; mend the text.") from None


def _explained(name: str, error: Exception) -> LedgerError:
    code = int(getattr(error, "sqlite_errorcode", 0))
    default = ("is damaged, or is not a ledger.", _REPAIR, "ledger-damaged")
    what, remedy, kind = _REASONS.get(code & 0xFF, default)
    if code in _IOERR_LOCKS:
        what, remedy, kind = _REASONS[_PROTOCOL]
    return LedgerError(f"The ledger {name} {what}", remedy=remedy, code=kind)
