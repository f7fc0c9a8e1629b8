"""A transaction of Postgres, as the ledger sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from jali.ledger.stores.postgres.texts import read, written

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

Row = tuple[Any, ...]
# How many rows of a long answer are fetched at a time.
_AT_ONCE = 500


class PostgresConnection:
    """Runs the SQL that both stores share on a connection of psycopg."""

    def __init__(self, connection: Connection[Row]) -> None:
        self._connection = connection
        self._names = count()

    def execute(self, statement: str, values: Sequence[Any] = (), /) -> Cursor[Row]:
        """Run a statement."""
        return self._connection.execute(spelled(statement), [written(value) for value in values])

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a statement for each row."""
        with self._connection.cursor() as cursor:
            cursor.executemany(spelled(statement), ([written(value) for value in row] for row in rows))

    def scan(self, statement: str, /) -> Iterator[Row]:
        """Return the rows of a statement, few at a time."""
        with self._connection.cursor(name=f"scan {next(self._names)}") as cursor:
            cursor.itersize = _AT_ONCE
            yield from cursor.execute(spelled(statement), ())

    def keyed(self, text: str, /) -> str:
        """Look a text up by its digest: an index of Postgres refuses texts of more than 2,700 bytes."""
        return f"name_key({text})"

    def version(self) -> str | None:
        """Return the version of the ledger's schema."""
        row = self.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        return None if row is None else str(row[0])

    def tables(self) -> set[str]:
        """Return the names of the tables that there are."""
        found = self.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        return {name for (name,) in found}

    def damage(self) -> Iterator[str]:
        """Find nothing: Postgres checks pages as it reads them, where checksums are on."""
        yield from ()


@lru_cache(maxsize=256)
def spelled(statement: str) -> str:
    """Write the places of values as psycopg does. No text inside a statement holds a question mark."""
    return statement.replace("%", "%%").replace("?", "%s")


def rows_read(_: Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """Make rows of what psycopg fetched."""
    return lambda values: tuple(map(read, values))
