"""Answer a batch: its questions are planned together, reserved once, measured and stored as one release.

The answers agree with each other. Values are read from the fitted cells. Each interval is that of the question by
itself, which holds the truth as often as it says, and stretches to the value that is shown: so agreement can make
an interval longer, and never less sure.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from jali.batch import Batch, BatchAnswer, BatchQuestion
from jali.engines.base import Cancellation
from jali.engines.router import RowsByQuery
from jali.errors import BudgetExceeded, LedgerError, QueryError
from jali.execution.accounts import Accounts, find_hidden_accounts
from jali.execution.ask import QuestionRunner, answer_of
from jali.execution.data_guard import refuse_closed
from jali.execution.declared_tables import DeclaredTables
from jali.execution.intervals import GroupReader
from jali.execution.measure import list_queries, measure
from jali.execution.postprocess import Interval, Release
from jali.execution.reservation import (
    ReleasedAnswer,
    ReservationRequest,
    ReservedQuestion,
    RunContext,
    Stage,
    finish_question,
)
from jali.ir.estimators import AnyEstimate, Cells, RatioEstimate
from jali.ir.expressions import Question
from jali.planner.axis_cells import to_float
from jali.planner.batch import BATCHES, BatchBudget, BatchPlan
from jali.planner.batch.batch_terms import write_in_one_line
from jali.privacy import Concentrated, Loss, Pure
from jali.privacy.rationals import Number, rational
from jali.serialization.schema import VALUES
from jali.sql.printer import show_question

if TYPE_CHECKING:
    from jali.answer import Answer
    from jali.ledger import Declaration, Ledger, Receipt


@dataclass(frozen=True)
class ConsistentRelease(Release):
    """What left through the noise, and the numbers that agree with those of other questions.

    Attributes:
        agreed: By release one entry for each group, in the units of what was released.
    """

    agreed: tuple[tuple[int, tuple[Any, ...]], ...] = field(default=())

    @cached_property
    def readings(self) -> tuple[GroupReader, ...]:
        """One reading: such a question has one grouping set."""
        return (ConsistentReader(self, dict(self.agreed)),)


class ConsistentReader(GroupReader):
    """Reads counts and sums from the numbers that agree, and all else from what was released."""

    def __init__(self, release: Release, agreed: dict[int, tuple[Any, ...]]) -> None:
        super().__init__(release, 0)
        self._agreed_numbers = agreed
        level = release.levels[0]
        plain = {i: numbers for i, numbers in agreed.items() if not isinstance(_get_first(numbers), tuple)}
        noisy = tuple(plain.get(i, column) for i, column in enumerate(level.noisy))
        self._fitted = GroupReader(replace(release, levels=(replace(level, noisy=noisy),)), 0)

    def values(self, estimate: AnyEstimate) -> list[Any]:
        """Return the value of an aggregate in each group."""
        if isinstance(estimate, Cells) and estimate.release in self._agreed_numbers:
            return [_label_numbers(estimate, cells) for cells in self._agreed_numbers[estimate.release]]
        if isinstance(estimate, RatioEstimate):
            # What agrees is not rounded: whole numbers would not add up.
            fits = any(i in self._agreed_numbers for i in estimate.measures)
            return self._fitted.values(replace(estimate, whole=estimate.whole and not fits))
        return super().values(estimate)

    def intervals(self, estimate: AnyEstimate, confidence: float) -> Sequence[Interval]:
        """Return an interval for the aggregate in each group: its own, out to the value."""
        own = super().intervals(estimate, confidence)
        if not isinstance(estimate, RatioEstimate | Cells):
            return own
        return [_stretch_interval(span, value) for span, value in zip(own, self.values(estimate), strict=True)]


def _get_first(numbers: tuple[Any, ...]) -> Any:
    return numbers[0] if numbers else None


def _label_numbers(cells: Cells, numbers: Sequence[Fraction]) -> dict[Any, Any]:
    """Return the numbers of a histogram or distribution function, by their labels."""
    labels = [to_float(label) if isinstance(label, Fraction) else label for label in cells.labels]
    shown = accumulate(numbers) if cells.cumulative else numbers
    return dict(zip(labels, (to_float(cells.worth * number) for number in shown), strict=True))


def _stretch_interval(span: Interval, value: Any) -> Interval:
    if isinstance(span, dict):
        return {label: _stretch_interval(inner, value[label]) for label, inner in span.items()}
    return span if span is None or value is None else (min(span[0], value), max(span[1], value))


# No SQL begins like this: a receipt's question tells whether it is a batch.
_BEGINS = "BATCH of "


@dataclass(frozen=True)
class BatchConditions:
    """What a batch may cost in all, and whether its answers agree."""

    epsilon: Number | None = None
    rho: Number | None = None
    delta: Number | None = None
    agree: bool = True


class BatchRunner:
    """Answers batches from the budget."""

    def __init__(self, ledger: Ledger, tables: DeclaredTables, accounts: Accounts, asking: QuestionRunner) -> None:
        self._ledger = ledger
        self._tables = tables
        self._accounts = accounts
        self._asking = asking

    def begin(self, conditions: BatchConditions, *, analyst: str | None, stage: Stage) -> Batch:
        """Return an empty batch."""
        read_total(conditions)  # a wrong loss is refused before any question is added

        def plan(wanted: list[BatchQuestion]) -> BatchPlan:
            return self.explain(wanted, conditions, analyst=analyst)

        def ask(wanted: list[BatchQuestion], planned: BatchPlan) -> BatchAnswer:
            return self.ask(wanted, planned, analyst=analyst, stage=stage)

        return Batch(plan, ask)

    def explain(
        self, wanted: Sequence[BatchQuestion], conditions: BatchConditions, *, analyst: str | None
    ) -> BatchPlan:
        """Plan all questions, and add what would remain of each account. Free."""
        return self._add_leaves(wanted, self.plan(wanted, read_total(conditions), agree=conditions.agree), analyst)

    def plan(self, wanted: Sequence[BatchQuestion], total: BatchBudget, *, agree: bool) -> BatchPlan:
        """Plan all questions. Free."""
        return self._asking.planner.plan_batch(wanted, total, self._tables.build_catalog(), agree=agree)

    def _add_leaves(self, wanted: Sequence[BatchQuestion], plan: BatchPlan, analyst: str | None) -> BatchPlan:
        """Add what would remain of each account after the batch. Free."""
        debits = self._accounts.debits(plan.costs) + self._accounts.list_grant_debits(plan.costs, analyst)
        known = self._asking.freeze(_describe_batch(wanted), plan, analyst, self._tables.read())
        quiet = find_hidden_accounts(plan.read, analyst)
        leaves = self._accounts.describe_leaves(debits, free=known.answered, quiet=quiet)
        return plan.telling(leaves + self._accounts.list_missing_grants(plan.costs, analyst))

    def ask(
        self, wanted: Sequence[BatchQuestion], plan: BatchPlan, *, analyst: str | None, stage: Stage
    ) -> BatchAnswer:
        """Answer a batch, from what was released before if it was asked before."""
        return finish_question(self.begin_asking(wanted, plan, analyst=analyst, stage=stage), RunContext(stage))

    def begin_asking(
        self,
        wanted: Sequence[BatchQuestion],
        plan: BatchPlan,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> ReleasedAnswer[BatchAnswer] | ReservedQuestion[BatchAnswer]:
        """Recall the answers of a batch, or reserve their loss. No data is read."""
        declared = self._tables.read()
        request = self._asking.freeze(_describe_batch(wanted), plan, analyst, declared).check_grants()
        recalled = self._asking.recall(request, plan.read, _read_released_batch)
        if recalled is not None:
            return recalled
        self._asking.guard.admit(declared.latest, plan.read, (part for one in plan.plans for part in one.parts))
        stage("reserving")
        receipt = self._reserve(replace(request, working=working, declared=None))
        return ReservedQuestion(receipt, partial(self._run_plan, receipt, plan, request.plan))

    def _reserve(self, request: ReservationRequest) -> str:
        try:
            return self._asking.reserve(request)
        except BudgetExceeded as refused:
            raise refused.about("this batch") from None

    def holds(self, receipt: str, *, analyst: str | None) -> bool:
        """Say whether a receipt is one of a batch. An unknown receipt is not."""
        try:
            return self.is_batch(self._ledger.receipt(receipt, analyst=analyst))
        except LedgerError:
            return False

    @staticmethod
    def is_batch(receipt: Receipt) -> bool:
        """Say whether a receipt is one of a batch."""
        return receipt.question.startswith(_BEGINS)

    def redeem(self, receipt: str, *, analyst: str | None, stage: Stage) -> BatchAnswer:
        """Give the answers that the receipt of a batch stands for."""
        return finish_question(self.take_up(receipt, analyst=analyst), RunContext(stage))

    def take_up(
        self, receipt: str, *, analyst: str | None
    ) -> ReleasedAnswer[BatchAnswer] | ReservedQuestion[BatchAnswer]:
        """Return the stored answers of a receipt, or count an attempt to answer it now: all but the reading."""
        if not self.holds(receipt, analyst=analyst):
            raise QueryError("receipt-of-no-batch", receipt=receipt)
        reservation = self._ledger.begin(receipt, analyst=analyst)
        if reservation.answer is not None:
            return _read_released_batch(reservation.plan, receipt, reservation.answer)
        plan: BatchPlan = BATCHES.decode(reservation.plan)
        return ReservedQuestion(receipt, partial(self._run_plan, receipt, plan, reservation.plan))

    def _run_plan(
        self, receipt: str, plan: BatchPlan, text: str, watch: RunContext
    ) -> ReleasedAnswer[BatchAnswer]:
        def check(latest: tuple[Declaration, ...]) -> None:
            refuse_closed({one.name: one for one in latest}, plan.read)

        def draw() -> str:
            return self._measure(plan, receipt, watch.cancellation)

        stored = self._asking.fulfil(receipt, draw, watch, check)
        return ReleasedAnswer(batch_of(plan, receipt, stored, cached=False), text, stored)

    def _measure(self, batch: BatchPlan, receipt: str, cancellation: Cancellation) -> str:
        """Return one noisy draw of every release, as text; equal queries are run once."""

        def add_noise(rows: RowsByQuery) -> str:
            return VALUES.encode(tuple(measure(plan, lambda part: rows[part.sql]) for plan in batch.plans))

        return self._asking.guard.run_guarded(
            list_queries(batch.plans), batch.read, receipt, add_noise, cancellation
        )


def _read_released_batch(plan: str, receipt: str, drawn: str) -> ReleasedAnswer[BatchAnswer]:
    """Read what was released before."""
    return ReleasedAnswer(batch_of(BATCHES.decode(plan), receipt, drawn, cached=True), plan, drawn)


def batch_of(plan: BatchPlan, receipt: str, stored: str, *, cached: bool) -> BatchAnswer:
    """Read a stored draw as the answers of a batch: post-processing, from here on."""
    from jali.planner.batch.consistent_answers import make_consistent

    drawn = VALUES.decode(stored)
    found = make_consistent(plan, [noisy for _, noisy in drawn])
    whole = [
        answer_of(one, receipt, VALUES.encode(part), cached=cached)
        for one, part in zip(plan.plans, drawn, strict=True)
    ]
    answers = []
    for reading in plan.readings:
        fits = {release: numbers for (place, release), numbers in found.items() if place == reading.place}
        answer = _replace_estimates(whole[reading.place], reading.question, reading.estimates, fits)
        answers.append(replace(answer, cost=plan.cost, costs=plan.costs, batched=True))
    return BatchAnswer(tuple(answers), plan.cost, plan.costs, receipt, cached)


def _replace_estimates(
    answer: Answer, question: Question, estimates: Any, fits: dict[int, tuple[Any, ...]]
) -> Answer:
    release = replace(answer.release, question=question, estimates=estimates)
    if not fits:
        return replace(answer, release=release)
    names = ("question", "keys", "estimates", "measures", "levels", "max_rows")
    shared = {name: getattr(release, name) for name in names}
    return replace(answer, release=ConsistentRelease(**shared, agreed=tuple(sorted(fits.items()))))


def _describe_batch(wanted: Sequence[BatchQuestion]) -> str:
    asked = [one.question for one in wanted]
    texts = [write_in_one_line(one) if isinstance(one, str) else show_question(one) for one in asked]
    return f"{_BEGINS}{len(wanted)}: " + "; ".join(texts)


def read_total(conditions: BatchConditions) -> BatchBudget:
    """Read what a batch may cost in all."""
    if conditions.epsilon is not None and conditions.rho is not None:
        raise QueryError("batch-loss-missing")
    delta = Fraction(0) if conditions.delta is None else rational(conditions.delta, "delta")
    if not 0 <= delta < 1:
        raise QueryError("delta-outside")
    loss: Loss | None = None
    if conditions.epsilon is not None:
        loss = Pure(conditions.epsilon)
    elif conditions.rho is not None:
        loss = Concentrated(conditions.rho)
    return BatchBudget(loss, delta)
