"""The building blocks of ledger operations. Each runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jali.errors import LedgerError
from jali.ledger.chain import EntryKind, fingerprint
from jali.ledger.charge import Charge, Debit, check_admitted, compute_charge
from jali.ledger.ledger_records import write_budget, write_debits
from jali.ledger.ledger_tables import LedgerAccount, LedgerTables
from jali.privacy import Budget


@dataclass(frozen=True)
class ReceiptOrder:
    """What is reserved under a receipt: for whom, and who pays."""

    receipt: str
    analyst: str
    question: str
    key: str
    plan: str
    debits: tuple[Debit, ...]


def open_account(tables: LedgerTables, account: str, budget: Budget) -> None:
    """Open an account, unless it is open with an equal budget; another budget is refused."""
    old = tables.account(account)
    if old is None:
        tables.check_unopened(account)
        tables.put_account(account, budget)
        tables.append(EntryKind.OPEN, {"account": account, "budget": write_budget(budget), "at": now()})
    elif old.budget != budget:
        raise LedgerError("budget-fixed", account=account, budget=str(old.budget), given=str(budget))


def reserve_receipt(tables: LedgerTables, order: ReceiptOrder) -> None:
    """Charge all debits of an order, and keep it as an open receipt."""
    spend(tables, order.debits)
    body: dict[str, Any] = {"receipt": order.receipt, "analyst": order.analyst, "question": order.question}
    body |= {"key": order.key, "plan": fingerprint(order.plan), "debits": write_debits(order.debits), "at": now()}
    tables.put_receipt(body=body, plan=order.plan)
    tables.append(EntryKind.RESERVE, body)


def release_answer(tables: LedgerTables, receipt: str, answer: str) -> None:
    """Store the answer of an open receipt, and close it."""
    # No time: it would tell how long the engine took, which depends on the data.
    tables.put_answer(receipt, answer)
    tables.append(EntryKind.RELEASE, {"receipt": receipt, "answer": fingerprint(answer)})


def spend(tables: LedgerTables, debits: Sequence[Debit]) -> None:
    """Charge every debit, in order; the transaction of the caller undoes all if one is refused.

    Debits on different accounts do not change each other's sums: all of them are admitted before one is written.
    A further debit on an account is charged after those before it are written.
    """
    charges: dict[str, Charge] = {}
    try:
        for debit in debits:
            if debit.account in charges:
                _write_charges(tables, charges)
                charges = {}
            charges[debit.account] = _find_charge(tables, debit)
    except LedgerError:
        # A debit before this one that its budget does not admit is refused first.
        check_admitted(charges.values())
        raise
    _write_charges(tables, charges)


def _find_charge(tables: LedgerTables, debit: Debit) -> Charge:
    account = find_account(tables, debit.account)
    _check_scheme(tables, debit)
    return compute_charge(debit, account.budget, tables.sums(debit.account, account.spent, debit.part))


def _write_charges(tables: LedgerTables, charges: Mapping[str, Charge]) -> None:
    check_admitted(charges.values())
    for account, charge in charges.items():
        tables.put_sums(account, charge.budget, charge.after, charge.debit.part)


def _check_scheme(tables: LedgerTables, debit: Debit) -> None:
    """Refuse a scheme without a name, or one whose units touched more or fewer parts in other debits."""
    if debit.part is None:
        return
    known = tables.together(debit.account, debit.part.scheme)
    if not debit.part.scheme or debit.part.together not in (1, 2) or known not in (None, debit.part.together):
        raise LedgerError("scheme-not-chargeable", scheme=debit.part.scheme, account=debit.account)


def find_account(tables: LedgerTables, name: str) -> LedgerAccount:
    """Return an account, or refuse: there is none of this name."""
    account = tables.account(name)
    if account is None:
        raise LedgerError("account-unknown", account=name)
    return account


def now() -> str:
    """Return the time, for people: it proves nothing."""
    return datetime.now(UTC).isoformat(timespec="seconds")
