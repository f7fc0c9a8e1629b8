"""UNION ALL: relations one below the other, with columns of one kind and ranges that hold in every part."""

from __future__ import annotations

from jali.errors import QueryError
from jali.query.catalog import Field, Keys, Kind
from jali.query.nodes import Call, Column, Expression, Position
from jali.query.relation import Compute, Computed, Relation, Stack
from jali.query.types import column_type


def stacked(parts: list[Relation], prefix: str, position: Position) -> Stack:
    """Stack relations, or refuse if their columns do not match."""
    if len({len(part.fields) for part in parts}) > 1:
        raise QueryError("union-column-count", position=position)
    columns = list(zip(*(part.fields for part in parts), strict=True))
    fields = tuple(_common(prefix, column, position) for column in columns)
    return Stack(tuple(_aligned(part, fields, i) for i, part in enumerate(parts)), fields)


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


def _aligned(part: Relation, fields: tuple[Field, ...], index: int) -> Relation:
    """Give one part columns of the common types, under names of its own."""
    columns = tuple(_converted(mine, field, index) for mine, field in zip(part.fields, fields, strict=True))
    return Compute(part, columns)


def _converted(mine: Field, field: Field, index: int) -> Computed:
    value: Expression = Column(mine.name)
    if field.computed and field.kind.numeric:
        # Stored integers of several widths meet as doubles, like every computed number.
        value = Call("whole" if field.kind is Kind.INTEGER else "number", (value,))
    name = f"{field.name}.{index}"
    made = Field(name, field.kind, field.type, mine.range, mine.keys, field.computed, column_type(mine).bounds)
    return Computed(made, value)
