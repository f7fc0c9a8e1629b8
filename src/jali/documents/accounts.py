"""Accounts and receipts as plain JSON values; losses are exact rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.numerals import decimal, decimal_above
from jali.serialization.scalars import read_rational

if TYPE_CHECKING:
    from jali.database import Account, Remaining
    from jali.ledger import Debit, Receipt
    from jali.privacy import Budget, Event


def remaining_json(remaining: Remaining) -> dict[str, str]:
    """Return what is left."""
    return {"epsilon": str(remaining.epsilon), "rho": str(remaining.rho), "delta": str(remaining.delta)}


def remaining_from_json(told: dict[str, str]) -> Remaining:
    """Return what `remaining_json` wrote."""
    from jali.database import Remaining

    return Remaining(*(read_rational(told[name]) for name in ("epsilon", "rho", "delta")))


def left_json(remaining: Remaining) -> dict[str, Any]:
    """Return what is left, with decimals that never exceed it."""
    told = remaining_json(remaining)
    return told | {"decimal": {name: decimal(Fraction(value)) for name, value in told.items()}}


def budget_json(budget: Budget) -> dict[str, str]:
    """Return what may be spent."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def event_json(event: Event) -> dict[str, Any]:
    """Return a loss."""
    epsilon = None if event.epsilon is None else str(event.epsilon)
    return {"epsilon": epsilon, "rho": str(event.rho), "delta": str(event.delta)}


def event_from_json(told: dict[str, Any]) -> Event:
    """Return the loss that `event_json` wrote."""
    from jali.privacy import Event

    epsilon = None if told["epsilon"] is None else read_rational(told["epsilon"])
    return Event(epsilon, read_rational(told["rho"]), read_rational(told["delta"]))


def account_json(account: Account) -> dict[str, Any]:
    """Return one line of the books."""
    return {
        "account": account.name,
        "budget": budget_json(account.budget),
        "spent": event_json(account.spent),
        "remaining": remaining_json(account.remaining),
        "parts": [{"scheme": p.scheme, "key": p.key} | event_json(p.spent) for p in account.parts],
    }


def told_account_json(account: Account) -> dict[str, Any]:
    """Return one line of the books with a decimal for each exact fraction: of a budget below, of a loss above."""
    budget, spent = budget_json(account.budget), event_json(account.spent)
    charged = {name: None if value is None else decimal_above(Fraction(value)) for name, value in spent.items()}
    return account_json(account) | {
        "budget": budget | {"decimal": {name: decimal(Fraction(value)) for name, value in budget.items()}},
        "spent": spent | {"decimal": charged},
        "remaining": left_json(account.remaining),
    }


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    """Return one reserved question."""
    return {
        "receipt": receipt.id,
        "state": receipt.state.value,
        "analyst": receipt.analyst,
        "at": receipt.at,
        "question": receipt.question,
        "debits": [{"account": d.account} | event_json(d.event) | _part(d) for d in receipt.debits],
    }


def receipt_from_json(told: dict[str, Any]) -> Receipt:
    """Return the receipt that `receipt_json` wrote."""
    # Read by clients only.
    from jali.ledger import Receipt
    from jali.ledger.receipt import State

    debits = tuple(_debit_from_json(one) for one in told["debits"])
    return Receipt(told["receipt"], told["analyst"], State(told["state"]), told["question"], debits, told["at"])


def _debit_from_json(told: dict[str, Any]) -> Debit:
    from jali.ledger import Debit, Part

    part = told.get("part")
    return Debit(
        told["account"], event_from_json(told), None if part is None else Part(part["scheme"], part["key"])
    )


def _part(debit: Debit) -> dict[str, Any]:
    return {} if debit.part is None else {"part": {"scheme": debit.part.scheme, "key": debit.part.key}}
