"""The accounts of a database: budgets of tables, grants of analysts, and what subpopulations are charged.

A question about one subpopulation of a table is charged to that subpopulation: its scheme names the expression
and the versions of the declaration and the data that it was charged for.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import Value
from jali.errors import BudgetExceeded, CatalogError, LedgerError, Phrase
from jali.execution.declared_tables import DeclaredState, DeclaredTables
from jali.ir.expressions import NamedTable
from jali.ledger import Debit, DebitSubpopulation, SubpopulationSpending, grant_account, table_account
from jali.ledger.charge import charge, charge_grants, charge_tables
from jali.numbers.exact import decimal
from jali.planner.plan import Plan
from jali.planner.resolve.resolver import Resolver
from jali.planner.subpopulation_costs import (
    count_charged_subpopulations,
    count_touched_subpopulations,
    encode_key,
    name_scheme,
)
from jali.planner.subpopulations import (
    ResolvedSubpopulation,
    SubpopulationRequest,
    list_subpopulations,
    resolve_subpopulation,
)
from jali.privacy import NOTHING, Budget, Event, Filter

if TYPE_CHECKING:
    from jali.ledger import Ledger


CURATOR = "curator"
# What is left of an account that would not pay.
_REFUSED = frozenset({"leaves-too-little", "leaves-without-grant"})
# And of one that does not have to.
_FREE = "leaves-for-free"
NO_SUBPOPULATIONS: Mapping[str, DebitSubpopulation] = MappingProxyType({})


@dataclass(frozen=True)
class Remaining:
    """The largest loss of each kind that a further question would be granted: one or the other, not both.

    `delta` is what questions that choose their groups may still spend: of the budget's `delta_events`, not of all
    of its delta, whose rest pays for adding up.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction = Fraction(0)

    @property
    def phrase(self) -> Phrase:
        """What remains, as a phrase."""
        return Phrase(
            "budget-remaining",
            epsilon=self.epsilon,
            rho=self.rho,
            delta=self.delta,
            has_rho=decimal(self.rho) != "0",
            has_delta=bool(self.delta),
        )

    def __str__(self) -> str:
        return self.phrase.text


class RemainderText(str):
    """What would remain of an account after a question, as text and as the phrase behind it."""

    __slots__ = ("phrase",)

    phrase: Phrase

    def __new__(cls, phrase: Phrase) -> RemainderText:
        """Keep the phrase beside its words."""
        made = super().__new__(cls, phrase.text)
        made.phrase = phrase
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return RemainderText, (self.phrase,)

    @property
    def refused(self) -> bool:
        """Whether the account would not pay."""
        return self.phrase.code in _REFUSED

    @property
    def free(self) -> bool:
        """Whether nothing is charged to it."""
        return self.phrase.code == _FREE


def describe_budget(budget: Budget) -> Phrase:
    """Return a budget as a phrase."""
    has_delta = decimal(budget.delta) != "0"
    return Phrase("budget-amount", epsilon=budget.epsilon, delta=budget.delta, has_delta=has_delta)


@dataclass(frozen=True)
class Account:
    """A table's budget, or an analyst's grant on a table, with what each subpopulation was charged."""

    name: str
    budget: Budget
    spent: Event
    remaining: Remaining
    parts: tuple[SubpopulationSpending, ...] = ()


