"""Joins: two resolved sides of FROM become one level."""

from __future__ import annotations

from dataclasses import replace

from jali.errors import QueryError, Unsupported
from jali.planner.fresh_names import FreshNames
from jali.planner.level import Level, Meeting
from jali.planner.meet_owners import check_meeting, equates, matched, unequal, with_public
from jali.planner.resolve_expression import expect_condition, resolved
from jali.planner.scope import Scope
from jali.query.catalog import Field
from jali.query.nodes import Call, Column, Expression, Found, Joined, Position, conjuncts, walk
from jali.query.ownership import own
from jali.query.read_expression import conjunction
from jali.query.relation import Keep, Match, Pair, Relation, Side


def join(joined: Joined, left: Level, right: Level, names: FreshNames) -> Level:
    """Join two sides; rows of protected tables meet only where the question equates their owners."""
    twice = left.scope.tables() & right.scope.tables()
    if twice:
        raise QueryError("table-named-twice", position=joined.position, table=min(twice))
    if joined.kind == "right":
        joined, left, right = replace(joined, kind="left"), right, left
    condition, scope = _condition(joined, left, right)
    meetings = left.meetings + right.meetings
    conditions = left.conditions + right.conditions
    if joined.kind in ("semi", "anti"):
        relation = matched(left.relation, right.relation, condition, joined.position)
        if joined.kind == "anti":
            relation = _without(left.relation, right.relation, condition, names.flag())
        return Level(relation, left.scope, meetings, conditions)
    pair, met = _paired(joined, left.relation, right.relation, condition)
    # An outer join has rows that do not satisfy its condition: only an inner one proves anything.
    held = conjuncts(condition) if pair.kind == "inner" else ()
    return Level(pair, scope, meetings + met, conditions + held)


def _condition(joined: Joined, left: Level, right: Level) -> tuple[Expression | None, Scope]:
    both = left.scope + right.scope
    using = joined.using
    if joined.natural:
        mine = {v.name.lower() for v in left.scope.readable}
        using = tuple(v.name for v in right.scope.readable if v.name.lower() in mine)
    parts = [_equal(name, left, right, joined.position) for name in using]
    if joined.on is not None:
        if any(isinstance(node, Found) for node in walk(joined.on)):
            raise Unsupported("subquery-in-join", position=joined.position)
        parts.append(resolved(joined.on, both, Side(left.relation.fields + right.relation.fields)))
        expect_condition(parts[-1], Side(left.relation.fields + right.relation.fields), "ON")
    if using and joined.kind != "full":
        # The shared column is written without its table: it means the left one, which is never NULL alone.
        # Where the left side was joined by this column before, that one goes on.
        shared = {left.scope.find(Column(name, joined.position)).name for name in using}
        merged = tuple(replace(v, merged=True) if v.column in shared else v for v in left.scope.columns)
        both = Scope(merged + right.scope.columns, both.outer)
    return conjunction(parts), both


def _equal(name: str, left: Level, right: Level, position: Position) -> Expression:
    written = Column(name, position)
    return Call("=", (left.scope.find(written), right.scope.find(written)), position)


def _paired(
    joined: Joined, left: Relation, right: Relation, condition: Expression | None
) -> tuple[Pair, tuple[Meeting, ...]]:
    """Pair the rows, with what is still to be proved: a later condition may equate the owners of an inner join."""
    one, other = own(left), own(right)
    if one.public or other.public:
        return with_public(joined.kind, left, right, condition, one, other), ()
    check_meeting(one, other, joined.position)
    pair = Pair(joined.kind, left, right, condition)
    if joined.kind == "inner":
        return pair, (Meeting(left, right, joined.position),)
    if not equates(left, right, conjuncts(condition)):
        raise unequal(one, other, joined.position)
    return pair, ()


def _without(source: Relation, other: Relation, condition: Expression | None, flag: Field) -> Relation:
    return Keep(Match(source, other, condition, flag), Call("not", (Column(flag.name),)))
