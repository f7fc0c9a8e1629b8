"""Expressions on noisy values: post-processing, which costs nothing and may look at nothing else."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from jali.query.nodes import Aggregate, Column, Expression, Literal

Values = Mapping[Expression, Any]


def evaluate(expression: Expression, values: Values) -> Any:
    """Return the value of an expression, where columns and aggregates have the given values. NULL is None."""
    if isinstance(expression, Literal):
        value = expression.value
        return float(value) if isinstance(value, Fraction) else value
    if isinstance(expression, Column | Aggregate):
        return values[expression]
    arguments = [evaluate(argument, values) for argument in expression.arguments]
    if expression.function in _LENIENT:
        return _LENIENT[expression.function](arguments)
    if any(argument is None for argument in arguments):
        return None
    try:
        return _finite(_STRICT[expression.function](*arguments))
    except OverflowError:
        # Beyond what a double holds: NULL, as for any number that is not finite. Nothing raises after the noise.
        return None


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _divide(a: float, b: float) -> float | None:
    return None if b == 0 else a / b


def _round(value: float, digits: int = 0) -> float | int:
    """Round halves away from zero, as SQL does."""
    scaled: float = value * 10**digits
    whole: int = math.trunc(scaled)
    if abs(scaled - whole) >= 0.5:
        whole += 1 if scaled > 0 else -1
    return whole / 10**digits if digits else whole


def _and(values: list[Any]) -> bool | None:
    return False if False in values else (None if None in values else True)


def _or(values: list[Any]) -> bool | None:
    return True if True in values else (None if None in values else False)


def _case(values: list[Any]) -> Any:
    for condition, value in zip(values[:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def _known(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


_STRICT: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "negate": lambda a: -a,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _round,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "not": lambda a: not a,
    "in": lambda a, *others: a in others,
}
_LENIENT: dict[str, Callable[[list[Any]], Any]] = {
    "and": _and,
    "or": _or,
    "is null": lambda values: values[0] is None,
    "coalesce": lambda values: next(iter(_known(values)), None),
    "least": lambda values: min(_known(values), default=None),
    "greatest": lambda values: max(_known(values), default=None),
    "case": _case,
}