class Accounts:
    """Who may spend how much on which table."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def all(self) -> tuple[Account, ...]:
        """Return every account with its budget, what was spent and what remains."""
        return tuple(self._build_account(name) for name in self._ledger.accounts())

    def _build_account(self, name: str) -> Account:
        budget, spent = self._ledger.budget(name), self._ledger.spent(name)
        assert budget is not None
        return Account(name, budget, spent, _compute_remaining(budget, spent), self._ledger.parts(name))

    def find_spent(self, table: str) -> Event:
        """Return what was spent on a table, which may be new."""
        account = table_account(table)
        return NOTHING if self._ledger.budget(account) is None else self._ledger.spent(account)

    def remaining(self, table: str, analyst: str | None, part: DebitSubpopulation | None = None) -> Remaining:
        """Return the largest loss that a further question on a table, or on a part of it, would be granted."""
        accounts = [table_account(table)] + ([self._find_grant_account(analyst, table)] if analyst else [])
        each = [self._find_remaining(account, part) for account in accounts]
        return Remaining(*(min(getattr(r, kind) for r in each) for kind in ("epsilon", "rho", "delta")))

    def _find_remaining(self, account: str, part: DebitSubpopulation | None) -> Remaining:
        if part is None:
            return self._build_account(account).remaining
        budget = self._ledger.budget(account)
        assert budget is not None
        return _compute_remaining(budget, self._ledger.filter_sum(account, part))

    def grant(self, analyst: str, table: str, budget: Budget) -> None:
        """Open an analyst's account on a table."""
        account = grant_account(analyst, table)
        if self._ledger.budget(account) not in (None, budget):
            raise CatalogError("grant-exists", analyst=analyst, table=table)
        self._ledger.open_account(account, budget)

    def debits(
        self, costs: Iterable[tuple[str, Event]], parts: Mapping[str, DebitSubpopulation] = NO_SUBPOPULATIONS
    ) -> tuple[Debit, ...]:
        """Charge every protected table what a question costs it; for one part where it concerns one."""
        return charge_tables(costs, parts)

    def list_grant_debits(
        self,
        costs: Iterable[tuple[str, Event]],
        analyst: str | None,
        parts: Mapping[str, DebitSubpopulation] = NO_SUBPOPULATIONS,
    ) -> tuple[Debit, ...]:
        """Return the same for the grants that there are: what explaining says to an analyst who has none yet."""
        debits = () if analyst is None else charge_grants(analyst, costs, parts)
        return tuple(debit for debit in debits if self._ledger.budget(debit.account) is not None)

    def list_missing_grants(
        self, costs: Iterable[tuple[str, Event]], analyst: str | None
    ) -> tuple[tuple[str, RemainderText], ...]:
        """Describe each grant that an analyst lacks: the question would be refused."""
        named = [] if analyst is None else [(grant_account(analyst, name), name) for name, _ in costs]
        return tuple(
            (account, RemainderText(Phrase("leaves-without-grant", analyst=analyst, table=name)))
            for account, name in named
            if self._ledger.budget(account) is None
        )

    def check_together(self, debits: Sequence[Debit], subject: str) -> None:
        """Refuse if an account cannot pay for all debits on it together. Nothing is charged."""
        for account in dict.fromkeys(debit.account for debit in debits):
            budget, spent = self._ledger.budget(account), self._ledger.spent(account)
            assert budget is not None
            total = sum((debit.event for debit in debits if debit.account == account), NOTHING)
            try:
                charge(Debit(account, total), budget, spent)
            except BudgetExceeded as refused:
                raise refused.about(subject) from None

    def describe_leaves(
        self, debits: Iterable[Debit], *, free: bool = False, quiet: Container[str] = ()
    ) -> tuple[tuple[str, RemainderText], ...]:
        """Describe what would remain of each account after a debit.

        Args:
            debits: What would be charged to which accounts.
            free: Whether the question was answered before, so that none of it is.
            quiet: Accounts that are named only if they would refuse.
        """
        told = (
            (debit.account, self._describe_unchanged(debit) if free else self._describe_after(debit))
            for debit in debits
        )
        return tuple((name, left) for name, left in told if name not in quiet or left.refused)

    def _describe_unchanged(self, debit: Debit) -> RemainderText:
        budget, remaining = self._ledger.budget(debit.account), self._find_remaining(debit.account, debit.part)
        assert budget is not None
        return RemainderText(Phrase(_FREE, remaining=remaining.phrase, budget=describe_budget(budget)))

    def _describe_after(self, debit: Debit) -> RemainderText:
        budget, after = self._ledger.budget(debit.account), self._ledger.after(debit)
        assert budget is not None
        if not Filter(budget).admits(NOTHING, after):
            remaining = self._find_remaining(debit.account, debit.part)
            return RemainderText(Phrase("leaves-too-little", remaining=remaining.phrase))
        return RemainderText(
            Phrase(
                "leaves-some", remaining=_compute_remaining(budget, after).phrase, budget=describe_budget(budget)
            )
        )

    def _find_grant_account(self, analyst: str, table: str) -> str:
        account = grant_account(analyst, table)
        if self._ledger.budget(account) is None:
            raise CatalogError("grant-missing", analyst=analyst, table=table)
        return account


