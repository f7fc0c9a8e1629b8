"""Casts in Spark's SQL, with DuckDB's spellings: NULL where a value cannot be read as the other kind.

Of texts, dates and times are read in the years 1 to 9999, with the hours 0 to 23 and no names of time zones but
UTC: other spellings, which DuckDB knows too, are NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.spark.arithmetic import bind_value, bind_values, round_half_even
from jali.engines.spark.literals import text
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

# What DuckDB takes for space around numbers and dates.
_SPACES = "\t\n\x0b\f\r "
_SPACE = r"[\t\n\x0B\f\r ]*"
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = rf"\A{_SPACE}[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?{_SPACE}\z"
_WORD = rf"(?i)\A{_SPACE}([+-]?)(inf|infinity){_SPACE}\z"
_NAN = rf"(?i)\A{_SPACE}[+-]?nan{_SPACE}\z"
_DAY = r"([0-9]{1,4})([-/\\ ])([0-9]{1,2})\2([0-9]{1,2})"
_DATE = rf"\A{_SPACE}{_DAY}{_SPACE}\z"
# The zone of a time is read, and means nothing.
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?(?:Z| UTC|[+-][0-9]{2}(?::[0-9]{2})?)?"
_TIME = rf"\A{_SPACE}{_DAY}(?:(?:T| +){_CLOCK}{_SPACE})?\z"
_TRUE, _FALSE = "('true', 't', '1', 'yes', 'y')", "('false', 'f', '0', 'no', 'n')"


def as_text(emitter: Emitter, expression: Expression) -> str:
    """Write a value as text."""
    kind, written = emitter.kind(expression), emitter.write_as(expression, Kind.TEXT)
    if kind is Kind.INTEGER and emitter.is_double(expression):
        # A whole double would be written with a decimal point.
        return f"CAST({round_half_even(written, 'BIGINT', fits=False)} AS STRING)"
    if kind is Kind.DATE:
        return bind_values({"day": written}, _write_date)
    if kind is Kind.TIMESTAMP:
        return bind_values({"t": written}, _write_time)
    return f"CAST({written} AS STRING)"


def _write_date(day: str) -> str:
    """Write a date as DuckDB does: four digits of the year or more, and (BC) before the year 1."""
    year = f"CAST(CASE WHEN year({day}) > 0 THEN year({day}) ELSE 1 - year({day}) END AS STRING)"
    digits = f"lpad({year}, greatest(4, length({year})), '0')"
    rest = "".join(f" || '-' || lpad(CAST({part}({day}) AS STRING), 2, '0')" for part in ("month", "day"))
    return f"({digits}{rest} || CASE WHEN year({day}) > 0 THEN '' ELSE ' (BC)' END)"


def _write_time(t: str) -> str:
    return f"({_write_date(f'CAST({t} AS DATE)')} || ' ' || substring_index(CAST({t} AS STRING), ' ', -1))"


def _to_text(emitter: Emitter, call: Call) -> str:
    return as_text(emitter, call.arguments[0])


def _to_number(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is not Kind.TEXT:
        return f"CAST({emitter.write_as(value, Kind.REAL)} AS DOUBLE)"
    return bind_value(emitter.write(value), _number)


def _number(v: str) -> str:
    """Java reads other spellings too, such as 1d: only DuckDB's are let through."""
    plain = f"try_cast(replace({v}, '_', '') AS DOUBLE)"
    nan = f"CASE WHEN {v} RLIKE {text(_NAN)} THEN double('NaN') END"
    read = f"CASE WHEN {v} RLIKE {text(_NUMBER)} THEN {plain} WHEN {v} RLIKE {text(_WORD)}"
    return f"{read} THEN try_cast(trim(BOTH {text(_SPACES)} FROM {v}) AS DOUBLE) ELSE {nan} END"


def _to_whole(emitter: Emitter, call: Call) -> str:
    return f"rint({_to_number(emitter, call)})"


def _to_boolean(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is not Kind.TEXT:
        return f"CAST({emitter.write_as(value, Kind.BOOLEAN)} AS BOOLEAN)"
    lowered = f"lower({emitter.write(value)})"
    return f"CASE WHEN {lowered} IN {_TRUE} THEN TRUE WHEN {lowered} IN {_FALSE} THEN FALSE END"


def _to_date(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is not Kind.TEXT:
        return f"CAST({emitter.write_as(value, Kind.DATE)} AS DATE)"
    return bind_value(emitter.write(value), _read_day)


def _read_day(v: str) -> str:
    """A date, or that of a time which could be read."""
    alone = f"CASE WHEN {v} RLIKE {text(_DATE)} THEN {_date(v, _DATE)}"
    return f"{alone} WHEN {v} RLIKE {text(_TIME)} THEN CAST({_read_time(v)} AS DATE) END"


def _date(v: str, pattern: str) -> str:
    groups = {1: 4, 3: 2, 4: 2}
    parts = [f"lpad(regexp_extract({v}, {text(pattern)}, {i}), {width}, '0')" for i, width in groups.items()]
    spelled = " || '-' || ".join(parts)
    return f"try_cast({spelled} AS DATE)"


def _to_timestamp(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is not Kind.TEXT:
        return f"try_cast({emitter.write_as(value, Kind.TIMESTAMP)} AS TIMESTAMP_NTZ)"
    return bind_value(
        emitter.write(value), lambda v: f"CASE WHEN {v} RLIKE {text(_TIME)} THEN {_read_time(v)} END"
    )


def _read_time(v: str) -> str:
    clock = [f"lpad(regexp_extract({v}, {text(_TIME)}, {i}), 2, '0')" for i in (5, 6, 7)]
    fraction = f"rpad(regexp_extract({v}, {text(_TIME)}, 8), 6, '0')"
    spelled = (
        f"CAST({_date(v, _TIME)} AS STRING) || ' ' || " + " || ':' || ".join(clock) + f" || '.' || {fraction}"
    )
    return f"try_cast({spelled} AS TIMESTAMP_NTZ)"


CASTS: dict[str, Template] = {
    "whole": _to_whole,
    "number": _to_number,
    "text": _to_text,
    "date": _to_date,
    "timestamp": _to_timestamp,
    "boolean": _to_boolean,
}
