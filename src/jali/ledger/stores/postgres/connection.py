"""A transaction of Postgres as the ledger sees it: addresses, texts, and errors in the words of the ledger.

Nothing that Postgres says itself is passed on. Postgres knows no NUL, which a question or the key of an item may
hold, so texts are written another way.

Statement:
    `read_text(write_text(text)) == text` for every text, and different texts are written differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from jali.errors import CatalogError, LedgerError
from jali.ledger.chain import make_damage_error
from jali.postgres_address import read_address

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection, Cursor


SCHEMA = "jali"
_SCHEMA_NAME = re.compile(r"(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class LedgerAddress:
    """Where a ledger is kept in Postgres.

    Attributes:
        url: What libpq connects by. The password is not in it: libpq finds it in PGPASSWORD or ~/.pgpass.
        schema: The schema that the ledger's tables are in.
    """

    url: str
    schema: str = SCHEMA

    @classmethod
    def of(cls, place: str) -> LedgerAddress:
        """Read an address; `?schema=` names a schema other than `jali`.

        Example:
            >>> LedgerAddress.of("postgres://jali@localhost/clinic?schema=trial")
            LedgerAddress(url='postgresql://jali@localhost/clinic', schema='trial')
        """
        try:
            found = read_address(place)
        except ValueError:
            found = None
        # Raised here, and without what was given: that may hold a password which is written wrongly.
        if found is None:
            raise CatalogError("postgres-address-malformed")
        schema = found.schema or SCHEMA
        if _SCHEMA_NAME.fullmatch(schema) is None:
            raise CatalogError("postgres-schema-malformed")
        return cls(found.url, schema)

    @property
    def name(self) -> str:
        """The address as people write it."""
        if self.schema == SCHEMA:
            return self.url
        return f"{self.url}{'&' if '?' in self.url else '?'}schema={self.schema}"


# A code point that is no letter and never will be stands before what it stands for.
_ESCAPE, _NUL = "\uffff", "\x00"


def write_text(value: Any) -> Any:
    r"""Write a value for Postgres.

    Example:
        >>> write_text("a\x00b") == "a\uffff0b", read_text("a\uffff0b") == "a\x00b"
        (True, True)
    """
    if isinstance(value, str) and (_NUL in value or _ESCAPE in value):
        return value.replace(_ESCAPE, f"{_ESCAPE}1").replace(_NUL, f"{_ESCAPE}0")
    return value


def read_text(value: Any) -> Any:
    """Read a value as `write_text` wrote it."""
    if isinstance(value, str) and _ESCAPE in value:
        return value.replace(f"{_ESCAPE}0", _NUL).replace(f"{_ESCAPE}1", _ESCAPE)
    return value


# By SQLSTATE, or by its class.
_REASONS = {
    "55P03": "ledger-busy-with-others",
    "57014": "ledger-busy-stopped",
    "25P03": "ledger-step-too-long",
    "40": "ledger-busy-conflict",
    "53300": "ledger-too-many-connections",
    "53100": "ledger-full",
    "53": "ledger-out-of-resources",
    "58": "ledger-postgres-disk",
    "XX": "ledger-postgres-damaged",
    "25006": "ledger-on-standby",
    "42501": "ledger-role-rights",
    "54000": "ledger-name-too-long",
    "42P01": "ledger-postgres-foreign",
}
# The connection is gone: Postgres was stopped, or the network was.
_GONE = ("08", "57P01", "57P02", "57P03", "57P05")


@contextmanager
def translate_postgres_errors(name: str) -> Iterator[None]:
    """Turn every error of psycopg into a `LedgerError` that says what to do.

    The texts of Postgres quote values of rows: they are neither repeated nor chained.
    """
    import psycopg

    found: LedgerError | None = None
    try:
        yield
    except psycopg.Error as error:
        found = _explain_error(name, error)
    except UnicodeDecodeError:
        found = make_damage_error("damage-text")
    except UnicodeEncodeError:
        found = LedgerError("text-not-unicode")
    if found is not None:
        try:
            raise found
        finally:
            found.__context__ = None


def make_unreachable_error(name: str) -> LedgerError:
    """Say that Postgres could not be asked. Nothing was written."""
    return LedgerError("ledger-unreachable", ledger=name)


def make_unrecorded_error(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that it was not."""
    return LedgerError("ledger-lost-unrecorded", ledger=name)


def make_undecided_error(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that nobody can be asked whether it was."""
    return LedgerError("ledger-lost-undecided", ledger=name)


def make_replaced_error(name: str) -> LedgerError:
    """Build the error of a ledger that was replaced by another one."""
    return LedgerError("ledger-replaced", ledger=name)


def check_driver() -> None:
    """Raise `CatalogError` if psycopg is not installed."""
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError:
        there = False
    else:
        there = True
    if not there:
        raise CatalogError("ledger-postgres-not-installed")


def _explain_error(name: str, error: psycopg.Error) -> LedgerError:
    code = error.sqlstate or "08000"
    if code.startswith(_GONE):
        return make_unreachable_error(name)
    reason = _REASONS.get(code) or _REASONS.get(code[:2]) or "ledger-postgres-unreadable"
    return LedgerError(reason, ledger=name)


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
        return self._connection.execute(translate_placeholders(statement), [write_text(value) for value in values])

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> None:
        """Run a statement for each row."""
        with self._connection.cursor() as cursor:
            cursor.executemany(
                translate_placeholders(statement), ([write_text(value) for value in row] for row in rows)
            )

    def scan(self, statement: str, /) -> Iterator[Row]:
        """Return the rows of a statement, few at a time."""
        with self._connection.cursor(name=f"scan {next(self._names)}") as cursor:
            cursor.itersize = _AT_ONCE
            yield from cursor.execute(translate_placeholders(statement), ())

    def lookup_expression(self, text: str, /) -> str:
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
def translate_placeholders(statement: str) -> str:
    """Write the places of values as psycopg does. No text inside a statement holds a question mark."""
    return statement.replace("%", "%%").replace("?", "%s")


def make_rows(_: Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """Make rows of what psycopg fetched."""
    return lambda values: tuple(map(read_text, values))
