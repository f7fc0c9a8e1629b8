"""Owners that meet: joins, semi-joins and unions are accepted only where each row keeps one owner.

Each check here proves one row of the table in `docs/proofs/ownership.md`, or refuses with the place and a remedy.
"""

from __future__ import annotations

from jali.errors import Unsupported
from jali.planner.fresh_names import plain_name
from jali.query.catalog import Field
from jali.query.nodes import Call, Column, Expression, Position, conjuncts
from jali.query.ownership import Ownership, own, same_owner
from jali.query.relation import Match, Pair, Relation


def matched(
    source: Relation,
    other: Relation,
    condition: Expression | None,
    position: Position,
    flag: Field | None = None,
) -> Relation:
    """Keep or flag the rows that have a match in another relation: of the same owner, where that is protected."""
    one, two = own(source), own(other)
    if not two.public:
        if one.public:
            raise Unsupported("public-table-filtered", position=position)
        check_meeting(one, two, position)
        if not equates(source, other, conjuncts(condition)):
            raise unequal(one, two, position)
    return Match(source, other, condition, flag)


def with_public(
    kind: str,
    left: Relation,
    right: Relation,
    condition: Expression | None,
    one: Ownership,
    other: Ownership,
) -> Pair:
    """Join with a public table: the rows belong to the owners of the protected side; rows without owner drop."""
    if one.public and other.public:
        return Pair(kind, left, right, condition)
    if one.public:
        return Pair("left" if kind == "full" else "inner", right, left, condition)
    return Pair("left" if kind in ("left", "full") else "inner", left, right, condition)


def equates(left: Relation, right: Relation, conditions: tuple[Expression, ...]) -> bool:
    """Say whether some condition equates the owners of two relations."""
    for condition in conditions:
        if not (isinstance(condition, Call) and condition.function == "="):
            continue
        one, other = condition.arguments
        if isinstance(one, Column) and isinstance(other, Column):
            for a, b in ((one.name, other.name), (other.name, one.name)):
                if left.field(a) is not None and right.field(b) is not None and same_owner(left, a, right, b):
                    return True
    return False


def check_merged(relation: Relation, keys: list[Expression], position: Position) -> None:
    """Refuse a subquery that merges rows of different people."""
    owners = own(relation)
    names = {key.name for key in keys if isinstance(key, Column)}
    if owners.public or names & {name for name, _ in owners.copies}:
        return
    raise _merges(owners, position)


def check_stack(parts: list[Relation], position: Position) -> None:
    """Refuse a union whose rows would not all be owned by people of one kind."""
    owners = [own(part) for part in parts]
    if len({o.public for o in owners}) > 1:
        raise Unsupported("union-of-public-and-protected", position=position)
    for other in owners[1:]:
        if not other.public:
            check_meeting(owners[0], other, position)


def check_meeting(one: Ownership, other: Ownership, position: Position) -> None:
    """Refuse owners that cannot be equal: rows that are people themselves, or units of two types."""
    if one.row_level or other.row_level:
        raise Unsupported("join-without-unit", position=position)
    if one.type != other.type:
        raise Unsupported(
            "unit-types-differ",
            position=position,
            one=one.unit,
            one_type=one.type,
            other=other.unit,
            other_type=other.type,
        )


def unequal(one: Ownership, other: Ownership, position: Position) -> Unsupported:
    """Say which equality the question lacks."""
    return Unsupported("units-not-equal", position=position, one=_owner(one), other=_owner(other))


def _owner(owners: Ownership) -> str:
    """Name the unit with its table, where there is one."""
    return f"{next(iter(owners.needed))}.{owners.unit}" if len(owners.needed) == 1 else str(owners.unit)


def _merges(owners: Ownership, position: Position) -> Unsupported:
    if owners.row_level:
        return Unsupported("subquery-merges-rows", position=position)
    named = owners.owner_columns()
    unit = plain_name(named[0]) if named else owners.unit
    return Unsupported("subquery-merges-people", position=position, unit=unit)
