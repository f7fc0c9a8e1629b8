"""The notes of an answer: public facts that hold for it whatever the data.

They say how a subquery clamps one person's counts and sums, and how close quantiles come in rows. `explain` says
the same and more.
"""

from __future__ import annotations

from collections.abc import Iterator

from jali.display.numbers import show_rows
from jali.ir.aggregates import Marks
from jali.ir.estimators import Picked
from jali.ir.ownership import own
from jali.ir.relations import Belonging, Compute, Keep, PerOwner, Relation, parts
from jali.planner.forecast import forecast_estimate
from jali.planner.original_expression import find_original_names, write_summary
from jali.planner.plan import Plan
from jali.privacy import decimal


def write_answer_notes(plan: Plan) -> tuple[str, ...]:
    """Return the notes of an answer."""
    return describe_clamps(plan) + describe_ranks(plan)


def describe_clamps(plan: Plan) -> tuple[str, ...]:
    """Say to what each count and sum per person is clamped, and that `max_rows` is why."""
    return tuple(dict.fromkeys(said for made in _per_person(plan.source) for said in _clamp_notes(made)))


def _per_person(relation: Relation) -> Iterator[PerOwner]:
    for part in () if isinstance(relation, Belonging) else parts(relation):
        yield from _per_person(part)
    if isinstance(relation, PerOwner) and not own(relation.source).public and not is_made_one_row(relation.source):
        yield relation


def is_made_one_row(relation: Relation) -> bool:
    """Say whether every person has one row because a subquery made one: then nothing is cut off."""
    while isinstance(relation, Keep | Compute):
        relation = relation.source
    return isinstance(relation, PerOwner) and own(relation).max_rows == 1


def _clamp_notes(made: PerOwner) -> Iterator[str]:
    owners, names = own(made.source), find_original_names(made.source)
    for one in made.summaries:
        bounds = one.field.bounds
        if one.function in ("count", "sum") and bounds.low is not None and bounds.high is not None:
            yield (
                f"{write_summary(one, names)} per {owners.unit} is clamped to [{decimal(bounds.low)}, "
                f"{decimal(bounds.high)}] because max_rows is {owners.max_rows:,}"
            )


def describe_ranks(plan: Plan) -> tuple[str, ...]:
    """Say within how many rows of its target each quantile is; with totals each set has its own."""
    return tuple(_rank_notes(plan)) if len(plan.levels) == 1 else ()


def _rank_notes(plan: Plan) -> Iterator[str]:
    for aggregate, estimate in plan.estimates:
        if isinstance(estimate, Picked) and isinstance(estimate.axis, Marks):
            error = forecast_estimate(plan, 0, estimate).rank_error
            names = [output.name for output in plan.question.outputs if output.expression == aggregate]
            if error is not None and names:
                yield f"The rank of {names[0]} is within {show_rows(error)} of its target, with 95 % confidence"
