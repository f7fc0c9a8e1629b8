"""Answer one question: parse, resolve, plan, recall, reserve, run, measure, release. In that order.

`plan_question` parses, resolves and plans, in this process or in another one. `QuestionRunner.begin` plans, and
recalls the answer or reserves its loss; `QuestionRunner.finish` runs the engine's queries, measures and releases.
This is the one way from a question to an answer. A reservation is made once and answered once: the budget is
debited durably before any data is read, and what was measured is stored before it leaves.

A question takes two transactions of the ledger that read, and two that write. The first read gives all that is
declared, the second all that is known of the question. The reservation makes sure that nothing of it was declared
again since; the release, that no table was closed and that a subpopulation is still the one that was charged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, TypeVar

from jali.answer import Answer
from jali.catalog.tables import Catalog, Public, Table
from jali.engines.base import make_change_failure, make_failure
from jali.engines.router import RowsByQuery
from jali.errors import BudgetExceeded, EngineError, JaliError, LedgerError, Phrase, QueryError
from jali.execution.accounts import (
    CURATOR,
    NO_SUBPOPULATIONS,
    Accounts,
    SubpopulationAccounts,
    find_hidden_accounts,
)
from jali.execution.data_guard import DataGuard, Declarations, refuse_closed
from jali.execution.declared_tables import DeclaredState, DeclaredTables
from jali.execution.measure import list_queries, measure
from jali.execution.postprocess import Release, ReleasedGroups, list_groups
from jali.execution.reservation import (
    ReleasedAnswer,
    ReservationRequest,
    ReservedQuestion,
    RunContext,
    Stage,
    finish_question,
)
from jali.ir.expressions import Question
from jali.ir.relations import Scan
from jali.ledger import Debit, DebitSubpopulation, DeclarationsChanged, QuestionHistory
from jali.ledger.charge import charge_grants
from jali.planner import PLANS, Plan, make_plan, plan_resolved, resolve_names
from jali.planner.answer_notes import write_answer_notes
from jali.planner.bigquery_terms import check_unit, merge_clause
from jali.planner.subpopulation_costs import describe_subpopulation
from jali.planner.terms import TermArguments, read_accuracy_target, read_terms
from jali.serialization.answer_keys import answer_key, earlier_key
from jali.serialization.schema import VALUES
from jali.sql.bigquery import PrivacyClause, read_clause
from jali.sql.printer import show_question
from jali.sql.question_limits import DEFAULT, Limits, check_text
from jali.sql.reader.read_select import read_sql

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.execution.question_planner import Planner
    from jali.ledger import Declaration, Ledger
    from jali.ledger.ledger import DeclarationCheck
    from jali.planner.batch import BatchPlan

# How often a question is begun while tables are declared again.
_TRIES = 3


# Parse, resolve, plan. No data is read, and nothing is charged.


def plan_question(
    question: str | Question, given: TermArguments, catalog: Catalog, limits: Limits = DEFAULT
) -> Plan:
    """Plan a question at the loss that is given, or at the least one that comes as close as is wanted."""
    parsed, terms, clause = parse(question, given, limits)
    target = read_accuracy_target(terms)
    if target is None:
        resolved = resolve_names(parsed, catalog, read_terms(**terms), limits)
        plan = plan_resolved(resolved)
    else:
        # Read when a question has a target, which few have.
        from jali.planner.accuracy import plan_for_accuracy

        plan = plan_for_accuracy(lambda wanted: make_plan(parsed, catalog, wanted, limits), terms, target)
    if clause is not None:
        check_unit(clause, plan)
    return plan


def parse(
    question: str | Question, given: TermArguments, limits: Limits = DEFAULT
) -> tuple[Question, TermArguments, PrivacyClause | None]:
    """Return a question as nodes, its terms with those of the clause in its text, and the clause."""
    if isinstance(question, Question):
        return question, given, None
    if not isinstance(question, str):
        raise QueryError("question-not-text")
    parsed, clause = _parse_text(question, limits)
    return parsed, given if clause is None else merge_clause(clause, given), clause


# The same texts are asked again and again, of other data or at other losses.
@lru_cache(maxsize=256)
def _parse_text(text: str, limits: Limits) -> tuple[Question, PrivacyClause | None]:
    check_text(text, limits)
    plain, clause, bounds = read_clause(text, limits)
    return read_sql(plain, bounds, limits), clause


T = TypeVar("T")


class QuestionRunner:
    """Answers questions from the budget."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Engine,
        tables: DeclaredTables,
        accounts: Accounts,
        guard: DataGuard,
        planner: Planner,
    ) -> None:
        self.guard = guard
        self.planner = planner
        self.parts = SubpopulationAccounts(ledger, tables)
        self._ledger = ledger
        self._engine = engine
        self._tables = tables
        self._accounts = accounts

    def ask(self, question: str | Question, given: TermArguments, *, analyst: str | None, stage: Stage) -> Answer:
        """Answer one question, from what was released before if it was asked before."""
        begun = self.begin(question, given, analyst=analyst, stage=stage)
        return finish_question(begun, RunContext(stage, at_once=True))

    def begin(
        self,
        question: str | Question,
        given: TermArguments,
        *,
        analyst: str | None,
        stage: Stage,
        working: Container[str] = (),
    ) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        """Plan a question, and recall its answer or reserve its loss. No data is read.

        A receipt of it that is being answered now, in `working`, is the one that is returned. Where a table is
        declared again meanwhile, the question begins again.
        """
        stage("planning")
        for _ in range(_TRIES):
            declared = self._tables.read()
            plan = self.plan(question, given, declared)
            try:
                request = self.build_request(question, plan, analyst, declared)
                recalled = self.recall(request, plan.read, read_stored_answer)
                return recalled or self._reserve_plan(replace(request, working=working), plan, stage)
            except DeclarationsChanged:
                continue
            except BudgetExceeded as error:
                refused = error
            raise self._add_suggestions(refused, question, given, plan, analyst)
        raise make_change_failure()

    def plan(self, question: str | Question, given: TermArguments, declared: DeclaredState | None = None) -> Plan:
        """Plan a question for the tables that are declared. Free."""
        return self.planner.plan(question, given, (declared or self._tables.read()).catalog)

    def recall(
        self,
        request: ReservationRequest,
        tables: tuple[Table | Public, ...],
        read: Callable[[str, str, str], ReleasedAnswer[T]],
    ) -> ReleasedAnswer[T] | None:
        """Return the released answer of an equal request: the analyst's own; anybody's where memory is common.

        Otherwise an answer that costs the table nothing, or comes at once, would tell that somebody else has
        asked. Curators see all receipts anyway.
        """
        if request.hit is None:
            return None
        others = _may_recall_others(tables, request.analyst)
        stored = self._ledger.hand_out(request.hit, analyst=request.analyst, grant=request.grants, others=others)
        if stored is None or stored.answer is None:
            return None
        return read(stored.plan, stored.receipt, stored.answer)

    def _reserve_plan(self, request: ReservationRequest, plan: Plan, stage: Stage) -> ReservedQuestion[Answer]:
        declared = self._tables.read().list_related(plan.read) if request.declared is None else request.declared
        self.guard.admit(declared, plan.read, plan.parts)
        stage("reserving")
        receipt = self.reserve(request)
        return ReservedQuestion(
            receipt, partial(self.finish, receipt, plan, request.plan, request.debits, request.declared)
        )

    def reserve(self, request: ReservationRequest) -> str:
        """Debit durably, before any data is read, and return the receipt."""
        return self._ledger.reserve(
            analyst=request.analyst,
            question=request.question,
            key=request.key,
            plan=request.plan,
            debits=request.debits + request.grants,
            resume=True,
            working=request.working,
            declared=request.declared,
        )

    def finish(
        self,
        receipt: str,
        plan: Plan,
        text: str,
        debits: tuple[Debit, ...],
        declared: Declarations | None,
        watch: RunContext,
    ) -> ReleasedAnswer[Answer]:
        """Run the engine's queries of a plan that is paid, measure, and release."""

        def add_noise(rows: RowsByQuery) -> str:
            return VALUES.encode(measure(plan, lambda part: rows[part.sql]))

        def draw() -> str:
            latest = declared if watch.at_once else None
            return self.guard.run_guarded(
                list_queries([plan]), plan.read, receipt, add_noise, watch.cancellation, latest
            )

        charged_apart = any(debit.part is not None for debit in debits)

        def check(latest: tuple[Declaration, ...]) -> None:
            by_name = {one.name: one for one in latest}
            refuse_closed(by_name, plan.read)
            if charged_apart:
                # The data that was read is that of the version which is still the latest one now.
                self.parts.check(plan, debits, DeclaredState(by_name))

        # What was declared when the question was reserved was admitted then.
        seen = declared if watch.at_once and not charged_apart else None
        stored = self.fulfil(receipt, draw, watch, check, seen)
        return ReleasedAnswer(answer_of(plan, receipt, stored, cached=False), text, stored)

    def fulfil(
        self,
        receipt: str,
        draw: Callable[[], str],
        watch: RunContext,
        check: DeclarationCheck,
        seen: Declarations | None = None,
    ) -> str:
        """Read the data, add the noise, store what was drawn, and only then let it leave.

        Nobody learns when the engine was done where the caller holds the answer back: not by the state of the
        receipt, as the release comes after that, nor by cancelling, which stops a question until its release.
        """
        watch.stage("reading")
        try:
            return self._measure_and_release(receipt, draw, watch, check, seen)
        except EngineError as problem:
            error: JaliError = problem.replace(advice=Phrase("receipt-stays-open", receipt=receipt))
        except LedgerError as problem:
            error = problem.replace(advice=Phrase("receipt-stays-open", receipt=receipt))
        # Raised again: a traceback into the reading would carry exact or unreleased numbers in its frames.
        raise error

    def _measure_and_release(
        self,
        receipt: str,
        draw: Callable[[], str],
        watch: RunContext,
        check: DeclarationCheck,
        seen: Declarations | None,
    ) -> str:
        try:
            drawn = draw()
        finally:
            watch.hold()
        if watch.cancellation.reason:
            raise make_failure(watch.cancellation.reason)
        return self._ledger.release(receipt, drawn, check, seen)

    # Requests, and what the ledger knows of them.

    def build_request(
        self, question: str | Question, plan: Plan, analyst: str | None, declared: DeclaredState | None = None
    ) -> ReservationRequest:
        """Freeze a plan, and list its debits: on every protected table, and the same on the analyst's grants.

        Where `declared` is given, which it was planned for, that must still be the latest when it is reserved.
        """
        latest = declared or self._tables.read()
        parts = self.parts.find_subpopulations(plan, latest)
        request = self.freeze(_describe_question(question, plan), plan, analyst, latest, parts).check_grants()
        return request if declared is not None else replace(request, declared=None)

    def freeze(
        self,
        asked: str,
        plan: Plan | BatchPlan,
        analyst: str | None,
        declared: DeclaredState,
        parts: Mapping[str, DebitSubpopulation] = NO_SUBPOPULATIONS,
    ) -> ReservationRequest:
        """Build the request of a plan of one question or of a batch, and look up what was released for it.

        Its key tells what the plan means, and the versions that the curator advances. Which grants are missing
        is said in it: `check_grants` refuses them.
        """
        versions, others = declared.describe_versions(plan.read), _may_recall_others(plan.read, analyst)
        key, who = answer_key(versions, plan.meaning), analyst or CURATOR
        debits = self._accounts.debits(plan.costs, parts)
        grants = () if analyst is None else charge_grants(analyst, plan.costs, parts)
        known = self._ledger.look_up(key, asked, analyst=who, others=others, grants=grants)
        for earlier, stored in known.earlier:
            if _has_same_meaning(plan, stored, versions, earlier):
                # Asked of an earlier version of Jali in the same words: its answer is recalled, or its open
                # receipt is taken up, under the key of then.
                key, known = (
                    earlier,
                    self._ledger.look_up(earlier, asked, analyst=who, others=others, grants=grants),
                )
                break
        return ReservationRequest(
            analyst=analyst or CURATOR,
            question=asked,
            key=key,
            plan=plan.encoded,
            debits=debits,
            grants=grants,
            hit=known.hit,
            missing=_list_missing(plan, grants, known),
            declared=declared.list_related(plan.read),
        )

    def explain(self, question: str | Question, given: TermArguments, *, analyst: str | None = None) -> Plan:
        """Plan a question, and add what it would charge and what would remain of each account. Free."""
        declared = self._tables.read()
        plan = self.plan(question, given, declared)
        quiet = find_hidden_accounts(plan.read, analyst)
        charged = () if plan.part is None or quiet else self.parts.compute_growth(plan, declared)
        known = self.freeze(_describe_question(question, plan), plan, analyst, declared)
        debits = self._list_debits(plan, analyst)
        leaves = self._accounts.describe_leaves(debits, free=known.answered, quiet=quiet)
        return plan.telling(charged, leaves + self._accounts.list_missing_grants(plan.costs, analyst))

    def _add_suggestions(
        self,
        refused: BudgetExceeded,
        question: str | Question,
        given: TermArguments,
        plan: Plan,
        analyst: str | None,
    ) -> BudgetExceeded:
        """Add to a refusal what the accounts would grant instead. Free."""
        from jali.execution.suggestions import SuggestionSearch

        catalog = self._tables.build_catalog()
        fits = SuggestionSearch(
            self._ledger,
            lambda one, terms: self.planner.plan(one, terms, catalog),
            lambda one: self._list_debits(one, analyst),
            self.planner.notes,
        )
        return fits.find_tightest(refused, plan).offering(fits.suggest(*self.planner.read(question, given), plan))

    def _list_debits(self, plan: Plan, analyst: str | None) -> tuple[Debit, ...]:
        """Return what each table, and each grant of an analyst that there is, would be charged."""
        parts = self.parts.find_subpopulations(plan)
        return self._accounts.debits(plan.costs, parts) + self._accounts.list_grant_debits(
            plan.costs, analyst, parts
        )

    # Plans that were made before, and receipts.

    def emit_queries(self, plan: Plan) -> Plan:
        """Write the engine's queries of a plan."""
        return emit_queries(plan, self._engine)

    def answer_request(self, request: ReservationRequest, plan: Plan, watch: RunContext) -> Answer:
        """Recall the answer of a request, or pay for it and give it."""
        known = self.recall(request, plan.read, read_stored_answer)
        return finish_question(known or self._reserve_plan(request, plan, watch.stage), watch)

    def buy(self, request: ReservationRequest, plan: Plan, stage: Stage) -> Answer:
        """Pay for a request and give its answer."""
        receipt = self.reserve(request)
        return self.finish(receipt, plan, request.plan, request.debits, None, RunContext(stage)).answer

    def failure(self, receipt: str) -> str | None:
        """Return the engine's error for the question of a receipt, for the curator; None if it runs."""
        from jali.planner.batch import BATCHES, BatchPlan

        frozen: Plan | BatchPlan = BATCHES.decode(self._ledger.plan(receipt))
        plans = frozen.plans if isinstance(frozen, BatchPlan) else (frozen,)
        failures = (self._engine.failure(part.sql, plan.read) for plan in plans for part in plan.parts)
        return next((failure for failure in failures if failure is not None), None)

    def redeem(self, receipt: str, *, analyst: str | None, stage: Stage) -> Answer:
        """Give the one answer that a receipt stands for: the stored one, or its plan run as it was frozen."""
        return finish_question(self.take_up(receipt, analyst=analyst), RunContext(stage))

    def take_up(self, receipt: str, *, analyst: str | None) -> ReleasedAnswer[Answer] | ReservedQuestion[Answer]:
        """Return the stored answer of a receipt, or count an attempt to answer it now. No data is read."""
        stored = self._ledger.begin(receipt, analyst=analyst)
        if stored.answer is not None:
            return read_stored_answer(stored.plan, receipt, stored.answer)
        plan: Plan = PLANS.decode(stored.plan)
        self.parts.check(plan, stored.debits)
        return ReservedQuestion(receipt, partial(self.finish, receipt, plan, stored.plan, stored.debits, None))


