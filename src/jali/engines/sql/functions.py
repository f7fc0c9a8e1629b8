"""Templates of functions that all dialects write alike."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jali.query.catalog import Kind, Table
from jali.query.functions.texts import LONGEST_PART
from jali.query.nodes import Call, Column, Expression, Literal, Value

if TYPE_CHECKING:
    from jali.engines.sql.dialect import Dialect, Template
    from jali.engines.sql.expressions import Emitter


def comparison(emitter: Emitter, call: Call) -> str:
    """Compare two values of one kind."""
    left, right = emitter.alike(call.arguments)
    return f"({left} {call.function.upper()} {right})"


def logic(emitter: Emitter, call: Call) -> str:
    """Join two conditions."""
    left, right = (emitter.condition(a) for a in call.arguments)
    return f"({left} {call.function.upper()} {right})"


def among(emitter: Emitter, call: Call) -> str:
    """Look for a value among others."""
    value, *others = emitter.alike(call.arguments)
    return f"({value} IN ({', '.join(others)}))"


def negation(emitter: Emitter, call: Call) -> str:
    """Turn a condition round."""
    return f"(NOT {emitter.condition(call.arguments[0])})"


def missing(emitter: Emitter, call: Call) -> str:
    """Ask whether there is no value."""
    return f"({emitter.write(call.arguments[0])} IS NULL)"


def coalesce(emitter: Emitter, call: Call) -> str:
    """Take the first value that is there."""
    return chosen(emitter, call, f"coalesce({', '.join(emitter.alike(call.arguments))})")


def nullif(emitter: Emitter, call: Call) -> str:
    """Take a value unless it equals another."""
    return chosen(emitter, call, f"nullif({', '.join(emitter.alike(call.arguments))})")


def case(emitter: Emitter, call: Call) -> str:
    """Take the value of the first condition that holds."""
    conditions = [emitter.condition(a) for a in call.arguments[:-1:2]]
    *values, otherwise = emitter.alike((*call.arguments[1::2], call.arguments[-1]))
    branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
    return chosen(emitter, call, f"CASE {branches} ELSE {otherwise} END")


def chosen(emitter: Emitter, call: Call, written: str) -> str:
    """Write a chosen number as a double, like any other computed number, whatever it was chosen from."""
    return emitter.dialect.real(written) if emitter.is_double(call) else f"({written})"


COMMON: dict[str, Template] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"), comparison),
    **dict.fromkeys(("and", "or"), logic),
    "not": negation,
    "is null": missing,
    "in": among,
    "coalesce": coalesce,
    "nullif": nullif,
    "case": case,
}

# What DuckDB trims where no characters are given: all that Unicode calls space separators (Zs).
SPACES = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_STANDS_FOR = {
    Kind.INTEGER: "0",
    Kind.REAL: "0",
    Kind.TEXT: "''",
    Kind.BOOLEAN: "FALSE",
    Kind.DATE: "DATE '1970-01-01'",
    Kind.OTHER: "''",
}


def written_text(emitter: Emitter, expression: Expression) -> str:
    """Write a text; what is always NULL as the NULL of texts."""
    return emitter.typed(expression, Kind.TEXT)


def constant_text(expression: Expression) -> str:
    """Return a text that the reader of questions has found to be a constant."""
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, str)
    return expression.value


def constant_number(expression: Expression) -> int:
    """Return a whole number that the reader of questions has found to be a constant."""
    assert isinstance(expression, Literal)
    assert isinstance(expression.value, int)
    return expression.value


def is_whole(emitter: Emitter, expression: Expression) -> bool:
    """Say whether a number is stored as a whole one of 64 bits, or is a constant of that size."""
    if isinstance(expression, Literal):
        return isinstance(expression.value, int) and abs(expression.value) < 1 << 63
    return isinstance(expression, Column) and not emitter.is_double(expression)


def replaceable(call: Call) -> int:
    """Return how much of a text REPLACE may take, so that the result is no longer than the longest part."""
    old, new = (
        len(a.value) if isinstance(a, Literal) and isinstance(a.value, str) else 0 for a in call.arguments[1:]
    )
    return LONGEST_PART // max(1, -(-new // max(1, old)))


def same_key(dialect: Dialect, one: str, other: str, kind: Kind, *, missing: bool) -> str:
    """Write that two keys are the same by equalities alone: a second one tells NULL from what it stands for."""
    if not missing:
        return f"{one} = {other}"
    stands = _STANDS_FOR.get(kind) or dialect.typed(datetime.datetime(1970, 1, 1), kind)  # noqa: DTZ001
    return f"coalesce({one}, {stands}) = coalesce({other}, {stands}) AND ({one} IS NULL) = ({other} IS NULL)"


def place_among(dialect: Dialect, written: str, values: Sequence[Value], kind: Kind) -> str:
    """Write the place of a value among others, which is written once; NULL where it is none of them."""
    branches = [
        f"WHEN {dialect.typed(value, kind)} THEN {place}"
        for place, value in enumerate(values)
        if value is not None
    ]
    return f"CASE {written} {' '.join(branches)} END" if branches else "NULL"


def row_owner(dialect: Dialect, table: Table, ordered: Callable[[str], list[str]]) -> str:
    """Write an owner for each row that any two readings of it share: a digest, and a number among equal ones.

    Rows with one digest are numbered in the order of their values, so that rows that differ keep their numbers;
    which of two equal rows has which number does not matter.

    Args:
        dialect: The words of the engine.
        table: Whose rows are people.
        ordered: What tells doubles of one text apart, in an order.
    """
    columns = [dialect.quoted(field.name) for field in table.columns]
    spelled = " || '|' || ".join(f"coalesce({dialect.spelled(c)}, '-')" for c in columns) or "''"
    orders = [
        f
        for c, field in zip(columns, table.columns, strict=True)
        for f in (ordered(c) if field.kind is Kind.REAL else [c])
    ]
    digest = dialect.digest(spelled)
    number = f"row_number() OVER (PARTITION BY {digest} ORDER BY {', '.join(orders) or digest})"
    return f"{digest} || '|' || {dialect.spelled(number)}"
