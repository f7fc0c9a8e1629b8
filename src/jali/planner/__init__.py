"""The planner: from a question to a plan, by rules that look at public facts only."""

from __future__ import annotations

from collections.abc import Callable

from jali.planner.bound_contributions import bound_contributions
from jali.planner.choose_keys import choose_keys
from jali.planner.choose_mechanisms import choose_mechanisms
from jali.planner.draft import Draft
from jali.planner.forms import FORMS
from jali.planner.measure_aggregates import measure_aggregates
from jali.planner.own_rows import own_rows
from jali.planner.plan import PLAN_CLASSES, Plan, finish
from jali.planner.qualify_names import qualify_names
from jali.planner.split_loss import split_loss
from jali.privacy import Loss
from jali.query.catalog import Table
from jali.query.nodes import Question

RULES: tuple[Callable[[Draft], Draft], ...] = (
    qualify_names,
    own_rows,
    choose_keys,
    measure_aggregates,
    bound_contributions,
    split_loss,
    choose_mechanisms,
)


def make_plan(question: Question, table: Table, loss: Loss) -> Plan:
    """Run the rules over a question and check the loss of what they made."""
    draft = Draft(question, table, loss)
    for rule in RULES:
        draft = rule(draft)
    return finish(draft)


__all__ = ["FORMS", "PLAN_CLASSES", "RULES", "Draft", "Plan", "make_plan"]
