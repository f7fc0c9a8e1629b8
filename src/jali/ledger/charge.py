"""Charges: one debit against one account, by the filter of its budget."""

from __future__ import annotations

from fractions import Fraction

from jali.errors import BudgetExceeded, LedgerError
from jali.ledger.debit import Debit
from jali.privacy import Budget, Event, Filter

_EVENT_BITS = 4096
_SUM_BITS = 1024
_UNIT = 1 << 1000


def charge(debit: Debit, budget: Budget, spent: Event) -> Event:
    """Return the new sum of the account, or raise `BudgetExceeded`.

    Guarantee:
        The result is at least `spent + event` in every part, and equal to it as long as denominators have at
        most 1,024 bits. The filter admitted `event` after `spent`.
    """
    if not payable(debit.event):
        raise LedgerError(f"A loss below zero, or of endless digits, cannot be charged to {debit.account}.")
    if not Filter(budget).admits(spent, debit.event):
        raise _refusal(debit, budget, spent)
    return total(spent, debit.event)


def payable(event: Event) -> bool:
    """Say whether no part of the event is negative, which would be a refund, or has over 4,096 bits."""
    parts = (event.epsilon or Fraction(0), event.rho, event.delta)
    return all(part >= 0 and max(part.numerator, part.denominator).bit_length() <= _EVENT_BITS for part in parts)


def total(spent: Event, event: Event) -> Event:
    """Add exactly, but round up where someone chose denominators that multiply without end.

    Without the rounding, a few hundred questions with epsilon = 1/(a large prime) make sums of a million
    digits.
    """
    both = spent + event
    return Event(None if both.epsilon is None else _short(both.epsilon), _short(both.rho), _short(both.delta))


def _short(value: Fraction) -> Fraction:
    if value.denominator.bit_length() <= _SUM_BITS:
        return value
    return Fraction(-(-value.numerator * _UNIT // value.denominator), _UNIT)


def _refusal(debit: Debit, budget: Budget, spent: Event) -> BudgetExceeded:
    event, left = debit.event, budget.delta_events - spent.delta
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
