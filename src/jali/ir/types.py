"""Types of expressions: kinds and ranges, from the catalog and the table of functions."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jali.catalog.columns import CALENDAR, Field, Kind, since_1970
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Public, Table
from jali.catalog.value_domain import Value
from jali.errors import QueryError, Unsupported
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, Subquery
from jali.ir.functions import FUNCTIONS, Type
from jali.ir.relations import Fields

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "in"})
_DATES = {Kind.DATE: datetime.date, Kind.TIMESTAMP: datetime.datetime}


def find_field(column: Column, fields: Fields) -> Field:
    """Return the declared column, or refuse and name the columns there are."""
    field = fields.field(column.name)
    if field is None:
        names = tuple(f.name for f in fields.fields if f.readable)
        table = fields.name if isinstance(fields, Table | Public) else None
        raise QueryError(
            "column-unknown-here", position=column.position, table=table, column=column.name, columns=names
        )
    return field


def infer_type(expression: Expression, fields: Fields) -> Type:
    """Return the type of an expression over rows with these columns."""
    if isinstance(expression, Column):
        return column_type(find_field(expression, fields))
    if isinstance(expression, Literal):
        return literal_type(expression.value)
    if isinstance(expression, Aggregate):
        raise QueryError("aggregate-in-row", position=expression.position, function=expression.function.upper())
    if isinstance(expression, Subquery):
        raise Unsupported("subquery-in-expression", position=expression.position)
    if expression.function == "grouping":
        raise QueryError("grouping-in-row", position=expression.position)
    return infer_call_type(expression, [infer_type(argument, fields) for argument in expression.arguments])


def infer_call_type(call: Call, arguments: list[Type]) -> Type:
    """Return the type of a call, or refuse with the place and the shape of the function."""
    function = FUNCTIONS[call.function]
    if len(arguments) < function.least or (function.most is not None and len(arguments) > function.most):
        raise QueryError("argument-count-wrong", position=call.position, shape=function.shape)
    try:
        return _in_calendar(function.gives(arguments))
    except ValueError as problem:
        kinds = tuple("NULL" if t.kind is None else t.kind.value for t in arguments)
        raise QueryError(
            "argument-kinds-wrong",
            position=call.position,
            shape=function.shape,
            problem=str(problem),
            kinds=tuple(kinds),
            dates=bool({t.kind for t in arguments} & set(_DATES)),
        ) from None


def _in_calendar(given: Type) -> Type:
    """Cut the interval of a computed date or time to the calendar: beyond it the value is NULL."""
    if given.kind not in CALENDAR:
        return given
    first, last = map(since_1970, CALENDAR[given.kind])
    return replace(given, bounds=given.bounds.map_ends(lambda end: min(max(end, first), last)))


def literal_type(value: Value) -> Type:
    """Return the type of a constant."""
    if value is None:
        return Type(None)
    if isinstance(value, bool):
        return Type(Kind.BOOLEAN, nullable=False)
    if isinstance(value, int | Fraction):
        kind = Kind.INTEGER if isinstance(value, int) else Kind.REAL
        return Type(kind, NumberInterval(Fraction(value), Fraction(value)), nullable=False)
    if isinstance(value, str):
        return Type(Kind.TEXT, nullable=False)
    kind, moment = Kind.TIMESTAMP if isinstance(value, datetime.datetime) else Kind.DATE, since_1970(value)
    return Type(kind, NumberInterval(moment, moment), nullable=False)


def column_type(field: Field) -> Type:
    """Return the type of a column, as declared or computed."""
    bounds = field.range.bounds if field.range is not None else field.bounds
    if bounds == NumberInterval() and field.keys is not None and field.kind in (Kind.INTEGER, *_DATES):
        bounds = _ends(field.kind, [value for value in field.keys.values if value is not None])
    return Type(field.kind, bounds)


def _ends(kind: Kind, keys: list[Any]) -> NumberInterval:
    """Return the least and largest of some keys; whole numbers, which may be many, compare as they are."""
    places = keys if kind is Kind.INTEGER else [_place(key) for key in keys]
    return NumberInterval(Fraction(min(places)), Fraction(max(places)))


def read_dates(call: Call, kind_of: Callable[[Expression], Kind | None]) -> Call:
    """Read text as a date where it is compared with one.

    Args:
        call: The comparison, or any other call, which stays as it is.
        kind_of: Finds the kind of an argument.
    """
    if call.function not in _COMPARISONS:
        return call
    kinds = {kind_of(argument) for argument in call.arguments}
    wanted = next((kind for kind in _DATES if kind in kinds), None)
    if wanted is None:
        return call
    read = tuple(_as_date(a, wanted) if isinstance(a, Literal) else a for a in call.arguments)
    return replace(call, arguments=read)


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
            "date-literal-malformed", position=literal.position, given=literal.value, kind=kind.value
        ) from None


def _place(value: Value) -> Fraction:
    """Return the place of a whole number, date or time on its axis."""
    if isinstance(value, datetime.date):
        return since_1970(value)
    assert isinstance(value, int)
    return Fraction(value)
