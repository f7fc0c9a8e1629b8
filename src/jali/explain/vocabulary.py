"""Phrases that all parts of an explanation share."""

from __future__ import annotations

from jali.ir.ownership import most_changes, own
from jali.planner import terms
from jali.planner.forecast import scans_one_table
from jali.planner.plan import Plan

CONFIDENCE = terms.CONFIDENCE
_MOVED = {
    1: "",
    2: "; removed in one place and added in another",
    4: "; removed in one place and added in another, for two people",
}


def name_unit(plan: Plan) -> str:
    """Return what names one privacy unit."""
    return own(plan.source).unit or "row"


def one_table(plan: Plan) -> bool:
    """Say whether the rows are those of one table that names their owners itself."""
    return scans_one_table(plan) and len(plan.tables) == 1


def plural(count: int, noun: str) -> str:
    """Write a number of things.

    Example:
        >>> plural(1, "row"), plural(1200, "row")
        ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def show_changes(plan: Plan) -> str:
    """Say what one unit changes beyond one bounded contribution."""
    return _MOVED[most_changes(plan.source)]


def set_label(plan: Plan, level: int) -> str:
    """Name a grouping set by its keys."""
    from jali.planner.original_expression import write_original

    return f"({', '.join(write_original(plan.keys[place].expression) for place in plan.levels[level].places)})"