def find_hidden_accounts(tables: Iterable[Table | Public], analyst: str | None) -> frozenset[str]:
    """Return the accounts whose sums an analyst is not shown: they tell what others have asked.

    Where the memory of a table is common, analysts may know that. Curators see all accounts.
    """
    if analyst is None:
        return frozenset()
    protected = (table for table in tables if isinstance(table, Table))
    return frozenset(table_account(table.name) for table in protected if table.memory == "own")


def _compute_remaining(budget: Budget, spent: Event) -> Remaining:
    rule, delta = Filter(budget), max(Fraction(0), budget.delta_events - spent.delta)
    return Remaining(rule.largest_epsilon(spent), rule.largest_rho(spent), delta)


def check_analyst_name(name: str) -> str:
    """Return an analyst's name, or refuse one that nobody can have."""
    if not isinstance(name, str) or not name.strip() or name == CURATOR:
        raise CatalogError("analyst-name-taken", analyst=CURATOR)
    return name


class SubpopulationAccounts:
    """The subpopulations of the declared tables, which the ledger charges separately."""

    def __init__(self, ledger: Ledger, tables: DeclaredTables) -> None:
        self._ledger = ledger
        self._tables = tables

    def keys(self, table: str, by: str) -> tuple[Value, ...]:
        """Return the parts of a table, or refuse what does not tell them by public facts."""
        return list_subpopulations(table, by, Resolver(self._tables.build_catalog()))

    def find_subpopulations(
        self, plan: Plan, declared: DeclaredState | None = None
    ) -> dict[str, DebitSubpopulation]:
        """Return the part that a plan is about, for each table that may be charged for it alone."""
        if plan.part is None:
            return {}
        data_version = (declared or self._tables.read()).find_data_version
        found = {table.name: count_charged_subpopulations(plan, table) for table in plan.tables}
        tables = {table.name: table for table in plan.tables}
        return {
            table.name: DebitSubpopulation(
                name_scheme(plan.part, tables[plan.part.table], table, data_version), encode_key(plan.part), *told
            )
            for table in plan.tables
            if (told := found[table.name]) is not None
        }

    def find_subpopulation(self, part: SubpopulationRequest) -> DebitSubpopulation:
        """Return a part of a table by its name, as the table's own account sees it."""
        assert part.table is not None
        declared = self._tables.read()
        member = resolve_subpopulation(part, NamedTable(part.table), Resolver(declared.catalog))
        table = self._tables.find_protected(member.table)
        return DebitSubpopulation(
            name_scheme(member, table, table, declared.find_data_version),
            encode_key(member),
            count_touched_subpopulations(table),
        )

    def compute_growth(self, plan: Plan, declared: DeclaredState) -> tuple[tuple[str, Event], ...]:
        """Return by how much a plan would let the sums of its tables grow now."""
        parts, costs = self.find_subpopulations(plan, declared), dict(plan.costs)
        debits = [Debit(table_account(name), costs[name], part) for name, part in parts.items()]
        growth = [
            _subtract_events(self._ledger.spent(debit.account), self._ledger.after(debit)) for debit in debits
        ]
        return tuple(zip(parts, growth, strict=True))

    def check(self, plan: Plan, debits: tuple[Debit, ...], declared: DeclaredState | None = None) -> None:
        """Refuse other data than a plan was charged for: people may have changed subpopulations."""
        paid = {debit.part.scheme for debit in debits if debit.part is not None}
        if paid and (plan.part is None or paid != self._find_current_schemes(plan, plan.part, declared)):
            raise LedgerError("part-data-refreshed")

    def _find_current_schemes(
        self, plan: Plan, member: ResolvedSubpopulation, declared: DeclaredState | None
    ) -> set[str]:
        """Return the schemes as tables are declared now: a copy, or the source beneath it, may be read no more."""
        latest = declared or self._tables.read()
        now = {name: table for name, table in latest.tables.items() if isinstance(table, Table)}
        return {
            name_scheme(member, now[member.table], now[name], latest.find_data_version)
            for name in self.find_subpopulations(plan, latest)
        }


def _subtract_events(before: Event, after: Event) -> Event:
    epsilon = None if after.epsilon is None or before.epsilon is None else after.epsilon - before.epsilon
    return Event(epsilon, after.rho - before.rho, after.delta - before.delta)
