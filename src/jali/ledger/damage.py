"""What a damaged ledger raises: one error, whatever cannot be read or does not match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jali.errors import JaliError, LedgerError

_REMEDY = (
    "Stop all programs that use it and run `jali verify`. If that finds problems, put an undamaged copy in its "
    "place: `jali ledger recover` then charges what the copy does not know of."
)


def damaged(what: str) -> LedgerError:
    """Return the error of a ledger of which something does not match the rest."""
    return LedgerError(f"The ledger is damaged: {what}.", remedy=_REMEDY, code="ledger-damaged")


@contextmanager
def decoding(what: str = "a record cannot be read") -> Iterator[None]:
    """Turn every failure to make sense of stored values into a `LedgerError`."""
    try:
        yield
    except JaliError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise damaged(what) from None