def _may_recall_others(tables: tuple[Table | Public, ...], analyst: str | None) -> bool:
    """Say whether an analyst may be given what others have asked."""
    common = all(table.memory == "common" for table in tables if isinstance(table, Table))
    return common or analyst in (None, CURATOR)


def _list_missing(plan: Plan | BatchPlan, grants: tuple[Debit, ...], known: QuestionHistory) -> tuple[str, ...]:
    """Return the tables on which there is no grant that could pay."""
    names = [name for name, _ in plan.costs] if grants else []
    return tuple(name for name, grant in zip(names, grants, strict=True) if grant.account not in known.grants)


def _has_same_meaning(plan: Plan | BatchPlan, stored: str, versions: str, key: str) -> bool:
    """Say whether a plan that an earlier version stored under a key means the same, of the same data."""
    from jali.planner.batch import BATCHES, without_words

    known = key == earlier_key(versions, without_words(stored))
    return known and bool(BATCHES.decode(stored).meaning == plan.meaning)


def _describe_question(question: str | Question, plan: Plan) -> str:
    """Return what a receipt says was asked."""
    asked = question if isinstance(question, str) else show_question(question)
    return asked if plan.part is None else asked + describe_subpopulation(plan.part)


def emit_queries(plan: Plan, engine: Engine) -> Plan:
    """Write the engine's queries of a plan."""
    levels = (
        replace(level, parts=tuple([replace(p, sql=engine.emit(p.aggregation)) for p in level.parts]))
        for level in plan.levels
    )
    return replace(plan, levels=tuple(levels))


