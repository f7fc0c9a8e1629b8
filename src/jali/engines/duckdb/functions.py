"""How each function is written in DuckDB's SQL. Each form is total: a value or NULL for every input.

Where a function of DuckDB fails on some values, these are made NULL before it (NULLIF, TRY_CAST), or the failure
is made NULL (TRY).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.duckdb.sources import NAMES
from jali.engines.sql.dialect import LONG, Template
from jali.engines.sql.functions import (
    COMMON,
    divide_by,
    write_branches,
    write_case,
    write_choice,
    write_logarithm,
    write_measure,
    write_numeric,
    write_ordered,
    write_reals,
    write_texts,
)
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.date_functions import PARTS

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is not Kind.DATE:
        return f"({emitter.real(left)} {call.function} {emitter.real(right)})"
    if emitter.kind(right) is Kind.DATE:
        return _number(f"date_diff('day', {emitter.write(right)}, {emitter.write(left)})")
    return f"TRY({emitter.write(left)} {call.function} TRY_CAST({emitter.real(right)} AS INTEGER))"


def _extreme(emitter: Emitter, call: Call) -> str:
    """Write two arguments at a time, nested as little as possible.

    DuckDB copies a plan as text, and refuses a call with three or more arguments of which two have one name.
    """
    written = write_ordered(emitter, call)
    while len(written) > 1:
        pairs = [written[i : i + 2] for i in range(0, len(written), 2)]
        written = [f"{call.function}({', '.join(pair)})" if len(pair) > 1 else pair[0] for pair in pairs]
    return written[0]


def _round(emitter: Emitter, call: Call) -> str:
    digits = [emitter.dialect.constant(a.value) for a in call.arguments[1:] if isinstance(a, Literal)]
    return f"round({', '.join([emitter.real(call.arguments[0]), *digits])})"


def _number(written: str) -> str:
    """Every number that is computed is a double."""
    return f"CAST({written} AS DOUBLE)"


def _bucket(emitter: Emitter, call: Call) -> str:
    value, low, high, count = write_reals(emitter, call)
    return emitter.dialect.once(
        value,
        lambda v: (
            f"CASE WHEN {v} < {low} THEN '0.0'::DOUBLE WHEN {v} < {high} "
            f"THEN least(floor(({v} - {low}) * {count} / ({high} - {low})), {count} - 1) + 1 "
            f"WHEN {v} <= {emitter.dialect.infinite} THEN {count} + 1 END"
        ),
    )


def _case(emitter: Emitter, call: Call) -> str:
    compared = _compare_one(emitter, call)
    if compared is None:
        return write_case(emitter, call)
    # What all conditions look at is bound to a name: otherwise it would be there once for each of them.
    subject, others = compared
    *values, otherwise = emitter.write_alike((*call.arguments[1::2], call.arguments[-1]))
    name = f"c{''.join((subject, *others, *values, otherwise)).count('lambda ')}"
    bound = write_branches([f"({name} = {other})" for other in others], values, otherwise)
    return write_choice(emitter, call, f"list_transform([{subject}], lambda {name}: {bound})[1]")


def _compare_one(emitter: Emitter, call: Call) -> tuple[str, list[str]] | None:
    """Return the long value that a CASE compares with others, and those; None if it is another CASE."""
    conditions = [a for a in call.arguments[:-1:2] if isinstance(a, Call) and a.function == "="]
    if len(conditions) < max(2, len(call.arguments) // 2) or len({c.arguments[0] for c in conditions}) > 1:
        return None
    subjects, others = zip(*(emitter.write_alike(c.arguments) for c in conditions), strict=True)
    alike = len(set(subjects)) == 1 and len(subjects[0]) > LONG
    return (subjects[0], list(others)) if alike else None


def _part_of_text(emitter: Emitter, call: Call) -> str:
    first, *places = call.arguments
    return f"{call.function}({', '.join([emitter.write_as(first, Kind.TEXT), *map(emitter.write, places)])})"


def _like(emitter: Emitter, call: Call) -> str:
    value, pattern = (emitter.write_as(a, Kind.TEXT) for a in call.arguments)
    return f"({value} {call.function.upper()} {pattern})"


def _as_text(emitter: Emitter, expression: Expression) -> str:
    if emitter.is_double(expression) and emitter.kind(expression) is Kind.INTEGER:
        # A whole double would be written with a decimal point.
        return f"TRY_CAST(TRY_CAST({emitter.write(expression)} AS BIGINT) AS VARCHAR)"
    return f"TRY_CAST({emitter.write_as(expression, Kind.TEXT)} AS VARCHAR)"


def _date_part(emitter: Emitter, call: Call) -> str:
    # DuckDB fails on the week of the first days of its calendar.
    return _number(f"TRY({call.function}({emitter.write_as(call.arguments[0], Kind.DATE)}))")


def _week(emitter: Emitter, call: Call) -> str:
    # Of dates DuckDB computes the week of the least while it plans, from statistics and outside of TRY: one far
    # date would make the question fail for everybody. Of times it does not.
    moment = f"TRY_CAST({emitter.write_as(call.arguments[0], Kind.DATE)} AS TIMESTAMP)"
    return _number(f"TRY(week({moment}))")


def _date_name(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({emitter.write_as(call.arguments[0], Kind.DATE)})"


def _truncate(part: str) -> Template:
    return lambda e, c: _cast_moment(e, c, f"TRY(date_trunc('{part}', {_moments(e, c)[0]}))")


def _count_parts(function: str, part: str) -> Template:
    return lambda e, c: _number(f"TRY({function}('{part}', {', '.join(_moments(e, c))}))")


def _moments(emitter: Emitter, call: Call) -> list[str]:
    return [f"TRY_CAST({emitter.write_as(a, Kind.TIMESTAMP)} AS TIMESTAMP)" for a in call.arguments]


def _move(unit: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        value, amount = call.arguments
        return _cast_moment(
            emitter, call, f"TRY({emitter.write_as(value, Kind.DATE)} + to_{unit}({emitter.write(amount)}))"
        )

    return template


def _cast_moment(emitter: Emitter, call: Call, written: str) -> str:
    return f"TRY_CAST({written} AS {NAMES[emitter.kind(call) or Kind.TIMESTAMP]})"


def _cast(kind: Kind) -> Template:
    return lambda emitter, call: f"TRY_CAST({emitter.write_as(call.arguments[0], kind)} AS {NAMES[kind]})"


TEMPLATES: dict[str, Template] = {
    **COMMON,
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("floor", "ceil", "trunc", "isnan", "isinf", "isfinite"), write_numeric),
    **dict.fromkeys(("least", "greatest"), _extreme),
    **{name: write_texts(name) for name in ("lower", "upper", "trim", "ltrim", "rtrim")},
    **{name: write_texts(name) for name in ("starts_with", "ends_with", "contains")},
    **{name: write_texts(name) for name in ("regexp_matches", "regexp_full_match")},
    **{name: write_measure(name) for name in ("length", "strpos")},
    **dict.fromkeys(("substring", "left", "right"), _part_of_text),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofweek", "isodow", "dayofyear"), _date_part),
    **dict.fromkeys(("hour", "minute", "second"), _date_part),
    "week": _week,
    **dict.fromkeys(("monthname", "dayname"), _date_name),
    **{f"trunc {part}": _truncate(part) for part in PARTS},
    **{f"diff {part}": _count_parts("date_diff", part) for part in PARTS},
    **{f"sub {part}": _count_parts("date_sub", part) for part in PARTS},
    **{f"add {unit}": _move(unit) for unit in ("months", "days", "seconds")},
    "last_day": lambda e, c: f"TRY(last_day({e.write_as(c.arguments[0], Kind.DATE)}))",
    "//": lambda e, c: f"trunc{divide_by('/')(e, c)}",
    "log2": write_logarithm("log2"),
    "negate": lambda e, c: f"(-{e.real(c.arguments[0])})",
    "sign": lambda e, c: _number(write_numeric(e, c)),
    "round": _round,
    "power": lambda e, c: f"pow({', '.join(write_reals(e, c))})",
    "width_bucket": _bucket,
    "case": _case,
    # DuckDB casts to integers by rounding halves to even; 64-bit casts would fail where a double does not.
    "whole": lambda e, c: f"round_even(TRY_CAST({e.write(c.arguments[0])} AS DOUBLE), 0)",
    "number": _cast(Kind.REAL),
    "text": lambda e, c: _as_text(e, c.arguments[0]),
    "date": _cast(Kind.DATE),
    "timestamp": _cast(Kind.TIMESTAMP),
    "boolean": _cast(Kind.BOOLEAN),
}
