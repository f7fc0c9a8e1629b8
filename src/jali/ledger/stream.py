"""Streams in the ledger: texts, ticks and item keys. What they count, and with which noise, it does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class StoredStream:
    """A stream, without its secrets.

    Attributes:
        seq: Its number in the file.
        name: What it is called.
        declaration: What was declared: a text that the ledger does not read.
        receipt: Under which its whole loss was charged.
        published: How many ticks were published.
        ended: Whether it cannot go on: the ledger was recovered from an older copy.
    """

    seq: int
    name: str
    declaration: str
    receipt: str
    published: int
    ended: bool = False


class Arrival(NamedTuple):
    """An item that arrives: whose, under which key, and what it adds, as text; None if that cannot be read."""

    owner: str
    item: str
    increments: str | None


class Attendance(NamedTuple):
    """In how many ticks one person counts so far, which was the last, and how many items count in it."""

    ticks: int = 0
    last: int = 0
    items: int = 0


@dataclass(frozen=True)
class Bounds:
    """What one person may add: in how many ticks, how far apart, and how many items in each.

    `persons` is False where each item is a person of its own, so that nobody has a second item to bound.
    """

    ticks: int = 1
    separation: int = 1
    items: int = 1
    persons: bool = True

    def admit(self, person: Attendance, tick: int) -> bool:
        """Say whether a person may count in a tick. It depends on that person's own ticks alone."""
        if person.last == tick or person.ticks == 0:
            return True
        return person.ticks < self.ticks and tick - person.last >= self.separation


@dataclass(frozen=True)
class Entered:
    """What became of items: how many are new, known, left out, and not to be read. It depends on the data."""

    new: int = 0
    known: int = 0
    dropped: int = 0
    unreadable: int = 0


def stream_account(name: str) -> str:
    """Name the account of a stream that has a budget of its own. Names of streams are plain words.

    Example:
        >>> stream_account("admissions")
        'stream admissions'
    """
    return f"stream {name}"
