"""Functions of dates and times in Spark's SQL, computed on days and microseconds since 1970.

Spark's own arithmetic fails or wraps around on far dates. Here a date that no timestamp can hold is NULL where
DuckDB makes one of it, and sums that do not fit 64 bits are NULL (TRY_ADD, TRY_MULTIPLY). The time zone of the
session is UTC, so that TIMESTAMP_LTZ and TIMESTAMP_NTZ are the same microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.spark.arithmetic import bind_values, round_half_even
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression
from jali.ir.functions.date_functions import DAY, PARTS, SECOND

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_UNITS = {"week": 7 * DAY, "day": DAY, "hour": 3600 * SECOND, "minute": 60 * SECOND, "second": SECOND}
_LAST = (1 << 31) - 1
# The midnight with which DuckDB's times begin.
_FIRST = -106_751_991 * DAY
# The days before and after those that DuckDB has times on.
_BEFORE, _AFTER = (f"date_from_unix_date({day})" for day in (-106_751_992, 106_751_992))
_WITHIN_DAY = ("hour", "minute", "second")
_MONTH_NAMES = "January February March April May June July August September October November December"
_DAY_NAMES = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday"


def days_apart(one: str, other: str) -> str:
    """Write the days from one date to another."""
    return f"CAST(CAST(unix_date({other}) AS BIGINT) - unix_date({one}) AS DOUBLE)"


def move_date(date: str, operator: str, by: str) -> str:
    """Write a date moved by so many days, a double; NULL where there is no such date."""
    days = f"(CAST(unix_date({date}) AS BIGINT) {operator} {round_half_even(by, 'INT', fits=False)})"
    # The ends are DuckDB's infinities, which no sum reaches.
    return f"date_from_unix_date(nullif(nullif(try_cast({days} AS INT), {_LAST}), -{_LAST}))"


def micros_of_days(days: str) -> str:
    """Write days as microseconds; NULL where no timestamp is that far."""
    return f"try_multiply(CAST({days} AS BIGINT), {DAY})"


def as_time(micros: str) -> str:
    """Write microseconds since 1970 as a time; NULL before the first one that DuckDB has."""
    # GREATEST leaves NULLs out: NULL becomes what is too early, and then NULL again.
    return f"CAST(timestamp_micros(nullif(greatest({micros}, {_FIRST - 1}), {_FIRST - 1})) AS TIMESTAMP_NTZ)"


def _is_time(emitter: Emitter, expression: Expression) -> bool:
    return emitter.kind(expression) is Kind.TIMESTAMP


def _micros(emitter: Emitter, expression: Expression) -> str:
    """Write a date or a time as microseconds; NULL where there is no such timestamp."""
    if _is_time(emitter, expression):
        return f"unix_micros(CAST({emitter.write(expression)} AS TIMESTAMP_LTZ))"
    return micros_of_days(f"unix_date({emitter.write_as(expression, Kind.DATE)})")


def _day(emitter: Emitter, expression: Expression) -> str:
    """Write the date of a date or a time."""
    written = emitter.write_as(expression, Kind.DATE)
    return f"CAST({written} AS DATE)" if _is_time(emitter, expression) else written


def _date_of(micros: str) -> str:
    """Write the date of microseconds since 1970."""
    return f"CAST({as_time(micros)} AS DATE)"


def _write_moment(emitter: Emitter, call: Call, micros: str) -> str:
    return _date_of(micros) if emitter.kind(call) is Kind.DATE else as_time(micros)


def _part(form: str) -> Template:
    return lambda emitter, call: f"CAST({form.format(_day(emitter, call.arguments[0]))} AS DOUBLE)"


def _clock(part: str) -> Template:
    """A part of the time of day: of a date, midnight's."""

    def template(emitter: Emitter, call: Call) -> str:
        (value,) = call.arguments
        if _is_time(emitter, value):
            return f"CAST({part}({emitter.write(value)}) AS DOUBLE)"
        return f"CAST(unix_date({emitter.write_as(value, Kind.DATE)}) * 0L AS DOUBLE)"

    return template


def _name(names: str, form: str) -> Template:
    listed = ", ".join(f"'{name}'" for name in names.split())
    return lambda emitter, call: f"element_at(array({listed}), {form.format(_day(emitter, call.arguments[0]))})"


def _last_day(emitter: Emitter, call: Call) -> str:
    """The last day of a month: NULL in the month in which dates end."""

    def write(day: str) -> str:
        return f"CASE WHEN last_day({day}) >= {day} THEN last_day({day}) END"

    return bind_values({"day": _day(emitter, call.arguments[0])}, write)


