"""What Postgres says when it cannot, in the words of the ledger. Nothing that it says itself is passed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jali.errors import CatalogError, LedgerError
from jali.ledger.damage import damaged

if TYPE_CHECKING:
    import psycopg

_AGAIN = "Nothing was spent; try again."
# By SQLSTATE, or by its class.
_REASONS = {
    "55P03": ("is busy: others used it for too long.", _AGAIN),
    "57014": ("is busy: Postgres stopped waiting.", _AGAIN),
    "25P03": ("gave up on a step that took too long.", _AGAIN),
    "40": ("is busy: others used it at the same time.", _AGAIN),
    "53300": ("has too many connections.", f"{_AGAIN} Or raise max_connections of Postgres."),
    "53100": ("could not be written: the disk is full.", "Make room; then try again."),
    "53": ("could not be written: Postgres has run out of something.", "See the log of Postgres; then try again."),
    "58": ("could not be read or written: the disk failed.", "See the log of Postgres; then run `jali verify`."),
    "XX": ("is damaged.", "See the log of Postgres; restore a copy; never repair a ledger by hand."),
    "25006": ("cannot be written: it is a standby.", "Name the primary, or all hosts in one address."),
    "42501": ("may not be used by this role.", "Grant the role what docs/postgres.md lists."),
    "54000": ("cannot keep a name as long as this.", "Nothing was spent; take a shorter name."),
    "42P01": ("is not a Jali ledger, or lacks a table.", "Name another schema: ?schema=..."),
}
# The connection is gone: Postgres was stopped, or the network was.
_GONE = ("08", "57P01", "57P02", "57P03", "57P05")
_UNREACHED = "See that Postgres runs and lets this role in: with its password in PGPASSWORD or ~/.pgpass."


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
        found = damaged("a text cannot be read")
    except UnicodeEncodeError:
        found = LedgerError("A text is not valid Unicode.", remedy="Nothing was spent; mend the text.")
    if found is not None:
        try:
            raise found
        finally:
            found.__context__ = None


def unreached(name: str) -> LedgerError:
    """Say that Postgres could not be asked. Nothing was written."""
    return LedgerError(
        f"The ledger's database {name} cannot be reached.", remedy=f"Nothing was spent. {_UNREACHED}"
    )


def unrecorded(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that it was not."""
    return LedgerError(
        f"The ledger's database {name} was lost before a step was recorded.",
        remedy="Nothing was spent; try again.",
    )


def undecided(name: str) -> LedgerError:
    """Say that the connection was lost as something was written, and that nobody can be asked whether it was."""
    return LedgerError(
        f"The ledger's database {name} was lost as a step was recorded, and cannot be asked whether it was.",
        remedy="Do it again once Postgres is back: what was recorded is found, and nothing is charged twice.",
    )


def replaced(name: str) -> LedgerError:
    """Say that this is not the ledger of before."""
    return LedgerError(
        f"The ledger {name} is not the one of before, or has lost entries: it was restored, or made anew.",
        remedy="Compare its head (`jali verify`) with one that was noted elsewhere; then start again.",
    )


def check_driver() -> None:
    """Raise `CatalogError` if psycopg is not installed."""
    try:
        import psycopg  # noqa: F401 - whether it is there
    except ImportError:
        there = False
    else:
        there = True
    if not there:
        raise CatalogError(
            "A ledger in Postgres needs packages that are not installed.",
            remedy="Install them from a checkout of Jali: pip install -e '.[postgres]'",
        )


def _explained(name: str, error: psycopg.Error) -> LedgerError:
    code = error.sqlstate or "08000"
    if code.startswith(_GONE):
        return unreached(name)
    default = ("is damaged, or is not a ledger.", "Run `jali verify`.")
    what, remedy = _REASONS.get(code) or _REASONS.get(code[:2]) or default
    return LedgerError(f"The ledger {name} {what}", remedy=remedy)
