"""How each function is written in Postgres's SQL. Each form is total: a value or NULL for every input."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.postgres import casts, regex
from jali.engines.postgres.arithmetic import (
    INFINITE,
    NOT_A_NUMBER,
    bind_values,
    divide,
    exponential,
    plus,
    power,
    remainder,
    round_half_away,
    times,
)
from jali.engines.postgres.datetimes import DATETIMES
from jali.engines.sql.dialect import INT64, Template
from jali.engines.sql.functions import (
    COMMON,
    write_logarithm,
    write_measure,
    write_numeric,
    write_ordered,
    write_reals,
    write_text,
    write_texts,
)
from jali.ir.expressions import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

# Any letters, by Unicode; the collation that compares bytes knows the cases of a to z alone.
_ANY_LETTERS = 'COLLATE "und-x-icu"'


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is Kind.DATE:
        return DATETIMES["days apart" if emitter.kind(right) is Kind.DATE else "days moved"](emitter, call)
    one, other = emitter.real(left), emitter.real(right)
    if all(_whole(emitter, a) for a in call.arguments):
        # Whole numbers of 64 bits: nothing overflows.
        return f"({one} {call.function} {other})"
    return times(one, other) if call.function == "*" else plus(one, call.function, other)


def _whole(emitter: Emitter, expression: Expression) -> bool:
    """Say whether a number is stored as a whole one, or is a whole constant of its size."""
    if isinstance(expression, Literal):
        return isinstance(expression.value, int) and abs(expression.value) < INT64
    return not isinstance(expression, Call) and not emitter.is_double(expression)


def _divide(emitter: Emitter, call: Call) -> str:
    return divide(*write_reals(emitter, call))


def _of_one(make: Callable[[str], str]) -> Template:
    return lambda emitter, call: bind_values(make, emitter.real(call.arguments[0]))


def _round(emitter: Emitter, call: Call) -> str:
    digits = [int(a.value) for a in call.arguments[1:] if isinstance(a, Literal) and isinstance(a.value, int)]
    value = emitter.real(call.arguments[0])
    if not digits or digits[0] == 0:
        return round_half_away(value)
    step = f"'1e{min(abs(digits[0]), 300)}'::float8"
    if digits[0] > 0:
        scaled = bind_values(
            lambda x: f"(CASE WHEN {x} * sign({x}) < 1e290 / {step} THEN {times(x, step)} END)", value
        )
        made = divide(round_half_away(scaled), step)
    else:
        made = times(round_half_away(divide(value, step)), step)
    return bind_values(lambda x, y: f"coalesce({y}, {x})", value, made) if digits[0] > 0 else made


def _binary_logarithm(x: str) -> str:
    """Exact for powers of two, as the function of the C library is."""
    positive = f"nullif(greatest({x}, 0), 0)"
    near = f"ln({positive}) / ln(2::float8)"
    exact = f"abs({near}) < 1000 AND power(2::float8, round({near})) = {x}"
    return f"(CASE WHEN {exact} THEN round({near}) ELSE {near} END)"


def _bucket(emitter: Emitter, call: Call) -> str:
    value, low, high, count = write_reals(emitter, call)

    def make(v: str) -> str:
        place = divide(times(plus(v, "-", low), count), plus(high, "-", low))
        return (
            f"(CASE WHEN {v} < {low} THEN 0 WHEN {v} < {high} THEN least(floor({place}), {count} - 1) + 1"
            f" WHEN {v} <= {INFINITE} THEN {count} + 1 END)"
        )

    return bind_values(make, value)


def _letters(emitter: Emitter, call: Call) -> str:
    return f'({call.function}({write_text(emitter, call.arguments[0])} {_ANY_LETTERS}) COLLATE "C")'


def _part_of_text(emitter: Emitter, call: Call) -> str:
    first, place = write_text(emitter, call.arguments[0]), _place(emitter, call.arguments[1])
    return f"{call.function}({first}, {place})"


def _substring(emitter: Emitter, call: Call) -> str:
    """A start below 0 counts from the end, and a length below 0 goes backwards, as in DuckDB."""
    text, places = write_text(emitter, call.arguments[0]), [_place(emitter, a) for a in call.arguments[1:]]

    def make(t: str, *numbers: str) -> str:
        start = numbers[0]
        first = f"(CASE WHEN {start} < 0 THEN greatest(length({t}) + {start}, 0) + 1 ELSE {start} END)"
        if len(numbers) == 1:
            return f"substr({t}, greatest({first}, 1))"
        low = f"(CASE WHEN {numbers[1]} < 0 THEN {first} + {numbers[1]} ELSE {first} END)"
        high = f"(CASE WHEN {numbers[1]} < 0 THEN {first} ELSE {first} + {numbers[1]} END)"
        return f"substr({t}, greatest({low}, 1), greatest({high} - greatest({low}, 1), 0))"

    return bind_values(make, text, *places)


def _place(emitter: Emitter, expression: Expression) -> str:
    """A whole number as a place in a text: what is beyond all texts is cut."""
    return f"CAST(greatest(least({emitter.real(expression)}, 1000000000), -1000000000) AS integer)"


def _like(emitter: Emitter, call: Call) -> str:
    value, pattern = (write_text(emitter, a) for a in call.arguments)
    if call.function == "ilike":
        value, pattern = (f'(lower({t} {_ANY_LETTERS}) COLLATE "C")' for t in (value, pattern))
    return f"({value} LIKE {pattern} ESCAPE '')"


def _ends_with(emitter: Emitter, call: Call) -> str:
    value, end = (write_text(emitter, a) for a in call.arguments)
    return f"(right({value}, length({end})) = {end})"


def _extreme(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({', '.join(write_ordered(emitter, call))})"


TEMPLATES: dict[str, Template] = {
    **COMMON,
    **DATETIMES,
    **casts.CASTS,
    **regex.PATTERNS,
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("floor", "ceil", "trunc"), write_numeric),
    **dict.fromkeys(("least", "greatest"), _extreme),
    **dict.fromkeys(("lower", "upper"), _letters),
    **dict.fromkeys(("left", "right"), _part_of_text),
    **dict.fromkeys(("like", "ilike"), _like),
    "isnan": _of_one(lambda x: f"({x} = {NOT_A_NUMBER})"),
    "isinf": _of_one(lambda x: f"(abs({x}) = {INFINITE})"),
    "isfinite": _of_one(lambda x: f"(abs({x}) < {INFINITE})"),
    "exp": lambda e, c: exponential(e.real(c.arguments[0])),
    "log10": write_logarithm("log"),
    "log2": _of_one(_binary_logarithm),
    "/": _divide,
    "//": lambda e, c: f"trunc({_divide(e, c)})",
    "%": lambda e, c: remainder(*write_reals(e, c)),
    "power": lambda e, c: power(*write_reals(e, c)),
    "negate": lambda e, c: f"(-{e.real(c.arguments[0])})",
    "sign": _of_one(lambda x: f"(CASE WHEN {x} = {NOT_A_NUMBER} THEN 0 ELSE sign({x}) END)"),
    "round": _round,
    "width_bucket": _bucket,
    "trim": write_texts("btrim"),
    "ltrim": write_texts("ltrim"),
    "rtrim": write_texts("rtrim"),
    "length": write_measure("length"),
    "strpos": write_measure("strpos"),
    "substring": _substring,
    "starts_with": write_texts("starts_with"),
    "ends_with": _ends_with,
    "contains": lambda e, c: f"({write_texts('strpos')(e, c)} > 0)",
}
