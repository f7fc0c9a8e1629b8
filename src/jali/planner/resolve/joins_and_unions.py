"""Resolve joins and unions, accepted only where each row keeps one owner.

Each check of owners proves one row of the table in `docs/proofs/ownership.md`, or refuses with the place and a
remedy. A union puts relations one below the other, with columns of one kind and ranges that hold in every part.
"""

from __future__ import annotations

from dataclasses import replace

from jali.catalog.columns import Field, Keys, Kind
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import (
    Call,
    Column,
    Expression,
    Joined,
    Position,
    Subquery,
    conjuncts,
    join_conditions,
    walk,
)
from jali.ir.ownership import Ownership, find_owner_equality, own
from jali.ir.relations import Compute, Computed, Keep, Match, Pair, Relation, Side, Stack
from jali.ir.types import column_type
from jali.planner.resolve.column_names import (
    FreshNames,
    Scope,
    SelectScope,
    UnprovedJoin,
    expect_condition,
    plain_name,
    resolve_expression,
)


def match_rows(
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
        if find_owner_equality(source, other, conjuncts(condition)) is None:
            raise refuse_unequal_owners(one, two, position)
    return Match(source, other, condition, flag)


def join_public(
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


def refuse_unequal_owners(one: Ownership, other: Ownership, position: Position) -> Unsupported:
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


def resolve_join(joined: Joined, left: SelectScope, right: SelectScope, names: FreshNames) -> SelectScope:
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
        relation = match_rows(left.relation, right.relation, condition, joined.position)
        if joined.kind == "anti":
            relation = _without(left.relation, right.relation, condition, names.flag())
        return SelectScope(relation, left.scope, meetings, conditions)
    pair, met = _pair_sides(joined, left.relation, right.relation, condition)
    # An outer join has rows that do not satisfy its condition: only an inner one proves anything.
    held = conjuncts(condition) if pair.kind == "inner" else ()
    return SelectScope(pair, scope, meetings + met, conditions + held)


def _condition(joined: Joined, left: SelectScope, right: SelectScope) -> tuple[Expression | None, Scope]:
    both = left.scope + right.scope
    using = joined.using
    if joined.natural:
        mine = {v.name.lower() for v in left.scope.readable}
        using = tuple(v.name for v in right.scope.readable if v.name.lower() in mine)
    parts = [_equal(name, left, right, joined.position) for name in using]
    if joined.on is not None:
        if any(isinstance(node, Subquery) for node in walk(joined.on)):
            raise Unsupported("subquery-in-join", position=joined.position)
        parts.append(resolve_expression(joined.on, both, Side(left.relation.fields + right.relation.fields)))
        expect_condition(parts[-1], Side(left.relation.fields + right.relation.fields), "ON")
    if using and joined.kind != "full":
        # The shared column is written without its table: it means the left one, which is never NULL alone.
        # Where the left side was joined by this column before, that one goes on.
        shared = {left.scope.find(Column(name, joined.position)).name for name in using}
        merged = tuple(replace(v, merged=True) if v.column in shared else v for v in left.scope.columns)
        both = Scope(merged + right.scope.columns, both.outer)
    return join_conditions(parts), both


def _equal(name: str, left: SelectScope, right: SelectScope, position: Position) -> Expression:
    written = Column(name, position)
    return Call("=", (left.scope.find(written), right.scope.find(written)), position)


def _pair_sides(
    joined: Joined, left: Relation, right: Relation, condition: Expression | None
) -> tuple[Pair, tuple[UnprovedJoin, ...]]:
    """Pair the rows, with what is still to be proved: a later condition may equate the owners of an inner join."""
    one, other = own(left), own(right)
    if one.public or other.public:
        return join_public(joined.kind, left, right, condition, one, other), ()
    check_meeting(one, other, joined.position)
    pair = Pair(joined.kind, left, right, condition)
    if joined.kind == "inner":
        return pair, (UnprovedJoin(left, right, joined.position),)
    if find_owner_equality(left, right, conjuncts(condition)) is None:
        raise refuse_unequal_owners(one, other, joined.position)
    return pair, ()


def _without(source: Relation, other: Relation, condition: Expression | None, flag: Field) -> Relation:
    return Keep(Match(source, other, condition, flag), Call("not", (Column(flag.name),)))


def stack_relations(parts: list[Relation], prefix: str, position: Position) -> Stack:
    """Stack relations, or refuse if their columns do not match."""
    if len({len(part.fields) for part in parts}) > 1:
        raise QueryError("union-column-count", position=position)
    columns = list(zip(*(part.fields for part in parts), strict=True))
    fields = tuple(_common(prefix, column, position) for column in columns)
    return Stack(tuple(_align_part(part, fields, i) for i, part in enumerate(parts)), fields)


def _common(prefix: str, column: tuple[Field, ...], position: Position) -> Field:
    """Return the column that stands for one column of each part."""
    name = prefix + column[0].name.split(".", 1)[-1]
    kinds = {field.kind for field in column}
    if len(kinds) > 1 and not all(kind.numeric for kind in kinds):
        raise QueryError("union-kinds", position=position, kinds=tuple(sorted(kind.value for kind in kinds)))
    kind = column[0].kind if len(kinds) == 1 else Kind.REAL
    bounds = column_type(column[0]).bounds
    for field in column[1:]:
        bounds = bounds.union(column_type(field).bounds)
    plain = _plain(column)
    return Field(name, kind, column[0].type if plain else "", None, _keys(column), not plain, bounds)


def _plain(column: tuple[Field, ...]) -> bool:
    """Say whether all parts hold the column in one stored type."""
    return len({field.type for field in column}) == 1 and not any(field.computed for field in column)


def _keys(column: tuple[Field, ...]) -> Keys | None:
    if any(field.keys is None for field in column):
        return None
    values = [value for field in column if field.keys is not None for value in field.keys.values]
    return Keys(list(dict.fromkeys(values)))


def _align_part(part: Relation, fields: tuple[Field, ...], index: int) -> Relation:
    """Give one part columns of the common types, under names of its own."""
    columns = tuple(_convert_column(mine, field, index) for mine, field in zip(part.fields, fields, strict=True))
    return Compute(part, columns)


def _convert_column(mine: Field, field: Field, index: int) -> Computed:
    value: Expression = Column(mine.name)
    if field.computed and field.kind.numeric:
        # Stored integers of several widths meet as doubles, like every computed number.
        value = Call("whole" if field.kind is Kind.INTEGER else "number", (value,))
    name = f"{field.name}.{index}"
    made = Field(name, field.kind, field.type, mine.range, mine.keys, field.computed, column_type(mine).bounds)
    return Computed(made, value)
