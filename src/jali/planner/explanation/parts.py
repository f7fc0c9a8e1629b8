"""What there is to say about a question on one part of a table."""

from __future__ import annotations

from jali.planner.explanation import pages
from jali.planner.partition import shown, touches
from jali.planner.plan import Plan
from jali.privacy import Event
from jali.query.catalog import Table

_TOGETHER = {
    1: "all parts together cost as much as the dearest of them",
    2: "a person who is replaced can leave one part and enter another: the dearest pair of parts counts",
}


def part_lines(plan: Plan) -> tuple[str, ...]:
    """Say what the part is, who belongs to it, and what the question costs now; nothing for a whole table."""
    if plan.part is None:
        return ()
    member, table = plan.part, next(t for t in plan.tables if t.name == plan.part.table)
    first = f"{member.key} of {shown(member)}: one of {len(member.values):,}, known before the data is read"
    return (first, _belonging(table), *(_cost(plan, t) for t in plan.tables))


def _belonging(table: Table) -> str:
    if table.row_level:
        return "each row is in one part at most; rows with other keys are in none"
    return (
        f"each {table.owner} belongs to one part at most: of those where it has rows, the one with the least hash;"
        " its rows in other parts do not count, in no question on a part"
    )


def _cost(plan: Plan, table: Table) -> str:
    found = touches(plan, table)
    if found is None:
        return f"{table.name} pays as without parts: some rows of the question need no row of the part"
    now = dict(plan.charged).get(table.name)
    growth = "" if now is None else f"; now its sum grows by {_amount(now)}"
    return f"{table.name}: {_TOGETHER[found[0]]} ({pages.PARALLEL}){growth}"


def _amount(growth: Event) -> str:
    return "nothing" if not (growth.amount or growth.delta) else str(growth)
