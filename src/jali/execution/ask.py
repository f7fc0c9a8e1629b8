"""Answer one question: plan, recall or reserve, run, measure, release. In that order.

This is the one way from a plan to an answer. A reservation is made once and answered once, whatever is in it: the
budget is debited durably before any data is read, and what was measured is stored before it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from jali.answer import Answer
from jali.catalog.tables import Public, Table
from jali.engines.base import Cancellation, make_failure
from jali.errors import BudgetExceeded, EngineError, JaliError, LedgerError, Phrase
from jali.execution.accounts import CURATOR, Accounts, SubpopulationAccounts, find_hidden_accounts
from jali.execution.data_guard import DataGuard
from jali.execution.declared_tables import DeclaredTables
from jali.execution.measure import draw
from jali.execution.postprocess import Release, ReleasedGroups, list_groups
from jali.execution.question_planner import LocalPlanner, Planner, emit_queries
from jali.ir.expressions import Question
from jali.ir.relations import Scan
from jali.ledger import Debit, Reservation
from jali.planner import PLANS, Plan
from jali.planner.answer_notes import write_answer_notes
from jali.planner.subpopulation_costs import describe_subpopulation
from jali.planner.terms import TermArguments
from jali.serialization.answer_keys import answer_key, earlier_key
from jali.serialization.schema import VALUES
from jali.sql.printer import show_question

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.execution.suggestions import SuggestionSearch
    from jali.ledger import Ledger
    from jali.planner.batch import BatchPlan

Stage = Callable[[str], None]


def ignore_stage(_: str) -> None:
    """Tell nobody which stage begins."""


def hold_nothing() -> None:
    """Hold nothing back."""


@dataclass(frozen=True)
class RunContext:
    """Whoever waits for an answer.

    Attributes:
        stage: Is told each stage as it begins.
        cancellation: Another thread can stop the engine by it.
        hold: Returns when an answer, or its failure, may leave: whatever the engine took, at a time of its own.
    """

    stage: Stage = ignore_stage
    cancellation: Cancellation = field(default_factory=Cancellation)
    hold: Callable[[], None] = hold_nothing


@dataclass(frozen=True)
class ReservationRequest:
    """What the ledger reserves: a frozen plan, for whom, and who pays.

    Attributes:
        analyst: Who asks.
        question: What the receipt says was asked.
        key: Under which an answer is recalled. Nothing of the data is in it.
        plan: The frozen plan, as text: what a receipt is redeemed by.
        debits: What each table is charged.
        grants: What each grant of the analyst is charged.
    """

    analyst: str
    question: str
    key: str
    plan: str
    debits: tuple[Debit, ...]
    grants: tuple[Debit, ...] = ()
    working: Container[str] = field(default=(), compare=False, repr=False)


T = TypeVar("T")


@dataclass(frozen=True)
class ReleasedAnswer(Generic[T]):
    """What a receipt stands for, once it is released.

    Attributes:
        answer: The answer.
        plan: The frozen plan, as the ledger keeps it.
        drawn: The noisy draw, as the ledger keeps it.
    """

    answer: T
    plan: str = field(repr=False)
    drawn: str = field(repr=False)


@dataclass(frozen=True)
class ReservedQuestion(Generic[T]):
    """What is paid and not yet answered.

    Attributes:
        receipt: The right to its one answer.
        finish: Reads the data and finds the answer.
    """

    receipt: str
    finish: Callable[[RunContext], ReleasedAnswer[T]]


def finish_question(begun: ReleasedAnswer[T] | ReservedQuestion[T], watch: RunContext) -> T:
    """Return the answer that was found, or finish what was begun."""
    return (begun.finish(watch) if isinstance(begun, ReservedQuestion) else begun).answer


class QuestionRunner:
    """Answers questions from the budget."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Engine,
        tables: DeclaredTables,
        accounts: Accounts,
        guard: DataGuard,
        planner: Planner | None = None,
    ) -> None:
        self.guard = guard
        self.planner: Planner = planner or LocalPlanner(engine)
        self._ledger = ledger
        self._engine = engine
        self._tables = tables
        self._accounts = accounts
        self.parts = SubpopulationAccounts(ledger, tables)

    def plan(self, question: str | Question, given: TermArguments) -> Plan:
        """Plan a question. Free."""
        return self.planner.plan(question, given, self._tables.build_catalog())

    def explain(self, question: str | Question, given: TermArguments, *, analyst: str | None = None) -> Plan:
        """Plan a question, and say what it would cost now where other parts have paid, and leave. Free."""
        plan = self.plan(question, given)
        quiet = find_hidden_accounts(plan.read, analyst)
        charged = () if plan.part is None or quiet else self.parts.compute_growth(plan)
        key = self.key(_describe_question(question, plan), plan, analyst)
        free = self._ledger.has_answer(key, analyst=analyst or CURATOR)
        leaves = self._accounts.describe_leaves(self._list_debits(plan, analyst), free=free, quiet=quiet)
        return plan.telling(charged, leaves + self._accounts.list_missing_grants(plan.costs, analyst))

    def emit_queries(self, plan: Plan) -> Plan:
        """Write the engine's queries of a plan."""
        return emit_queries(plan, self._engine)

    def ask(self, question: str | Question, given: TermArguments, *, analyst: str | None, stage: Stage) -> Answer:
        """Answer one question, from what was released before if it was asked before."""
        return finish_question(self.begin(question, given, analyst=analyst, stage=stage), RunContext(stage))

    def begin(
        self,
        question: str | Question,
        given: TermArguments,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        """Plan a question, and recall its answer or pay for it: all but the reading.

        A receipt of it that is being answered now, in `working`, is the one that is returned.
        """
        stage("planning")
        plan = self.plan(question, given)
        try:
            order = replace(self.build_request(question, plan, analyst), working=working)
            return self._recall_or_reserve(order, plan, stage)
        except BudgetExceeded as error:
            refused = error
        fits = self._find_suggestions(analyst)
        raise fits.find_tightest(refused, plan).offering(fits.suggest(*self.planner.read(question, given), plan))

    def answer_request(self, order: ReservationRequest, plan: Plan, watch: RunContext) -> Answer:
        """Recall the answer of an order, or pay for it and give it."""
        return finish_question(self._recall_or_reserve(order, plan, watch.stage), watch)

    def _recall_or_reserve(
        self, order: ReservationRequest, plan: Plan, stage: Stage
    ) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        stored = self.recall(order, plan.read)
        if stored is not None and stored.answer is not None:
            return _read_released(stored.plan, stored.receipt, stored.answer)
        self.guard.admit(plan.read, plan.parts)
        stage("reserving")
        receipt = self.reserve(order)
        return ReservedQuestion(receipt, partial(self._run_plan, receipt, plan, order.plan, order.debits))

    def recall(self, order: ReservationRequest, tables: tuple[Table | Public, ...]) -> Reservation | None:
        """Return the released answer of an equal order: the analyst's own; anybody's where memory is common.

        Otherwise an answer that costs the table nothing, or comes at once, would tell that somebody else has
        asked. Curators see all receipts anyway.
        """
        others = _may_recall_others(tables, order.analyst)
        return self._ledger.recall(order.key, analyst=order.analyst, grant=order.grants or None, others=others)

    def _find_suggestions(self, analyst: str | None) -> SuggestionSearch:
        """Return what looks for what the accounts would grant instead. Free."""
        from jali.execution.suggestions import SuggestionSearch

        catalog = self._tables.build_catalog()
        return SuggestionSearch(
            self._ledger,
            lambda one, terms: self.planner.plan(one, terms, catalog),
            lambda one: self._list_debits(one, analyst),
            self.planner.notes,
        )

    def _list_debits(self, plan: Plan, analyst: str | None) -> tuple[Debit, ...]:
        """Return what each table, and each grant of an analyst that there is, would be charged."""
        parts = self.parts.find_subpopulations(plan)
        return self._accounts.debits(plan.costs, parts) + self._accounts.list_grant_debits(
            plan.costs, analyst, parts
        )

    def build_request(self, question: str | Question, plan: Plan, analyst: str | None) -> ReservationRequest:
        """Freeze a plan, and say who pays: every protected table, and the analyst's grants as much."""
        said, parts = _describe_question(question, plan), self.parts.find_subpopulations(plan)
        return ReservationRequest(
            analyst=analyst or CURATOR,
            question=said,
            key=self.key(said, plan, analyst),
            plan=plan.encoded,
            debits=self._accounts.debits(plan.costs, parts),
            grants=self._accounts.grant_debits(plan.costs, analyst, parts),
        )

    def key(self, question: str, plan: Plan | BatchPlan, analyst: str | None) -> str:
        """Return the cache's key: what a plan means, and the versions that the curator advances.

        Where the same was asked of an earlier version of Jali, in the same words, the key is the one of then: its
        answer is recalled, or its open receipt is taken up.
        """
        versions, others = self._describe_versions(plan.read), _may_recall_others(plan.read, analyst)
        known = self._ledger.earlier_keys(question, analyst=analyst or CURATOR, others=others)
        same = (key for key, stored in known if _has_same_meaning(plan, stored, versions, key))
        return next(same, None) or answer_key(versions, plan.meaning)

    def _describe_versions(self, tables: tuple[Table | Public, ...]) -> str:
        versions = ""
        for table in tables:
            declared = self._ledger.declaration(table.name)
            assert declared is not None
            versions += f"{declared.version}\n{declared.data_version}\n"
        return versions

    def buy(self, order: ReservationRequest, plan: Plan, stage: Stage) -> Answer:
        """Pay for an order and give its answer."""
        return self._run_plan(self.reserve(order), plan, order.plan, order.debits, RunContext(stage)).answer

    def reserve(self, order: ReservationRequest) -> str:
        """Debit durably, before any data is read, and return the receipt."""
        return self._ledger.reserve(
            analyst=order.analyst,
            question=order.question,
            key=order.key,
            plan=order.plan,
            debits=order.debits + order.grants,
            resume=True,
            working=order.working,
        )

    def failure(self, receipt: str) -> str | None:
        """Return what the engine says of the question of a receipt, for the curator; None if it runs."""
        from jali.planner.batch import BATCHES, BatchPlan

        frozen: Plan | BatchPlan = BATCHES.decode(self._ledger.plan(receipt))
        plans = frozen.plans if isinstance(frozen, BatchPlan) else (frozen,)
        failures = (self._engine.failure(part.sql, plan.read) for plan in plans for part in plan.parts)
        return next((failure for failure in failures if failure is not None), None)

    def redeem(self, receipt: str, *, analyst: str | None, stage: Stage) -> Answer:
        """Give the one answer that a receipt stands for: the stored one, or its plan run as it was frozen."""
        return finish_question(self.take_up(receipt, analyst=analyst), RunContext(stage))

    def take_up(self, receipt: str, *, analyst: str | None) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        """Return the stored answer of a receipt, or count an attempt to answer it now: all but the reading."""
        reservation = self._ledger.begin(receipt, analyst=analyst)
        if reservation.answer is not None:
            return _read_released(reservation.plan, receipt, reservation.answer)
        plan: Plan = PLANS.decode(reservation.plan)
        self.parts.check(plan, reservation.debits)
        return ReservedQuestion(
            receipt, partial(self._run_plan, receipt, plan, reservation.plan, reservation.debits)
        )

    def _run_plan(
        self,
        receipt: str,
        plan: Plan,
        text: str,
        debits: tuple[Debit, ...],
        watch: RunContext,
    ) -> ReleasedAnswer[Answer]:
        def measure() -> str:
            found = self.measure(plan, receipt, watch.cancellation)
            # The data that was read is that of the version which is still the latest one now.
            self.parts.check(plan, debits)
            return found

        stored = self.fulfil(receipt, measure, watch)
        return ReleasedAnswer(answer_of(plan, receipt, stored, cached=False), text, stored)

    def fulfil(self, receipt: str, drawn: Callable[[], str], watch: RunContext) -> str:
        """Read the data, add the noise, store what was drawn, and only then let it leave.

        Nobody learns when the engine was done where the caller holds the answer back: not by the state of the
        receipt, as the release comes after that, nor by cancelling, which stops a question until its release.
        """
        watch.stage("reading")
        try:
            return self._measure_and_release(receipt, drawn, watch)
        except EngineError as problem:
            told: JaliError = problem.replace(advice=Phrase("receipt-stays-open", receipt=receipt))
        except LedgerError as problem:
            told = problem.replace(advice=Phrase("receipt-stays-open", receipt=receipt))
        # Raised anew: a traceback into the reading would carry exact or unreleased numbers in its frames.
        raise told

    def _measure_and_release(self, receipt: str, drawn: Callable[[], str], watch: RunContext) -> str:
        try:
            found = drawn()
        finally:
            watch.hold()
        if watch.cancellation.reason:
            raise make_failure(watch.cancellation.reason)
        return self._ledger.release(receipt, found)

    def measure(self, plan: Plan, receipt: str, cancellation: Cancellation) -> str:
        """Return one noisy draw, as text. The exact integers go no further than this."""
        return self.guard.run_guarded(
            plan.read,
            receipt,
            lambda: VALUES.encode(draw(plan, lambda part: self.run(part.sql, plan.read, cancellation))),
        )

    def run(
        self, sql: str, tables: tuple[Table | Public, ...], cancellation: Cancellation
    ) -> list[tuple[Any, ...]]:
        """Run one query of a plan; one that was cancelled before is not begun."""
        if cancellation.reason:
            raise make_failure(cancellation.reason)
        return self._engine.run(sql, tables, cancellation)


def _may_recall_others(tables: tuple[Table | Public, ...], analyst: str | None) -> bool:
    """Say whether an analyst may be given what others have asked."""
    common = all(table.memory == "common" for table in tables if isinstance(table, Table))
    return common or analyst in (None, CURATOR)


def _has_same_meaning(plan: Plan | BatchPlan, stored: str, versions: str, key: str) -> bool:
    """Say whether a plan that an earlier version stored under a key means the same, of the same data."""
    from jali.planner.batch import BATCHES, without_words

    known = key == earlier_key(versions, without_words(stored))
    return known and bool(BATCHES.decode(stored).meaning == plan.meaning)


def _describe_question(question: str | Question, plan: Plan) -> str:
    """Return what a receipt says was asked."""
    return (question if isinstance(question, str) else show_question(question)) + describe_subpopulation(plan.part)


def _read_released(plan: str, receipt: str, drawn: str) -> ReleasedAnswer[Answer]:
    """Read what was released before."""
    return ReleasedAnswer(answer_of(PLANS.decode(plan), receipt, drawn, cached=True), plan, drawn)


def answer_of(plan: Plan, receipt: str, stored: str, *, cached: bool) -> Answer:
    """Read a stored draw as the answer of its plan: post-processing, from here on."""
    groups, noisy = VALUES.decode(stored)
    levels = tuple(
        ReleasedGroups(
            level.places,
            list_groups([plan.keys[place] for place in level.places]) if groups is None else groups,
            tuple(part.mechanisms[i].noise_law for part, i in level.releases),
            released,
        )
        for level, released in zip(plan.levels, noisy, strict=True)
    )
    release = Release(
        plan.question,
        plan.keys,
        plan.estimates,
        plan.aggregation.measures,
        levels,
        plan.selection,
        plan.told,
        1 if plan.aggregation.weights is None else plan.aggregation.weights.max_rows,
        _find_declared_rows(plan),
    )
    rehearsed = any(table.source.synthetic for table in plan.tables)
    return Answer(release, plan.cost, receipt, cached, plan.costs, write_answer_notes(plan), rehearsed=rehearsed)


def _find_declared_rows(plan: Plan) -> int | None:
    """Return the declared number of rows where a question bounds all rows of one table."""
    whole = isinstance(plan.source, Scan) and plan.aggregation.weights is not None
    return plan.table.rows if whole else None
