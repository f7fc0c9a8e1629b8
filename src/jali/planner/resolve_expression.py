"""Expressions: written names become the columns that they mean, and text becomes dates beside dates."""

from __future__ import annotations

from dataclasses import replace

from jali.errors import QueryError
from jali.planner.key_values import key_values
from jali.planner.scope import Scope
from jali.query.aggregates import result_type
from jali.query.catalog import Field, Keys, Kind
from jali.query.functions import Type
from jali.query.nodes import Aggregate, Call, Column, Expression, Found, Output, walk
from jali.query.relation import Relation, Side, renamed
from jali.query.types import call_type, dated, find_field, type_of


def resolved(written: Expression, scope: Scope, fields: Relation | Side) -> Expression:
    """Resolve the names of one expression, and read text as dates where it is compared with them."""
    if isinstance(written, Column):
        if written.table is None and fields.field(written.name) is not None and "." in written.name:
            return written
        return scope.find(written)
    if isinstance(written, Call):
        arguments = tuple(resolved(a, scope, fields) for a in written.arguments)
        return dated(replace(written, arguments=arguments), lambda argument: _kind(argument, fields))
    if isinstance(written, Aggregate):
        return _aggregate(written, scope, fields)
    return written


def _kind(expression: Expression, fields: Relation | Side) -> Kind | None:
    """Return the kind of an expression in which aggregates may stand; None where it is not known here."""
    return None if isinstance(expression, Found) else _type(expression, fields).kind


def _type(expression: Expression, fields: Relation | Side) -> Type:
    if isinstance(expression, Aggregate):
        return result_type(expression, fields)
    if not isinstance(expression, Call):
        return type_of(expression, fields)
    if expression.function == "grouping":
        return Type(Kind.INTEGER)
    return call_type(expression, [_type(argument, fields) for argument in expression.arguments])


def _aggregate(written: Aggregate, scope: Scope, fields: Relation | Side) -> Aggregate:
    return replace(
        written,
        argument=None if written.argument is None else resolved(written.argument, scope, fields),
        others=tuple(resolved(other, scope, fields) for other in written.others),
        filter=None if written.filter is None else resolved(written.filter, scope, fields),
    )


def column_of(name: str, expression: Expression, fields: Relation) -> Field:
    """Return the column that an expression makes: a copy of a column, or a computed one."""
    if isinstance(expression, Column):
        return renamed(find_field(expression, fields), name)
    kind = type_of(expression, fields)
    known = key_values(expression, fields) if kind.kind is Kind.TEXT else None
    keys = None if known is None or known == (None,) else Keys(known)
    return Field(name, kind.kind or Kind.INTEGER, "", keys=keys, computed=True, bounds=kind.bounds)


def alias_or_self(expression: Expression, outputs: tuple[Output, ...], scope: Scope) -> Expression:
    """Read a name of GROUP BY: a column, or else the alias of an output, as DuckDB does."""
    if isinstance(expression, Column) and not scope.knows(expression):
        for output in outputs:
            if output.name.lower() == expression.name.lower() and not has_aggregate(output.expression):
                return output.expression
    return expression


def has_aggregate(expression: Expression) -> bool:
    """Say whether an aggregate stands anywhere in an expression."""
    return any(isinstance(node, Aggregate) for node in walk(expression))


def expect_condition(expression: Expression, fields: Relation | Side, clause: str) -> None:
    """Refuse anything but a condition."""
    if type_of(expression, fields).kind not in (Kind.BOOLEAN, None):
        raise QueryError("condition-expected", position=expression.position, clause=clause)


def replaced(expression: Expression, old: Expression, new: Expression) -> Expression:
    """Put one expression in the place of another, wherever it stands."""
    if expression == old:
        return new
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(replaced(a, old, new) for a in expression.arguments))
    if isinstance(expression, Aggregate):
        return replace(
            expression,
            argument=None if expression.argument is None else replaced(expression.argument, old, new),
            others=tuple(replaced(other, old, new) for other in expression.others),
            filter=None if expression.filter is None else replaced(expression.filter, old, new),
        )
    return expression
