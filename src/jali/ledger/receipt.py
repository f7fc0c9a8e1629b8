"""Receipts: one debit, one right to one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from jali.ledger.debit import Debit

MAX_ATTEMPTS = 5
"""How often the plan of one receipt may be run, the first run after `reserve` included."""


class State(StrEnum):
    """Whether the answer of a receipt is still owed."""

    OPEN = "open"
    RELEASED = "released"


@dataclass(frozen=True)
class Receipt:
    """One reserved question, as people see it in a list.

    Attributes:
        id: An unguessable name.
        analyst: Who reserved it.
        state: Open receipts are spent too.
        question: The question as it was asked.
        debits: What was charged, and to whom. Nothing is ever refunded.
        at: When it was reserved, in UTC.
    """

    id: str
    analyst: str
    state: State
    question: str
    debits: tuple[Debit, ...]
    at: str


@dataclass(frozen=True)
class Reservation:
    """The frozen plan of a receipt, its answer once it was released, and what was charged for it."""

    receipt: str
    plan: str
    answer: str | None
    debits: tuple[Debit, ...] = field(default=(), compare=False)
