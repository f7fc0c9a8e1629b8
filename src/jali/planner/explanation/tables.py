"""The tables of a question: whose rows they are, and what one person's rows in each can change."""

from __future__ import annotations

from jali.planner.explanation.notes import TableNote
from jali.planner.explanation.words import one_row_each, person, plural
from jali.planner.plan import Plan
from jali.privacy import Adjacency
from jali.query.catalog import Public, Table
from jali.query.ownership import changes, own
from jali.query.relation import Keep, Match, Pair, PerOwner, Relation, Scan, Stack


def table_notes(plan: Plan) -> tuple[TableNote, ...]:
    """Say of each protected table what the question can tell about it, and what that costs."""
    return tuple(_note(plan, table) for table in plan.tables)


def public_names(plan: Plan) -> tuple[str, ...]:
    """Return the public tables that are read."""
    return tuple(table.name for table in plan.read if isinstance(table, Public))


def _note(plan: Plan, table: Table) -> TableNote:
    cost = dict(plan.costs).get(table.name, plan.cost)
    return TableNote(
        name=table.name,
        unit=table.owner,
        via=_via(table),
        adjacency=table.adjacency.value,
        max_rows=table.max_rows,
        changes=changes(plan.source, table),
        because=_because(plan, table),
        loss=str(cost),
        exact_loss=str(cost.amount),
    )


def _via(table: Table) -> str | None:
    if table.reach is None:
        return None
    reach = table.reach
    return f"{reach.here} = {reach.there} of {reach.table.name}, which is unique there"


def _because(plan: Plan, table: Table) -> str:
    who = "row" if table.row_level else f"{table.owner}"
    if table.name in own(plan.source).needed:
        lost = f"every row needs a row of {table.name}: without those of one {who}, what that {who} adds is gone"
    else:
        lost = (
            f"a row can do without {table.name}: without those of one {who}, what remains may move to another "
            "group or gain weight, so one bounded contribution goes and another comes"
        )
    return lost if table.adjacency is Adjacency.ADD_REMOVE else f"{lost}; replacing does this for two"


def neighbours(plan: Plan) -> str:
    """Say what a neighbouring table is."""
    table = plan.table
    who = person(plan)
    rows = "one row" if table.row_level else f"all rows of one {who}"
    if table.adjacency is Adjacency.ADD_REMOVE:
        return f"the answer is nearly as likely with {rows} as without"
    other = "any other row" if table.row_level else f"the rows of any other {who}"
    return f"the answer is nearly as likely with {rows} as with {other} instead; how many there are is public"


def contribution(plan: Plan) -> str:
    """Say how one person's rows are bounded, and where the bound comes from."""
    weights = plan.aggregation.weights
    if weights is None:
        return _alone(plan)
    rows, who = plural(weights.max_rows, "row"), person(plan)
    if weights.ranked:
        return (
            f"one {who} counts for at most {rows}, by rank: the first {weights.max_rows:,} of each {who} in the "
            f"prepared copy count 1 each, in an order that was drawn when it was written{_from(plan)}"
        )
    if one_row_each(plan) and weights.max_rows == 1:
        return f"one {who} has one row at most, and counts once"
    asked = "that pass the filter " if isinstance(plan.source, Keep) else ""
    bound = f"one {who} counts for at most {rows}: of c rows {asked}each weighs min(1, {weights.max_rows}/c), "
    if weights.norm == "l2":
        bound = (
            f"one {who} counts for at most {rows} in the L2 norm over the groups: each row {asked}weighs "
            f"min(1, {weights.max_rows}/c), where c is the root of the sum of squares of the rows in each group, "
        )
    return f"{bound}rounded down to a multiple of 1/{weights.resolution:,}. Nothing is sampled{_from(plan)}"


def _alone(plan: Plan) -> str:
    """Say why rows need no bound."""
    if plan.table.unique:
        return f"each {person(plan)} has one row, as a key of the source enforces, and counts once"
    return "each row is a person of its own and counts once"


def _from(plan: Plan) -> str:
    """Say where the bound comes from, unless it is simply the table's."""
    weights, declared = plan.aggregation.weights, own(plan.source).max_rows
    if weights is not None and weights.max_rows != declared:
        return f". The question asks for {weights.max_rows:,}; declared is {_origin(plan.source)}"
    origin = _origin(plan.source)
    return "" if origin == _declared(plan.table) else f". The bound is {origin}"


def _declared(table: Table) -> str:
    return f"{table.max_rows:,} ({table.name})"


def _origin(relation: Relation) -> str:
    if isinstance(relation, Scan):
        assert isinstance(relation.table, Table)
        return _declared(relation.table)
    if isinstance(relation, Stack):
        return " + ".join(_origin(part) for part in relation.parts)
    if isinstance(relation, Pair):
        return _larger(relation)
    if isinstance(relation, PerOwner) and own(relation).max_rows != own(relation.source).max_rows:
        return f"1 (a row for each {own(relation).unit})"
    assert not isinstance(relation, Match) or not own(relation.source).public
    return _origin(relation.source)


def _larger(pair: Pair) -> str:
    sides = [s for s in (pair.left, pair.right) if not own(s).public]
    if len(sides) == 1:
        return _origin(sides[0])
    rows = [own(s).max_rows for s in sides]
    if rows[0] == rows[1]:
        return _origin(sides[0])
    return f"the larger of {_origin(sides[0])} and {_origin(sides[1])}"
