"""Functions of dates and times in Postgres's SQL. Infinite and far times have no parts, and cannot be moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.postgres.arithmetic import FIRST, LAST, bind_values, timestamp, within
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.date_functions import PARTS

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_MONTHS = {"year": 12, "quarter": 3, "month": 1}
_FIELDS = {"dayofweek": "dow", "dayofyear": "doy"}
_INTERVALS = {"months": "months", "days": "days", "seconds": "secs"}
_PER_YEAR = {"months": 12, "days": 365, "seconds": 365 * 86_400}


def _moment(emitter: Emitter, expression: Expression) -> str:
    return timestamp(emitter.write_as(expression, Kind.TIMESTAMP))


def _part(emitter: Emitter, call: Call) -> str:
    field = _FIELDS.get(call.function, call.function)

    def make(t: str) -> str:
        found = f"floor(extract({field} FROM {t}))"
        # There is no year 0 in Postgres: 1 BC is -1.
        found = f"(CASE WHEN {found} < 0 THEN {found} + 1 ELSE {found} END)" if field == "year" else found
        return emitter.dialect.real(found)

    return within(make, _moment(emitter, call.arguments[0]))


def _name(pattern: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        named = within(lambda t: f"to_char({t}, '{pattern}')", _moment(emitter, call.arguments[0]))
        return f'({named} COLLATE "C")'

    return template


def _truncate(part: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        value = _moment(emitter, call.arguments[0])
        made = bind_values(
            lambda t: (
                f"(CASE WHEN {t} BETWEEN {FIRST} AND {LAST} THEN date_trunc('{part}', {t})"
                f" WHEN NOT isfinite({t}) THEN {t} END)"
            ),
            value,
        )
        return _as_kind(emitter, call, made)

    return template


def _as_kind(emitter: Emitter, call: Call, written: str) -> str:
    kind = emitter.kind(call) or Kind.TIMESTAMP
    return f"CAST({written} AS {emitter.dialect.type_name(kind)})"


def _whole_seconds(t: str, unit: int) -> str:
    return f"floor(extract(epoch FROM {t}) / {unit})"


def _months(t: str) -> str:
    year = f"extract(year FROM {t})"
    return f"((CASE WHEN {year} < 0 THEN {year} + 1 ELSE {year} END) * 12 + extract(month FROM {t}) - 1)"


def _index(part: str, t: str) -> str:
    """Count the years, months, ..., seconds of a time."""
    if part in _MONTHS:
        return f"floor({_months(t)} / {_MONTHS[part]})"
    if part in _SECONDS:
        return _whole_seconds(t, _SECONDS[part])
    return _whole_seconds(t, 86400)


def _between(make: str, emitter: Emitter, call: Call) -> str:
    one, other = (_moment(emitter, a) for a in call.arguments)

    def template(a: str, b: str) -> str:
        there = f"{a} BETWEEN {FIRST} AND {LAST} AND {b} BETWEEN {FIRST} AND {LAST}"
        return f"(CASE WHEN {there} THEN {emitter.dialect.real(make.format(a=a, b=b))} END)"

    return bind_values(template, one, other)


def _count_parts(part: str) -> Template:
    form = f"{_index(part, '{b}')} - {_index(part, '{a}')}"
    # DuckDB counts weeks by sevens of days.
    form = f"trunc(({form}) / 7)" if part == "week" else form
    return lambda emitter, call: _between(form, emitter, call)


def _count_whole_parts(part: str) -> Template:
    """Whole parts between two times: those whose end was reached."""
    if part not in _MONTHS:
        unit = {"week": 7 * 86400, "day": 86400}.get(part) or _SECONDS[part]
        form = f"trunc((extract(epoch FROM {{b}}) - extract(epoch FROM {{a}})) / {unit})"
        return lambda emitter, call: _between(form, emitter, call)

    # A month has passed when the day and time of the later one reach those of the earlier one, or its month ends.
    def count_months(a: str, b: str) -> str:
        months = f"({_months(b)} - {_months(a)})"
        last = f"(date_trunc('month', {b}) + interval '1 month' - interval '1 day')"
        day_a, day_b = f"extract(day FROM {a})", f"extract(day FROM {b})"
        ended = f"{day_b} = extract(day FROM {last}) AND {day_a} > {day_b}"
        short = f"({b} - date_trunc('month', {b})) < ({a} - date_trunc('month', {a})) AND NOT ({ended})"
        ended_early = f"({ended}) AND CAST({b} AS time) < CAST({a} AS time)"
        return f"({months} - CASE WHEN ({short}) OR ({ended_early}) THEN 1 ELSE 0 END)"

    months = f"(CASE WHEN {{b}} >= {{a}} THEN {count_months('{a}', '{b}')} ELSE -{count_months('{b}', '{a}')} END)"
    form = f"trunc({months} / {_MONTHS[part]})"
    return lambda emitter, call: _between(form, emitter, call)


def _move(unit: str) -> Template:
    """Move a time. Infinite ones stay, and what would leave the calendar is NULL."""

    def template(emitter: Emitter, call: Call) -> str:
        value, amount = call.arguments
        steps = int(amount.value) if isinstance(amount, Literal) and isinstance(amount.value, int) else 0
        years = steps / _PER_YEAR[unit]
        moved = f"{{t}} + make_interval({_INTERVALS[unit]} => {steps})"
        near = f"extract(year FROM {{t}}) + {years!r} BETWEEN -3999 AND 293999"
        made = bind_values(
            lambda t: (
                f"(CASE WHEN NOT isfinite({t}) THEN {t} WHEN {t} BETWEEN {FIRST} AND {LAST} THEN"
                f" CASE WHEN {near.format(t=t)} THEN {moved.format(t=t)} END END)"
            ),
            _moment(emitter, value),
        )
        return _as_kind(emitter, call, made if abs(years) < 300_000 else "CAST(NULL AS timestamp)")

    return template


def _days_apart(emitter: Emitter, call: Call) -> str:
    left, right = (emitter.write(a) for a in call.arguments)
    return bind_values(
        lambda a, b: f"(CASE WHEN isfinite({a}) AND isfinite({b}) THEN CAST({a} - {b} AS double precision) END)",
        left,
        right,
    )


def _move_days(emitter: Emitter, call: Call) -> str:
    left, right = emitter.write(call.arguments[0]), emitter.real(call.arguments[1])
    near = "{d} BETWEEN DATE '4000-01-01 BC' AND DATE '294000-01-01' AND abs({n}) <= 1000000000"
    far = "CAST({d} - DATE '1970-01-01' AS double precision) {sign} {n} BETWEEN -1700000 AND 106000000"

    def make(d: str, n: str) -> str:
        made = f"{d} {call.function} CAST({n} AS integer)"
        moved = f"CASE WHEN {far.format(d=d, n=n, sign=call.function)} THEN {made} END"
        infinite = f"NOT isfinite({d}) AND abs({n}) <= 2147483647"
        return f"(CASE WHEN {near.format(d=d, n=n)} THEN {moved} WHEN {infinite} THEN {d} END)"

    return bind_values(make, left, right)


def _last_day(emitter: Emitter, call: Call) -> str:
    month = "(date_trunc('month', {t}) + interval '1 month' - interval '1 day')"
    return f"CAST({within(lambda t: month.format(t=t), _moment(emitter, call.arguments[0]))} AS date)"


DATETIMES: dict[str, Template] = {
    **dict.fromkeys(("year", "quarter", "month", "week", "day", "dayofweek", "isodow", "dayofyear"), _part),
    **dict.fromkeys(("hour", "minute", "second"), _part),
    **{f"trunc {part}": _truncate(part) for part in PARTS},
    **{f"diff {part}": _count_parts(part) for part in PARTS},
    **{f"sub {part}": _count_whole_parts(part) for part in PARTS},
    **{f"add {unit}": _move(unit) for unit in ("months", "days", "seconds")},
    "monthname": _name("FMMonth"),
    "dayname": _name("FMDay"),
    "last_day": _last_day,
    "days apart": _days_apart,
    "days moved": _move_days,
}
