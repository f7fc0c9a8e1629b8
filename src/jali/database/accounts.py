"""The accounts of a database: each table's budget, and the analysts' grants on it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from jali.errors import BudgetExceeded, CatalogError, Phrase
from jali.ledger import Debit, Part, PartLine, grant_account, table_account
from jali.ledger.charge import charge
from jali.numerals import decimal
from jali.privacy import NOTHING, Budget, Event, Filter
from jali.query.catalog import Public, Table

if TYPE_CHECKING:
    from jali.ledger import Ledger

CURATOR = "curator"
# What is left of an account that would not pay.
_REFUSED = frozenset({"leaves-too-little", "leaves-without-grant"})
# And of one that does not have to.
_FREE = "leaves-for-free"
NO_PARTS: Mapping[str, Part] = MappingProxyType({})


@dataclass(frozen=True)
class Remaining:
    """The largest loss of each kind that a further question would be granted. Not one number: either-or.

    `delta` is what questions that choose their groups may still spend: of the budget's `delta_events`, not of all
    of its delta, whose rest pays for adding up.
    """

    epsilon: Fraction
    rho: Fraction
    delta: Fraction = Fraction(0)

    @property
    def phrase(self) -> Phrase:
        """What remains, inside a text or for a face."""
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


class Left(str):
    """What a question would leave of an account, in words; faces with other words write the phrase."""

    __slots__ = ("phrase",)

    phrase: Phrase

    def __new__(cls, phrase: Phrase) -> Left:
        """Keep the phrase beside its words."""
        made = super().__new__(cls, phrase.text)
        made.phrase = phrase
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Left, (self.phrase,)

    @property
    def refused(self) -> bool:
        """Whether the account would not pay."""
        return self.phrase.code in _REFUSED

    @property
    def free(self) -> bool:
        """Whether it does not have to."""
        return self.phrase.code == _FREE


def budget_phrase(budget: Budget) -> Phrase:
    """Return a budget, inside a text or for a face."""
    has_delta = decimal(budget.delta) != "0"
    return Phrase("budget-amount", epsilon=budget.epsilon, delta=budget.delta, has_delta=has_delta)


@dataclass(frozen=True)
class Account:
    """One line of the books: a table's budget, or an analyst's grant on a table; and what each part paid."""

    name: str
    budget: Budget
    spent: Event
    remaining: Remaining
    parts: tuple[PartLine, ...] = ()


class Accounts:
    """Who may spend how much on which table."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def all(self) -> tuple[Account, ...]:
        """Return every account with its budget, what was spent and what remains."""
        return tuple(self._account(name) for name in self._ledger.accounts())

    def _account(self, name: str) -> Account:
        budget, spent = self._ledger.budget(name), self._ledger.spent(name)
        assert budget is not None
        return Account(name, budget, spent, _left(budget, spent), self._ledger.parts(name))

    def spent(self, table: str) -> Event:
        """Return what was spent on a table, which may be new."""
        account = table_account(table)
        return NOTHING if self._ledger.budget(account) is None else self._ledger.spent(account)

    def remaining(self, table: str, analyst: str | None, part: Part | None = None) -> Remaining:
        """Return the largest loss that a further question on a table, or on a part of it, would be granted."""
        accounts = [table_account(table)] + ([self._grant(analyst, table)] if analyst else [])
        each = [self._remaining(account, part) for account in accounts]
        return Remaining(*(min(getattr(r, kind) for r in each) for kind in ("epsilon", "rho", "delta")))

    def _remaining(self, account: str, part: Part | None) -> Remaining:
        if part is None:
            return self._account(account).remaining
        budget = self._ledger.budget(account)
        assert budget is not None
        return _left(budget, self._ledger.counted_on(account, part))

    def grant(self, analyst: str, table: str, budget: Budget) -> None:
        """Open an analyst's account on a table."""
        account = grant_account(analyst, table)
        if self._ledger.budget(account) not in (None, budget):
            raise CatalogError("grant-exists", analyst=analyst, table=table)
        self._ledger.open_account(account, budget)

    def debits(
        self, costs: Iterable[tuple[str, Event]], parts: Mapping[str, Part] = NO_PARTS
    ) -> tuple[Debit, ...]:
        """Charge every protected table what a question costs it; for one part where it concerns one."""
        return tuple(Debit(table_account(name), cost, parts.get(name)) for name, cost in costs)

    def grant_debits(
        self, costs: Iterable[tuple[str, Event]], analyst: str | None, parts: Mapping[str, Part] = NO_PARTS
    ) -> tuple[Debit, ...]:
        """Charge the analyst's grants as much as the tables; the curator has none."""
        if analyst is None:
            return ()
        return tuple(Debit(self._grant(analyst, name), cost, parts.get(name)) for name, cost in costs)

    def granted(
        self, costs: Iterable[tuple[str, Event]], analyst: str | None, parts: Mapping[str, Part] = NO_PARTS
    ) -> tuple[Debit, ...]:
        """Return the same for the grants that there are: what explaining says to an analyst who has none yet."""
        named = [] if analyst is None else [(grant_account(analyst, name), name, cost) for name, cost in costs]
        known = [one for one in named if self._ledger.budget(one[0]) is not None]
        return tuple(Debit(account, cost, parts.get(name)) for account, name, cost in known)

    def ungranted(self, costs: Iterable[tuple[str, Event]], analyst: str | None) -> tuple[tuple[str, Left], ...]:
        """Say of each table on which an analyst has no grant that a question would be refused."""
        named = [] if analyst is None else [(grant_account(analyst, name), name) for name, _ in costs]
        return tuple(
            (account, Left(Phrase("leaves-without-grant", analyst=analyst, table=name)))
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

    def leaves(
        self, debits: Iterable[Debit], *, free: bool = False, quiet: Container[str] = ()
    ) -> tuple[tuple[str, Left], ...]:
        """Say of each account what would be left of it after a debit; either-or, like all that is left.

        Args:
            debits: What would be charged to which accounts.
            free: Whether the question was answered before, so that none of it is.
            quiet: Accounts that are named only if they would refuse.
        """
        told = ((debit.account, self._stays(debit) if free else self._leaves(debit)) for debit in debits)
        return tuple((name, left) for name, left in told if name not in quiet or left.refused)

    def _stays(self, debit: Debit) -> Left:
        budget, remaining = self._ledger.budget(debit.account), self._remaining(debit.account, debit.part)
        assert budget is not None
        return Left(Phrase(_FREE, remaining=remaining.phrase, budget=budget_phrase(budget)))

    def _leaves(self, debit: Debit) -> Left:
        budget, after = self._ledger.budget(debit.account), self._ledger.after(debit)
        assert budget is not None
        if not Filter(budget).admits(NOTHING, after):
            remaining = self._remaining(debit.account, debit.part)
            return Left(Phrase("leaves-too-little", remaining=remaining.phrase))
        return Left(Phrase("leaves-some", remaining=_left(budget, after).phrase, budget=budget_phrase(budget)))

    def _grant(self, analyst: str, table: str) -> str:
        account = grant_account(analyst, table)
        if self._ledger.budget(account) is None:
            raise CatalogError("grant-missing", analyst=analyst, table=table)
        return account


def accounts_of_others(tables: Iterable[Table | Public], analyst: str | None) -> frozenset[str]:
    """Return the accounts whose sums an analyst is not shown: they tell what others have asked.

    Where the memory of a table is common, analysts may know that. Curators see all accounts.
    """
    if analyst is None:
        return frozenset()
    protected = (table for table in tables if isinstance(table, Table))
    return frozenset(table_account(table.name) for table in protected if table.memory == "own")


def _left(budget: Budget, spent: Event) -> Remaining:
    rule, delta = Filter(budget), max(Fraction(0), budget.delta_events - spent.delta)
    return Remaining(rule.largest_epsilon(spent), rule.largest_rho(spent), delta)


def analyst_named(name: str) -> str:
    """Return an analyst's name, or refuse one that nobody can have."""
    if not isinstance(name, str) or not name.strip() or name == CURATOR:
        raise CatalogError("analyst-name-taken", analyst=CURATOR)
    return name
