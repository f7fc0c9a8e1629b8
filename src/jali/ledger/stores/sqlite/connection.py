"""A transaction of SQLite, as the ledger sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jali.ledger.schema import ALL_GUARDS, ALL_TABLES

if TYPE_CHECKING:
    import sqlite3


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

    def keyed(self, text: str, /) -> str:
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
        for kind, name, *_ in sorted(_expected() - found, key=repr):
            yield f"The {kind} {name} is missing or was changed."
        for kind, name, *_ in sorted(found - _expected(), key=repr):
            yield f"The {kind} {name} is not what Jali made."


_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"


@lru_cache(maxsize=1)
def _expected() -> set[tuple[Any, ...]]:
    """Return the schema of a new ledger."""
    import sqlite3

    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in (*ALL_TABLES, *(guard.trigger for guard in ALL_GUARDS)):
            connection.execute(statement)
        return set(connection.execute(_SCHEMA))
