"""Charges: one debit against one account, by the filter of its budget."""

from __future__ import annotations

from fractions import Fraction

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger.debit import Debit
from jali.ledger.parts import Sums, hindered
from jali.privacy import NOTHING, Budget, Event, Filter

_EVENT_BITS = 4096


def charge(debit: Debit, budget: Budget, spent: Event) -> Event:
    """Return the new sum of an account without parts, or raise `BudgetExceeded`."""
    return settled(debit, budget, Sums(common=spent)).spent


def settled(debit: Debit, budget: Budget, sums: Sums) -> Sums:
    """Return the new sums of the account, or raise `BudgetExceeded`.

    Guarantee:
        The new sum is at least that of `parts.py` in every number, and equal to it as long as denominators have at
        most 1,024 bits. The filter admits it.
    """
    if not payable(debit):
        raise LedgerError("loss-not-chargeable", account=debit.account)
    after = sums.after(debit)
    if not Filter(budget).admits(NOTHING, after.spent):
        raise _refusal(debit, budget, sums)
    return after


def payable(debit: Debit) -> bool:
    """Say whether no number of a debit is negative, which would be a refund, or has over 4,096 bits."""
    events = [debit.event] + (
        [debit.part.apart] if debit.part is not None and debit.part.apart is not None else []
    )
    numbers = [number for event in events for number in (event.epsilon or Fraction(0), event.rho, event.delta)]
    return all(n >= 0 and max(n.numerator, n.denominator).bit_length() <= _EVENT_BITS for n in numbers)


def counted_on(together: int | None, budget: Budget, sums: Sums) -> Event:
    """Return the sum that a further event is added to, as the filter will see it."""
    if together is None:
        return sums.spent
    return hindered(sums.before(together), sums.spent, epsilon=budget.epsilon, rho=Filter(budget).rho)


def _refusal(debit: Debit, budget: Budget, sums: Sums) -> BudgetExceeded:
    event, spent = debit.event, counted_on(None if debit.part is None else debit.part.together, budget, sums)
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
