"""How each function is written in Snowflake's SQL. Each form is total: a value or NULL for every input.

Compile-only: the forms follow the documentation, and no server has computed them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jali.engines.snowflake import numbers
from jali.engines.snowflake.casts import CASTS
from jali.engines.snowflake.literals import INFINITE, NOT_A_NUMBER
from jali.engines.snowflake.moments import MOMENTS, days_apart, moved_date
from jali.engines.snowflake.texts import TEXTS
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import COMMON
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
    return f"({emitter.real(left)} {call.function} {emitter.real(right)})"


def _extreme(emitter: Emitter, call: Call) -> str:
    """LEAST and GREATEST are NULL where one value is: others leave NULLs out."""
    dated = emitter.kind(call) in (Kind.DATE, Kind.TIMESTAMP)
    values = emitter.alike(call.arguments) if dated else [emitter.real(a) for a in call.arguments]
    return values[0] if len(values) == 1 else f"{call.function.upper()}_IGNORE_NULLS({', '.join(values)})"


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
    "sign": lambda e, c: e.dialect.real(numbers.sign(e.real(c.arguments[0]))),
    "round": _round,
    "sqrt": _made(numbers.root),
    "exp": _made(numbers.exponential),
    "ln": _made(lambda v: f"LN({numbers.positive(v)})"),
    "log10": _made(lambda v: f"LOG(10, {numbers.positive(v)})"),
    "log2": _made(numbers.binary_logarithm),
    "power": _made(numbers.power),
    "clamp": _made(numbers.clamped),
    "width_bucket": _made(numbers.bucket),
    "isnan": _made(lambda v: f"({v} = {NOT_A_NUMBER})"),
    "isinf": _made(lambda v: f"(ABS({v}) = {INFINITE})"),
    "isfinite": _made(lambda v: f"(ABS({v}) < {INFINITE})"),
}
TEMPLATES: dict[str, Template] = {**COMMON, **_NUMBERS, **TEXTS, **MOMENTS, **CASTS}
