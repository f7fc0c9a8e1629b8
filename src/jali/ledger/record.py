"""Records: events, budgets and debits as JSON, every number an exact rational in text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from jali.errors import JaliError, LedgerError
from jali.ledger.damage import damaged
from jali.ledger.debit import Debit
from jali.ledger.parts import Part
from jali.privacy import Budget, Event
from jali.serialization.scalars import read_rational

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
        raise damaged("damage-record") from None


def _event(row: _Row) -> Event:
    epsilon = None if row["epsilon"] is None else _number(row["epsilon"])
    return Event(epsilon, _number(row["rho"]), _number(row["delta"]))


def _write_part(part: Part) -> dict[str, Any]:
    apart = None if part.apart is None else write_event(part.apart)
    return {"scheme": part.scheme, "key": part.key, "together": part.together, "apart": apart}


def _part(debit: Mapping[str, Any]) -> Part | None:
    if "part" not in debit:
        return None
    row = debit["part"]
    if row["together"] not in (1, 2) or not all(isinstance(row[name], str) for name in ("scheme", "key")):
        raise ValueError
    apart = None if row["apart"] is None else _event(row["apart"])
    return Part(row["scheme"], row["key"], row["together"], apart)


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
