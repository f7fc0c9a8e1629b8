"""Casts in Snowflake's SQL, with DuckDB's spellings: NULL where a value cannot be read as the other kind.

TRY_CAST takes texts alone, and reads more spellings than DuckDB: those that DuckDB reads are let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.snowflake.literals import DAY_FORM, INFINITE, NOT_A_NUMBER, TIME_FORM, text
from jali.engines.snowflake.moments import moment
from jali.engines.snowflake.numbers import again, half_even, nearest
from jali.engines.sql.dialect import Template
from jali.engines.sql.spellings import (
    DATE_SHAPE,
    FALSE_WORDS,
    INFINITE_SHAPE,
    MINUS_INFINITE_SHAPE,
    NAN_SHAPE,
    NUMBER_SHAPE,
    TIME_SHAPE,
    TRUE_WORDS,
)
from jali.query.catalog import Kind
from jali.query.nodes import Call, Expression

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter

_BLANKS = " \t\n\v\f\r"


def as_text(emitter: Emitter, expression: Expression) -> str:
    """Write a value as text."""
    kind, written = emitter.kind(expression), emitter.typed(expression, Kind.TEXT)
    if kind is Kind.INTEGER and emitter.is_double(expression):
        # A whole double may be written with an exponent.
        return f"TO_VARCHAR({nearest(written, fits=False)})"
    if kind is Kind.DATE:
        return f"TO_VARCHAR({written}, '{DAY_FORM}')"
    if kind is Kind.TIMESTAMP:
        # No more digits of a second than there are.
        return f"RTRIM(RTRIM(TO_VARCHAR({written}, '{TIME_FORM}'), '0'), '.')"
    return f"TO_VARCHAR({written})"


def _shaped(t: str, shape: str) -> str:
    return f"REGEXP_LIKE({t}, {text(shape)})"


def number(emitter: Emitter, call: Call) -> str:
    """Write a value as a double."""
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.BOOLEAN:
        return again(
            lambda b: f"CAST(CASE WHEN {b} THEN 1 WHEN NOT {b} THEN 0 END AS FLOAT)", emitter.write(value)
        )
    if kind is not Kind.TEXT:
        return emitter.real(value) if kind is not None else emitter.dialect.typed(None, Kind.REAL)
    return again(_read_number, emitter.write(value))


def _read_number(t: str) -> str:
    trimmed = f"TRIM({t}, {text(_BLANKS)})"
    beyond = f"CASE WHEN STARTSWITH({trimmed}, '-') THEN -{INFINITE} ELSE {INFINITE} END"
    return (
        f"(CASE WHEN {_shaped(t, NUMBER_SHAPE)}"
        f" THEN coalesce(TRY_TO_DOUBLE(REPLACE({trimmed}, '_', '')), {beyond})"
        f" WHEN {_shaped(t, NAN_SHAPE)} THEN {NOT_A_NUMBER} WHEN {_shaped(t, INFINITE_SHAPE)} THEN {INFINITE}"
        f" WHEN {_shaped(t, MINUS_INFINITE_SHAPE)} THEN -{INFINITE} END)"
    )


def _boolean(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.TEXT:
        return again(_read_boolean, emitter.write(value))
    if kind is Kind.BOOLEAN or kind is None:
        return emitter.typed(value, Kind.BOOLEAN)
    return f"({emitter.real(value)} <> 0)"


def _read_boolean(t: str) -> str:
    return f"(CASE WHEN LOWER({t}) IN {TRUE_WORDS} THEN TRUE WHEN LOWER({t}) IN {FALSE_WORDS} THEN FALSE END)"


def _date(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is Kind.TEXT:
        return again(
            lambda t: f"(CASE WHEN {_shaped(t, DATE_SHAPE)} THEN TRY_TO_DATE({_day(t)}, '{DAY_FORM}') END)",
            emitter.write(value),
        )
    written = emitter.typed(value, Kind.DATE)
    return f"CAST({written} AS DATE)" if emitter.kind(value) is Kind.TIMESTAMP else written


def _digits(t: str, place: int, width: int, missing: str = "NULL") -> str:
    """Write one of the whole numbers in a text, with zeros before it."""
    found = f"REGEXP_SUBSTR({t}, '[0-9]+', 1, {place})"
    return f"LPAD({found if missing == 'NULL' else f'coalesce({found}, {missing})'}, {width}, '0')"


def _day(t: str) -> str:
    return " || '-' || ".join(_digits(t, place, width) for place, width in ((1, 4), (2, 2), (3, 2)))


def _timestamp(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    return again(_read_time, emitter.write(value)) if emitter.kind(value) is Kind.TEXT else moment(emitter, value)


def _read_time(t: str) -> str:
    """A day alone is its midnight; of a fraction of a second six digits are read."""
    clock = " || ':' || ".join(_digits(t, place, 2, "'0'") for place in (4, 5, 6))
    fraction = f"RPAD(coalesce(REGEXP_SUBSTR({t}, '[0-9]+', 1, 7), '0'), 6, '0')"
    spelled = f"{_day(t)} || ' ' || {clock} || '.' || {fraction}"
    return f"(CASE WHEN {_shaped(t, TIME_SHAPE)} THEN TRY_TO_TIMESTAMP_NTZ({spelled}, '{TIME_FORM}') END)"


CASTS: dict[str, Template] = {
    "whole": lambda e, c: half_even(number(e, c)),
    "number": number,
    "text": lambda e, c: as_text(e, c.arguments[0]),
    "date": _date,
    "timestamp": _timestamp,
    "boolean": _boolean,
}
