"""The page of budgets and the ledger: what was spent, by whom, for what; and what remains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.database import Account
from jali.ledger import Receipt
from jali.numbers.exact import decimal, decimal_above
from jali.server.api.table_routes import list_visible_accounts
from jali.server.auth import Caller
from jali.server.dependencies import CurrentState, PageCaller
from jali.server.pages.rendering import render_page, write_budget
from jali.server.state import AppState


@dataclass(frozen=True)
class BudgetGauge:
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


def build_gauge(account: Account) -> BudgetGauge:
    """Return the gauge of an account."""
    left, budget = account.remaining, account.budget
    return BudgetGauge(
        account.name.partition(" ")[2] or account.name,
        account.name.partition(" ")[0],
        write_budget(budget),
        str(account.spent),
        decimal(left.epsilon),
        decimal(left.rho) if left.rho else "",
        decimal(left.delta) if left.delta else "",
        str(left.epsilon),
        _compute_spent_percent(left.epsilon, budget.epsilon),
    )


def _compute_spent_percent(left: Fraction, budget: Fraction) -> float:
    """Return the share that is spent, never less than it is."""
    return min(100.0, float(decimal_above(100 * (1 - left / budget), 4))) if left < budget else 0.0


router = APIRouter()
_MOST = 100


@dataclass(frozen=True)
class LedgerLine:
    """One line of the ledger.

    Attributes:
        receipt: What was reserved.
        cost: What it cost, in words.
        working: Whether it is being answered now.
    """

    receipt: Receipt
    cost: str
    working: bool

    @property
    def owed(self) -> bool:
        """Whether it is open and no job is answering it."""
        return self.receipt.state.value == "open" and not self.working


@router.get("/budget")
async def budgets(request: Request, caller: PageCaller, state: CurrentState) -> Response:
    """Show what may be spent, what was spent and what is left."""
    gauges = await state.jobs.run_without_data(partial(list_gauges, state, caller))
    found = await state.jobs.run_without_data(
        partial(state.database.ledger.latest_receipts, _MOST, analyst=caller.analyst)
    )
    entries = [LedgerLine(one, describe_cost(one), state.jobs.find_job(one.id) is not None) for one in found]
    return render_page(
        "budget.html", request, json_url="/api/v1/budgets", gauges=gauges, entries=entries, most=_MOST
    )


def list_gauges(state: AppState, caller: Caller) -> list[BudgetGauge]:
    """Return the accounts that concern a caller: all of them for a curator."""
    return [build_gauge(account) for account in list_visible_accounts(state, caller)]


def describe_cost(receipt: Receipt) -> str:
    """Say what a receipt cost: what it charged to its first account."""
    return str(receipt.debits[0].event) if receipt.debits else "nothing"
