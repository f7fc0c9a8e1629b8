"""Explain where the rows of a question come from, whose they are, and what one person's rows can change."""

from __future__ import annotations

from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Public, Table
from jali.explain.notes import TableNote
from jali.explain.vocabulary import name_unit, plural
from jali.ir.expressions import Column, Expression, conjuncts
from jali.ir.ownership import OWNER, changes, find_owner_equality, own
from jali.ir.relations import (
    Belonging,
    Capped,
    Compute,
    Keep,
    Match,
    Pair,
    PerOwner,
    Relation,
    Scan,
    Stack,
    split_conditions,
)
from jali.planner.answer_notes import is_made_one_row
from jali.planner.original_expression import (
    find_original_names,
    join_words,
    name_relation,
    write_original,
    write_summary,
)
from jali.planner.plan import Plan
from jali.privacy import Adjacency, decimal

Conditions = tuple[Expression, ...]
_KINDS = {
    "inner": "joined with",
    "left": "left-joined with",
    "full": "full-joined with",
}


def list_steps(plan: Plan) -> tuple[str, ...]:
    """Say step by step what the engine makes of the tables; nothing where it reads the rows of one table."""
    source, conditions = split_conditions(plan.source)
    return tuple(_steps(source, tuple(part for one in reversed(conditions) for part in conjuncts(one))))


def write_condition(plan: Plan) -> str | None:
    """Write the filter of the question itself."""
    source, conditions = split_conditions(plan.source)
    names = find_original_names(source)
    return " AND ".join(write_original(condition, names) for condition in conditions) or None


def _steps(relation: Relation, known: Conditions) -> list[str]:
    if isinstance(relation, Scan):
        return []
    if isinstance(relation, Keep):
        return [*_steps(relation.source, known + conjuncts(relation.condition)), _describe_filter(relation)]
    if isinstance(relation, Compute | Belonging):
        return _steps(relation.source, known)
    if isinstance(relation, Capped):
        unit, who = own(relation).unit, name_relation(relation.source)
        cap = f"at most {relation.rows:,} rows of {who} per {unit}, before joining or grouping"
        return [*_steps(relation.source, known), cap]
    if isinstance(relation, Pair):
        return [*_steps(relation.left, known), *_steps(relation.right, ()), _describe_join(relation, known)]
    if isinstance(relation, Match):
        return [*_steps(relation.source, known), *_steps(relation.other, ()), _describe_match(relation)]
    if isinstance(relation, Stack):
        return [step for part in relation.parts for step in _steps(part, ())] + [_describe_union(relation)]
    return [*_steps(relation.source, ()), _describe_summary(relation)]


def _describe_filter(relation: Keep) -> str:
    here = write_original(relation.condition, find_original_names(relation.source))
    scanned = isinstance(relation.source, Scan)
    return f"rows of {name_relation(relation.source)} where {here}" if scanned else f"those of them where {here}"


def _describe_join(pair: Pair, known: Conditions) -> str:
    left, right = own(pair.left), own(pair.right)
    shown = f"{name_relation(pair.left)} {_KINDS[pair.kind]} {name_relation(pair.right)}"
    on = "" if pair.condition is None else f" on {write_original(pair.condition)}"
    if left.public or right.public:
        return f"{shown}{on}: rows keep their privacy unit, public rows have none; repeated rows are bounded later"
    equal = write_equality(pair.left, pair.right, conjuncts(pair.condition) + known)
    means = "both rows belong to one person" + _lonely(pair.kind)
    return f"{shown}{on}, so {means}" if on == f" on {equal}" else f"{shown}{on}: as {equal}, {means}"


def _lonely(kind: str) -> str:
    return "" if kind == "inner" else "; a row without a match keeps its privacy unit"


def write_equality(left: Relation, right: Relation, conditions: Conditions) -> str:
    """Write the condition that equates two owners."""
    found = find_owner_equality(left, right, conditions)
    return "their privacy units are equal" if found is None else write_original(found)


def _describe_match(relation: Match) -> str:
    on = (
        ""
        if relation.condition is None
        else f", {write_original(relation.condition, find_original_names(relation.other))}"
    )
    same = "" if own(relation.other).public else " of the same person"
    shown = f"matching row of {name_relation(relation.other)}{same}{on}"
    if relation.flag is None:
        return f"rows of {name_relation(relation.source)} with a {shown}"
    return f"rows of {name_relation(relation.source)}, each flagged by whether there is a {shown}"


def _describe_union(relation: Stack) -> str:
    parts = join_words([name_relation(part) for part in relation.parts])
    return f"UNION ALL of {parts}: every row keeps its privacy unit"


