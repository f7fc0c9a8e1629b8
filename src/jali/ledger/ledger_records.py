"""Declarations and receipts, and events, budgets and debits as JSON.

A receipt is one debit and one right to one answer. Every number in JSON is an exact rational in text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from jali.errors import JaliError, LedgerError
from jali.ledger.chain import make_damage_error
from jali.ledger.charge import Debit
from jali.ledger.subpopulation_sums import DebitSubpopulation
from jali.privacy import Budget, Event
from jali.serialization.schema import read_rational


@dataclass(frozen=True)
class Declaration:
    """The latest declaration under a name.

    Attributes:
        name: What is declared.
        body: The declaration, a text that the ledger does not read.
        version: How many different bodies there were in a row, from 1.
        data_version: How often the curator said that the data is new, from 1. It is never derived from the
            data: a change would then tell that the data changed.
    """

    name: str
    body: str
    version: int
    data_version: int


class DeclarationsChanged(Exception):  # noqa: N818 - of the ledger, not a mishap
    """Something was declared again since the caller has read it: nothing was charged. Read it again."""


MAX_ATTEMPTS = 5
"""How often the plan of one receipt may be run, the first run after `reserve` included."""


class ReceiptState(StrEnum):
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
    state: ReceiptState
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


_T = TypeVar("_T")
_Row = Mapping[str, str | None]

# Python refuses to read or write integers of more than 4,300 digits (14,284 bits). Events and sums stay far
# below that (charge.py).
_MAX_BITS = 8192


def write_event(event: Event) -> dict[str, str | None]:
    """Write an event."""
    epsilon = None if event.epsilon is None else _text(event.epsilon)
    return {"epsilon": epsilon, "rho": _text(event.rho), "delta": _text(event.delta)}


def read_event(row: _Row) -> Event:
    """Read an event as `write_event` wrote it."""
    return intact(lambda: _event(row))


def write_budget(budget: Budget) -> dict[str, str]:
    """Write a budget."""
    return {
        "epsilon": _text(budget.epsilon),
        "delta": _text(budget.delta),
        "delta_events": _text(budget.delta_events),
    }


def read_budget(row: _Row) -> Budget:
    """Read a budget as `write_budget` wrote it."""
    return intact(lambda: _budget(row))


def write_debits(debits: Sequence[Debit]) -> list[dict[str, Any]]:
    """Write debits, in order; a debit that concerns everybody names no part."""
    return [
        {"account": debit.account, "event": write_event(debit.event)}
        | ({} if debit.part is None else {"part": _write_part(debit.part)})
        for debit in debits
    ]


def read_debits(rows: Sequence[Mapping[str, Any]]) -> tuple[Debit, ...]:
    """Read debits as `write_debits` wrote them."""
    return intact(lambda: tuple(Debit(row["account"], _event(row["event"]), _part(row)) for row in rows))


def read_debits_text(text: str) -> tuple[Debit, ...]:
    """Read debits from JSON text."""
    return read_debits(intact(lambda: json.loads(text)))


def intact(read: Callable[[], _T]) -> _T:
    """Run `read`; whatever it cannot make sense of means that the ledger is damaged."""
    try:
        return read()
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, JaliError):
        raise make_damage_error("damage-record") from None


def _event(row: _Row) -> Event:
    epsilon = None if row["epsilon"] is None else _number(row["epsilon"])
    return Event(epsilon, _number(row["rho"]), _number(row["delta"]))


def _write_part(part: DebitSubpopulation) -> dict[str, Any]:
    apart = None if part.apart is None else write_event(part.apart)
    return {"scheme": part.scheme, "key": part.key, "together": part.together, "apart": apart}


def _part(debit: Mapping[str, Any]) -> DebitSubpopulation | None:
    if "part" not in debit:
        return None
    row = debit["part"]
    if row["together"] not in (1, 2) or not all(isinstance(row[name], str) for name in ("scheme", "key")):
        raise ValueError
    apart = None if row["apart"] is None else _event(row["apart"])
    return DebitSubpopulation(row["scheme"], row["key"], row["together"], apart)


def _budget(row: _Row) -> Budget:
    epsilon, delta, delta_events = (_number(row[name]) for name in ("epsilon", "delta", "delta_events"))
    return Budget(epsilon, delta, delta_events=delta_events)


def _number(text: str | None) -> Fraction:
    number = read_rational(text)
    _text(number)  # refuses what is never written
    return number


def _text(value: Fraction) -> str:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise LedgerError("loss-digits")
    return str(value)