def read_stored_answer(plan: str, receipt: str, drawn: str) -> ReleasedAnswer[Answer]:
    """Read what was released before."""
    return ReleasedAnswer(answer_of(PLANS.decode(plan), receipt, drawn, cached=True), plan, drawn)


def answer_of(plan: Plan, receipt: str, stored: str, *, cached: bool) -> Answer:
    """Read a stored release as the answer of its plan. From here on everything is post-processing."""
    groups, noisy = VALUES.decode(stored)
    levels = tuple(
        ReleasedGroups(
            level.places,
            list_groups([plan.keys[place] for place in level.places]) if groups is None else groups,
            tuple([part.mechanisms[i].noise_law for part, i in level.releases]),
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
        plan.selection_count,
        1 if plan.aggregation.weights is None else plan.aggregation.weights.max_rows,
        _find_declared_rows(plan),
    )
    rehearsed = any(table.source.synthetic for table in plan.tables)
    return Answer(release, plan.cost, receipt, cached, plan.costs, write_answer_notes(plan), rehearsed=rehearsed)


def _find_declared_rows(plan: Plan) -> int | None:
    """Return the declared number of rows where a question bounds all rows of one table."""
    whole = isinstance(plan.source, Scan) and plan.aggregation.weights is not None
    return plan.table.rows if whole else None