def _describe_summary(relation: PerOwner) -> str:
    owners, names = own(relation.source), find_original_names(relation.source)
    who = owners.unit if not owners.public else None
    tokens = dict(owners.copies)
    others = [
        write_original(key.expression, names)
        for key in relation.keys
        if not (isinstance(key.expression, Column) and tokens.get(key.expression.name) == OWNER)
    ]
    keyed = join_words([*([] if who is None else [who]), *others]) if who or others else "the whole table"
    made = [_write_clamp(write_summary(s, names), s.function, s.field.bounds) for s in relation.summaries]
    return f"one row for each {keyed}" + (f": {', '.join(made)}" if made else "")


def _write_clamp(shown: str, function: str, bounds: NumberInterval) -> str:
    if function not in ("count", "sum") or bounds.low is None or bounds.high is None:
        return shown
    return f"{shown} clamped to [{decimal(bounds.low)}, {decimal(bounds.high)}]"


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
    return f"{reach.here} = {reach.there} of {reach.table.name}, which is unique in {reach.table.name}"


def _because(plan: Plan, table: Table) -> str:
    who = "row" if table.row_level else f"{table.owner}"
    if table.name in own(plan.source).needed:
        lost = f"every row needs a row of {table.name}: removing one {who} there removes its contribution"
    else:
        lost = (
            f"a row can exist without {table.name}: removing one {who} there may move its other rows to another "
            "group or change their weights, so that another bounded contribution takes the place of the first"
        )
    return lost if table.adjacency is Adjacency.ADD_REMOVE else f"{lost}; a replacement does this for two"


def describe_neighbours(plan: Plan) -> str:
    """Say what a neighbouring table is."""
    table = plan.table
    who = name_unit(plan)
    rows = "one row" if table.row_level else f"all rows of one {who}"
    if table.adjacency is Adjacency.ADD_REMOVE:
        return f"the answer is nearly as likely with {rows} as without"
    other = "any other row" if table.row_level else f"the rows of any other {who}"
    return f"the answer is nearly as likely with {rows} as with {other} instead; their number is public"


def describe_contribution(plan: Plan) -> str:
    """Say how one person's rows are bounded, and where the bound comes from."""
    weights = plan.aggregation.weights
    if weights is None:
        return _alone(plan)
    rows, who = plural(weights.max_rows, "row"), name_unit(plan)
    if weights.by_rank:
        return (
            f"at most {rows} per {who}: the first {weights.max_rows:,} of each {who} in the prepared copy count 1 "
            f"each, in a random order that was drawn when the copy was written{_from(plan)}"
        )
    if is_made_one_row(plan.source) and weights.max_rows == 1:
        return f"each {who} has at most one row, which counts once"
    asked = "that pass the filter " if isinstance(plan.source, Keep) else ""
    bound = f"at most {rows} per {who}: of c rows {asked}each weighs min(1, {weights.max_rows}/c), "
    if weights.norm == "l2":
        bound = (
            f"at most {rows} per {who} in the L2 norm over the groups: each row {asked}weighs "
            f"min(1, {weights.max_rows}/c), where c is the root of the sum of squared row counts over the groups, "
        )
    return f"{bound}rounded down to a multiple of 1/{weights.resolution:,}. No rows are sampled{_from(plan)}"


def _alone(plan: Plan) -> str:
    """Say why rows need no bound."""
    if plan.table.unique:
        return f"each {name_unit(plan)} has one row, which a key of the source enforces, and counts once"
    return "each row is a privacy unit of its own and counts once"


def _from(plan: Plan) -> str:
    """Say where the bound comes from, unless it is simply the table's."""
    weights, declared = plan.aggregation.weights, own(plan.source).max_rows
    if weights is not None and weights.max_rows != declared:
        return f". The question sets this contribution bound; {_origin(plan.source)} is declared"
    origin = _origin(plan.source)
    return "" if origin == _write_declared_bound(plan.table) else f". The contribution bound is {origin}"


def _write_declared_bound(table: Table) -> str:
    return f"{table.max_rows:,} ({table.name})"


def _origin(relation: Relation) -> str:
    if isinstance(relation, Scan):
        assert isinstance(relation.table, Table)
        return _write_declared_bound(relation.table)
    if isinstance(relation, Stack):
        return " + ".join(_origin(part) for part in relation.parts)
    if isinstance(relation, Pair):
        return _larger(relation)
    if isinstance(relation, PerOwner) and own(relation).max_rows != own(relation.source).max_rows:
        return f"1 (one row per {own(relation).unit})"
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
