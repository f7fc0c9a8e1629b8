"""The questions of a batch as they were written: their terms, their weights, and one plan for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from jali.batch import Wanted
from jali.errors import QueryError
from jali.planner.batch import Asked, BatchPlan, Total, plan_batch
from jali.planner.batch.asked import naming
from jali.planner.terms import Terms, terms_of
from jali.privacy.rationals import rational
from jali.query.bigquery import read_clause
from jali.query.catalog import Catalog
from jali.query.limits import DEFAULT, Limits, check_text
from jali.query.nodes import Question
from jali.query.read_sql import read_sql

# What a question of a batch may be given besides its weight.
_TERMS = ("epsilon", "rho", "delta", "max_rows", "max_groups", "min_people")
# How many times as long as the longest question all questions of a batch may be.
_LONGER = 10


def planned_batch(
    wanted: Sequence[Wanted], total: Total, catalog: Catalog, *, agree: bool, limits: Limits = DEFAULT
) -> BatchPlan:
    """Plan all questions of a batch, or refuse it and say which question cannot be planned."""
    characters = sum(len(one.question) for one in wanted if isinstance(one.question, str))
    if characters > _LONGER * limits.characters:
        raise QueryError("batch-too-long", most=_LONGER * limits.characters)
    asked = [naming(place, partial(_asked, one, total, limits)) for place, one in enumerate(wanted)]
    return plan_batch(asked, catalog, total, agree=agree, limits=limits)


def _asked(wanted: Wanted, total: Total, limits: Limits) -> Asked:
    """Read one question and its terms."""
    weight = rational(wanted.weight, "weight")
    if weight <= 0:
        raise QueryError("weight-not-positive")
    return Asked(_question(wanted.question, limits), _terms(wanted, total), weight)


def _terms(wanted: Wanted, total: Total) -> Terms:
    for name, value in wanted.given.items():
        if name not in _TERMS and value is not None:
            raise QueryError("batch-term-unknown", term=name, terms=tuple(_TERMS))
    if total.loss is None:
        return terms_of(**wanted.given)
    if wanted.given.get("epsilon") is not None or wanted.given.get("rho") is not None:
        raise QueryError("batch-loss-twice")
    bounds = wanted.given.copy()
    bounds["epsilon"] = 1
    return replace(terms_of(**bounds), loss=total.loss)


def _question(question: str | Question, limits: Limits) -> Question:
    if isinstance(question, Question):
        return question
    if not isinstance(question, str):
        raise QueryError("batch-question-not-text")
    check_text(question, limits)
    text, clause, bounds = read_clause(question, limits)
    if clause is not None:
        raise QueryError("batch-privacy-clause", position=clause.position)
    return read_sql(text, bounds, limits)
