"""What happens after the noise, and how the loss was split before it."""

from __future__ import annotations

from jali.display.numbers import show_percent
from jali.planner.explanation.releases import amount, noted
from jali.planner.plan import Plan
from jali.planner.show_expression import show_expression
from jali.planner.write_expression import written
from jali.query.aggregation import Marks
from jali.query.estimates import Moment, Picked
from jali.query.nodes import Aggregate, Column


def afterwards(plan: Plan) -> tuple[str, ...]:
    """List what is computed from noisy values: free."""
    question = plan.question
    made = [o for o in question.outputs if not isinstance(o.expression, Aggregate | Column)]
    notes = [f"{o.name} = {written(o.expression)}" for o in made if o.expression not in question.group_by]
    if question.having is not None:
        notes.append(f"HAVING {show_expression(question.having)}")
    if question.order_by:
        terms = (show_expression(o.expression) + " DESC" * o.descending for o in question.order_by)
        notes.append(f"ORDER BY {', '.join(terms)}")
    if question.limit is not None:
        notes.append(f"LIMIT {question.limit}" + (f" OFFSET {question.offset}" if question.offset else ""))
    return tuple(notes)


def split(plan: Plan) -> str:
    """Say how the loss is shared out."""
    return _chosen(plan) + _sets(plan) + _measures(plan)


def _chosen(plan: Plan) -> str:
    """Say what choosing the groups takes."""
    if plan.selection is None:
        return ""
    share = float(amount(plan, plan.selection.loss.event) / plan.cost.amount)
    taken = "all" if share == 1 else show_percent(share)
    if plan.told is None:
        return f"choosing the groups takes {taken} of it; of the rest, "
    return f"the count that the groups are chosen by, and that is told with them, takes {taken} of it; "


def _sets(plan: Plan) -> str:
    if len(plan.levels) == 1:
        return ""
    return f"each grouping set gets a share by the {_root(plan)} root of its number of groups; within it, "


def _root(plan: Plan) -> str:
    return "square" if plan.cost.epsilon is None else "cube"


def _measures(plan: Plan) -> str:
    notes = [one for one in noted(plan) if one.place != plan.told]
    if not notes:
        return "nothing else is measured"
    rest, of_rest = ("all of it", "") if plan.told is None else ("the rest", "of the rest, ")
    if len(notes) == 1:
        return f"one {'measure' if not notes[0].ends else 'pick with its interval'} takes {rest}"
    return (
        f"{of_rest}shares are proportional to the {_root(plan)} root of how much a measure matters (1 for each "
        f"aggregate it carries, 1/3 below a mean{_others(plan)}), which makes the forecast squared error least"
    )


def _others(plan: Plan) -> str:
    kinds = [estimate for _, estimate in plan.estimates]
    found = ", by its effect on the result under a moment" if any(isinstance(k, Moment) for k in kinds) else ""
    ends = any(isinstance(k, Picked) and isinstance(k.axis, Marks) for k in kinds)
    return found + (", ends of intervals a fourteenth of their quantile's share each" if ends else "")
