"""Verifications: what an independent replay of the entries found."""

from __future__ import annotations

from dataclasses import dataclass

from jali.privacy import Event


@dataclass(frozen=True)
class Verification:
    """The outcome of a replay.

    Attributes:
        entries: How many entries there are.
        receipts: How many questions were reserved.
        open: How many of them are not released yet.
        spent: The sum of every account, recomputed from the entries alone.
        problems: What does not hold, one sentence each; empty if the ledger is sound.
        head: The digest of the last entry. Noted elsewhere, it later shows whether the tail was cut off.
    """

    entries: int
    receipts: int
    open: int
    spent: dict[str, Event]
    problems: tuple[str, ...]
    head: str
