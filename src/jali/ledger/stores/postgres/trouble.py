"""What Postgres says when it cannot, in the words of the ledger. Nothing that it says itself is passed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jali.errors import CatalogError, LedgerError
from jali.ledger.damage import damaged

if TYPE_CHECKING:
    import psycopg

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
def translated(name: str) -> Iterator[None]:
    """Turn every error of psycopg into a `LedgerError` that says what to do.

    The texts of Postgres quote values of rows: they are neither repeated nor chained.
    """
    import psycopg

    found: LedgerError | None = None
    try:
        yield
    except psycopg.Error as error:
        found = _explained(name, error)
    except UnicodeDecodeError:
        found = damaged("damage-text")
    except UnicodeEncodeError:
        found = LedgerError("text-not-unicode")
    if found is not None:
        try:
            raise found
        finally:
            found.__context__ = None


def unreached(name: str) -> LedgerError:
    """Say that Postgres could not be asked. Nothing was written."""
    return LedgerError("ledger-unreachable", ledger=name)


def unrecorded(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that it was not."""
    return LedgerError("ledger-lost-unrecorded", ledger=name)


def undecided(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that nobody can be asked whether it was."""
    return LedgerError("ledger-lost-undecided", ledger=name)


def replaced(name: str) -> LedgerError:
    """Say that this is not the ledger of before."""
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


def _explained(name: str, error: psycopg.Error) -> LedgerError:
    code = error.sqlstate or "08000"
    if code.startswith(_GONE):
        return unreached(name)
    reason = _REASONS.get(code) or _REASONS.get(code[:2]) or "ledger-postgres-unreadable"
    return LedgerError(reason, ledger=name)
