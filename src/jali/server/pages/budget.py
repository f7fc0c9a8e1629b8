"""Budgets and the ledger: what was spent, by whom, for what; what is left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Request
from fastapi.responses import Response

from jali.ledger import Receipt
from jali.server.api.catalog import accounts_for
from jali.server.api.doors import TheHouse
from jali.server.house import House
from jali.server.pages.gauge import Gauge, gauge_of
from jali.server.pages.guards import Visitor
from jali.server.pages.rendering import page
from jali.server.people.caller import Caller

router = APIRouter()
_MOST = 100


@dataclass(frozen=True)
class Entry:
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
        """Whether it is paid, and nobody is answering it."""
        return self.receipt.state.value == "open" and not self.working


@router.get("/budget")
async def budgets(request: Request, caller: Visitor, house: TheHouse) -> Response:
    """Show what may be spent, what was spent and what is left."""
    gauges = await house.desk.in_front(partial(gauges_for, house, caller))
    found = await house.desk.in_front(partial(house.database.latest_receipts, _MOST, analyst=caller.analyst))
    entries = [Entry(one, cost_of(one), house.desk.job(one.id) is not None) for one in found]
    return page("budget.html", request, twin="/api/v1/budgets", gauges=gauges, entries=entries, most=_MOST)


def gauges_for(house: House, caller: Caller) -> list[Gauge]:
    """Return the accounts that concern a caller: all of them for a curator."""
    return [gauge_of(account) for account in accounts_for(house, caller)]


def cost_of(receipt: Receipt) -> str:
    """Say what a receipt cost: what it charged to its first account."""
    return str(receipt.debits[0].event) if receipt.debits else "nothing"
