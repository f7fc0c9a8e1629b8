"""How each function is written in DuckDB's SQL. Each form is total: a value or NULL for every input.

Where a function of DuckDB fails on some values, these are made NULL before it (NULLIF, TRY_CAST), or the failure
is made NULL (TRY). LEAST and GREATEST leave NULLs out: GREATEST(NULL, 0) is 0, which NULLIF then makes NULL again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.duckdb.literals import constant, text
from jali.engines.duckdb.sources import type_name
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.date_functions import PARTS
from jali.ir.functions.text_functions import LIMITED, LONGEST_PART, LONGEST_TAKEN, part_length

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

_INFINITE = "'inf'::DOUBLE"
_BELOW_ZERO = "'-5e-324'::DOUBLE"
# Above so many characters a value that is used several times is bound to a name.
_LONG = 100
# So many NULLIFs may stand inside another before its argument is bound to a name.
_COPIED = 2
_BEFORE_DAY = PARTS[: PARTS.index("day") + 1]


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is Kind.DATE:
        return _date_arithmetic(emitter, call)
    return f"({emitter.real(left)} {call.function} {emitter.real(right)})"


def _date_arithmetic(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(right) is Kind.DATE:
        return _number(f"date_diff('day', {emitter.write(right)}, {emitter.write(left)})")
    days = f"TRY_CAST({emitter.real(right)} AS INTEGER)"
    return f"TRY({emitter.write(left)} {call.function} {days})"


def _comparison(emitter: Emitter, call: Call) -> str:
    left, right = emitter.write_alike(call.arguments)
    return f"({left} {call.function.upper()} {right})"


def _logic(emitter: Emitter, call: Call) -> str:
    left, right = (emitter.condition(a) for a in call.arguments)
    return f"({left} {call.function.upper()} {right})"


def _in(emitter: Emitter, call: Call) -> str:
    value, *others = emitter.write_alike(call.arguments)
    return f"({value} IN ({', '.join(others)}))"


def _numeric(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({', '.join(emitter.real(a) for a in call.arguments)})"


def _extreme(emitter: Emitter, call: Call) -> str:
    """Write two arguments at a time, nested as little as possible.

    DuckDB copies a plan as text, and refuses a call with three or more arguments of which two have one name.
    """
    dated = emitter.kind(call) in (Kind.DATE, Kind.TIMESTAMP)
    written = list(emitter.write_alike(call.arguments) if dated else [emitter.real(a) for a in call.arguments])
    while len(written) > 1:
        pairs = [written[i : i + 2] for i in range(0, len(written), 2)]
        written = [f"{call.function}({', '.join(pair)})" if len(pair) > 1 else pair[0] for pair in pairs]
    return written[0]


def _divide(emitter: Emitter, call: Call) -> str:
    return f"({emitter.real(call.arguments[0])} / {_unless(emitter.real(call.arguments[1]), '0')})"


def _remainder(emitter: Emitter, call: Call) -> str:
    return f"({emitter.real(call.arguments[0])} % {_unless(emitter.real(call.arguments[1]), '0')})"


def _round(emitter: Emitter, call: Call) -> str:
    digits = [constant(a.value) for a in call.arguments[1:] if isinstance(a, Literal)]
    return f"round({', '.join([emitter.real(call.arguments[0]), *digits])})"


def _number(written: str) -> str:
    """Every number that is computed is a double."""
    return f"CAST({written} AS DOUBLE)"


def _logarithm(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({_unless(f'greatest({emitter.real(call.arguments[0])}, 0)', '0')})"


def _root(emitter: Emitter, call: Call) -> str:
    # No double lies between 0 and this one, so every number below 0 becomes it, and then NULL.
    positive = f"greatest({emitter.real(call.arguments[0])}, {_BELOW_ZERO})"
    return f"sqrt({_unless(positive, _BELOW_ZERO)})"


def _clamp(emitter: Emitter, call: Call) -> str:
    low, high = (emitter.real(a) for a in call.arguments[1:])
    return _once(
        emitter.real(call.arguments[0]),
        lambda v: f"CASE WHEN {v} <= {_INFINITE} THEN greatest(least({v}, {high}), {low}) END",
    )


def _bucket(emitter: Emitter, call: Call) -> str:
    value, low, high, count = (emitter.real(a) for a in call.arguments)
    return _once(
        value,
        lambda v: (
            f"CASE WHEN {v} < {low} THEN '0.0'::DOUBLE WHEN {v} < {high} "
            f"THEN least(floor(({v} - {low}) * {count} / ({high} - {low})), {count} - 1) + 1 "
            f"WHEN {v} <= {_INFINITE} THEN {count} + 1 END"
        ),
    )


def _once(written: str, make: Callable[[str], str]) -> str:
    """Use a value several times. A long one is bound to a name: nested calls would double the query each time."""
    if len(written) <= _LONG:
        return make(written)
    return f"list_transform([{written}], lambda v: {make('v')})[1]"


def _unless(written: str, other: str) -> str:
    """Write a value, or NULL where it is another one.

    DuckDB makes two copies of the first argument of NULLIF, and so 2^n of n inside each other: 20 short calls
    would take minutes to plan. From the third on the value is bound to a name.
    """
    if written.count("nullif(") < _COPIED:
        return f"nullif({written}, {other})"
    # A name of its own: the other value may bind names, too.
    name = f"n{(written + other).count('lambda ')}"
    return f"list_transform([{written}], lambda {name}: nullif({name}, {other}))[1]"


def _coalesce(emitter: Emitter, call: Call) -> str:
    return _write_choice(emitter, call, f"coalesce({', '.join(emitter.write_alike(call.arguments))})")


def _nullif(emitter: Emitter, call: Call) -> str:
    return _write_choice(emitter, call, _unless(*emitter.write_alike(call.arguments)))


def _case(emitter: Emitter, call: Call) -> str:
    *values, otherwise = emitter.write_alike((*call.arguments[1::2], call.arguments[-1]))
    compared = _compare_one(emitter, call)
    if compared is None:
        conditions = [emitter.condition(a) for a in call.arguments[:-1:2]]
        return _write_choice(emitter, call, _branches(conditions, values, otherwise))
    # What all conditions look at is bound to a name: otherwise it would be there once for each of them.
    subject, others = compared
    name = f"c{''.join((subject, *others, *values, otherwise)).count('lambda ')}"
    bound = _branches([f"({name} = {other})" for other in others], values, otherwise)
    return _write_choice(emitter, call, f"list_transform([{subject}], lambda {name}: {bound})[1]")


def _branches(conditions: Sequence[str], values: Sequence[str], otherwise: str) -> str:
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
    return f"CASE {branches} ELSE {otherwise} END"


def _compare_one(emitter: Emitter, call: Call) -> tuple[str, list[str]] | None:
    """Return the long value that a CASE compares with others, and those; None if it is another CASE."""
    conditions = [a for a in call.arguments[:-1:2] if isinstance(a, Call) and a.function == "="]
    if len(conditions) < max(2, len(call.arguments) // 2) or len({c.arguments[0] for c in conditions}) > 1:
        return None
    subjects, others = zip(*(emitter.write_alike(c.arguments) for c in conditions), strict=True)
    alike = len(set(subjects)) == 1 and len(subjects[0]) > _LONG
    return (subjects[0], list(others)) if alike else None


def _write_choice(emitter: Emitter, call: Call, written: str) -> str:
    # A chosen number is declared a double like any other computed number, whatever it was chosen from.
    return _number(written) if emitter.is_double(call) else written


def _texts(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({', '.join(emitter.write_as(a, Kind.TEXT) for a in call.arguments)})"


def _measure(emitter: Emitter, call: Call) -> str:
    return _number(_texts(emitter, call))


def _part_of_text(emitter: Emitter, call: Call) -> str:
    first, *places = call.arguments
    return f"{call.function}({', '.join([emitter.write_as(first, Kind.TEXT), *map(emitter.write, places)])})"


def _like(emitter: Emitter, call: Call) -> str:
    value, pattern = (emitter.write_as(a, Kind.TEXT) for a in call.arguments)
    return f"({value} {call.function.upper()} {pattern})"


def _replace(emitter: Emitter, call: Call) -> str:
    value, *others = call.arguments
    old, new = (len(a.value) if isinstance(a, Literal) and isinstance(a.value, str) else 0 for a in others)
    # As much of the text as leaves the result no longer than the longest part.
    kept = LONGEST_PART // max(1, -(-new // max(1, old)))
    words = ", ".join(emitter.write_as(a, Kind.TEXT) for a in others)
    return f"replace(left({emitter.write_as(value, Kind.TEXT)}, {kept}), {words})"


def _concatenate(emitter: Emitter, call: Call) -> str:
    parts = [_part(emitter, a, part_length(call)) for a in call.arguments]
    return f"({' || '.join(parts)})" if call.function == "||" else f"concat({', '.join(parts)})"


def _part(emitter: Emitter, expression: Expression, longest: int) -> str:
    if isinstance(expression, Literal) and isinstance(expression.value, str):
        return text(expression.value)
    return f"left({_as_text(emitter, expression)}, {longest})"


def _limit_length(emitter: Emitter, call: Call) -> str:
    written = emitter.write_as(call.arguments[0], Kind.TEXT)
    return _once(written, lambda v: f"CASE WHEN strlen({v}) <= {LONGEST_TAKEN} THEN {v} END")


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
    def template(emitter: Emitter, call: Call) -> str:
        (moment,) = _moments(emitter, call)
        return _cast_moment(emitter, call, f"TRY(date_trunc('{part}', {moment}))")

    return template


def _count_parts(function: str, part: str) -> Template:
    def template(emitter: Emitter, call: Call) -> str:
        one, other = _moments(emitter, call)
        return _number(f"TRY({function}('{part}', {one}, {other}))")

    return template


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
    return f"TRY_CAST({written} AS {type_name(emitter.kind(call) or Kind.TIMESTAMP)})"


def _cast(kind: Kind) -> Template:
    return lambda emitter, call: f"TRY_CAST({emitter.write_as(call.arguments[0], kind)} AS {type_name(kind)})"


def _unary(prefix: str, suffix: str = "") -> Template:
    return lambda emitter, call: f"({prefix}{emitter.write(call.arguments[0])}{suffix})"


TEMPLATES: dict[str, Template] = {
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"), _comparison),
    **dict.fromkeys(("and", "or"), _logic),
    **dict.fromkeys(("abs", "floor", "ceil", "trunc", "exp", "isnan", "isinf", "isfinite"), _numeric),
    **dict.fromkeys(("least", "greatest"), _extreme),
    **dict.fromkeys(("ln", "log10", "log2"), _logarithm),
    **dict.fromkeys(("lower", "upper", "trim", "ltrim", "rtrim"), _texts),
    **dict.fromkeys(("starts_with", "ends_with", "contains", "regexp_matches", "regexp_full_match"), _texts),
    **dict.fromkeys(("length", "strpos"), _measure),
    **dict.fromkeys(("substring", "left", "right"), _part_of_text),
    **dict.fromkeys(("like", "ilike"), _like),
    **dict.fromkeys(("||", "concat"), _concatenate),
    LIMITED: _limit_length,
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofweek", "isodow", "dayofyear"), _date_part),
    **dict.fromkeys(("hour", "minute", "second"), _date_part),
    "week": _week,
    **dict.fromkeys(("monthname", "dayname"), _date_name),
    **{f"trunc {part}": _truncate(part) for part in PARTS},
    **{f"diff {part}": _count_parts("date_diff", part) for part in PARTS},
    **{f"sub {part}": _count_parts("date_sub", part) for part in PARTS},
    **{f"add {unit}": _move(unit) for unit in ("months", "days", "seconds")},
    "last_day": lambda e, c: f"TRY(last_day({e.write_as(c.arguments[0], Kind.DATE)}))",
    "/": _divide,
    "//": lambda e, c: f"trunc{_divide(e, c)}",
    "%": _remainder,
    "negate": lambda e, c: f"(-{e.real(c.arguments[0])})",
    "sign": lambda e, c: _number(_numeric(e, c)),
    "round": _round,
    "sqrt": _root,
    "power": lambda e, c: f"pow({e.real(c.arguments[0])}, {e.real(c.arguments[1])})",
    "clamp": _clamp,
    "width_bucket": _bucket,
    "not": lambda e, c: f"(NOT {e.condition(c.arguments[0])})",
    "is null": _unary("", " IS NULL"),
    "in": _in,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "case": _case,
    "replace": _replace,
    # DuckDB casts to integers by rounding halves to even; 64-bit casts would fail where a double does not.
    "whole": lambda e, c: f"round_even(TRY_CAST({e.write(c.arguments[0])} AS DOUBLE), 0)",
    "number": _cast(Kind.REAL),
    "text": lambda e, c: _as_text(e, c.arguments[0]),
    "date": _cast(Kind.DATE),
    "timestamp": _cast(Kind.TIMESTAMP),
    "boolean": _cast(Kind.BOOLEAN),
}
