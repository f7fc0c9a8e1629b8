"""Explain how the privacy loss was found, split and charged, and what is computed after the noise."""

from __future__ import annotations

from fractions import Fraction

from jali.catalog.tables import Table
from jali.display.numbers import show_amount, show_percent
from jali.explain import proof_pages
from jali.explain.planned_releases import amount, list_noted_releases
from jali.ir.aggregates import Marks
from jali.ir.estimators import AnyEstimate, Moment, Picked
from jali.ir.expressions import Aggregate, Column
from jali.planner.accuracy import list_targets
from jali.planner.forecast import forecast_estimate, public_rows
from jali.planner.original_expression import join_words, write_original
from jali.planner.plan import Plan
from jali.planner.subpopulation_costs import count_charged_subpopulations, name_partition
from jali.privacy import Event, decimal
from jali.sql.printer import show_expression


def accuracy_lines(plan: Plan) -> tuple[str, ...]:
    """Say what the loss was found for, and how far that is a promise; nothing for a loss that was given."""
    if plan.aim is None or not plan.aim.within:
        return ()
    each = "each number" if plan.keys else "the answer"
    found = f"{plan.cost} is the smallest loss, up to 1 %, at which {each} is as accurate as requested"
    sure = f"with {show_percent(plan.aim.confidence)} confidence{', each group separately' if plan.keys else ''}"
    return (
        f"{found}, {sure}",
        *(_line(plan, output.name, made, width) for output, made, width in list_targets(plan)),
    )


def _line(plan: Plan, name: str, estimate: AnyEstimate, within: Fraction) -> str:
    found = forecast_estimate(plan, 0, estimate)
    width = f"{name} within {decimal(within)}"
    if found.half_width is None:
        return f"{width}: a forecast, not a guarantee, {join_words(_if(plan, estimate))}"
    return f"{width}, whatever the data" + (", in a group that is certain to be released" if found.sure else "")


def _if(plan: Plan, estimate: AnyEstimate) -> list[str]:
    """Say for what data a forecast is made."""
    rows = public_rows(plan, 0)
    found = [] if rows is None else [f"for groups of {show_amount(rows)} rows"]
    if isinstance(estimate, Moment):
        return [*found, "typical data"]
    return [*found, "values spread evenly over their range"] if isinstance(estimate, Picked) else found


def list_postprocessing(plan: Plan) -> tuple[str, ...]:
    """List what is computed from noisy values: free."""
    question = plan.question
    made = [o for o in question.outputs if not isinstance(o.expression, Aggregate | Column)]
    notes = [f"{o.name} = {write_original(o.expression)}" for o in made if o.expression not in question.group_by]
    if question.having is not None:
        notes.append(f"HAVING {show_expression(question.having)}")
    if question.order_by:
        terms = (show_expression(o.expression) + " DESC" * o.descending for o in question.order_by)
        notes.append(f"ORDER BY {', '.join(terms)}")
    if question.limit is not None:
        notes.append(f"LIMIT {question.limit}" + (f" OFFSET {question.offset}" if question.offset else ""))
    return tuple(notes)


def describe_split(plan: Plan) -> str:
    """Say how the loss is shared out."""
    return _describe_selection(plan) + _sets(plan) + _measures(plan)


def _describe_selection(plan: Plan) -> str:
    """Say what choosing the groups takes."""
    if plan.selection is None:
        return ""
    share = float(amount(plan, plan.selection.loss.event) / plan.cost.amount)
    taken = "all" if share == 1 else show_percent(share)
    if plan.selection_count is None:
        return f"selecting the groups takes {taken} of it; of the rest, "
    return f"the count that selects the groups, and is released with them, takes {taken} of it; "


def _sets(plan: Plan) -> str:
    if len(plan.levels) == 1:
        return ""
    return f"the share of a grouping set grows with the {_root(plan)} root of its number of groups; within a set, "


def _root(plan: Plan) -> str:
    return "square" if plan.cost.epsilon is None else "cube"


def _measures(plan: Plan) -> str:
    notes = [one for one in list_noted_releases(plan) if one.place != plan.selection_count]
    if not notes:
        return "nothing else is measured"
    rest, of_rest = ("all of it", "") if plan.selection_count is None else ("the rest", "of the rest, ")
    if len(notes) == 1:
        return f"one {'measure' if not notes[0].ends else 'selection with its interval'} takes {rest}"
    return (
        f"{of_rest}shares are proportional to the {_root(plan)} root of the importance of a measure (1 for each "
        f"aggregate that uses it, 1/3 for the count of a mean{_others(plan)}), which minimises the forecast "
        "squared error"
    )


def _others(plan: Plan) -> str:
    kinds = [estimate for _, estimate in plan.estimates]
    found = ", its effect on the result in a moment" if any(isinstance(k, Moment) for k in kinds) else ""
    ends = any(isinstance(k, Picked) and isinstance(k.axis, Marks) for k in kinds)
    return found + (", a fourteenth of its quantile's share for each end of an interval" if ends else "")


_TOGETHER = {
    1: "all subpopulations together cost as much as the most expensive one",
    2: "a replaced person can leave one subpopulation and enter another: the two most expensive ones are charged",
}


def part_lines(plan: Plan) -> tuple[str, ...]:
    """Say what the part is, who belongs to it, and what the question costs now; nothing for a whole table."""
    if plan.part is None:
        return ()
    member, table = plan.part, next(t for t in plan.tables if t.name == plan.part.table)
    first = (
        f"{member.key} of {name_partition(member)}: one of {len(member.values):,} subpopulations, known before "
        "the data is read"
    )
    return (first, _belonging(table), *(_cost(plan, t) for t in plan.tables))


def _belonging(table: Table) -> str:
    if table.row_level:
        return "each row is in at most one subpopulation; rows with other keys are in none"
    return (
        f"each {table.owner} belongs to at most one subpopulation: of those where it has rows, the one with the "
        "smallest hash; its rows in others do not count in any question on a subpopulation"
    )


def _cost(plan: Plan, table: Table) -> str:
    found = count_charged_subpopulations(plan, table)
    if found is None:
        return f"{table.name} is charged as for the whole table: some rows need no row of the subpopulation"
    now = dict(plan.charged).get(table.name)
    growth = "" if now is None else f"; its total now grows by {_amount(now)}"
    return f"{table.name}: {_TOGETHER[found[0]]} ({proof_pages.PARALLEL}){growth}"


def _amount(growth: Event) -> str:
    return "nothing" if not (growth.amount or growth.delta) else str(growth)
