"""The planner: from a question to a plan, by rules that look at public facts only."""

from __future__ import annotations

from jali.catalog.tables import Catalog
from jali.ir.expressions import Question
from jali.planner.draft import Draft
from jali.planner.plan import Plan, finish
from jali.planner.plan_schema import PLANS
from jali.planner.rules import RULES
from jali.planner.terms import QuestionTerms
from jali.sql.question_limits import DEFAULT, Limits


def resolve_names(question: Question, catalog: Catalog, terms: QuestionTerms, limits: Limits = DEFAULT) -> Draft:
    """Run the first rule over a question: what its names are in the catalog."""
    return RULES[0](Draft(question, catalog, terms, limits=limits))


def plan_resolved(draft: Draft) -> Plan:
    """Run the other rules over a resolved question and check the loss of what they made."""
    for rule in RULES[1:]:
        draft = rule(draft)
    return finish(draft)


def make_plan(question: Question, catalog: Catalog, terms: QuestionTerms, limits: Limits = DEFAULT) -> Plan:
    """Run all rules over a question and check the loss of what they made."""
    return plan_resolved(resolve_names(question, catalog, terms, limits))


__all__ = ["PLANS", "RULES", "Draft", "Plan", "make_plan", "plan_resolved", "resolve_names"]
