"""How each function is written in Spark's SQL. Each form is total, and gives what DuckDB gives.

Logarithms, exponentials and powers are those of Java's StrictMath: the last digits of a double may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.spark.arithmetic import bind_value, bind_values, ceil, floor, round_half_away, trunc, unless
from jali.engines.spark.casts import CASTS
from jali.engines.spark.datetimes import DATETIMES, days_apart, move_date
from jali.engines.spark.literals import INFINITE
from jali.engines.spark.texts import TEXTS
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter

_BELOW_ZERO = "double('-5e-324')"
_NEVER = "CAST(NULL AS BOOLEAN)"


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is Kind.DATE:
        if emitter.kind(right) is Kind.DATE:
            return days_apart(emitter.write(right), emitter.write(left))
        return move_date(emitter.write(left), call.function, emitter.real(right))
    return f"({emitter.real(left)} {call.function} {emitter.real(right)})"


def _comparison(emitter: Emitter, call: Call) -> str:
    left, right = emitter.write_alike(call.arguments)
    return f"({left} {call.function.upper()} {right})"


def _condition(emitter: Emitter, expression: Expression) -> str:
    """Spark's logic takes no NULL that is no condition."""
    written = emitter.condition(expression)
    return _NEVER if written == "NULL" else written


def _logic(emitter: Emitter, call: Call) -> str:
    left, right = (_condition(emitter, a) for a in call.arguments)
    return f"({left} {call.function.upper()} {right})"


def _in(emitter: Emitter, call: Call) -> str:
    value, *others = emitter.write_alike(call.arguments)
    return f"({value} IN ({', '.join(others)}))"


def _real(emitter: Emitter, call: Call) -> str:
    return emitter.real(call.arguments[0])


def _extreme(emitter: Emitter, call: Call) -> str:
    dated = emitter.kind(call) in (Kind.DATE, Kind.TIMESTAMP)
    values = emitter.write_alike(call.arguments) if dated else [emitter.real(a) for a in call.arguments]
    return values[0] if len(values) == 1 else f"{call.function}({', '.join(values)})"


def _divide(emitter: Emitter, call: Call) -> str:
    return f"({emitter.real(call.arguments[0])} / {unless(emitter.real(call.arguments[1]), '0D')})"


def _remainder(emitter: Emitter, call: Call) -> str:
    return f"({emitter.real(call.arguments[0])} % {unless(emitter.real(call.arguments[1]), '0D')})"


def _round(emitter: Emitter, call: Call) -> str:
    """Round as DuckDB does: the product is rounded, and what is no number then stays as it was."""
    digits = [int(a.value) for a in call.arguments[1:] if isinstance(a, Literal) and isinstance(a.value, int)]
    if not digits or digits[0] == 0:
        return round_half_away(_real(emitter, call))
    power = f"double('1e{abs(digits[0])}')"
    times, back = ("/", "*") if digits[0] < 0 else ("*", "/")

    def write(v: str) -> str:
        made = f"({round_half_away(f'({v} {times} {power})')} {back} {power})"
        return bind_value(made, lambda r: f"CASE WHEN abs({r}) < {INFINITE} THEN {r} ELSE {v} END")

    return bind_values({"v": _real(emitter, call)}, write)


def _logarithm(emitter: Emitter, call: Call) -> str:
    return f"{call.function}({unless(f'greatest({_real(emitter, call)}, 0D)', '0D')})"


def _binary_logarithm(emitter: Emitter, call: Call) -> str:
    """Spark divides logarithms: of a power of 2 that may be off, and is a whole number."""
    written = unless(f"greatest({_real(emitter, call)}, 0D)", "0D")
    return bind_value(
        written, lambda v: f"CASE WHEN power(2D, rint(log2({v}))) = {v} THEN rint(log2({v})) ELSE log2({v}) END"
    )


def _root(emitter: Emitter, call: Call) -> str:
    # No double lies between 0 and this one, so every number below 0 becomes it, and then NULL.
    positive = f"greatest({_real(emitter, call)}, {_BELOW_ZERO})"
    return f"sqrt({unless(positive, _BELOW_ZERO)})"


