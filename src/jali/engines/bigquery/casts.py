"""Casts in BigQuery's SQL, with DuckDB's spellings: NULL where a value cannot be read as the other kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.bigquery.literals import INFINITE, NOT_A_NUMBER, text
from jali.engines.bigquery.moments import moment
from jali.engines.bigquery.numbers import bound, half_even, nearest
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


def as_text(emitter: Emitter, expression: Expression) -> str:
    """Write a value as text."""
    kind, written = emitter.kind(expression), emitter.typed(expression, Kind.TEXT)
    if kind is Kind.INTEGER and emitter.is_double(expression):
        # A whole double may be written with an exponent.
        written = nearest(written)
    elif kind is Kind.TIMESTAMP:
        # Years of four digits, and no more digits of a second than there are.
        return f"FORMAT_DATETIME('%E4Y-%m-%d %H:%M:%E*S', {written})"
    return f"CAST({written} AS STRING)"


def _shaped(t: str, shape: str) -> str:
    return f"REGEXP_CONTAINS({t}, {text(shape)})"


def number(emitter: Emitter, call: Call) -> str:
    """Write a value as a double."""
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.BOOLEAN:
        return f"CAST(CAST({emitter.write(value)} AS INT64) AS FLOAT64)"
    if kind is not Kind.TEXT:
        return emitter.real(value) if kind is not None else emitter.dialect.typed(None, Kind.REAL)
    return f"({bound(_read_number, emitter.write(value))})"


def _read_number(t: str) -> str:
    """BigQuery reads other spellings too, such as 0x1F: only DuckDB's are let through. Large ones are infinite."""
    read = f"SAFE_CAST(REPLACE(TRIM({t}), '_', '') AS FLOAT64)"
    beyond = f"IF(STARTS_WITH(TRIM({t}), '-'), -{INFINITE}, {INFINITE})"
    return (
        f"CASE WHEN {_shaped(t, NUMBER_SHAPE)} THEN IFNULL({read}, {beyond})"
        f" WHEN {_shaped(t, NAN_SHAPE)} THEN {NOT_A_NUMBER} WHEN {_shaped(t, INFINITE_SHAPE)} THEN {INFINITE}"
        f" WHEN {_shaped(t, MINUS_INFINITE_SHAPE)} THEN -{INFINITE} END"
    )


def _boolean(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.TEXT:
        return f"({bound(_read_boolean, emitter.write(value))})"
    if kind is Kind.BOOLEAN or kind is None:
        return emitter.typed(value, Kind.BOOLEAN)
    return f"({emitter.real(value)} <> 0)"


def _read_boolean(t: str) -> str:
    return f"CASE WHEN LOWER({t}) IN {TRUE_WORDS} THEN TRUE WHEN LOWER({t}) IN {FALSE_WORDS} THEN FALSE END"


def _date(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is Kind.TEXT:
        return f"({bound(_read_date, emitter.write(value))})"
    written = emitter.typed(value, Kind.DATE)
    return f"CAST({written} AS DATE)" if emitter.kind(value) is Kind.TIMESTAMP else written


def _numbers(t: str, count: int) -> list[str]:
    """Write the first whole numbers in a text."""
    found = f"REGEXP_EXTRACT_ALL({t}, '[0-9]+')"
    return [f"SAFE_CAST({found}[SAFE_OFFSET({i})] AS INT64)" for i in range(count)]


def _read_date(t: str) -> str:
    return f"CASE WHEN {_shaped(t, DATE_SHAPE)} THEN SAFE.DATE({', '.join(_numbers(t, 3))}) END"


def _timestamp(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is Kind.TEXT:
        return f"({bound(_read_time, emitter.write(value))})"
    return moment(emitter, value)


def _read_time(t: str) -> str:
    """A day alone is its midnight; of a fraction of a second six digits are read."""
    day, clock = _numbers(t, 3), [f"IFNULL({part}, 0)" for part in _numbers(t, 6)[3:]]
    fraction = f"RPAD(IFNULL(REGEXP_EXTRACT({t}, {text('[.]([0-9]+)')}), '0'), 6, '0')"
    made = f"SAFE.DATETIME({', '.join([*day, *clock])})"
    return (
        f"CASE WHEN {_shaped(t, TIME_SHAPE)}"
        f" THEN DATETIME_ADD({made}, INTERVAL SAFE_CAST({fraction} AS INT64) MICROSECOND) END"
    )


CASTS: dict[str, Template] = {
    "whole": lambda e, c: half_even(number(e, c)),
    "number": number,
    "text": lambda e, c: as_text(e, c.arguments[0]),
    "date": _date,
    "timestamp": _timestamp,
    "boolean": _boolean,
}
