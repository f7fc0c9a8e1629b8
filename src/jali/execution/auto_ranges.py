"""Buy ranges for columns declared with `Range(auto=True)`: paid from the table's budget, once, and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jali.catalog.columns import Field
from jali.catalog.tables import Table
from jali.execution.accounts import CURATOR, Accounts
from jali.execution.ask import QuestionRunner
from jali.execution.declared_tables import DeclaredTables
from jali.execution.reservation import ReservationRequest, ignore_stage
from jali.ledger import Debit, table_account
from jali.ledger.charge import charge
from jali.planner import Plan
from jali.planner.buy_range import (
    check_enough_rows,
    list_wanted_ranges,
    plan_range,
    purchase_key,
    purchase_name,
    with_range,
)
from jali.privacy import NOTHING

if TYPE_CHECKING:
    from jali.ledger import Ledger

# A column, and the plan that buys its range.
Purchases: TypeAlias = list[tuple[Field, Plan]]


class RangePurchases:
    """Buys ranges like answers to any question: debit durably, read, draw, store."""

    def __init__(self, ledger: Ledger, asking: QuestionRunner, tables: DeclaredTables, accounts: Accounts) -> None:
        self._ledger = ledger
        self._asking = asking
        self._tables = tables
        self._accounts = accounts

    def add_purchased(self, table: Table) -> Table:
        """Give columns the ranges that were bought before; a purchase that was cut off is completed."""
        if not list_wanted_ranges(table):
            return table
        paid = {receipt.question: receipt.id for receipt in self._ledger.receipts(CURATOR)}
        for field in list_wanted_ranges(table):
            name = purchase_name(table, field)
            if name in paid:
                bought = self._asking.redeem(paid[name], analyst=None, stage=ignore_stage)
                table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
        return table

    def plan_purchases(self, table: Table) -> Purchases:
        """Plan what is still to be bought, or refuse before anything is declared or charged."""
        found = [
            (field, self._asking.emit_queries(plan_range(table, field))) for field in list_wanted_ranges(table)
        ]
        plans = [plan for _, plan in found]
        check_enough_rows(table, plans)
        self._check_affordable(table, plans)
        return found

    def _check_affordable(self, table: Table, plans: list[Plan]) -> None:
        """Refuse if the budget cannot pay for all ranges together."""
        budgets = {table.name: table.budget} | {
            other.name: other.budget for other in self._tables.list_protected()
        }
        for name in {name for plan in plans for name, _ in plan.costs}:
            costs = sum((dict(plan.costs)[name] for plan in plans), NOTHING)
            charge(Debit(table_account(name), costs), budgets[name], self._accounts.find_spent(name))

    def buy(self, table: Table, purchases: Purchases) -> Table:
        """Buy the ranges of a declared table one by one, each stored as soon as it is bought."""
        for field, plan in purchases:
            bought = self._asking.buy(self._build_request(table, field, plan), plan, ignore_stage)
            table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
            self._tables.store(table)
        return table

    def _build_request(self, table: Table, field: Field, plan: Plan) -> ReservationRequest:
        key = purchase_key(table, field, plan)
        return ReservationRequest(
            CURATOR, purchase_name(table, field), key, plan.encoded, self._accounts.debits(plan.costs)
        )