def _truncate(part: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        (value,) = call.arguments
        micros = _micros(emitter, value)
        if part in _UNITS and part != "week":
            return bind_values(
                {"m": micros},
                lambda m: _write_moment(emitter, call, f"try_subtract({m}, pmod({m}, {_UNITS[part]}))"),
            )
        return _write_moment(emitter, call, micros_of_days(f"unix_date(trunc({_date_of(micros)}, '{part}'))"))

    return template


def _index(part: str, micros: str) -> str:
    """Write how many years, months, ... a moment is counted as."""
    day = _date_of(micros)
    if part == "year":
        return f"year({day})"
    if part in _MONTHS:
        return f"((year({day}) * 12L + month({day}) - 1) div {_MONTHS[part]})"
    # As DuckDB does: quarters are cut toward the year 0.
    return f"unix_date({day})" if part == "day" else f"({micros} div {_UNITS[part]})"


def _count_beginnings(part: str) -> Template:
    """How many beginnings of a part lie between two moments."""

    def template(emitter: Emitter, call: Call) -> str:
        one, other = (_micros(emitter, a) for a in call.arguments)
        if part == "week":
            # As DuckDB does: the days between them, cut to whole weeks.
            days = f"(CAST(unix_date({_date_of(other)}) AS BIGINT) - unix_date({_date_of(one)}))"
            return f"CAST({days} div 7 AS DOUBLE)"
        return bind_values(
            {"a": one, "b": other}, lambda a, b: f"CAST({_index(part, b)} - {_index(part, a)} AS DOUBLE)"
        )

    return template


def _count_whole_parts(part: str) -> Template:
    """How many whole parts have passed between two moments."""

    def template(emitter: Emitter, call: Call) -> str:
        one, other = (_micros(emitter, a) for a in call.arguments)
        if part in _UNITS:
            return f"CAST(try_subtract({other}, {one}) div {_UNITS[part]} AS DOUBLE)"
        return bind_values({"a": one, "b": other}, lambda a, b: _months(a, b, _MONTHS[part]))

    return template


def _months(a: str, b: str, each: int) -> str:
    """A month has passed when the day and time of day are reached, or the last day of a shorter month."""
    forth, back = _months_up(a, b), _months_up(b, a)
    return f"CAST(CASE WHEN {a} <= {b} THEN {forth} ELSE -{back} END div {each} AS DOUBLE)"


def _months_up(a: str, b: str) -> str:
    first, last = _date_of(a), _date_of(b)
    months = f"((year({last}) - year({first})) * 12L + month({last}) - month({first}))"
    # The day and the time of day as one number.
    reached = f"(day({last}) * {DAY}L + pmod({b}, {DAY}))"
    begun = f"(least(day({first}), day(last_day({last}))) * {DAY}L + pmod({a}, {DAY}))"
    return f"({months} - CASE WHEN {reached} < {begun} THEN 1L ELSE 0L END)"


def _move(unit: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        value, amount = call.arguments
        micros, by = _micros(emitter, value), emitter.write(amount)
        if unit == "months":
            return bind_values({"m": micros}, lambda m: _write_moment(emitter, call, _months_later(m, by)))
        size = DAY if unit == "days" else SECOND
        return _write_moment(emitter, call, f"try_add({micros}, {by} * {size}L)")

    return template


def _months_later(micros: str, by: str) -> str:
    day = micros_of_days(f"unix_date(add_months({_date_of(micros)}, {by}))")
    return f"try_add({day}, pmod({micros}, {DAY}))"


DATETIMES: dict[str, Template] = {
    **{part: _part(f"{part}({{}})") for part in ("year", "quarter", "month", "day", "dayofyear")},
    # DuckDB knows no weeks of days that it has no times on.
    "week": _part(f"weekofyear(nullif(nullif(greatest(least({{}}, {_AFTER}), {_BEFORE}), {_BEFORE}), {_AFTER}))"),
    "dayofweek": _part("dayofweek({}) - 1"),
    "isodow": _part("weekday({}) + 1"),
    **{part: _clock(part) for part in _WITHIN_DAY},
    "monthname": _name(_MONTH_NAMES, "month({})"),
    "dayname": _name(_DAY_NAMES, "dayofweek({})"),
    "last_day": _last_day,
    **{f"trunc {part}": _truncate(part) for part in PARTS},
    **{f"diff {part}": _count_beginnings(part) for part in PARTS},
    **{f"sub {part}": _count_whole_parts(part) for part in PARTS},
    **{f"add {unit}": _move(unit) for unit in ("months", "days", "seconds")},
}
