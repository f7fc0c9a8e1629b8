"""Receipts from plain JSON values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from jali.ledger import Debit, Part, Receipt
from jali.ledger.receipt import State
from jali.privacy import Event


def receipt_of(told: dict[str, Any]) -> Receipt:
    """Return a receipt as a session lists it."""
    debits = tuple(_debit(one) for one in told["debits"])
    return Receipt(told["receipt"], told["analyst"], State(told["state"]), told["question"], debits, told["at"])


def _debit(told: dict[str, Any]) -> Debit:
    epsilon = None if told["epsilon"] is None else Fraction(told["epsilon"])
    part = told.get("part")
    return Debit(
        told["account"],
        Event(epsilon, Fraction(told["rho"]), Fraction(told["delta"])),
        None if part is None else Part(part["scheme"], part["key"]),
    )
