"""Debits, the names of accounts, and charging one debit against one account by the filter of its budget."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger.subpopulation_sums import AccountSums, DebitSubpopulation, find_binding_sum
from jali.privacy import NOTHING, Budget, Event, Filter

_WORD = re.compile(r"[\w.@+-]+")


@dataclass(frozen=True)
class Debit:
    """An event that an account pays for.

    Attributes:
        account: The name of the account, made by `table_account` or `grant_account`.
        event: What is added to the sum of the account.
        part: The part of the account's people that it concerns; None where it concerns all of them.
    """

    account: str
    event: Event
    part: DebitSubpopulation | None = None


def table_account(table: str) -> str:
    """Name the account of a table, which all analysts share: they may collude.

    Example:
        >>> table_account("visits")
        'table visits'
    """
    return f"table {_quote_name(table)}"


def grant_account(analyst: str, table: str) -> str:
    """Name the account of one analyst on one table.

    Example:
        >>> grant_account("ana", "visits")
        'grant ana on visits'
    """
    return f"{grants_of(analyst)}{_quote_name(table)}"


def charge_tables(
    costs: Iterable[tuple[str, Event]], parts: Mapping[str, DebitSubpopulation]
) -> tuple[Debit, ...]:
    """Return what a question charges the account of each table; for one part where it concerns one."""
    return tuple([Debit(table_account(name), cost, parts.get(name)) for name, cost in costs])


def charge_grants(
    analyst: str, costs: Iterable[tuple[str, Event]], parts: Mapping[str, DebitSubpopulation]
) -> tuple[Debit, ...]:
    """Return what a question charges the grants of an analyst: as much as the tables."""
    return tuple([Debit(grant_account(analyst, name), cost, parts.get(name)) for name, cost in costs])


def grants_of(analyst: str) -> str:
    """Return what the names of all grants of this analyst, and of no other, begin with."""
    return f"grant {_quote_name(analyst)} on "


def _quote_name(name: str) -> str:
    """Write a name so that different names stay different inside a sentence.

    Without quotes, 'a on b' with a grant on 'c' and 'a' with a grant on 'b on c' would share one account.
    """
    return name if _WORD.fullmatch(name) else json.dumps(name)


_EVENT_BITS = 4096


def charge(debit: Debit, budget: Budget, spent: Event) -> Event:
    """Return the new sum of an account without parts, or raise `BudgetExceeded`."""
    return add_debit(debit, budget, AccountSums(common=spent)).overall


def add_debit(debit: Debit, budget: Budget, sums: AccountSums) -> AccountSums:
    """Return the new sums of the account, or raise `BudgetExceeded`.

    Guarantee:
        The new sum is at least that of `subpopulation_sums.py` in every number, and equal to it as long as
        denominators have at most 1,024 bits. The filter admits it.
    """
    found = compute_charge(debit, budget, sums)
    check_admitted([found])
    return found.after


@dataclass(frozen=True)
class Charge:
    """A debit with the sums of its account before and after it.

    Attributes:
        debit: What is added.
        budget: The budget of the account.
        before: The sums before.
        after: The sums after.
        total: The sum of the account after it, which the filter judges.
    """

    debit: Debit
    budget: Budget
    before: AccountSums
    after: AccountSums
    total: Event


def compute_charge(debit: Debit, budget: Budget, sums: AccountSums) -> Charge:
    """Return what a debit makes of the sums of its account, which the filter has not judged yet."""
    if not is_chargeable(debit):
        raise LedgerError("loss-not-chargeable", account=debit.account)
    after = sums.after(debit)
    return Charge(debit, budget, sums, after, after.overall)


def check_admitted(charges: Iterable[Charge]) -> None:
    """Raise `BudgetExceeded` for the first charge that the filter of its account does not admit."""
    for charge in charges:
        if not Filter(charge.budget).admits(NOTHING, charge.total):
            raise _refusal(charge.debit, charge.budget, charge.before)


def is_chargeable(debit: Debit) -> bool:
    """Say whether no number of a debit is negative, which would be a refund, or has over 4,096 bits."""
    events = [debit.event] + (
        [debit.part.apart] if debit.part is not None and debit.part.apart is not None else []
    )
    numbers = [number for event in events for number in (event.epsilon or Fraction(0), event.rho, event.delta)]
    return all(n >= 0 and max(n.numerator, n.denominator).bit_length() <= _EVENT_BITS for n in numbers)


def find_filter_sum(together: int | None, budget: Budget, sums: AccountSums) -> Event:
    """Return the sum that a further event is added to, as the filter will see it."""
    if together is None:
        return sums.overall
    return find_binding_sum(sums.before(together), sums.overall, epsilon=budget.epsilon, rho=Filter(budget).rho)


def _refusal(debit: Debit, budget: Budget, sums: AccountSums) -> BudgetExceeded:
    event, spent = debit.event, find_filter_sum(None if debit.part is None else debit.part.together, budget, sums)
    left = budget.delta_events - spent.delta
    if event.delta > left:
        return BudgetExceeded(debit.account, kind="delta", requested=event.delta, remaining=left)
    rule = Filter(budget)
    other = ("epsilon", rule.largest_epsilon(spent)) if event.kind == "rho" else ("rho", rule.largest_rho(spent))
    return BudgetExceeded(
        debit.account,
        kind=event.kind,
        requested=event.amount,
        remaining=rule.largest(spent, event),
        other=other,
    )
