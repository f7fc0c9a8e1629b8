"""Functions of dates and times in Snowflake's SQL. What would leave the years 1 to 9999 is NULL.

Snowflake's weeks depend on parameters of the session, its names of days and months are short, and ADD_MONTHS keeps
the end of a month: none of these is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.snowflake.numbers import again, nearest, quotient
from jali.engines.sql.calendar import Calendar
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import constant_number
from jali.query.catalog import Kind
from jali.query.functions.days import DAY, PARTS, SECOND, day_of
from jali.query.nodes import Call, Expression

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter

_BEGIN = "TO_DATE('0001-01-01', 'YYYY-MM-DD')"
_LAST_DAY = day_of(9999, 12, 31) - day_of(1, 1, 1)
_MONTH_NAMES = "January February March April May June July August September October November December"
_DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_CALLED = {"week": "WEEKISO", "isodow": "DAYOFWEEKISO"}
_UNITS = {"months": "month", "days": "day", "seconds": "second"}

CALENDAR = Calendar(
    micros=lambda t: f"DATEDIFF(microsecond, {_BEGIN}, {t})",
    quotient=lambda value, by: quotient(value, str(by)),
    year=lambda t: f"YEAR({t})",
    month=lambda t: f"MONTH({t})",
    day=lambda t: f"DAY({t})",
    month_length=lambda t: f"DAY(LAST_DAY({t}))",
)


def moment(emitter: Emitter, expression: Expression) -> str:
    """Write a date or a time as a time without a zone."""
    written = emitter.typed(expression, Kind.TIMESTAMP)
    return written if emitter.kind(expression) is Kind.TIMESTAMP else f"CAST({written} AS TIMESTAMP_NTZ)"


def days_apart(one: str, other: str) -> str:
    """Write the days from one date to another."""
    return f"CAST(DATEDIFF(day, {one}, {other}) AS FLOAT)"


def moved_date(date: str, operator: str, by: str) -> str:
    """Write a date moved by so many days, a double; NULL where there is no such date."""

    def made(d: str, n: str) -> str:
        moved = f"DATEDIFF(day, {_BEGIN}, {d}) {operator} {n}"
        return f"(CASE WHEN {moved} BETWEEN 0 AND {_LAST_DAY} THEN DATEADD(day, {operator}{n}, {d}) END)"

    return again(made, date, f"({nearest(by, fits=False)})")


def _part(emitter: Emitter, call: Call) -> str:
    function = _CALLED.get(call.function, call.function.upper())
    return emitter.dialect.real(f"{function}({moment(emitter, call.arguments[0])})")


def _day_of_week(emitter: Emitter, call: Call) -> str:
    """Days from Sunday, 0, to Saturday, 6: those that begin with Monday, 1, depend on no parameter."""
    return emitter.dialect.real(f"MOD(DAYOFWEEKISO({moment(emitter, call.arguments[0])}), 7)")


def _name(function: str, names: str) -> Template:
    branches = " ".join(f"WHEN {i} THEN '{name}'" for i, name in enumerate(names.split(), 1))
    return lambda emitter, call: f"(CASE {function}({moment(emitter, call.arguments[0])}) {branches} END)"


def _as_kind(emitter: Emitter, call: Call, written: str) -> str:
    return f"CAST({written} AS {emitter.dialect.type_name(emitter.kind(call) or Kind.TIMESTAMP)})"


def _truncated(part: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        written = moment(emitter, call.arguments[0])
        if part == "week":
            made = again(lambda t: f"DATEADD(day, 1 - DAYOFWEEKISO({t}), DATE_TRUNC('DAY', {t}))", written)
        else:
            made = f"DATE_TRUNC('{part.upper()}', {written})"
        return _as_kind(emitter, call, made)

    return template


def _between(emitter: Emitter, call: Call, part: str) -> str:
    count = CALENDAR.crossed if call.function.startswith("diff") else CALENDAR.passed
    one, other = (moment(emitter, a) for a in call.arguments)
    return again(lambda a, b: emitter.dialect.real(count(part, a, b)), one, other)


def _counted(part: str) -> Template:
    return lambda emitter, call: _between(emitter, call, part)


def _moved(unit: str) -> Template:
    """Move a time. Of a month that has no such day the last one is taken."""

    def template(emitter: Emitter, call: Call) -> str:
        value, amount = call.arguments
        by = constant_number(amount)
        made = again(
            lambda t: f"(CASE WHEN {_stays(t, unit, by)} THEN DATEADD({_UNITS[unit]}, {by}, {t}) END)",
            moment(emitter, value),
        )
        return _as_kind(emitter, call, made)

    return template


def _stays(t: str, unit: str, by: int) -> str:
    """Whether a moved time is one of the calendar."""
    if unit == "months":
        return f"YEAR({t}) * 12 + MONTH({t}) - 1 BETWEEN {12 - by} AND {9999 * 12 + 11 - by}"
    moved = by * (DAY if unit == "days" else SECOND)
    return f"{CALENDAR.micros(t)} BETWEEN {-moved} AND {(_LAST_DAY + 1) * DAY - 1 - moved}"


MOMENTS: dict[str, Template] = {
    **dict.fromkeys(("year", "quarter", "month", "week", "day", "isodow", "dayofyear"), _part),
    **dict.fromkeys(("hour", "minute", "second"), _part),
    "dayofweek": _day_of_week,
    "monthname": _name("MONTH", _MONTH_NAMES),
    "dayname": _name("DAYOFWEEKISO", _DAY_NAMES),
    "last_day": lambda e, c: f"LAST_DAY({moment(e, c.arguments[0])})",
    **{f"trunc {part}": _truncated(part) for part in PARTS},
    **{f"{name} {part}": _counted(part) for name in ("diff", "sub") for part in PARTS},
    **{f"add {unit}": _moved(unit) for unit in _UNITS},
}
