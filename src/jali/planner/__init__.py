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


def make_plan(question: Question, catalog: Catalog, terms: QuestionTerms, limits: Limits = DEFAULT) -> Plan:
    """Run the rules over a question and check the loss of what they made."""
    draft = Draft(question, catalog, terms, limits=limits)
    for rule in RULES:
        draft = rule(draft)
    return finish(draft)


__all__ = ["PLANS", "RULES", "Draft", "Plan", "make_plan"]
