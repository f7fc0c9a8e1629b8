"""Expressions as people write them, for explanations. Never run by an engine."""

from __future__ import annotations

from fractions import Fraction

from jali.privacy import decimal
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Output, Question, Value

_INFIX = {"+", "-", "*", "/", "=", "<>", "<", "<=", ">", ">=", "and", "or", "like"}
# How tightly an operator binds; what is not listed stands in brackets of its own.
_TIGHTNESS = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "*": 6, "/": 6, "negate": 7}
_TIGHTNESS |= dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "like", "is null", "in"), 4)
_CASTS = {"number": "DOUBLE", "whole": "INTEGER"}
_LEFT_TO_RIGHT = {"or", "and", "+", "-", "*", "/"}


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


def show_question(question: Question) -> str:
    """Write a question in SQL, for the eye: what the ledger shows of a question that was built in Python.

    Example:
        >>> show_question(Question("visits", (Output("n", Aggregate("count")),), group_by=(Column("ward"),)))
        'SELECT COUNT(*) AS n FROM visits GROUP BY ward'
    """
    shown = ", ".join(_output(output) for output in question.outputs)
    where = "" if question.where is None else f" WHERE {show_expression(question.where)}"
    group = ", ".join(column.name for column in question.group_by)
    return f"SELECT {shown} FROM {question.table}{where}" + (f" GROUP BY {group}" if group else "")


def _output(output: Output) -> str:
    written = show_expression(output.expression)
    return written if written == output.name else f"{written} AS {output.name}"


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
        left = _operand(parts[0], name, alike=name in _LEFT_TO_RIGHT)
        return f"{left} {name.upper()} {_operand(parts[1], name)}"
    if name in ("not", "negate"):
        return ("NOT " if name == "not" else "-") + _operand(parts[0], name)
    if name == "is null":
        return f"{_operand(parts[0], name)} IS NULL"
    if name == "in":
        return f"{_operand(parts[0], name)} IN ({', '.join(map(show_expression, parts[1:]))})"
    if name == "case":
        return _case(parts)
    if name in _CASTS:
        return f"CAST({show_expression(parts[0])} AS {_CASTS[name]})"
    return f"{name.upper()}({', '.join(map(show_expression, parts))})"


def _case(parts: tuple[Expression, ...]) -> str:
    shown = [show_expression(part) for part in parts]
    whens = "".join(f" WHEN {c} THEN {v}" for c, v in zip(shown[:-1:2], shown[1::2], strict=True))
    return f"CASE{whens} ELSE {shown[-1]} END"


def _operand(part: Expression, outer: str, *, alike: bool = False) -> str:
    """Write an operand, in brackets unless it binds more tightly (or, where `alike`, as tightly)."""
    shown = show_expression(part)
    if not isinstance(part, Call) or part.function not in _TIGHTNESS:
        return shown
    spare = _TIGHTNESS[part.function] - _TIGHTNESS[outer]
    return shown if spare > 0 or (spare == 0 and alike) else f"({shown})"
