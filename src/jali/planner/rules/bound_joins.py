"""Rule: cap one person's rows before every join that multiplies them, so that no person decides the work.

A join of two protected tables pairs all rows of each person. What they become is bounded before any data is read:
the tables of a join are capped at as many times the rows that people are expected to have as the limit leaves room
for, and a question that would leave less is refused. Where rows are told apart by texts, fewer of them fit into
the memory of an engine: then bytes are bounded. See `planner.fanout` and docs/proofs/outcomes.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from jali.catalog.columns import Kind
from jali.errors import Unsupported
from jali.ir.expressions import Call, Column, Expression, Position, conjuncts, join_conditions
from jali.ir.ownership import list_protected_tables, own
from jali.ir.relations import Belonging, Capped, Compute, Keep, Match, Pair, PerOwner, Relation, parts, with_parts
from jali.planner.draft import Draft
from jali.planner.fanout import (
    PERSON_BYTES,
    Fanout,
    compute_fanout,
    count_expected_rows,
    count_grown_bytes,
    count_held_bytes,
    multiplies,
    rows_met,
)

# How many rows one person's rows may become, how many all rows of a question, and how many those of public tables.
PERSON_ROWS = 1 << 20
ALL_ROWS = 10**10
PUBLIC_ROWS = 10**7
# Where each row becomes no more than so many, one table of a join needs no cap: that is as good as reading it.
_FEW = 16
# But a cap is at least so many times what people are expected to have there.
_GENEROUS = 8
# The rows of a table that says nothing about them.
_ROWS = 1_000_000


def bound_joins(draft: Draft) -> Draft:
    """Move equalities of WHERE into their joins, cap the tables of joins, and check the bounds."""
    rows, question = push_equalities(draft.rows), draft.question
    held, grown = count_held_bytes(question, rows), count_grown_bytes(question, rows)
    limit = min(PERSON_ROWS, PERSON_BYTES // held) if held else PERSON_ROWS
    made = bound_relation(rows, question.position, limit)
    return replace(draft, relation=_cap(_cap_groups(made, limit), limit) if grown else made)


def _cap_groups(relation: Relation, limit: int) -> Relation:
    """Cap what a subquery tells apart by texts, before it does."""
    made = with_parts(relation, tuple(_cap_groups(part, limit) for part in parts(relation)))
    if isinstance(made, PerOwner) and any(key.field.kind is Kind.TEXT for key in made.keys):
        return replace(made, source=_cap(made.source, limit))
    return made


def _cap(relation: Relation, limit: int) -> Relation:
    """Cap the rows of each person, unless they are bounded already, but for those that are expected."""
    if own(relation).public or compute_fanout(relation).is_bounded:
        return relation
    return Capped(relation, max(limit, count_expected_rows(relation)))


def bound_relation(relation: Relation, position: Position, limit: int = PERSON_ROWS) -> Relation:
    """Cap the tables of joins so that every join has a bound, or refuse the question.

    Args:
        relation: The rows of the question.
        position: Where it begins.
        limit: How many rows one person's rows may become, but for those that a person is expected to have.
    """
    made = _cap_from_below(relation, position, limit)
    found = compute_fanout(made)
    rows = max([_ROWS, *(table.rows or 0 for table in list_protected_tables(made))])
    if found.constant > PERSON_ROWS or found.slope * rows > ALL_ROWS:
        raise _too_many(position)
    return made


def _cap_from_below(relation: Relation, position: Position, limit: int) -> Relation:
    """Cap from below: what the sides of a join are made of is bounded before the join is."""
    if not _joins(relation):
        return with_parts(relation, tuple(_cap_from_below(part, position, limit) for part in parts(relation)))
    sides = [_cap_from_below(side, position, limit) for side in _sides(relation)]
    others = _times(relation)
    if own(relation).public:
        if math.prod(compute_fanout(side).constant for side in sides) > PUBLIC_ROWS:
            raise _too_many(position)
        return _rebuilt(relation, iter(sides))
    bounds = [Fanout(0, 1) if own(side).public else compute_fanout(side) for side in sides]
    others *= math.prod(max(1, bound.constant) for bound in bounds)
    free = [i for i, bound in enumerate(bounds) if not bound.is_bounded]
    caps = _caps([count_expected_rows(sides[i]) for i in free], others, position, limit)
    for i, cap in zip(free, caps, strict=True):
        sides[i] = sides[i] if cap is None else Capped(sides[i], cap)
    return _rebuilt(relation, iter(sides))


def _caps(expected: list[int], others: int, position: Position, limit: int) -> list[int | None]:
    """Choose the caps of sides of which a person is expected to have some rows; None leaves the largest as it is.

    Args:
        expected: How many rows of each side a person is expected to have.
        others: What a row is multiplied by besides.
        position: Where the question begins.
        limit: How many rows all of them may become together.
    """
    if not expected:
        return []
    largest = max(range(len(expected)), key=expected.__getitem__)
    small = [rows for i, rows in enumerate(expected) if i != largest]
    times = _root(_FEW, others * math.prod(small), len(small))
    if times >= _GENEROUS or (times and not small):
        return [None if i == largest else rows * times for i, rows in enumerate(expected)]
    usual = others * math.prod(expected)
    times = _root(max(limit, min(usual, PERSON_ROWS)), usual, len(expected))
    if times < 1:
        raise _too_many(position)
    return [rows * times for rows in expected]


def _root(limit: int, rows: int, sides: int) -> int:
    """Return the largest whole t with rows * t^sides <= limit; 0 if there is none."""
    if rows > limit:
        return 0
    if not sides:
        return 1
    times = int((limit / rows) ** (1 / sides)) + 1
    while rows * times**sides > limit:
        times -= 1
    return times


# A join with all that it is made of: sides that are no joins themselves.


def _joins(relation: Relation) -> bool:
    """Say whether rows are paired here, or below what only keeps or computes them."""
    if isinstance(relation, Keep | Compute | Belonging | Capped):
        return _joins(relation.source)
    if isinstance(relation, Match):
        return multiplies(relation) or _joins(relation.source)
    return isinstance(relation, Pair)


def _sides(relation: Relation) -> Iterator[Relation]:
    if not _joins(relation):
        yield relation
    elif isinstance(relation, Match) and not multiplies(relation):
        yield from _sides(relation.source)
    else:
        for part in parts(relation):
            yield from _sides(part)


def _rebuilt(relation: Relation, sides: Iterator[Relation]) -> Relation:
    """Put other sides in the place of those that `_sides` gives, in their order."""
    if not _joins(relation):
        return next(sides)
    if isinstance(relation, Match) and not multiplies(relation):
        return replace(relation, source=_rebuilt(relation.source, sides))
    return with_parts(relation, tuple(_rebuilt(part, sides) for part in parts(relation)))


def _times(relation: Relation) -> int:
    """Return by how much the public tables of a join, and its outer rows, multiply the rows of the others."""
    if not _joins(relation):
        return 1
    if not isinstance(relation, Pair | Match) or (isinstance(relation, Match) and not multiplies(relation)):
        return _times(parts(relation)[0])
    left, right = parts(relation)
    times = _times(left) * (2 if isinstance(relation, Pair) and relation.kind != "inner" else 1)
    if own(right).public and not own(left).public:
        return times * rows_met(left, right, relation.condition)
    return times * _times(right)


def _too_many(position: Position) -> Unsupported:
    return Unsupported("joins-too-large", position=position, most=PERSON_ROWS)


# Equalities.


def push_equalities(relation: Relation) -> Relation:
    """Move equalities of two columns from WHERE into the inner join of the tables that they are of.

    A question may name its tables with commas and say in WHERE how they meet: without this, all pairs of their
    rows would be computed first.
    """
    made = with_parts(relation, tuple(push_equalities(part) for part in parts(relation)))
    if not isinstance(made, Keep):
        return made
    source, rest = made.source, list[Expression]()
    for condition in conjuncts(made.condition):
        moved = _push_equality(source, condition) if _equality(condition) else None
        source, rest = (source, [*rest, condition]) if moved is None else (moved, rest)
    every = join_conditions(rest)
    return source if every is None else Keep(source, every)


def _push_equality(relation: Relation, condition: Expression) -> Relation | None:
    """Put an equality into the lowest inner join whose two sides it speaks of; None if there is none."""
    if isinstance(relation, Keep | Match):
        moved = _push_equality(relation.source, condition)
        return None if moved is None else replace(relation, source=moved)
    if not isinstance(relation, Pair):
        return None
    if _speaks_of(condition, relation.left):
        moved = _push_equality(relation.left, condition)
        return None if moved is None else replace(relation, left=moved)
    if relation.kind != "inner":
        return None
    if _speaks_of(condition, relation.right):
        moved = _push_equality(relation.right, condition)
        return None if moved is None else replace(relation, right=moved)
    if not _speaks_of(condition, relation):
        return None
    return replace(relation, condition=join_conditions([*conjuncts(relation.condition), condition]))


def _equality(condition: Expression) -> bool:
    return (
        isinstance(condition, Call)
        and condition.function == "="
        and all(isinstance(argument, Column) for argument in condition.arguments)
    )


def _speaks_of(condition: Expression, relation: Relation) -> bool:
    assert isinstance(condition, Call)
    return all(isinstance(a, Column) and relation.field(a.name) is not None for a in condition.arguments)
