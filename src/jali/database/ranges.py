"""Ranges that are bought: `Range(auto=True)` is paid from the table's budget, once, and stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from jali.database.accounts import CURATOR, Accounts
from jali.database.asking import Asking, Order, silent
from jali.database.tables import Tables
from jali.ledger import Debit, table_account
from jali.ledger.charge import charge
from jali.planner import Plan
from jali.planner.buy_range import check_enough_rows, purchase_key, purchase_name, range_plan, wanted, with_range
from jali.privacy import NOTHING
from jali.query.catalog import Field, Table

if TYPE_CHECKING:
    from jali.ledger import Ledger

# A column, and the plan that buys its range.
Purchases: TypeAlias = list[tuple[Field, Plan]]


class Ranges:
    """Buys ranges like answers to any question: debit durably, read, draw, store."""

    def __init__(self, ledger: Ledger, asking: Asking, tables: Tables, accounts: Accounts) -> None:
        self._ledger = ledger
        self._asking = asking
        self._tables = tables
        self._accounts = accounts

    def with_paid(self, table: Table) -> Table:
        """Give columns the ranges that were bought before; a purchase that was cut off is completed."""
        if not wanted(table):
            return table
        paid = {receipt.question: receipt.id for receipt in self._ledger.receipts(CURATOR)}
        for field in wanted(table):
            name = purchase_name(table, field)
            if name in paid:
                bought = self._asking.redeem(paid[name], analyst=None, stage=silent)
                table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
        return table

    def purchases(self, table: Table) -> Purchases:
        """Plan what is still to be bought, or refuse before anything is declared or charged."""
        found = [(field, self._asking.emitted(range_plan(table, field))) for field in wanted(table)]
        plans = [plan for _, plan in found]
        check_enough_rows(table, plans)
        self._check_affordable(table, plans)
        return found

    def _check_affordable(self, table: Table, plans: list[Plan]) -> None:
        """Refuse if the budget cannot pay for all ranges together."""
        budgets = {table.name: table.budget} | {other.name: other.budget for other in self._tables.protected()}
        for name in {name for plan in plans for name, _ in plan.costs}:
            costs = sum((dict(plan.costs)[name] for plan in plans), NOTHING)
            charge(Debit(table_account(name), costs), budgets[name], self._accounts.spent(name))

    def buy(self, table: Table, purchases: Purchases) -> Table:
        """Buy the ranges of a declared table one by one, each stored as soon as it is bought."""
        for field, plan in purchases:
            bought = self._asking.bought(self._order(table, field, plan), plan, silent)
            table = with_range(table, field, bought.rows[0], bought.cost.epsilon)
            self._tables.store(table)
        return table

    def _order(self, table: Table, field: Field, plan: Plan) -> Order:
        key = purchase_key(table, field, plan)
        return Order(CURATOR, purchase_name(table, field), key, plan.encoded, self._accounts.debits(plan.costs))