def _power(emitter: Emitter, call: Call) -> str:
    """In C, 1 to the power of anything is 1, and so is -1 to that of an infinity: Java makes NaN of them."""
    base, power = (emitter.real(a) for a in call.arguments)

    def write(x: str, y: str) -> str:
        ones = f"{x} = 1D OR ({x} = -1D AND abs({y}) = {INFINITE})"
        return f"CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL WHEN {ones} THEN 1D ELSE power({x}, {y}) END"

    return bind_values({"x": base, "y": power}, write)


def _clamp(emitter: Emitter, call: Call) -> str:
    low, high = (emitter.real(a) for a in call.arguments[1:])
    return bind_value(
        _real(emitter, call),
        lambda v: f"CASE WHEN {v} <= {INFINITE} THEN greatest(least({v}, {high}), {low}) END",
    )


def _bucket(emitter: Emitter, call: Call) -> str:
    value, low, high, count = (emitter.real(a) for a in call.arguments)

    def write(v: str) -> str:
        place = floor(f"(({v} - {low}) * {count} / ({high} - {low}))")
        return (
            f"CASE WHEN {v} < {low} THEN 0D WHEN {v} < {high} THEN least({place}, {count} - 1D) + 1D"
            f" WHEN {v} <= {INFINITE} THEN {count} + 1D END"
        )

    return bind_values({"v": value}, write)


def _coalesce(emitter: Emitter, call: Call) -> str:
    return _write_choice(emitter, call, f"coalesce({', '.join(emitter.write_alike(call.arguments))})")


def _nullif(emitter: Emitter, call: Call) -> str:
    return _write_choice(emitter, call, unless(*emitter.write_alike(call.arguments)))


def _case(emitter: Emitter, call: Call) -> str:
    conditions = [_condition(emitter, a) for a in call.arguments[:-1:2]]
    *values, otherwise = emitter.write_alike((*call.arguments[1::2], call.arguments[-1]))
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
    return _write_choice(emitter, call, f"CASE {branches} ELSE {otherwise} END")


def _write_choice(emitter: Emitter, call: Call, written: str) -> str:
    # A chosen number is declared a double like any other computed number, whatever it was chosen from.
    return f"CAST({written} AS DOUBLE)" if emitter.is_double(call) else written


def _sign(emitter: Emitter, call: Call) -> str:
    """The sign of NaN is 0, and so is that of both zeros."""
    return bind_value(
        _real(emitter, call),
        lambda v: (
            f"CASE WHEN {v} IS NULL THEN NULL WHEN {v} > 0D AND {v} <= {INFINITE} THEN 1D"
            f" WHEN {v} < 0D THEN -1D ELSE 0D END"
        ),
    )


_NUMBERS: dict[str, Template] = {
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("least", "greatest"), _extreme),
    **dict.fromkeys(("ln", "log10"), _logarithm),
    "log2": _binary_logarithm,
    "abs": lambda e, c: f"abs({_real(e, c)})",
    "floor": lambda e, c: floor(_real(e, c)),
    "ceil": lambda e, c: ceil(_real(e, c)),
    "trunc": lambda e, c: trunc(_real(e, c)),
    "exp": lambda e, c: f"exp({_real(e, c)})",
    # Spark's own ISNAN says that NULL is a number.
    "isnan": lambda e, c: f"({_real(e, c)} = double('NaN'))",
    "isinf": lambda e, c: f"(abs({_real(e, c)}) = {INFINITE})",
    "isfinite": lambda e, c: f"(abs({_real(e, c)}) < {INFINITE})",
    "/": _divide,
    "//": lambda e, c: trunc(_divide(e, c)),
    "%": _remainder,
    "negate": lambda e, c: f"(- {_real(e, c)})",
    "sign": _sign,
    "round": _round,
    "sqrt": _root,
    "power": _power,
    "clamp": _clamp,
    "width_bucket": _bucket,
}
_CONDITIONS: dict[str, Template] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"), _comparison),
    **dict.fromkeys(("and", "or"), _logic),
    "not": lambda e, c: f"(NOT {_condition(e, c.arguments[0])})",
    "is null": lambda e, c: f"({e.write(c.arguments[0])} IS NULL)",
    "in": _in,
    "coalesce": _coalesce,
    "nullif": _nullif,
    "case": _case,
}
TEMPLATES: dict[str, Template] = {**_NUMBERS, **_CONDITIONS, **TEXTS, **DATETIMES, **CASTS}
