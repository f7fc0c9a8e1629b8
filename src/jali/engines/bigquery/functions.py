"""How each function is written in BigQuery's SQL. Each form is total: a value or NULL for every input.

Compile-only: the forms follow the documentation, and no server has computed them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jali.engines.bigquery import numbers
from jali.engines.bigquery.casts import CASTS
from jali.engines.bigquery.conditions import CONDITIONS
from jali.engines.bigquery.literals import INFINITE
from jali.engines.bigquery.moments import MOMENTS, days_apart, moved_date
from jali.engines.bigquery.numbers import bound
from jali.engines.bigquery.texts import TEXTS
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import is_whole
from jali.query.catalog import Kind
from jali.query.nodes import Call, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expressions import Emitter


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is Kind.DATE:
        if emitter.kind(right) is Kind.DATE:
            return days_apart(emitter.write(right), emitter.write(left))
        return moved_date(emitter.write(left), call.function, emitter.real(right))
    one, other = emitter.real(left), emitter.real(right)
    if all(is_whole(emitter, a) for a in call.arguments):
        # Whole numbers of 64 bits: nothing overflows.
        return f"({one} {call.function} {other})"
    return numbers.times(one, other) if call.function == "*" else numbers.plus(one, call.function, other)


def _extreme(emitter: Emitter, call: Call) -> str:
    """LEAST and GREATEST are NULL where one value is, and NaN where one is NaN: the values are sorted instead."""
    dated = emitter.kind(call) in (Kind.DATE, Kind.TIMESTAMP)
    values = emitter.alike(call.arguments) if dated else [emitter.real(a) for a in call.arguments]
    if len(values) == 1:
        return values[0]
    way = "" if call.function == "least" else " DESC"
    order = f"v{way}" if dated else f"IS_NAN(v){way}, v{way}"
    return f"(SELECT v FROM UNNEST([{', '.join(values)}]) AS v WHERE v IS NOT NULL ORDER BY {order} LIMIT 1)"


def _round(emitter: Emitter, call: Call) -> str:
    digits = [int(a.value) for a in call.arguments[1:] if isinstance(a, Literal) and isinstance(a.value, int)]
    return numbers.rounded(emitter.real(call.arguments[0]), digits[0] if digits else 0)


def _called(function: str) -> Template:
    return lambda emitter, call: f"{function}({emitter.real(call.arguments[0])})"


def _made(make: Callable[..., str]) -> Template:
    return lambda emitter, call: make(*(emitter.real(a) for a in call.arguments))


_NUMBERS: dict[str, Template] = {
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("least", "greatest"), _extreme),
    **{name: _called(name.upper()) for name in ("abs", "floor", "ceil", "trunc")},
    "/": _made(numbers.divided),
    "//": lambda e, c: f"TRUNC({_made(numbers.divided)(e, c)})",
    "%": _made(numbers.remainder),
    "negate": lambda e, c: f"(-{e.real(c.arguments[0])})",
    "sign": _made(lambda v: bound(lambda x: f"IF(IS_NAN({x}), 0.0, SIGN({x}))", v)),
    "round": _round,
    "sqrt": _made(numbers.root),
    "exp": _made(numbers.exponential),
    "ln": _made(lambda v: numbers.logarithm("LN", v)),
    "log10": _made(lambda v: numbers.logarithm("LOG10", v)),
    "log2": _made(numbers.binary_logarithm),
    "power": _made(numbers.power),
    "clamp": _made(numbers.clamped),
    "width_bucket": _made(numbers.bucket),
    "isnan": _called("IS_NAN"),
    "isinf": _called("IS_INF"),
    "isfinite": lambda e, c: f"(ABS({e.real(c.arguments[0])}) < {INFINITE})",
}
TEMPLATES: dict[str, Template] = {**CONDITIONS, **_NUMBERS, **TEXTS, **MOMENTS, **CASTS}
