"""Interval arithmetic: what an expression can be when its parts lie in given intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from jali.query.nodes import Call, Expression, Literal

Interval: TypeAlias = tuple[float, float] | None
_EVERYTHING = (-math.inf, math.inf)


def enclose(expression: Expression, known: Mapping[Expression, Interval]) -> Interval:
    """Return an interval that holds the expression's value; None where intervals make no sense (CASE, text)."""
    if expression in known:
        return known[expression]
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        return float(expression.value), float(expression.value)
    if not isinstance(expression, Call) or expression.function not in _RULES:
        return None
    parts = [enclose(argument, known) for argument in expression.arguments]
    if any(part is None for part in parts):
        return None
    return _RULES[expression.function]([part for part in parts if part is not None])


Part: TypeAlias = tuple[float, float]


def _corners(operation: Callable[[float, float], float], a: Part, b: Part) -> Part:
    values = [operation(x, y) for x in a for y in b]
    return _EVERYTHING if any(math.isnan(v) for v in values) else (min(values), max(values))


def _divide(parts: Sequence[Part]) -> Part:
    if parts[1][0] <= 0 <= parts[1][1]:
        return _EVERYTHING
    return _corners(lambda x, y: x / y, parts[0], parts[1])


def _absolute(parts: Sequence[Part]) -> Part:
    low, high = parts[0]
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


def _rounded(parts: Sequence[Part]) -> Part:
    slack = 0.5 if len(parts) == 1 else 0.5 * 10 ** -parts[1][0]
    return parts[0][0] - slack, parts[0][1] + slack


_RULES: dict[str, Callable[[Sequence[Part]], Interval]] = {
    "+": lambda p: (p[0][0] + p[1][0], p[0][1] + p[1][1]),
    "-": lambda p: (p[0][0] - p[1][1], p[0][1] - p[1][0]),
    "*": lambda p: _corners(lambda x, y: x * y, p[0], p[1]),
    "/": _divide,
    "negate": lambda p: (-p[0][1], -p[0][0]),
    "abs": _absolute,
    "round": _rounded,
    "floor": lambda p: (p[0][0] - 1, p[0][1]),
    "ceil": lambda p: (p[0][0], p[0][1] + 1),
    "least": lambda p: (min(x[0] for x in p), min(x[1] for x in p)),
    "greatest": lambda p: (max(x[0] for x in p), max(x[1] for x in p)),
}
