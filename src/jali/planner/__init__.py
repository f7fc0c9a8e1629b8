"""The planner: from a question to a plan, by rules that look at public facts only."""

from __future__ import annotations

from collections.abc import Callable

from jali.catalog.tables import Catalog
from jali.ir.expressions import Question
from jali.planner.draft import Draft
from jali.planner.plan import Plan, finish
from jali.planner.plan_schema import PLANS
from jali.planner.rules.bound_contributions import bound_contributions
from jali.planner.rules.bound_joins import bound_joins
from jali.planner.rules.bound_per_group import bound_per_group
from jali.planner.rules.choose_keys import choose_keys
from jali.planner.rules.choose_mechanisms import choose_mechanisms
from jali.planner.rules.choose_norm import choose_norm
from jali.planner.rules.choose_rank import choose_rank
from jali.planner.rules.measure_aggregates import measure_aggregates
from jali.planner.rules.qualify_names import qualify_names
from jali.planner.rules.split_loss import split_loss
from jali.planner.terms import QuestionTerms
from jali.sql.question_limits import DEFAULT, Limits

RULES: tuple[Callable[[Draft], Draft], ...] = (
    qualify_names,
    bound_joins,
    choose_keys,
    bound_per_group,
    bound_contributions,
    choose_rank,
    measure_aggregates,
    choose_norm,
    split_loss,
    choose_mechanisms,
)


def make_plan(question: Question, catalog: Catalog, terms: QuestionTerms, limits: Limits = DEFAULT) -> Plan:
    """Run the rules over a question and check the loss of what they made."""
    draft = Draft(question, catalog, terms, limits=limits)
    for rule in RULES:
        draft = rule(draft)
    return finish(draft)


__all__ = ["PLANS", "RULES", "Draft", "Plan", "make_plan"]
