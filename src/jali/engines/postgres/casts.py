"""Casts in Postgres's SQL: a text is cast where its shape says that it can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.postgres.arithmetic import INFINITE, LEAST_64, MOST_64, NOT_A_NUMBER, bind_values, timestamp
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

_BLANKS = r"[ \t\n\v\f\r]*"
_NUMBER = rf"^{_BLANKS}[+-]?(\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d{{1,5}})?{_BLANKS}$"
_NAN, _INF = rf"^{_BLANKS}[+-]?nan{_BLANKS}$", rf"^{_BLANKS}\+?inf(inity)?{_BLANKS}$"
_MINUS_INF = rf"^{_BLANKS}-inf(inity)?{_BLANKS}$"
# Longer texts are no numbers.
_LONGEST_NUMBER = 400
_DAY = r"(\d{1,4})[-/](\d{1,2})[-/](\d{1,2})"
_TIME = r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(\.\d{1,6})?)?)?"
_MOMENT = rf"^{_BLANKS}{_DAY}{_TIME}{_BLANKS}$"


def as_text(emitter: Emitter, expression: Expression) -> str:
    """Write a value as text. Whole numbers are computed as doubles, and those beyond 64 bits have no text."""
    written = emitter.write_as(expression, Kind.TEXT)
    if emitter.is_double(expression) and emitter.kind(expression) is Kind.INTEGER:
        return bind_values(
            lambda x: (
                f"(CASE WHEN {x} BETWEEN {LEAST_64} AND {MOST_64} THEN CAST(CAST({x} AS bigint) AS text) END)"
            ),
            written,
        )
    if emitter.kind(expression) in (Kind.DATE, Kind.TIMESTAMP):
        # The years before Christ are marked after the day.
        return f"(regexp_replace(CAST({written} AS text), '^(\\S+)(.*) BC$', '\\1 (BC)\\2') COLLATE \"C\")"
    return f'(CAST({written} AS text) COLLATE "C")'


def _number(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.BOOLEAN:
        return f"CAST(CAST({emitter.write(value)} AS integer) AS double precision)"
    if kind is not Kind.TEXT:
        return emitter.real(value) if kind is not None else emitter.dialect.cast_constant(None, Kind.REAL)
    return bind_values(_read_number, emitter.write(value))


def _read_number(t: str) -> str:
    shaped = f"length({t}) <= {_LONGEST_NUMBER} AND {t} ~ '{_NUMBER}'"
    number = f"CAST(replace({t}, '_', '') AS numeric)"
    read = bind_values(
        lambda n: (
            f"(CASE WHEN abs({n}) > 1.7976931348623157e308 THEN sign({n})::float8 * {INFINITE}"
            f" WHEN abs({n}) < 2.48e-324 THEN 0 ELSE CAST({n} AS double precision) END)"
        ),
        number,
    )
    return (
        f"(CASE WHEN {shaped} THEN {read} WHEN {t} ~* '{_NAN}' THEN {NOT_A_NUMBER}"
        f" WHEN {t} ~* '{_INF}' THEN {INFINITE} WHEN {t} ~* '{_MINUS_INF}' THEN -{INFINITE} END)"
    )


def _boolean(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    kind = emitter.kind(value)
    if kind is Kind.TEXT:
        return bind_values(
            lambda t: (
                f"(CASE WHEN lower({t}) IN ('true', 't', '1', 'yes', 'y') THEN TRUE"
                f" WHEN lower({t}) IN ('false', 'f', '0', 'no', 'n') THEN FALSE END)"
            ),
            emitter.write(value),
        )
    if kind is Kind.BOOLEAN or kind is None:
        return emitter.write_as(value, Kind.BOOLEAN)
    return f"({emitter.real(value)} <> 0)"


def _date(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is Kind.TEXT:
        return f"CAST({bind_values(_read_moment, emitter.write(value))} AS date)"
    return f"CAST({emitter.write_as(value, Kind.DATE)} AS date)"


def _timestamp(emitter: Emitter, call: Call) -> str:
    (value,) = call.arguments
    if emitter.kind(value) is Kind.TEXT:
        return bind_values(_read_moment, emitter.write(value))
    return timestamp(emitter.write_as(value, Kind.TIMESTAMP))


def _read_moment(t: str) -> str:
    """Read year-month-day, and the time after it, if there are such a day and such a time."""
    parts = f"regexp_match({t}, '{_MOMENT}')"

    def make(p: str) -> str:
        year, month, day, hour, minute = (f"CAST({p}[{i}] AS integer)" for i in range(1, 6))
        leap = f"({year} % 4 = 0 AND {year} % 100 <> 0 OR {year} % 400 = 0)"
        last = f"(CASE WHEN {month} = 2 THEN CASE WHEN {leap} THEN 29 ELSE 28 END"
        last += f" WHEN {month} IN (4, 6, 9, 11) THEN 30 ELSE 31 END)"
        dated = f"{year} >= 1 AND {month} BETWEEN 1 AND 12 AND {day} >= 1 AND {day} <= {last}"
        seconds = f"coalesce({p}[6], '0')"
        timed = f"({p}[4] IS NULL OR {hour} <= 23 AND {minute} <= 59 AND CAST({seconds} AS integer) <= 59)"
        exact = f"CAST({seconds} || coalesce({p}[7], '') AS double precision)"
        made = f"make_timestamp({year}, {month}, {day}, coalesce({hour}, 0), coalesce({minute}, 0), {exact})"
        return f"(CASE WHEN {dated} AND {timed} THEN {made} END)"

    return bind_values(make, parts)


CASTS: dict[str, Template] = {
    "whole": lambda e, c: f"round({_number(e, c)})",
    "number": _number,
    "text": lambda e, c: as_text(e, c.arguments[0]),
    "date": _date,
    "timestamp": _timestamp,
    "boolean": _boolean,
}
