"""Types of expressions: kinds and ranges, from the catalog and the table of functions."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction

from jali.errors import QueryError, Unsupported
from jali.query.bounds import Bounds
from jali.query.catalog import Field, Kind, Table
from jali.query.functions import FUNCTIONS, Type
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Value

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in"})
_DATES = {Kind.DATE: datetime.date, Kind.TIMESTAMP: datetime.datetime}


def find_field(column: Column, table: Table) -> Field:
    """Return the declared column, or refuse and name the columns there are."""
    field = table.field(column.name)
    if field is None:
        names = ", ".join(f.name for f in table.fields)
        raise QueryError(
            f"Table {table.name} has no column {column.name}.",
            position=column.position,
            remedy=f"Its columns are {names}. Text takes single quotes: '{column.name}'.",
        )
    return field


def type_of(expression: Expression, table: Table) -> Type:
    """Return the type of an expression over the rows of a table."""
    if isinstance(expression, Column):
        return _column_type(find_field(expression, table))
    if isinstance(expression, Literal):
        return literal_type(expression.value)
    if isinstance(expression, Aggregate):
        raise QueryError(
            f"{expression.function.upper()} cannot stand here: this part is computed row by row.",
            position=expression.position,
            remedy="Use HAVING for conditions on aggregates.",
        )
    return call_type(expression, [type_of(argument, table) for argument in expression.arguments])


def call_type(call: Call, arguments: list[Type]) -> Type:
    """Return the type of a call, or refuse with the place and the shape of the function."""
    function = FUNCTIONS[call.function]
    if len(arguments) < function.least or (function.most is not None and len(arguments) > function.most):
        raise QueryError("Wrong number of arguments.", position=call.position, remedy=f"Write {function.shape}.")
    try:
        return function.gives(arguments)
    except ValueError as problem:
        kinds = ", ".join("NULL" if t.kind is None else t.kind.value for t in arguments)
        raise QueryError(
            f"{function.shape} {problem}; here it got {kinds}.",
            position=call.position,
            remedy=_kind_remedy({t.kind for t in arguments}),
        ) from None


def _kind_remedy(kinds: set[Kind | None]) -> str:
    if kinds & set(_DATES):
        return "Write dates in quotes: '2026-01-31'."
    return "Write numbers without quotes, and CAST(column AS DOUBLE) where text should be read as a number."


def literal_type(value: Value) -> Type:
    """Return the type of a constant."""
    if value is None:
        return Type(None)
    if isinstance(value, bool):
        return Type(Kind.BOOLEAN, nullable=False)
    if isinstance(value, int | Fraction):
        kind = Kind.INTEGER if isinstance(value, int) else Kind.REAL
        return Type(kind, Bounds(Fraction(value), Fraction(value)), nullable=False)
    if isinstance(value, str):
        return Type(Kind.TEXT, nullable=False)
    return Type(Kind.TIMESTAMP if isinstance(value, datetime.datetime) else Kind.DATE, nullable=False)


def _column_type(field: Field) -> Type:
    bounds = field.range.bounds if field.range is not None else Bounds()
    if bounds == Bounds() and field.keys is not None and field.kind is Kind.INTEGER:
        numbers = [value for value in field.keys.values if isinstance(value, int)]
        bounds = Bounds(Fraction(min(numbers)), Fraction(max(numbers)))
    return Type(field.kind, bounds)


def qualified(expression: Expression, table: Table) -> Expression:
    """Spell columns as declared, and read text as a date where it is compared with one."""
    if isinstance(expression, Column):
        field = find_field(expression, table)
        if field.kind is Kind.OTHER:
            raise Unsupported(
                f"Column {field.name} has a type that questions cannot use.", position=expression.position
            )
        return replace(expression, name=field.name)
    if isinstance(expression, Literal):
        return expression
    if isinstance(expression, Aggregate):
        inner = None if expression.argument is None else qualified(expression.argument, table)
        return replace(expression, argument=inner)
    arguments = tuple(qualified(argument, table) for argument in expression.arguments)
    if expression.function in _COMPARISONS:
        arguments = _dated(arguments, table)
    return replace(expression, arguments=arguments)


def _dated(arguments: tuple[Expression, ...], table: Table) -> tuple[Expression, ...]:
    kinds = {find_field(a, table).kind for a in arguments if isinstance(a, Column)}
    wanted = next((kind for kind in _DATES if kind in kinds), None)
    if wanted is None:
        return arguments
    return tuple(_as_date(a, wanted) if isinstance(a, Literal) else a for a in arguments)


def _as_date(literal: Literal, kind: Kind) -> Literal:
    if not isinstance(literal.value, str):
        return literal
    try:
        value = _DATES[kind].fromisoformat(literal.value)
        if getattr(value, "tzinfo", None) is None:
            return replace(literal, value=value)
        raise ValueError
    except ValueError:
        raise QueryError(
            f"'{literal.value}' is not a {kind.value}.",
            position=literal.position,
            remedy="Write '2026-01-31', without a time zone.",
        ) from None
