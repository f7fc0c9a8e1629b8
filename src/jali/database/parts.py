"""Parts of tables: the scheme a question is charged under, what it would cost now, whether it still may run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jali.database.tables import Tables
from jali.errors import LedgerError
from jali.ledger import Debit, Part, table_account
from jali.planner.membership import Membership, PartOf, membership, parts_of
from jali.planner.partition import key_text, scheme, together, touches
from jali.planner.plan import Plan
from jali.planner.resolve import Resolver
from jali.privacy import Event
from jali.query.catalog import Table
from jali.query.nodes import Named, Value

if TYPE_CHECKING:
    from jali.ledger import Ledger


class Parts:
    """The parts of the declared tables, as the ledger keeps them apart."""

    def __init__(self, ledger: Ledger, tables: Tables) -> None:
        self._ledger = ledger
        self._tables = tables

    def keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the parts of a table, or refuse what does not tell them by public facts."""
        return parts_of(table, by, Resolver(self._tables.catalog()))

    def of(self, plan: Plan) -> dict[str, Part]:
        """Return the part that a plan is about, for each table that may be charged for it alone."""
        if plan.part is None:
            return {}
        found = {table.name: touches(plan, table) for table in plan.tables}
        tables = {table.name: table for table in plan.tables}
        return {
            table.name: Part(self._scheme(plan.part, tables, table.name), key_text(plan.part), *told)
            for table in plan.tables
            if (told := found[table.name]) is not None
        }

    def named(self, part: PartOf) -> Part:
        """Return a part of a table by its name, as the table's own account sees it."""
        assert part.table is not None
        member = membership(part, Named(part.table), Resolver(self._tables.catalog()))
        table = self._tables.named(member.table)
        return Part(scheme(member, table, table, self._data_version), key_text(member), together(table))

    def _scheme(self, member: Membership, tables: Mapping[str, Table], charged: str) -> str:
        return scheme(member, tables[member.table], tables[charged], self._data_version)

    def _data_version(self, name: str) -> int:
        declared = self._ledger.declaration(name)
        assert declared is not None
        return declared.data_version

    def _schemes_now(self, plan: Plan, member: Membership) -> set[str]:
        """Return the schemes as tables are declared now: a copy, or the source beneath it, may be read no more."""
        now = {table.name: table for table in self._tables.protected()}
        return {self._scheme(member, now, name) for name in self.of(plan)}

    def charged(self, plan: Plan) -> tuple[tuple[str, Event], ...]:
        """Return by how much a plan would let the sums of its tables grow now."""
        parts, costs = self.of(plan), dict(plan.costs)
        debits = [Debit(table_account(name), costs[name], part) for name, part in parts.items()]
        growth = [_growth(self._ledger.spent(debit.account), self._ledger.after(debit)) for debit in debits]
        return tuple(zip(parts, growth, strict=True))

    def check(self, plan: Plan, debits: tuple[Debit, ...]) -> None:
        """Refuse to run a plan on other data than it was charged for: people may have changed parts since."""
        paid = {debit.part.scheme for debit in debits if debit.part is not None}
        if paid and (plan.part is None or paid != self._schemes_now(plan, plan.part)):
            raise LedgerError("part-data-refreshed")


def _growth(before: Event, after: Event) -> Event:
    epsilon = None if after.epsilon is None or before.epsilon is None else after.epsilon - before.epsilon
    return Event(epsilon, after.rho - before.rho, after.delta - before.delta)
