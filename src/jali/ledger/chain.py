"""The chain of entries: each digest covers the entry and, through its predecessor, all before it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum

GENESIS = "0" * 64


class Kind(StrEnum):
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


@dataclass(frozen=True)
class Entry:
    """One line of the ledger; `body` is canonical JSON."""

    seq: int
    kind: str
    body: str
    previous: str
    digest: str

    @classmethod
    def after(cls, seq: int, previous: str, kind: str, body: str) -> Entry:
        """Return the entry that follows the entry `seq` with the digest `previous`."""
        return cls(seq + 1, kind, body, previous, link(previous, seq + 1, kind, body))


def canonical(value: object) -> str:
    """Write JSON in one way only: sorted names, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def link(previous: str, seq: int, kind: str, body: str) -> str:
    """Return the digest of an entry. `previous` has a fixed length: nothing can move across the seam."""
    return fingerprint(previous + canonical([seq, kind, body]))
