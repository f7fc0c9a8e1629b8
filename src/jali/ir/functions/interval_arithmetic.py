"""Interval arithmetic: what an expression can be when its parts lie in given intervals."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from jali.catalog.value_domain import FIRST_DAY, LAST_DAY
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.number_functions import find_bucket

# Two ends: numbers, dates or times.
Interval: TypeAlias = tuple[Any, Any] | None
_EVERYTHING = (-math.inf, math.inf)


def enclose(expression: Expression, known: Mapping[Expression, Interval]) -> Interval:
    """Return an interval that holds the expression's value; None where intervals make no sense (CASE, text)."""
    if expression in known:
        return known[expression]
    if isinstance(expression, Literal) and isinstance(expression.value, datetime.date):
        return expression.value, expression.value
    if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
        return float(expression.value), float(expression.value)
    if not isinstance(expression, Call) or expression.function not in _RULES:
        return None
    parts = [enclose(argument, known) for argument in expression.arguments]
    if any(part is None for part in parts):
        return None
    return _RULES[expression.function]([part for part in parts if part is not None])


IntervalPart: TypeAlias = tuple[Any, Any]


def _plus(parts: Sequence[IntervalPart]) -> IntervalPart:
    """Add numbers, or days to a date."""
    (low, high), (least, most) = parts
    if isinstance(low, datetime.date):
        return _shift_date(low, least), _shift_date(high, most)
    return low + least, high + most


def _minus(parts: Sequence[IntervalPart]) -> IntervalPart:
    """Subtract numbers, days from a date, or dates, which gives days."""
    (low, high), (least, most) = parts
    if isinstance(least, datetime.date):
        return float((low - most).days), float((high - least).days)
    return _plus([(low, high), (-most, -least)])


def _shift_date(day: datetime.date, days: float) -> datetime.date:
    """Return the date some days later; at most the last one of the calendar, and at least the first."""
    if days > (LAST_DAY - day).days:
        return LAST_DAY
    return FIRST_DAY if days < (FIRST_DAY - day).days else day + datetime.timedelta(days=days)


def _corners(operation: Callable[[float, float], float], a: IntervalPart, b: IntervalPart) -> IntervalPart:
    values = [operation(x, y) for x in a for y in b]
    return _EVERYTHING if any(math.isnan(v) for v in values) else (min(values), max(values))


def _divide(parts: Sequence[IntervalPart]) -> IntervalPart:
    if parts[1][0] <= 0 <= parts[1][1]:
        return _EVERYTHING
    return _corners(lambda x, y: x / y, parts[0], parts[1])


def _absolute(parts: Sequence[IntervalPart]) -> IntervalPart:
    low, high = parts[0]
    least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
    return least, max(abs(low), abs(high))


def _round_interval(parts: Sequence[IntervalPart]) -> IntervalPart:
    slack = 0.5 if len(parts) == 1 else 0.5 * 10.0 ** -parts[1][0]
    return parts[0][0] - slack, parts[0][1] + slack


def _rising(function: Callable[[float], float], least: float) -> Callable[[Sequence[IntervalPart]], Interval]:
    """A function that never falls, from `least` on; below, it has no value."""

    def rule(parts: Sequence[IntervalPart]) -> Interval:
        low, high = parts[0]
        if high < least:
            return _EVERYTHING
        return function(max(low, least)), function(high)

    return rule


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: function(value) if value > 0 else -math.inf


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _quotient(parts: Sequence[IntervalPart]) -> IntervalPart:
    low, high = _divide(parts)
    return (low - 1 if low > 0 else low), (high + 1 if high < 0 else high)


def _remainder(parts: Sequence[IntervalPart]) -> IntervalPart:
    """The remainder has the sign of the first number, is no larger than it, and smaller than the second."""
    size = max(abs(end) for end in parts[1])
    return max(min(parts[0][0], 0.0), -size), min(max(parts[0][1], 0.0), size)


def _power(parts: Sequence[IntervalPart]) -> IntervalPart:
    if parts[0][0] <= 0 or not all(math.isfinite(end) for part in parts for end in part):
        return _EVERYTHING
    try:
        return _corners(math.pow, parts[0], parts[1])
    except OverflowError:
        return _EVERYTHING


def _clamp_interval(parts: Sequence[IntervalPart]) -> IntervalPart:
    low, high = parts[1][0], parts[2][1]
    return min(max(parts[0][0], low), high), min(max(parts[0][1], low), high)


def _bucket(parts: Sequence[IntervalPart]) -> IntervalPart:
    (low, high, count) = (part[0] for part in parts[1:])
    first, last = (find_bucket(end, low, high, int(count)) for end in parts[0])
    return first, last


_RULES: dict[str, Callable[[Sequence[IntervalPart]], Interval]] = {
    "+": _plus,
    "-": _minus,
    "*": lambda p: _corners(lambda x, y: x * y, p[0], p[1]),
    "/": _divide,
    "negate": lambda p: (-p[0][1], -p[0][0]),
    "abs": _absolute,
    "round": _round_interval,
    "sign": lambda p: (math.copysign(p[0][0] != 0, p[0][0]), math.copysign(p[0][1] != 0, p[0][1])),
    "trunc": lambda p: (p[0][0] - (p[0][0] > 0), p[0][1] + (p[0][1] < 0)),
    "//": _quotient,
    "%": _remainder,
    "sqrt": _rising(math.sqrt, 0.0),
    "exp": lambda p: (_exponential(p[0][0]), _exponential(p[0][1])),
    "ln": _rising(_logarithm(math.log), 0.0),
    "log10": _rising(_logarithm(math.log10), 0.0),
    "log2": _rising(_logarithm(math.log2), 0.0),
    "power": _power,
    "clamp": _clamp_interval,
    "width_bucket": _bucket,
    "number": lambda p: p[0],
    "whole": _round_interval,
    "floor": lambda p: (p[0][0] - 1, p[0][1]),
    "ceil": lambda p: (p[0][0], p[0][1] + 1),
    "least": lambda p: (min(x[0] for x in p), min(x[1] for x in p)),
    "greatest": lambda p: (max(x[0] for x in p), max(x[1] for x in p)),
}
