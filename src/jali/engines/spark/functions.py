"""How each function is written in Spark's SQL. Each form is total, and gives what DuckDB gives.

Logarithms, exponentials and powers are those of Java's StrictMath: the last digits of a double may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.spark.arithmetic import bind_value, bind_values, ceil, floor, round_half_away, trunc
from jali.engines.spark.casts import CASTS
from jali.engines.spark.datetimes import DATETIMES, days_apart, move_date
from jali.engines.spark.literals import INFINITE
from jali.engines.spark.texts import TEXTS
from jali.engines.sql.dialect import Template
from jali.engines.sql.functions import COMMON, divide_by, write_ordered, write_positive, write_reals
from jali.ir.expressions import Call, Literal

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter


def _operator(emitter: Emitter, call: Call) -> str:
    left, right = call.arguments
    if emitter.kind(left) is Kind.DATE:
        if emitter.kind(right) is Kind.DATE:
            return days_apart(emitter.write(right), emitter.write(left))
        return move_date(emitter.write(left), call.function, emitter.real(right))
    return f"({emitter.real(left)} {call.function} {emitter.real(right)})"


def _real(emitter: Emitter, call: Call) -> str:
    return emitter.real(call.arguments[0])


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


def _binary_logarithm(emitter: Emitter, call: Call) -> str:
    """Spark divides logarithms: of a power of 2 that may be off, and is a whole number."""
    return bind_value(
        write_positive(emitter, call),
        lambda v: f"CASE WHEN power(2D, rint(log2({v}))) = {v} THEN rint(log2({v})) ELSE log2({v}) END",
    )


def _power(emitter: Emitter, call: Call) -> str:
    """In C, 1 to the power of anything is 1, and so is -1 to that of an infinity: Java makes NaN of them."""
    base, power = write_reals(emitter, call)

    def write(x: str, y: str) -> str:
        ones = f"{x} = 1D OR ({x} = -1D AND abs({y}) = {INFINITE})"
        return f"CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL WHEN {ones} THEN 1D ELSE power({x}, {y}) END"

    return bind_values({"x": base, "y": power}, write)


def _bucket(emitter: Emitter, call: Call) -> str:
    value, low, high, count = write_reals(emitter, call)

    def write(v: str) -> str:
        place = floor(f"(({v} - {low}) * {count} / ({high} - {low}))")
        return (
            f"CASE WHEN {v} < {low} THEN 0D WHEN {v} < {high} THEN least({place}, {count} - 1D) + 1D"
            f" WHEN {v} <= {INFINITE} THEN {count} + 1D END"
        )

    return bind_values({"v": value}, write)


def _sign(emitter: Emitter, call: Call) -> str:
    """The sign of NaN is 0, and so is that of both zeros."""
    return bind_value(
        _real(emitter, call),
        lambda v: (
            f"CASE WHEN {v} IS NULL THEN NULL WHEN {v} > 0D AND {v} <= {INFINITE} THEN 1D"
            f" WHEN {v} < 0D THEN -1D ELSE 0D END"
        ),
    )


def _extreme(emitter: Emitter, call: Call) -> str:
    values = write_ordered(emitter, call)
    return values[0] if len(values) == 1 else f"{call.function}({', '.join(values)})"


TEMPLATES: dict[str, Template] = {
    **COMMON,
    **dict.fromkeys(("+", "-", "*"), _operator),
    **dict.fromkeys(("least", "greatest"), _extreme),
    "log2": _binary_logarithm,
    "floor": lambda e, c: floor(_real(e, c)),
    "ceil": lambda e, c: ceil(_real(e, c)),
    "trunc": lambda e, c: trunc(_real(e, c)),
    # Spark's own ISNAN says that NULL is a number.
    "isnan": lambda e, c: f"({_real(e, c)} = double('NaN'))",
    "isinf": lambda e, c: f"(abs({_real(e, c)}) = {INFINITE})",
    "isfinite": lambda e, c: f"(abs({_real(e, c)}) < {INFINITE})",
    "//": lambda e, c: trunc(divide_by("/")(e, c)),
    "negate": lambda e, c: f"(- {_real(e, c)})",
    "sign": _sign,
    "round": _round,
    "power": _power,
    "width_bucket": _bucket,
    **TEXTS,
    **DATETIMES,
    **CASTS,
}
