"""Suggest what would fit where the budget refuses a question: the question at a smaller loss, or a coarser one.

Budgets, what was spent of them and plans are all that is looked at: no data is read, and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from jali.display.numbers import show_amount, show_percent
from jali.errors import BudgetExceeded, Fit, JaliError
from jali.ir.expressions import Question
from jali.ledger import Debit, Ledger
from jali.ledger.charge import charge
from jali.numbers.exact import below
from jali.numbers.rounding import round_root_down
from jali.planner.plan import Plan
from jali.planner.suggest_coarser import has_aggregates, suggest_coarser
from jali.planner.terms import TermArguments, drop_accuracy_target
from jali.privacy import NOTHING, Event, Filter
from jali.privacy.filters import ROOT_UNIT
from jali.privacy.rationals import rational

if TYPE_CHECKING:
    from jali.explain.notes import AggregateNote

PlanFunction: TypeAlias = Callable[[Question, TermArguments], Plan]
DebitFunction: TypeAlias = Callable[[Plan], tuple[Debit, ...]]
NoteFunction: TypeAlias = Callable[[Plan], "tuple[AggregateNote, ...]"]
# A loss that is granted by the numbers may be refused as every loss is rounded up: then a little less is tried.
_LESS = (Fraction(1), Fraction(999, 1000), Fraction(99, 100), Fraction(9, 10))
_MOST_FITS = 6
# Where losses of the other kind are tried first.
_TRIAL = Fraction(1, 100)


def note_aggregates(plan: Plan) -> tuple[AggregateNote, ...]:
    """Say how close each aggregate of a plan will come."""
    from jali.explain.aggregate_formulas import aggregate_notes

    return aggregate_notes(plan)


@dataclass(frozen=True)
class SuggestionSearch:
    """Looks for what the accounts of a question would grant.

    Attributes:
        ledger: The accounts.
        plan: Plans a question, free.
        debits: What a plan would be charged to which accounts.
        notes: Says how close each aggregate of a plan will come.
    """

    ledger: Ledger
    plan: PlanFunction
    debits: DebitFunction
    notes: NoteFunction = note_aggregates

    def suggest(self, question: Question, given: TermArguments, refused: Plan) -> tuple[Fit, ...]:
        """Return what would fit instead of a refused plan: the question itself first, then coarser ones."""
        terms = _set_refused_loss(given, refused.cost)
        return tuple(fit for _, fit in zip(range(_MOST_FITS), self._all(question, terms, refused), strict=False))

    def find_tightest(self, refusal: BudgetExceeded, plan: Plan) -> BudgetExceeded:
        """Return the refusal of the account that would grant least: another one may have been asked first."""
        debits = self.debits(plan)
        least = min(debits, key=lambda debit: min(self._delta_left(debit), self._compute_share(debit)))
        budget = self.ledger.budget(least.account)
        if least.account == refusal.account or budget is None:
            return refusal
        try:
            charge(Debit(least.account, least.event), budget, self._read_spent(least))
        except BudgetExceeded as found:
            return found
        return refusal

    def _all(self, question: Question, terms: TermArguments, refused: Plan) -> Iterator[Fit]:
        kind = refused.cost.kind
        same = self._fit("", question, terms, kind)
        if same is None:
            other = "rho" if kind == "epsilon" else "epsilon"
            noise = "Gaussian" if other == "rho" else "Laplace"
            same = self._fit(f"with {noise} noise", question, _set_loss(terms, other, _TRIAL), other, largest=True)
        if same is not None:
            yield same
        for change, other_question in suggest_coarser(question):
            found = self._fit(change, other_question, terms, kind) if has_aggregates(other_question) else None
            if found is not None:
                yield found

    def _fit(
        self, change: str, question: Question, terms: TermArguments, kind: str, *, largest: bool = False
    ) -> Fit | None:
        """Return what would be granted of a question; None where nothing would, or it cannot be planned."""
        try:
            return self._search_fit(change, question, terms, kind, largest=largest)
        except JaliError:
            return None

    def _search_fit(
        self, change: str, question: Question, terms: TermArguments, kind: str, *, largest: bool
    ) -> Fit | None:
        tried = self.plan(question, terms)
        debits = self.debits(tried)
        delta = min((self._delta_left(debit) for debit in debits), default=Fraction(0))
        if delta <= 0:
            return None
        share = min(self._compute_share(debit) for debit in debits)
        asked = rational(terms["epsilon" if kind == "epsilon" else "rho"] or 0, kind)
        most = share if largest else min(Fraction(1), share)
        less = self._with_delta(terms, delta)
        for factor in _LESS:
            amount = below(asked * most * factor)
            if (
                amount > 0
                and (plan := self.plan(question, _set_loss(less, kind, amount)))
                and self._is_granted(plan)
            ):
                return describe_fit(change, plan, kind, amount, self.notes(plan))
        return None

    def _with_delta(self, terms: TermArguments, share: Fraction) -> TermArguments:
        chance = terms.get("delta")
        if chance is None or share >= 1:
            return terms
        return {**terms, "delta": below(rational(chance, "delta") * share)}

    def _delta_left(self, debit: Debit) -> Fraction:
        """Return which part of the delta of a debit would be granted, 1 at most."""
        if not debit.event.delta:
            return Fraction(1)
        budget = self.ledger.budget(debit.account)
        assert budget is not None
        return min(Fraction(1), (budget.delta_events - self._read_spent(debit).delta) / debit.event.delta)

    def _compute_share(self, debit: Debit) -> Fraction:
        """Return which multiple of the loss of a debit would be granted: by either rule of the filter.

        A pure epsilon is proportional to the loss, its rho to the square.
        """
        budget = self.ledger.budget(debit.account)
        assert budget is not None
        event, spent, rule = debit.event, self._read_spent(debit), Filter(budget)
        smooth = max(Fraction(0), rule.rho - spent.rho) / event.rho
        if event.epsilon is None:
            return smooth
        plain = Fraction(0) if spent.epsilon is None else (budget.epsilon - spent.epsilon) / event.epsilon
        return max(plain, round_root_down(smooth, ROOT_UNIT))

    def _read_spent(self, debit: Debit) -> Event:
        if debit.part is None:
            return self.ledger.spent(debit.account)
        return self.ledger.filter_sum(debit.account, debit.part)

    def _is_granted(self, plan: Plan) -> bool:
        return all(is_granted(self.ledger, debit) for debit in self.debits(plan))


def is_granted(ledger: Ledger, debit: Debit) -> bool:
    """Say whether an account would pay for a debit now."""
    budget = ledger.budget(debit.account)
    return budget is not None and Filter(budget).admits(NOTHING, ledger.after(debit))


def _set_refused_loss(given: TermArguments, cost: Event) -> TermArguments:
    """Return terms with the loss that was refused, in place of an aim that it was found for."""
    return _set_loss(
        {**drop_accuracy_target(given), "group_rows": given.get("group_rows")}, cost.kind, cost.amount
    )


def _set_loss(terms: TermArguments, kind: str, amount: Fraction) -> TermArguments:
    kept: TermArguments = {**terms, "epsilon": None, "rho": None}
    return {**kept, "epsilon": amount} if kind == "epsilon" else {**kept, "rho": amount}


def describe_fit(change: str, plan: Plan, kind: str, amount: Fraction, notes: tuple[AggregateNote, ...]) -> Fit:
    """Describe a plan that would be granted."""
    groups = None if plan.selection is not None else sum(level.aggregation.groups for level in plan.levels)
    return Fit(
        change,
        kind,
        amount,
        plan.cost.delta,
        groups,
        tuple((note.name, "; ".join(_describe_forecast(note))) for note in notes),
        tuple(_list_half_widths(plan, notes)),
    )


def _list_half_widths(plan: Plan, notes: tuple[AggregateNote, ...]) -> Iterator[tuple[str, float]]:
    """Yield the half-widths under the names of the outputs, which is how `within=` names them."""
    for (aggregate, _), note in zip(plan.estimates, notes, strict=True):
        if note.half_width is not None and not note.sure:
            yield from ((o.name, note.half_width) for o in plan.question.outputs if o.expression == aggregate)


def _describe_forecast(note: AggregateNote) -> tuple[str, ...]:
    """Write a forecast; that of a count also as a share of the rows of a group, where these are guessed."""
    counts = note.name.startswith("COUNT(") and "DISTINCT" not in note.name
    if note.half_width is None or note.sets or note.guess is None or not counts:
        # Read where a question is refused: no answer needs it.
        from jali.explain.labelled_facts import write_forecasts

        return write_forecasts(note)
    share, rows = note.half_width / note.guess, f"{show_amount(note.guess)} rows"
    of_rows = f"{show_percent(share)} of a group of {rows}" if share < 1 else f"lost in a group of {rows}"
    return (f"± {show_amount(note.half_width)}, {of_rows}",)
