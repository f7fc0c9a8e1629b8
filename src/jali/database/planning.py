"""Planning: a question as it was asked becomes a plan with the engine's queries. Free: no data is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from jali.errors import JaliError, QueryError
from jali.planner import Plan, make_plan
from jali.planner.aim import aim_of
from jali.planner.clause import check_unit, joined
from jali.planner.terms import Given, check_known, terms_of
from jali.query.bigquery import PrivacyClause, read_clause
from jali.query.catalog import Catalog
from jali.query.limits import DEFAULT, Limits, check_text
from jali.query.nodes import Question
from jali.query.parse import too_deep
from jali.query.read_sql import read_sql

if TYPE_CHECKING:
    from jali.batch import Wanted
    from jali.engines import Engine
    from jali.planner.batch import BatchPlan, Total
    from jali.planner.explanation import AggregateNote, Explanation

T = TypeVar("T")


class Planner(Protocol):
    """Plans questions: in this process, or in another one with limits of its own (`server.work.planners`)."""

    def plan(self, question: str | Question, given: Given, catalog: Catalog) -> Plan:
        """Plan a question, with the engine's queries."""

    def plan_batch(self, wanted: Sequence[Wanted], total: Total, catalog: Catalog, *, agree: bool) -> BatchPlan:
        """Plan the questions of a batch together."""

    def read(self, question: str | Question, given: Given) -> tuple[Question, Given]:
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

    def plan(self, question: str | Question, given: Given, catalog: Catalog) -> Plan:
        """Plan a question, with the engine's queries."""
        check_known(given)
        return _refusing(lambda: emitted(planned(question, given, catalog, self.limits), self.engine))

    def plan_batch(self, wanted: Sequence[Wanted], total: Total, catalog: Catalog, *, agree: bool) -> BatchPlan:
        """Plan the questions of a batch together."""
        # Read where there is a batch.
        from jali.database.batch_questions import planned_batch

        def found() -> BatchPlan:
            made = planned_batch(wanted, total, catalog, agree=agree, limits=self.limits)
            return replace(made, plans=tuple(emitted(plan, self.engine) for plan in made.plans))

        return _refusing(found)

    def read(self, question: str | Question, given: Given) -> tuple[Question, Given]:
        """Return a question as nodes, and its terms with those of its clause."""
        return _refusing(lambda: as_read(question, given, self.limits))

    def explain(self, plan: Plan) -> Explanation:
        """Say everything about a plan that a reader may want to know."""
        from jali.planner.explanation import explanation

        return _refusing(lambda: explanation(plan))

    def explain_batch(self, plan: BatchPlan) -> str:
        """Write how a batch would be answered."""
        return _refusing(lambda: str(plan))

    def notes(self, plan: Plan) -> tuple[AggregateNote, ...]:
        """Say how close each aggregate of a plan will come."""
        from jali.planner.explanation.aggregates import aggregate_notes

        return _refusing(lambda: aggregate_notes(plan))


def _refusing(plan: Callable[[], T]) -> T:
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


def planned(question: str | Question, given: Given, catalog: Catalog, limits: Limits = DEFAULT) -> Plan:
    """Plan a question on the terms that it was given; a clause in its text may give some of them."""
    if isinstance(question, Question):
        return made(question, given, catalog, limits)
    if not isinstance(question, str):
        raise QueryError("question-not-text")
    parsed, clause = _read(question, limits)
    plan = made(parsed, given if clause is None else joined(clause, given), catalog, limits)
    if clause is not None:
        check_unit(clause, plan)
    return plan


def as_read(question: str | Question, given: Given, limits: Limits = DEFAULT) -> tuple[Question, Given]:
    """Return a question that was planned before as it was read, and its terms with those of its clause."""
    if isinstance(question, Question):
        return question, given
    parsed, clause = _read(question, limits)
    return parsed, given if clause is None else joined(clause, given)


# The same texts are asked again and again, of other data or at other losses.
@lru_cache(maxsize=256)
def _read(text: str, limits: Limits) -> tuple[Question, PrivacyClause | None]:
    """Read a question and the clause in it, if it has one."""
    check_text(text, limits)
    plain, clause, bounds = read_clause(text, limits)
    return read_sql(plain, bounds, limits), clause


def made(question: Question, given: Given, catalog: Catalog, limits: Limits = DEFAULT) -> Plan:
    """Plan at the loss that is given, or at the least one that brings the answer as close as it is wanted."""
    aim = aim_of(given)
    if aim is None:
        return make_plan(question, catalog, terms_of(**given), limits)
    # Read when a question has an aim, which few have.
    from jali.planner.accuracy import aimed

    return aimed(lambda terms: make_plan(question, catalog, terms, limits), given, aim)


def emitted(plan: Plan, engine: Engine) -> Plan:
    """Write the engine's queries of a plan."""
    levels = (
        replace(level, parts=tuple(replace(p, sql=engine.emit(p.aggregation)) for p in level.parts))
        for level in plan.levels
    )
    return replace(plan, levels=tuple(levels))
