"""Functions of dates and times in BigQuery's SQL. What would leave the years 1 to 9999 is NULL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.bigquery.numbers import bound, nearest
from jali.engines.sql.calendar import Calendar
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import constant_number
from jali.query.catalog import Kind
from jali.query.functions.days import PARTS
from jali.query.nodes import Call, Expression

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter

_BEGIN = "DATETIME '0001-01-01 00:00:00'"
# BigQuery's own weeks begin on Sundays.
_FIELDS = {"week": "ISOWEEK", "dayofweek": "DAYOFWEEK", "dayofyear": "DAYOFYEAR"}
_UNITS = {"months": "MONTH", "days": "DAY", "seconds": "SECOND"}


def _field(name: str, t: str) -> str:
    return f"EXTRACT({name} FROM {t})"


CALENDAR = Calendar(
    micros=lambda t: f"DATETIME_DIFF({t}, {_BEGIN}, MICROSECOND)",
    quotient=lambda value, by: f"DIV({value}, {by})",
    year=lambda t: _field("YEAR", t),
    month=lambda t: _field("MONTH", t),
    day=lambda t: _field("DAY", t),
    month_length=lambda t: _field("DAY", f"LAST_DAY({t}, MONTH)"),
)


def moment(emitter: Emitter, expression: Expression) -> str:
    """Write a date or a time as a time without a zone."""
    written = emitter.typed(expression, Kind.TIMESTAMP)
    return written if emitter.kind(expression) is Kind.TIMESTAMP else f"CAST({written} AS DATETIME)"


def days_apart(one: str, other: str) -> str:
    """Write the days from one date to another."""
    return f"CAST(DATE_DIFF({other}, {one}, DAY) AS FLOAT64)"


def moved_date(date: str, operator: str, by: str) -> str:
    """Write a date moved by so many days, a double; NULL where there is no such date."""
    function = "DATE_ADD" if operator == "+" else "DATE_SUB"
    return f"SAFE.{function}({date}, INTERVAL {nearest(by)} DAY)"


def _part(emitter: Emitter, call: Call) -> str:
    found = _field(_FIELDS.get(call.function, call.function.upper()), moment(emitter, call.arguments[0]))
    return emitter.dialect.real(f"{found} - 1" if call.function == "dayofweek" else found)


def _day_of_week(emitter: Emitter, call: Call) -> str:
    """Days from Monday, 1, to Sunday, 7: BigQuery's begin with Sunday, 1."""
    return emitter.dialect.real(f"MOD({_field('DAYOFWEEK', moment(emitter, call.arguments[0]))} + 5, 7) + 1")


def _name(form: str) -> Template:
    return lambda emitter, call: f"FORMAT_DATETIME('{form}', {moment(emitter, call.arguments[0])})"


def _as_kind(emitter: Emitter, call: Call, written: str) -> str:
    return f"CAST({written} AS DATE)" if emitter.kind(call) is Kind.DATE else written


def _truncated(part: str) -> Template:
    unit = "ISOWEEK" if part == "week" else part.upper()
    return lambda emitter, call: _as_kind(
        emitter, call, f"DATETIME_TRUNC({moment(emitter, call.arguments[0])}, {unit})"
    )


def _between(emitter: Emitter, call: Call, part: str) -> str:
    count = CALENDAR.crossed if call.function.startswith("diff") else CALENDAR.passed
    one, other = (moment(emitter, a) for a in call.arguments)
    return bound(lambda a, b: emitter.dialect.real(count(part, a, b)), one, other)


def _counted(part: str) -> Template:
    return lambda emitter, call: _between(emitter, call, part)


def _moved(unit: str) -> Template:
    """Move a time. Of a month that has no such day the last one is taken."""

    def template(emitter: Emitter, call: Call) -> str:
        value, amount = call.arguments
        made = f"SAFE.DATETIME_ADD({moment(emitter, value)}, INTERVAL {constant_number(amount)} {_UNITS[unit]})"
        return _as_kind(emitter, call, made)

    return template


MOMENTS: dict[str, Template] = {
    **dict.fromkeys(("year", "quarter", "month", "week", "day", "dayofweek", "dayofyear"), _part),
    **dict.fromkeys(("hour", "minute", "second"), _part),
    "isodow": _day_of_week,
    "monthname": _name("%B"),
    "dayname": _name("%A"),
    "last_day": lambda e, c: f"LAST_DAY({moment(e, c.arguments[0])}, MONTH)",
    **{f"trunc {part}": _truncated(part) for part in PARTS},
    **{f"{name} {part}": _counted(part) for name in ("diff", "sub") for part in PARTS},
    **{f"add {unit}": _moved(unit) for unit in _UNITS},
}
