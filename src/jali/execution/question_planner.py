"""Plan questions and batches: text or nodes, with their terms, become plans with engine queries.

Planning is free: no data is read. It happens in this process (`LocalPlanner`), or in a process with limits of its
own (`jali.server.planner_pool`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from jali.batch import BatchQuestion
from jali.catalog.tables import Catalog
from jali.errors import JaliError, QueryError
from jali.execution.ask import emit_queries, parse, plan_question
from jali.ir.expressions import Question
from jali.planner import Plan
from jali.planner.batch import BatchBudget, BatchPlan, WeightedQuestion, plan_batch
from jali.planner.batch.batch_terms import name_question_in_errors
from jali.planner.terms import QuestionTerms, TermArguments, check_term_names, read_terms
from jali.privacy.rationals import rational
from jali.sql.bigquery import read_clause
from jali.sql.parser import too_deep
from jali.sql.question_limits import DEFAULT, Limits, check_text
from jali.sql.reader.read_select import read_sql

if TYPE_CHECKING:
    from jali.engines import Engine
    from jali.explain import AggregateNote, Explanation
    from jali.planner.batch import BatchBudget, BatchPlan


T = TypeVar("T")


class Planner(Protocol):
    """Plans questions: in this process, or in another one with limits of its own (`jali.server.planner_pool`)."""

    def plan(self, question: str | Question, given: TermArguments, catalog: Catalog) -> Plan:
        """Plan a question, with the engine's queries."""

    def plan_batch(
        self, wanted: Sequence[BatchQuestion], total: BatchBudget, catalog: Catalog, *, agree: bool
    ) -> BatchPlan:
        """Plan the questions of a batch together."""

    def read(self, question: str | Question, given: TermArguments) -> tuple[Question, TermArguments]:
        """Return a question as nodes, and its terms with those of its clause."""

    def explain(self, plan: Plan) -> Explanation:
        """Say everything about a plan that a reader may want to know."""

    def explain_batch(self, plan: BatchPlan) -> str:
        """Write how a batch would be answered."""

    def notes(self, plan: Plan) -> tuple[AggregateNote, ...]:
        """Say how close each aggregate of a plan will come."""


@dataclass(frozen=True)
class LocalPlanner:
    """Plans in this process.

    Guarantee:
        What cannot be planned is refused by a `JaliError`, whatever the text.

    Attributes:
        engine: Writes the queries; it is never connected to anything for that.
        limits: How large a question may be.
    """

    engine: Engine
    limits: Limits = DEFAULT

    def plan(self, question: str | Question, given: TermArguments, catalog: Catalog) -> Plan:
        """Plan a question, with the engine's queries."""
        check_term_names(given)
        return _refuse_failures(
            lambda: emit_queries(plan_question(question, given, catalog, self.limits), self.engine)
        )

    def plan_batch(
        self, wanted: Sequence[BatchQuestion], total: BatchBudget, catalog: Catalog, *, agree: bool
    ) -> BatchPlan:
        """Plan the questions of a batch together."""
        # Read where there is a batch.

        def plan_and_emit() -> BatchPlan:
            made = plan_batch_questions(wanted, total, catalog, agree=agree, limits=self.limits)
            return replace(made, plans=tuple(emit_queries(plan, self.engine) for plan in made.plans))

        return _refuse_failures(plan_and_emit)

    def read(self, question: str | Question, given: TermArguments) -> tuple[Question, TermArguments]:
        """Return a question as nodes, and its terms with those of its clause."""
        return _refuse_failures(lambda: parse(question, given, self.limits)[:2])

    def explain(self, plan: Plan) -> Explanation:
        """Say everything about a plan that a reader may want to know."""
        from jali.explain import explain_plan

        return _refuse_failures(lambda: explain_plan(plan))

    def explain_batch(self, plan: BatchPlan) -> str:
        """Write how a batch would be answered."""
        return _refuse_failures(lambda: str(plan))

    def notes(self, plan: Plan) -> tuple[AggregateNote, ...]:
        """Say how close each aggregate of a plan will come."""
        from jali.explain.aggregate_formulas import aggregate_notes

        return _refuse_failures(lambda: aggregate_notes(plan))


def _refuse_failures(plan: Callable[[], T]) -> T:
    """Turn whatever stops planning into a refusal. No data is read, so that the cause tells nothing of it."""
    try:
        return plan()
    except JaliError:
        raise
    except RecursionError:
        raise too_deep() from None
    except MemoryError:
        raise QueryError("planning-out-of-memory") from None
    except Exception as problem:
        raise QueryError("planning-failed") from problem


# What a question of a batch may be given besides its weight.
_TERMS = ("epsilon", "rho", "delta", "max_rows", "max_groups", "min_people")
# How many times as long as the longest question all questions of a batch may be.
_LONGER = 10


def plan_batch_questions(
    wanted: Sequence[BatchQuestion], total: BatchBudget, catalog: Catalog, *, agree: bool, limits: Limits = DEFAULT
) -> BatchPlan:
    """Plan all questions of a batch, or refuse it and say which question cannot be planned."""
    characters = sum(len(one.question) for one in wanted if isinstance(one.question, str))
    if characters > _LONGER * limits.characters:
        raise QueryError("batch-too-long", most=_LONGER * limits.characters)
    asked = [
        name_question_in_errors(place, partial(_read_batch_question, one, total, limits))
        for place, one in enumerate(wanted)
    ]
    return plan_batch(asked, catalog, total, agree=agree, limits=limits)


def _read_batch_question(wanted: BatchQuestion, total: BatchBudget, limits: Limits) -> WeightedQuestion:
    """Read one question and its terms."""
    weight = rational(wanted.weight, "weight")
    if weight <= 0:
        raise QueryError("weight-not-positive")
    return WeightedQuestion(
        _parse_batch_question(wanted.question, limits), _read_batch_terms(wanted, total), weight
    )


def _read_batch_terms(wanted: BatchQuestion, total: BatchBudget) -> QuestionTerms:
    for name, value in wanted.given.items():
        if name not in _TERMS and value is not None:
            raise QueryError("batch-term-unknown", term=name, terms=tuple(_TERMS))
    if total.loss is None:
        return read_terms(**wanted.given)
    if wanted.given.get("epsilon") is not None or wanted.given.get("rho") is not None:
        raise QueryError("batch-loss-twice")
    bounds = wanted.given.copy()
    bounds["epsilon"] = 1
    return replace(read_terms(**bounds), loss=total.loss)


def _parse_batch_question(question: str | Question, limits: Limits) -> Question:
    if isinstance(question, Question):
        return question
    if not isinstance(question, str):
        raise QueryError("batch-question-not-text")
    check_text(question, limits)
    text, clause, bounds = read_clause(question, limits)
    if clause is not None:
        raise QueryError("batch-privacy-clause", position=clause.position)
    return read_sql(text, bounds, limits)
