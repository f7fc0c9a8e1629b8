"""Expressions as people write them, for explanations. Never run by an engine."""

from __future__ import annotations

from fractions import Fraction

from jali.privacy import decimal
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Value

_INFIX = {"+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"}
_CHAINS = {"and", "or", "+", "*"}


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
    return _call(expression)


def show_aggregate(aggregate: Aggregate) -> str:
    """Write an aggregate."""
    inner = "*" if aggregate.argument is None else show_expression(aggregate.argument)
    return f"{aggregate.function.upper()}({'DISTINCT ' if aggregate.distinct else ''}{inner})"


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
        return f"{_operand(parts[0], name)} {name.upper()} {_operand(parts[1], name)}"
    if name in ("not", "negate"):
        return ("NOT " if name == "not" else "-") + _operand(parts[0], name)
    if name == "is null":
        return f"{_operand(parts[0], name)} IS NULL"
    if name == "in":
        return f"{_operand(parts[0], name)} IN ({', '.join(map(show_expression, parts[1:]))})"
    if name == "case":
        return _case(parts)
    if name == "number":
        return f"CAST({show_expression(parts[0])} AS DOUBLE)"
    return f"{name.upper()}({', '.join(map(show_expression, parts))})"


def _case(parts: tuple[Expression, ...]) -> str:
    shown = [show_expression(part) for part in parts]
    whens = "".join(f" WHEN {c} THEN {v}" for c, v in zip(shown[:-1:2], shown[1::2], strict=True))
    return f"CASE{whens} ELSE {shown[-1]} END"


def _operand(part: Expression, outer: str) -> str:
    shown = show_expression(part)
    if not isinstance(part, Call) or part.function not in _INFIX | {"not", "negate", "is null", "in"}:
        return shown
    plain = outer in ("and", "or") and part.function not in ("and", "or")
    return shown if plain or (part.function == outer and outer in _CHAINS) else f"({shown})"
