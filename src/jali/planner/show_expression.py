"""Expressions as people write them, for explanations. Never run by an engine."""

from __future__ import annotations

import datetime
from fractions import Fraction

from jali.privacy import decimal
from jali.query.nodes import Aggregate, Call, Column, Expression, Found, Literal, Value

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from", "like", "ilike")
_INFIX = {"+", "-", "*", "/", "//", "%", "and", "or", "||", *_COMPARISONS}
# How tightly an operator binds; what is not listed stands in brackets of its own.
_TIGHTNESS = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "||": 5, "*": 6, "/": 6, "//": 6, "%": 6, "negate": 7}
_TIGHTNESS |= dict.fromkeys((*_COMPARISONS, "is null", "in"), 4)
_TIGHTNESS |= dict.fromkeys(("add months", "add days", "add seconds"), 5)
_CASTS = {"number": "DOUBLE", "whole": "INTEGER"} | {
    kind: kind.upper() for kind in ("text", "date", "timestamp", "boolean")
}
_LEFT_TO_RIGHT = {"or", "and", "+", "-", "*", "/", "add months", "add days", "add seconds"}
_OF_PARTS = {"trunc": "DATE_TRUNC", "diff": "DATE_DIFF", "sub": "DATE_SUB"}


def column_name(expression: Expression) -> str | None:
    """Return the name of a column; None for any other expression."""
    return expression.name if isinstance(expression, Column) else None


def show_expression(expression: Expression) -> str:
    """Write an expression in SQL, for the eye.

    Example:
        >>> age = Column("age")
        >>> show_expression(Call("and", (Call(">", (age, Literal(60))), Call("is null", (Column("ward"),)))))
        'age > 60 AND ward IS NULL'
    """
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Literal):
        return show_value(expression.value)
    if isinstance(expression, Aggregate):
        return show_aggregate(expression)
    if isinstance(expression, Found):
        return "EXISTS (...)" if expression.value is None else f"{show_expression(expression.value)} IN (...)"
    return _call(expression)


def show_aggregate(aggregate: Aggregate) -> str:
    """Write an aggregate."""
    inner = "*" if aggregate.argument is None else show_expression(aggregate.argument)
    others = "".join(f", {show_expression(other)}" for other in aggregate.others)
    if len(aggregate.others) > 1:
        others = f", [{others.removeprefix(', ')}]"
    shown = f"{aggregate.function.upper()}({'DISTINCT ' if aggregate.distinct else ''}{inner}{others})"
    return shown if aggregate.filter is None else f"{shown} FILTER (WHERE {show_expression(aggregate.filter)})"


def show_value(value: Value) -> str:
    """Write a constant."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, Fraction):
        return decimal(value)
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _call(call: Call) -> str:
    name, parts = call.function, call.arguments
    if name in _INFIX:
        left = _operand(parts[0], name, alike=name in _LEFT_TO_RIGHT)
        return f"{left} {name.upper()} {_operand(parts[1], name)}"
    if name.startswith("add "):
        return _moved(call)
    if name in ("not", "negate"):
        return ("NOT " if name == "not" else "-") + _operand(parts[0], name)
    if name == "is null":
        return f"{_operand(parts[0], name)} IS NULL"
    if name == "in":
        return f"{_operand(parts[0], name)} IN ({', '.join(map(show_expression, parts[1:]))})"
    if name == "case":
        return _case(parts)
    if name in _CASTS:
        return f"CAST({_argument(parts[0])} AS {_CASTS[name]})"
    function, _, part = name.partition(" ")
    shown = [_argument(argument) for argument in parts]
    if part:
        function, shown = _OF_PARTS[function], [f"'{part}'", *shown]
    return f"{function.upper()}({', '.join(shown)})"


def _moved(call: Call) -> str:
    """Write a date that is moved by an interval."""
    moment, amount = call.arguments
    assert isinstance(amount, Literal)
    assert isinstance(amount.value, int)
    unit = call.function.split()[1].removesuffix("s").upper()
    shown = _operand(moment, call.function, alike=True)
    return f"{shown} {'-' if amount.value < 0 else '+'} INTERVAL {abs(amount.value)} {unit}"


def _case(parts: tuple[Expression, ...]) -> str:
    shown = [show_expression(part) for part in parts]
    whens = "".join(f" WHEN {c} THEN {v}" for c, v in zip(shown[:-1:2], shown[1::2], strict=True))
    return f"CASE{whens} ELSE {shown[-1]} END"


def _argument(part: Expression) -> str:
    """Write an argument. A date beside a date needs no more than quotes; elsewhere it says that it is one."""
    shown = show_expression(part)
    if isinstance(part, Literal) and isinstance(part.value, datetime.date):
        return f"{'TIMESTAMP' if isinstance(part.value, datetime.datetime) else 'DATE'} {shown}"
    return shown


def _operand(part: Expression, outer: str, *, alike: bool = False) -> str:
    """Write an operand, in brackets unless it binds more tightly (or, where `alike`, as tightly)."""
    shown = show_expression(part) if outer in _COMPARISONS else _argument(part)
    if not isinstance(part, Call) or part.function not in _TIGHTNESS:
        return shown
    spare = _TIGHTNESS[part.function] - _TIGHTNESS[outer]
    return shown if spare > 0 or (spare == 0 and alike) else f"({shown})"
