"""Encode accounts, budgets, losses, receipts and tokens as plain JSON values; losses are exact rationals.

The digest of a token is never part of a document.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from jali.numbers.exact import decimal, decimal_above
from jali.serialization.schema import read_rational

if TYPE_CHECKING:
    from jali.database import Account, Remaining
    from jali.ledger import Debit, Receipt, Token
    from jali.privacy import Budget, Event


def encode_remaining(remaining: Remaining) -> dict[str, str]:
    """Return what is left."""
    return {"epsilon": str(remaining.epsilon), "rho": str(remaining.rho), "delta": str(remaining.delta)}


def decode_remaining(reply: dict[str, str]) -> Remaining:
    """Return what `encode_remaining` wrote."""
    from jali.database import Remaining

    return Remaining(*(read_rational(reply[name]) for name in ("epsilon", "rho", "delta")))


def encode_remaining_with_decimals(remaining: Remaining) -> dict[str, Any]:
    """Return what is left, with decimals that never exceed it."""
    reply = encode_remaining(remaining)
    return reply | {"decimal": {name: decimal(Fraction(value)) for name, value in reply.items()}}


def encode_budget(budget: Budget) -> dict[str, str]:
    """Return what may be spent."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta)}


def encode_event(event: Event) -> dict[str, Any]:
    """Return a loss."""
    epsilon = None if event.epsilon is None else str(event.epsilon)
    return {"epsilon": epsilon, "rho": str(event.rho), "delta": str(event.delta)}


def decode_event(reply: dict[str, Any]) -> Event:
    """Return the loss that `encode_event` wrote."""
    from jali.privacy import Event

    epsilon = None if reply["epsilon"] is None else read_rational(reply["epsilon"])
    return Event(epsilon, read_rational(reply["rho"]), read_rational(reply["delta"]))


def encode_account(account: Account) -> dict[str, Any]:
    """Return one line of the books."""
    return {
        "account": account.name,
        "budget": encode_budget(account.budget),
        "spent": encode_event(account.spent),
        "remaining": encode_remaining(account.remaining),
        "parts": [{"scheme": p.scheme, "key": p.key} | encode_event(p.spent) for p in account.parts],
    }


def encode_account_with_decimals(account: Account) -> dict[str, Any]:
    """Return one line of the books with a decimal for each exact fraction: of a budget below, of a loss above."""
    budget, spent = encode_budget(account.budget), encode_event(account.spent)
    charged = {name: None if value is None else decimal_above(Fraction(value)) for name, value in spent.items()}
    return encode_account(account) | {
        "budget": budget | {"decimal": {name: decimal(Fraction(value)) for name, value in budget.items()}},
        "spent": spent | {"decimal": charged},
        "remaining": encode_remaining_with_decimals(account.remaining),
    }


def encode_receipt(receipt: Receipt) -> dict[str, Any]:
    """Return one reserved question."""
    return {
        "receipt": receipt.id,
        "state": receipt.state.value,
        "analyst": receipt.analyst,
        "at": receipt.at,
        "question": receipt.question,
        "debits": [
            {"account": d.account} | encode_event(d.event) | _encode_subpopulation(d) for d in receipt.debits
        ],
    }


def decode_receipt(reply: dict[str, Any]) -> Receipt:
    """Return the receipt that `encode_receipt` wrote."""
    # Read by clients only.
    from jali.ledger import Receipt
    from jali.ledger.ledger_records import ReceiptState

    debits = tuple(_decode_debit(one) for one in reply["debits"])
    return Receipt(
        reply["receipt"], reply["analyst"], ReceiptState(reply["state"]), reply["question"], debits, reply["at"]
    )


def _decode_debit(reply: dict[str, Any]) -> Debit:
    from jali.ledger import Debit, DebitSubpopulation

    part = reply.get("part")
    return Debit(
        reply["account"],
        decode_event(reply),
        None if part is None else DebitSubpopulation(part["scheme"], part["key"]),
    )


def _encode_subpopulation(debit: Debit) -> dict[str, Any]:
    return {} if debit.part is None else {"part": {"scheme": debit.part.scheme, "key": debit.part.key}}


def encode_token(token: Token) -> dict[str, Any]:
    """Return what may be told of a token."""
    reply = {"token": token.id, "name": token.name, "role": token.role.value}
    return reply | {"made": token.at, "expires": token.expires, "state": token.state}
