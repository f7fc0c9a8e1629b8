"""Evaluate expressions on noisy values: post-processing, which costs nothing and looks at nothing else."""

from __future__ import annotations

import datetime
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.number_functions import find_bucket

Values = Mapping[Expression, Any]
_INT64 = 1 << 63


def evaluate(expression: Expression, values: Values) -> Any:
    """Return the value of an expression, where columns and aggregates have the given values. NULL is None."""
    if isinstance(expression, Literal):
        value = expression.value
        return float(value) if isinstance(value, Fraction) else to_storable(value)
    if expression in values or not isinstance(expression, Call):
        return values[expression]
    arguments = [evaluate(argument, values) for argument in expression.arguments]
    if expression.function in _LENIENT:
        return _LENIENT[expression.function](arguments)
    if any(argument is None for argument in arguments):
        return None
    try:
        return to_storable(_STRICT[expression.function](*arguments))
    except (OverflowError, ValueError):
        # Beyond what a double or a date holds, or without a value: NULL. Nothing raises after the noise.
        return None


def build_evaluator(expression: Expression, variable: Expression) -> Callable[[Any], Any]:
    """Return the value of an expression as a function of that of its only variable: for very many values.

    Example:
        >>> from jali.ir.expressions import Column
        >>> build_evaluator(Call("<", (Column("age"), Literal(18))), Column("age"))(7)
        True
    """
    if expression == variable:
        return to_storable
    if not isinstance(expression, Call):
        constant = evaluate(expression, {})
        return lambda _: constant
    parts = [build_evaluator(argument, variable) for argument in expression.arguments]
    lenient, strict = _LENIENT.get(expression.function), _STRICT.get(expression.function)
    if lenient is not None:
        return lambda value: lenient([part(value) for part in parts])
    assert strict is not None

    def strictly(value: Any) -> Any:
        arguments = [part(value) for part in parts]
        if any(argument is None for argument in arguments):
            return None
        try:
            return to_storable(strict(*arguments))
        except (OverflowError, ValueError):
            return None

    return strictly


def to_storable(value: Any) -> Any:
    """Return a value that JSON, Arrow and Parquet can hold: whole numbers of 64 bits, doubles that are finite.

    Other whole numbers become doubles, other doubles NULL; the same inside of lists and mappings.

    Example:
        >>> to_storable(7), to_storable(1 << 63), to_storable(10**400), to_storable([float("nan")])
        (7, 9.223372036854776e+18, None, [None])
    """
    if isinstance(value, list):
        return [to_storable(inner) for inner in value]
    if isinstance(value, dict):
        return {label: to_storable(inner) for label, inner in value.items()}
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return _as_double(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _as_double(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _divide(a: float, b: float) -> float | None:
    return None if b == 0 else a / b


def _round(value: float, digits: int = 0) -> float | int:
    """Round halves away from zero, as SQL does."""
    if digits < 0:
        tens: int = 10**-digits
        return _round(value / tens) * tens
    scaled: float = value * 10**digits
    if digits and math.isinf(scaled):
        return value
    whole: int = math.trunc(scaled)
    if abs(scaled - whole) >= 0.5:
        whole += 1 if scaled > 0 else -1
    return whole / 10**digits if digits else whole


def _add(a: Any, b: Any) -> Any:
    return a + datetime.timedelta(days=b) if isinstance(a, datetime.date) else a + b


def _subtract(a: Any, b: Any) -> Any:
    if not isinstance(a, datetime.date):
        return a - b
    return (a - b).days if isinstance(b, datetime.date) else a - datetime.timedelta(days=b)


def _build_comparison(comparison: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Compare values of one kind, and dates with timestamps: a date is the midnight it begins with."""

    def compare(a: Any, b: Any) -> bool:
        return comparison(_midnight(a), _midnight(b))

    return compare


def _midnight(value: Any) -> Any:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value


_same = _build_comparison(operator.eq)


def _positive(function: Callable[[float], float]) -> Callable[[float], float | None]:
    return lambda value: function(value) if value > 0 else None


def _number(value: Any) -> float:
    """Read a number. What is no number is a ValueError, so NULL; digits of other scripts are no digits in SQL."""
    if isinstance(value, str) and not value.isascii():
        raise ValueError(value)
    return float(value)


def _and(values: list[Any]) -> bool | None:
    return False if False in values else (None if None in values else True)


def _or(values: list[Any]) -> bool | None:
    return True if True in values else (None if None in values else False)


def _case(values: list[Any]) -> Any:
    for condition, value in zip(values[:-1:2], values[1:-1:2], strict=True):
        if condition is True:
            return value
    return values[-1]


def _drop_nulls(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


_STRICT: dict[str, Callable[..., Any]] = {
    "+": _add,
    "-": _subtract,
    "*": operator.mul,
    "/": _divide,
    "//": lambda a, b: None if b == 0 else math.trunc(a / b),
    "%": lambda a, b: None if b == 0 else math.fmod(a, b),
    "negate": operator.neg,
    "abs": abs,
    "sign": lambda a: (a > 0) - (a < 0),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _round,
    "trunc": math.trunc,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "ln": _positive(math.log),
    "log10": _positive(math.log10),
    "log2": _positive(math.log2),
    "power": math.pow,
    "clamp": lambda a, low, high: max(min(a, high), low),
    "width_bucket": lambda a, low, high, count: find_bucket(float(a), float(low), float(high), count),
    "=": _same,
    "<>": lambda a, b: not _same(a, b),
    "<": _build_comparison(operator.lt),
    "<=": _build_comparison(operator.le),
    ">": _build_comparison(operator.gt),
    ">=": _build_comparison(operator.ge),
    "not": operator.not_,
    "in": lambda a, *others: any(_same(a, other) for other in others),
    "whole": lambda a: round(_number(a)),
    "number": _number,
    "year": lambda d: d.year,
    "quarter": lambda d: (d.month + 2) // 3,
    "month": lambda d: d.month,
    "week": lambda d: d.isocalendar().week,
    "day": lambda d: d.day,
    "dayofweek": lambda d: d.isoweekday() % 7,
    "isodow": lambda d: d.isoweekday(),
    "dayofyear": lambda d: d.timetuple().tm_yday,
    "hour": lambda d: _midnight(d).hour,
    "minute": lambda d: _midnight(d).minute,
    "second": lambda d: _midnight(d).second,
}
_LENIENT: dict[str, Callable[[list[Any]], Any]] = {
    "and": _and,
    "or": _or,
    "is null": lambda values: values[0] is None,
    "is distinct from": lambda values: not _same(*values),
    "is not distinct from": lambda values: _same(*values),
    "coalesce": lambda values: next(iter(_drop_nulls(values)), None),
    "nullif": lambda values: None if _same(*values) else values[0],
    "least": lambda values: min(_drop_nulls(values), default=None),
    "greatest": lambda values: max(_drop_nulls(values), default=None),
    "case": _case,
}

EVALUATED = frozenset(_STRICT) | frozenset(_LENIENT)
