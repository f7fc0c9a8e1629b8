"""The planner: from a question to a plan, by rules that look at public facts only."""

from __future__ import annotations

from collections.abc import Callable

from jali.planner.bound_joins import bound_joins
from jali.planner.choose_keys import choose_keys
from jali.planner.choose_mechanisms import choose_mechanisms
from jali.planner.choose_norm import choose_norm
from jali.planner.choose_rank import choose_rank
from jali.planner.draft import Draft
from jali.planner.measure_aggregates import measure_aggregates
from jali.planner.own_rows import own_rows
from jali.planner.per_group import bound_per_group
from jali.planner.plan import Plan, finish
from jali.planner.qualify_names import qualify_names
from jali.planner.serialization import PLANS
from jali.planner.split_loss import split_loss
from jali.planner.terms import Terms
from jali.query.catalog import Catalog
from jali.query.limits import DEFAULT, Limits
from jali.query.nodes import Question

RULES: tuple[Callable[[Draft], Draft], ...] = (
    qualify_names,
    bound_joins,
    choose_keys,
    bound_per_group,
    own_rows,
    choose_rank,
    measure_aggregates,
    choose_norm,
    split_loss,
    choose_mechanisms,
)


def make_plan(question: Question, catalog: Catalog, terms: Terms, limits: Limits = DEFAULT) -> Plan:
    """Run the rules over a question and check the loss of what they made."""
    draft = Draft(question, catalog, terms, limits=limits)
    for rule in RULES:
        draft = rule(draft)
    return finish(draft)


__all__ = ["PLANS", "RULES", "Draft", "Plan", "make_plan"]
