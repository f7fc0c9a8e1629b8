"""A transaction of SQLite as the ledger sees it, and SQLite's errors in the words of the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jali.errors import LedgerError
from jali.ledger.chain import make_damage_error
from jali.ledger.ledger_schema import ALL_GUARDS, ALL_TABLES

if TYPE_CHECKING:
    import sqlite3


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
def translate_sqlite_errors(name: str) -> Iterator[None]:
    """Turn every error of SQLite and of the system into a `LedgerError` that says what to do."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise _explain_error(name, error) from None
    except OSError as error:
        raise LedgerError("ledger-disk-io", ledger=name, problem=error.strerror) from None
    except UnicodeDecodeError:
        raise make_damage_error("damage-text") from None
    except UnicodeEncodeError:
        raise LedgerError("text-not-unicode") from None


def _explain_error(name: str, error: Exception) -> LedgerError:
    code = int(getattr(error, "sqlite_errorcode", 0))
    reason = "ledger-locks" if code in _IOERR_LOCKS else _REASONS.get(code & 0xFF, "ledger-damaged-unreadable")
    return LedgerError(reason, ledger=name)


class SqliteConnection:
    """Runs statements as they are: the SQL that both stores share is SQLite's own."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> sqlite3.Cursor:
        """Run a statement."""
        return self._connection.execute(statement, values)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> sqlite3.Cursor:
        """Run a statement for each row."""
        return self._connection.executemany(statement, rows)

    def scan(self, statement: str, /) -> Iterator[tuple[Any, ...]]:
        """Return the rows of a statement, one at a time."""
        return iter(self._connection.execute(statement))

    def lookup_expression(self, text: str, /) -> str:
        """Look a text up by itself, however long it is."""
        return text

    def version(self) -> str | None:
        """Return the version of the ledger's schema; None if it has none."""
        row = self._connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        return None if row is None else str(row[0])

    def tables(self) -> set[str]:
        """Return the names of the tables that there are."""
        return {name for (name,) in self.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def damage(self) -> Iterator[str]:
        """Have SQLite look at every page of the file, and compare its tables and guards with the schema."""
        for (finding,) in self.execute("PRAGMA integrity_check"):
            if finding != "ok":
                yield f"The file is damaged: {finding}."
        found = set(self.execute(_SCHEMA))
        for kind, name, *_ in sorted(_read_new_schema() - found, key=repr):
            yield f"The {kind} {name} is missing or was changed."
        for kind, name, *_ in sorted(found - _read_new_schema(), key=repr):
            yield f"The {kind} {name} is not what Jali made."


_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"


@lru_cache(maxsize=1)
def _read_new_schema() -> set[tuple[Any, ...]]:
    """Return the schema of a new ledger."""
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*ALL_TABLES, *(guard.trigger for guard in ALL_GUARDS)):
            connection.execute(statement)
        return set(connection.execute(_SCHEMA))
