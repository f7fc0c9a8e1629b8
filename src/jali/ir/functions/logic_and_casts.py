"""Comparisons, three-valued logic, choices between values, and casts.

A cast gives NULL where a value cannot be read as the other kind, never an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.ir.functions.date_functions import DAY, moments
from jali.ir.functions.function_types import Function, Type, check_comparable, check_kinds, find_common_kind
from jali.ir.functions.text_functions import check_writable


def _compare(types: Sequence[Type]) -> Type:
    check_comparable(types)
    return Type(Kind.BOOLEAN)


def _tell_apart(types: Sequence[Type]) -> Type:
    check_comparable(types)
    return Type(Kind.BOOLEAN, nullable=False)


def _logic(types: Sequence[Type]) -> Type:
    check_kinds(types, (Kind.BOOLEAN,), "conditions")
    return Type(Kind.BOOLEAN)


def _test_null(types: Sequence[Type]) -> Type:
    del types
    return Type(Kind.BOOLEAN, nullable=False)


def _choose(types: Sequence[Type]) -> Type:
    kind, bounds = find_common_kind(types), NumberInterval()
    values = [t for t in types if t.kind is not None]
    if values:
        bounds = values[0].bounds
    for other in values[1:]:
        bounds = bounds.union(other.bounds)
    return Type(kind, bounds, nullable=all(t.nullable for t in types))


def _nullif(types: Sequence[Type]) -> Type:
    find_common_kind(types)
    return replace(types[0], nullable=True)


def _case(types: Sequence[Type]) -> Type:
    """CASE is stored as condition, value, condition, value, ..., otherwise."""
    _logic(types[:-1:2])
    values = [*types[1::2], types[-1]]
    return replace(_choose(values), nullable=any(t.nullable for t in values))


CONDITIONS = (
    Function("=", "a = b", 2, 2, _compare, after=True),
    Function("<>", "a <> b", 2, 2, _compare, after=True),
    Function("<", "a < b", 2, 2, _compare, after=True),
    Function("<=", "a <= b", 2, 2, _compare, after=True),
    Function(">", "a > b", 2, 2, _compare, after=True),
    Function(">=", "a >= b", 2, 2, _compare, after=True),
    Function("is distinct from", "a IS DISTINCT FROM b", 2, 2, _tell_apart, True, "NULL is a value like others"),
    Function("is not distinct from", "a IS NOT DISTINCT FROM b", 2, 2, _tell_apart, True, "NULL equals NULL"),
    Function("and", "a AND b", 2, 2, _logic, True, "three-valued logic"),
    Function("or", "a OR b", 2, 2, _logic, True, "three-valued logic"),
    Function("not", "NOT a", 1, 1, _logic, after=True),
    Function("is null", "a IS NULL", 1, 1, _test_null, True, "true for NULL"),
    Function("in", "a IN (b, ...)", 2, None, _compare, True, "NULL if a is NULL"),
    Function("coalesce", "COALESCE(a, ...)", 1, None, _choose, True, "the first that is not NULL"),
    Function("nullif", "NULLIF(a, b)", 2, 2, _nullif, True, "NULL also if a = b"),
    Function("case", "CASE WHEN c THEN a ... ELSE b END", 3, None, _case, True, "ELSE NULL if absent"),
)


_READABLE = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN)
_DATEABLE = (Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)
_FAILS = "NULL where the cast fails"


def _to_number(types: Sequence[Type]) -> Type:
    check_kinds(types, _READABLE, "a number, text or a condition")
    if types[0].kind is Kind.BOOLEAN:
        return Type(Kind.REAL, NumberInterval(Fraction(0), Fraction(1)))
    return Type(Kind.REAL, types[0].bounds.round_to_doubles())


def _to_whole(types: Sequence[Type]) -> Type:
    """Python rounds halves to even, as the engine does."""
    return Type(Kind.INTEGER, _to_number(types).bounds.map_ends(lambda end: Fraction(round(end))))


def _to_text(types: Sequence[Type]) -> Type:
    check_writable(types)
    return Type(Kind.TEXT)


def _to_date(types: Sequence[Type]) -> Type:
    check_kinds(types, _DATEABLE, "a date, a timestamp or text")
    bounds = ANYTHING if types[0].kind is Kind.TEXT else moments(types[0])
    return Type(Kind.DATE, bounds.map_ends(lambda end: Fraction(end // DAY)))


def _to_timestamp(types: Sequence[Type]) -> Type:
    check_kinds(types, _DATEABLE, "a date, a timestamp or text")
    return Type(Kind.TIMESTAMP, ANYTHING if types[0].kind is Kind.TEXT else moments(types[0]))


def _to_boolean(types: Sequence[Type]) -> Type:
    check_kinds(types, _READABLE, "a number, text or a condition")
    return Type(Kind.BOOLEAN)


CASTS = (
    Function("whole", "CAST(a AS INTEGER)", 1, 1, _to_whole, True, _FAILS),
    Function("number", "CAST(a AS DOUBLE)", 1, 1, _to_number, True, _FAILS),
    Function("text", "CAST(a AS TEXT)", 1, 1, _to_text, False, _FAILS),
    Function("date", "CAST(a AS DATE)", 1, 1, _to_date, False, _FAILS),
    Function("timestamp", "CAST(a AS TIMESTAMP)", 1, 1, _to_timestamp, False, _FAILS),
    Function("boolean", "CAST(a AS BOOLEAN)", 1, 1, _to_boolean, False, _FAILS),
)
