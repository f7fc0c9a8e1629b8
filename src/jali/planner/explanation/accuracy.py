"""How close an answer is to be, in words: where the loss was found for that."""

from __future__ import annotations

from fractions import Fraction

from jali.display.numbers import show_amount, show_percent
from jali.planner.accuracy import wanted
from jali.planner.explanation.words import listed
from jali.planner.forecast import forecast_of, public_rows
from jali.planner.plan import Plan
from jali.privacy import decimal
from jali.query.estimates import AnyEstimate, Moment, Picked


def accuracy_lines(plan: Plan) -> tuple[str, ...]:
    """Say what the loss was found for, and how far that is a promise; nothing for a loss that was given."""
    if plan.aim is None or not plan.aim.within:
        return ()
    each = "each number" if plan.keys else "the answer"
    found = f"{plan.cost} is the least loss, up to 1 %, at which {each} stays within what was asked"
    sure = f"with {show_percent(plan.aim.confidence)}{', each group by itself' if plan.keys else ''}"
    return (f"{found}, {sure}", *(_line(plan, output.name, made, width) for output, made, width in wanted(plan)))


def _line(plan: Plan, name: str, estimate: AnyEstimate, within: Fraction) -> str:
    found = forecast_of(plan, 0, estimate)
    width = f"{name} within {decimal(within)}"
    if found.half_width is None:
        return f"{width}: a forecast and no promise, {listed(_if(plan, estimate))}"
    return f"{width}, whatever the data" + (", in a group that is sure to appear" if found.sure else "")


def _if(plan: Plan, estimate: AnyEstimate) -> list[str]:
    """Say for what data a forecast is made."""
    rows = public_rows(plan, 0)
    found = [] if rows is None else [f"for groups of {show_amount(rows)} rows"]
    if isinstance(estimate, Moment):
        return [*found, "typical data"]
    return [*found, "values that lie evenly over their range"] if isinstance(estimate, Picked) else found
