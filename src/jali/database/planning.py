"""Planning: a question as it was asked becomes a plan with the engine's queries. Free: no data is read."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from jali.errors import QueryError
from jali.planner import Plan, make_plan
from jali.planner.aim import aim_of
from jali.planner.clause import check_unit, joined
from jali.planner.terms import Given, terms_of
from jali.query.bigquery import PrivacyClause, read_clause
from jali.query.catalog import Catalog
from jali.query.nodes import Question
from jali.query.parse import check_text
from jali.query.read_sql import read_sql

if TYPE_CHECKING:
    from jali.engines import Engine


def planned(question: str | Question, given: Given, catalog: Catalog) -> Plan:
    """Plan a question on the terms that it was given; a clause in its text may give some of them."""
    if isinstance(question, Question):
        return made(question, given, catalog)
    if not isinstance(question, str):
        raise QueryError(
            "A question is SQL text.", remedy="Write db.ask('SELECT COUNT(*) FROM ...', epsilon=0.1)."
        )
    check_text(question)
    parsed, clause = _read(question)
    plan = made(parsed, given if clause is None else joined(clause, given), catalog)
    if clause is not None:
        check_unit(clause, plan)
    return plan


def as_read(question: str | Question, given: Given) -> tuple[Question, Given]:
    """Return a question that was planned before as it was read, and its terms with those of its clause."""
    if isinstance(question, Question):
        return question, given
    parsed, clause = _read(question)
    return parsed, given if clause is None else joined(clause, given)


# The same texts are asked again and again, of other data or at other losses.
@lru_cache(maxsize=256)
def _read(text: str) -> tuple[Question, PrivacyClause | None]:
    """Read a question and the clause in it, if it has one."""
    plain, clause, bounds = read_clause(text)
    return read_sql(plain, bounds), clause


def made(question: Question, given: Given, catalog: Catalog) -> Plan:
    """Plan at the loss that is given, or at the least one that brings the answer as close as it is wanted."""
    aim = aim_of(given)
    if aim is None:
        return make_plan(question, catalog, terms_of(**given))
    # Read when a question has an aim, which few have.
    from jali.planner.accuracy import aimed

    return aimed(lambda terms: make_plan(question, catalog, terms), given, aim)


def emitted(plan: Plan, engine: Engine) -> Plan:
    """Write the engine's queries of a plan."""
    levels = (
        replace(level, parts=tuple(replace(p, sql=engine.emit(p.aggregation)) for p in level.parts))
        for level in plan.levels
    )
    return replace(plan, levels=tuple(levels))
