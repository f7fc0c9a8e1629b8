"""The functions that several dialects write alike. Each form is total: a value or NULL for every input.

LEAST and GREATEST leave NULLs out: GREATEST(NULL, 0) is 0, which NULLIF then makes NULL again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.catalog.columns import Kind
from jali.engines.sql.dialect import Template
from jali.ir.expressions import Call, Expression, Literal
from jali.ir.functions.text_functions import LIMITED, LONGEST_PART, LONGEST_TAKEN, part_length

if TYPE_CHECKING:
    from jali.engines.sql.expression_emitter import Emitter


def write_comparison(emitter: Emitter, call: Call) -> str:
    """Compare two values of one kind."""
    left, right = emitter.write_alike(call.arguments)
    return f"({left} {call.function.upper()} {right})"


def write_logic(emitter: Emitter, call: Call) -> str:
    """Join two conditions."""
    left, right = (emitter.test(a) for a in call.arguments)
    return f"({left} {call.function.upper()} {right})"


def write_in(emitter: Emitter, call: Call) -> str:
    """Look for a value among others."""
    value, *others = emitter.write_alike(call.arguments)
    return f"({value} IN ({', '.join(others)}))"


def write_coalesce(emitter: Emitter, call: Call) -> str:
    """Take the first value that is not NULL."""
    return write_choice(emitter, call, f"coalesce({', '.join(emitter.write_alike(call.arguments))})")


def write_nullif(emitter: Emitter, call: Call) -> str:
    """Take a value unless it equals another."""
    return write_choice(emitter, call, emitter.dialect.unless(*emitter.write_alike(call.arguments)))


def write_case(emitter: Emitter, call: Call) -> str:
    """Take the value of the first condition that holds."""
    conditions = [emitter.test(a) for a in call.arguments[:-1:2]]
    *values, otherwise = emitter.write_alike((*call.arguments[1::2], call.arguments[-1]))
    return write_choice(emitter, call, write_branches(conditions, values, otherwise))


def write_branches(conditions: list[str], values: list[str], otherwise: str) -> str:
    """Write a CASE of conditions and values."""
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
    return f"CASE {branches} ELSE {otherwise} END"


def write_choice(emitter: Emitter, call: Call, written: str) -> str:
    """Write a chosen number as a double, like any other computed number, whatever it was chosen from."""
    return emitter.dialect.real(written) if emitter.is_double(call) else emitter.dialect.enclose(written)


def write_reals(emitter: Emitter, call: Call) -> list[str]:
    """Write all arguments as doubles."""
    return [emitter.real(argument) for argument in call.arguments]


def write_numeric(emitter: Emitter, call: Call) -> str:
    """Call a function of doubles that has the same name in SQL."""
    return f"{call.function}({', '.join(write_reals(emitter, call))})"


def write_ordered(emitter: Emitter, call: Call) -> list[str]:
    """Write the arguments of LEAST and GREATEST: dates as they are, numbers as doubles."""
    dated = emitter.kind(call) in (Kind.DATE, Kind.TIMESTAMP)
    return emitter.write_alike(call.arguments) if dated else write_reals(emitter, call)


def divide_by(operator: str) -> Template:
    """Divide; by 0 there is nothing."""

    def template(emitter: Emitter, call: Call) -> str:
        one, other = write_reals(emitter, call)
        return f"({one} {operator} {emitter.dialect.unless(other, emitter.dialect.zero)})"

    return template


def write_logarithm(name: str) -> Template:
    """Take a logarithm; of what is not above 0 there is none."""
    return lambda emitter, call: f"{name}({write_positive(emitter, call)})"


def write_positive(emitter: Emitter, call: Call) -> str:
    """Write a number, or NULL where it is not above 0."""
    dialect, (value,) = emitter.dialect, write_reals(emitter, call)
    return dialect.unless(f"greatest({value}, {dialect.zero})", dialect.zero)


def write_root(emitter: Emitter, call: Call) -> str:
    """Take the square root; of what is below 0 there is none."""
    # No double lies between 0 and this one, so every number below 0 becomes it, and then NULL.
    below, (value,) = emitter.dialect.below_zero, write_reals(emitter, call)
    return f"sqrt({emitter.dialect.unless(f'greatest({value}, {below})', below)})"


def write_clamp(emitter: Emitter, call: Call) -> str:
    """Cut a number at two constants; NaN is no number."""
    dialect, (value, low, high) = emitter.dialect, write_reals(emitter, call)
    return dialect.once(
        value,
        lambda v: dialect.enclose(
            f"CASE WHEN {v} <= {dialect.infinite} THEN greatest(least({v}, {high}), {low}) END"
        ),
    )


def write_text(emitter: Emitter, expression: Expression) -> str:
    """Write an argument that is a text."""
    return emitter.write_as(expression, Kind.TEXT)


def write_texts(name: str) -> Template:
    """Call a function of texts."""
    return lambda emitter, call: f"{name}({', '.join(write_text(emitter, a) for a in call.arguments)})"


def write_measure(name: str) -> Template:
    """Call a function of texts that gives a whole number."""
    return lambda emitter, call: emitter.dialect.real(write_texts(name)(emitter, call))


def write_replace(emitter: Emitter, call: Call) -> str:
    """Replace a text in another one, of which as much is taken as leaves the result short enough."""
    value, *others = call.arguments
    old, new = (len(a.value) if isinstance(a, Literal) and isinstance(a.value, str) else 0 for a in others)
    kept = LONGEST_PART // max(1, -(-new // max(1, old)))
    words = ", ".join(write_text(emitter, a) for a in others)
    return f"replace(left({write_text(emitter, value)}, {kept}), {words})"


def write_parts(emitter: Emitter, call: Call) -> list[str]:
    """Write what is joined to one text: constants, and the first characters of all else."""
    dialect, longest = emitter.dialect, part_length(call)
    return [
        dialect.constant(argument.value)
        if isinstance(argument, Literal) and isinstance(argument.value, str)
        else f"left({dialect.templates['text'](emitter, Call('text', (argument,)))}, {longest})"
        for argument in call.arguments
    ]


def write_joined(emitter: Emitter, call: Call) -> str:
    """Join texts; NULL if one is."""
    return f"({' || '.join(write_parts(emitter, call))})"


def write_concat(emitter: Emitter, call: Call) -> str:
    """Join texts and leave NULLs out."""
    return f"concat({', '.join(write_parts(emitter, call))})"


def limit_length(emitter: Emitter, call: Call) -> str:
    """Leave out a text that is too long to make another of."""
    dialect, written = emitter.dialect, write_text(emitter, call.arguments[0])
    return dialect.once(
        written, lambda v: dialect.enclose(f"CASE WHEN {dialect.octets}({v}) <= {LONGEST_TAKEN} THEN {v} END")
    )


COMMON: dict[str, Template] = {
    **dict.fromkeys(
        ("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"), write_comparison
    ),
    **dict.fromkeys(("and", "or"), write_logic),
    "not": lambda e, c: f"(NOT {e.test(c.arguments[0])})",
    "is null": lambda e, c: f"({e.write(c.arguments[0])} IS NULL)",
    "in": write_in,
    "coalesce": write_coalesce,
    "nullif": write_nullif,
    "case": write_case,
    "abs": write_numeric,
    "exp": write_numeric,
    "/": divide_by("/"),
    "%": divide_by("%"),
    "ln": write_logarithm("ln"),
    "log10": write_logarithm("log10"),
    "sqrt": write_root,
    "clamp": write_clamp,
    "replace": write_replace,
    "||": write_joined,
    "concat": write_concat,
    LIMITED: limit_length,
}
