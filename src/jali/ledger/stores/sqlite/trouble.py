"""What SQLite says when it cannot, in the words of the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jali.errors import LedgerError
from jali.ledger.damage import damaged

# By SQLite's primary result code.
_BUSY, _LOCKED, _READONLY, _IOERR, _CORRUPT, _FULL, _CANTOPEN, _NOTADB = 5, 6, 8, 10, 11, 13, 14, 26
_PROTOCOL, _NOLFS, _NOMEM = 15, 22, 7
_REASONS = {
    _BUSY: "ledger-busy-elsewhere",
    _LOCKED: "ledger-busy-elsewhere",
    _PROTOCOL: "ledger-locks",
    _READONLY: "ledger-rights-read-only",
    _IOERR: "ledger-disk",
    _NOLFS: "ledger-disk",
    _NOMEM: "ledger-disk-memory",
    _CORRUPT: "ledger-damaged-pages",
    _FULL: "ledger-full",
    _CANTOPEN: "ledger-rights-open",
    _NOTADB: "ledger-damaged-file",
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
        raise LedgerError("ledger-disk-io", ledger=name, problem=error.strerror) from None
    except UnicodeDecodeError:
        raise damaged("damage-text") from None
    except UnicodeEncodeError:
        raise LedgerError("text-not-unicode") from None


def _explained(name: str, error: Exception) -> LedgerError:
    code = int(getattr(error, "sqlite_errorcode", 0))
    reason = "ledger-locks" if code in _IOERR_LOCKS else _REASONS.get(code & 0xFF, "ledger-damaged-unreadable")
    return LedgerError(reason, ledger=name)
