"""Casts: NULL where a value cannot be read as the other kind, never an error."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from jali.query.bounds import ANYTHING, Bounds
from jali.query.catalog import Kind
from jali.query.functions.dates import moments
from jali.query.functions.days import DAY
from jali.query.functions.function import Function, Type
from jali.query.functions.kinds import only
from jali.query.functions.texts import writable

_READABLE = (Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN)
_DATEABLE = (Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)
_FAILS = "NULL where the cast fails"


def _to_number(types: Sequence[Type]) -> Type:
    only(types, _READABLE, "a number, text or a condition")
    if types[0].kind is Kind.BOOLEAN:
        return Type(Kind.REAL, Bounds(Fraction(0), Fraction(1)))
    return Type(Kind.REAL, types[0].bounds.rounded())


def _to_whole(types: Sequence[Type]) -> Type:
    """Python rounds halves to even, as the engine does."""
    return Type(Kind.INTEGER, _to_number(types).bounds.mapped(lambda end: Fraction(round(end))))


def _to_text(types: Sequence[Type]) -> Type:
    writable(types)
    return Type(Kind.TEXT)


def _to_date(types: Sequence[Type]) -> Type:
    only(types, _DATEABLE, "a date, a timestamp or text")
    bounds = ANYTHING if types[0].kind is Kind.TEXT else moments(types[0])
    return Type(Kind.DATE, bounds.mapped(lambda end: Fraction(end // DAY)))


def _to_timestamp(types: Sequence[Type]) -> Type:
    only(types, _DATEABLE, "a date, a timestamp or text")
    return Type(Kind.TIMESTAMP, ANYTHING if types[0].kind is Kind.TEXT else moments(types[0]))


def _to_boolean(types: Sequence[Type]) -> Type:
    only(types, _READABLE, "a number, text or a condition")
    return Type(Kind.BOOLEAN)


CASTS = (
    Function("whole", "CAST(a AS INTEGER)", 1, 1, _to_whole, True, _FAILS),
    Function("number", "CAST(a AS DOUBLE)", 1, 1, _to_number, True, _FAILS),
    Function("text", "CAST(a AS TEXT)", 1, 1, _to_text, False, _FAILS),
    Function("date", "CAST(a AS DATE)", 1, 1, _to_date, False, _FAILS),
    Function("timestamp", "CAST(a AS TIMESTAMP)", 1, 1, _to_timestamp, False, _FAILS),
    Function("boolean", "CAST(a AS BOOLEAN)", 1, 1, _to_boolean, False, _FAILS),
)
