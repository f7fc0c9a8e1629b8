"""The hash chain of entries: each digest covers the entry and, through its predecessor, all before it.

Whatever of a ledger cannot be read or does not match its chain raises one error, which is made here too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from jali.errors import Field, JaliError, LedgerError, Phrase

GENESIS = "0" * 64
# Entries of form 1 say what was done. Those of form 2 also name every row of the other tables that they wrote,
# with its digest, so that a row can be checked against the chain without a replay.
OLD_FORM, FORM = 1, 2


class EntryKind(StrEnum):
    """What an entry records. Meanings never change; a new meaning is a new kind."""

    DECLARE = "declare"
    OPEN = "open"
    REFRESH = "refresh"
    RESERVE = "reserve"
    ATTEMPT = "attempt"
    RELEASE = "release"
    SEE = "see"
    STREAM = "stream"
    TICK = "tick"
    TOKEN = "token"
    REVOKE = "revoke"
    ACT = "act"
    MOVE = "move"
    ARRIVE = "arrive"
    SEAL = "seal"
    RESTORE = "restore"


@dataclass(frozen=True)
class ChainHead:
    """The last entry of a chain: its number and its digest."""

    seq: int = 0
    digest: str = GENESIS


@dataclass(frozen=True)
class ChainEntry:
    """One line of the ledger; `body` is canonical JSON."""

    seq: int
    kind: str
    body: str
    previous: str
    digest: str
    form: int = FORM

    @classmethod
    def after(cls, head: ChainHead, kind: str, body: str) -> ChainEntry:
        """Return the entry that follows a head."""
        seq = head.seq + 1
        return cls(seq, kind, body, head.digest, link(head.digest, seq, kind, body, FORM))

    @property
    def is_linked(self) -> bool:
        """Whether the digest is that of the entry."""
        return self.digest == link(self.previous, self.seq, self.kind, self.body, self.form)


def canonical(value: object) -> str:
    """Write JSON in one way only: sorted names, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def link(previous: str, seq: int, kind: str, body: str, form: int = OLD_FORM) -> str:
    """Return the digest of an entry. `previous` has a fixed length, so nothing can move across the boundary."""
    entry: list[object] = [seq, kind, body] if form == OLD_FORM else [seq, kind, body, form]
    return fingerprint(previous + canonical(entry))


def make_damage_error(code: str, /, **fields: Field) -> LedgerError:
    """Return the error of a ledger of which something does not match the rest: `code` is the phrase for it."""
    return LedgerError("ledger-damaged", damage=Phrase(code, **fields))


@contextmanager
def detect_damage(code: str = "damage-record", /) -> Iterator[None]:
    """Turn every failure to make sense of stored values into a `LedgerError`."""
    try:
        yield
    except JaliError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise make_damage_error(code) from None
