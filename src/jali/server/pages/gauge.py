"""Gauges: how much of a budget is spent, and what is left of it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.database import Account
from jali.numerals import decimal, decimal_above
from jali.server.pages.words import budget_on_page


@dataclass(frozen=True)
class Gauge:
    """One account as a page shows it.

    Attributes:
        name: Of the account.
        kind: "table", "grant" or "stream".
        budget: What may be spent.
        spent: What was spent.
        epsilon: What is left, in epsilon;
        rho: or in rho;
        delta: and of delta.
        exact: What is left in epsilon, as a fraction.
        percent: The share of the budget that no further question is granted, in percent.
    """

    name: str
    kind: str
    budget: str
    spent: str
    epsilon: str
    rho: str
    delta: str
    exact: str
    percent: float


def gauge_of(account: Account) -> Gauge:
    """Return the gauge of an account."""
    left, budget = account.remaining, account.budget
    return Gauge(
        account.name.partition(" ")[2] or account.name,
        account.name.partition(" ")[0],
        budget_on_page(budget),
        str(account.spent),
        decimal(left.epsilon),
        decimal(left.rho) if left.rho else "",
        decimal(left.delta) if left.delta else "",
        str(left.epsilon),
        _percent(left.epsilon, budget.epsilon),
    )


def _percent(left: Fraction, budget: Fraction) -> float:
    """Return the share that is spent, never less than it is."""
    return min(100.0, float(decimal_above(100 * (1 - left / budget), 4))) if left < budget else 0.0
