"""How close the quantiles of an answer come, in rows: a public fact, told with the answer as before it."""

from __future__ import annotations

from collections.abc import Iterator

from jali.planner.explanation.words import rows_of
from jali.planner.forecast import forecast_of
from jali.planner.plan import Plan
from jali.query.aggregation import Marks
from jali.query.estimates import Picked


def ranks(plan: Plan) -> tuple[str, ...]:
    """Say of each quantile within how many rows of its aim it is; with totals each set has its own."""
    return tuple(_said(plan)) if len(plan.levels) == 1 else ()


def _said(plan: Plan) -> Iterator[str]:
    for aggregate, estimate in plan.estimates:
        if isinstance(estimate, Picked) and isinstance(estimate.axis, Marks):
            error = forecast_of(plan, 0, estimate).rank_error
            names = [output.name for output in plan.question.outputs if output.expression == aggregate]
            if error is not None and names:
                yield f"The rank of {names[0]} is within {rows_of(error)} of its aim, with 95 %"
