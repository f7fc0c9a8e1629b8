"""What a damaged ledger raises: one error, whatever cannot be read or does not match."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from jali.errors import Field, JaliError, LedgerError, Phrase


def damaged(code: str, /, **fields: Field) -> LedgerError:
    """Return the error of a ledger of which something does not match the rest: `code` is the phrase for it."""
    return LedgerError("ledger-damaged", damage=Phrase(code, **fields))


@contextmanager
def decoding(code: str = "damage-record", /) -> Iterator[None]:
    """Turn every failure to make sense of stored values into a `LedgerError`."""
    try:
        yield
    except JaliError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise damaged(code) from None
