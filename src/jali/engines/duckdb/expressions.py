"""Expressions in DuckDB's SQL. Everything emitted here is total: a value or NULL for every row, never an error."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction

from jali.engines.duckdb.types import type_name
from jali.query.catalog import Kind, Table
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Value
from jali.query.types import find_field, type_of

_INT64 = 1 << 63
_OPERATORS = frozenset({"+", "-", "*"})
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})


def quoted(name: str) -> str:
    """Write an identifier."""
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """Write a text constant."""
    return "'" + value.replace("'", "''") + "'"


def double(value: Fraction) -> str:
    """Write a number as the double nearest to it."""
    return f"'{float(value)!r}'::DOUBLE"


def constant(value: Value) -> str:
    """Write a constant of any kind."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int):
        return str(value) if -_INT64 <= value < _INT64 else double(Fraction(value))
    if isinstance(value, Fraction):
        return double(value)
    if isinstance(value, str):
        return text(value)
    kind = "TIMESTAMP" if isinstance(value, datetime.datetime) else "DATE"
    return f"{kind} {text(str(value))}"


class Emitter:
    """Writes the expressions of one table's questions."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def write(self, expression: Expression) -> str:
        """Write an expression with its own kind."""
        if isinstance(expression, Column):
            return self._column(expression)
        if isinstance(expression, Literal):
            return constant(expression.value)
        if isinstance(expression, Aggregate):
            raise TypeError("aggregates are not computed row by row")
        return self._call(expression)

    def real(self, expression: Expression) -> str:
        """Write a number as a double: integer arithmetic would overflow, and raise."""
        if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
            return double(Fraction(expression.value))
        written = self.write(expression)
        return written if self.is_double(expression) else f"CAST({written} AS DOUBLE)"

    def is_double(self, expression: Expression) -> bool:
        """Say whether the emitted expression is a double, so that it may hold NaN and infinities."""
        if isinstance(expression, Column):
            return find_field(expression, self.table).kind is Kind.REAL
        return isinstance(expression, Call) and type_of(expression, self.table).numeric

    def _column(self, column: Column) -> str:
        field = find_field(column, self.table)
        # A cast to the type that is there costs nothing; after a rewrite with other types it gives NULL, no error.
        return f"TRY_CAST({quoted(field.name)} AS {field.type})"

    def _call(self, call: Call) -> str:
        name, arguments = call.function, call.arguments
        if name in _OPERATORS:
            return f"({self.real(arguments[0])} {name} {self.real(arguments[1])})"
        if name in _COMPARISONS:
            left, right = self._alike(arguments)
            return f"({left} {name} {right})"
        return _TEMPLATES[name](self, call)

    def _alike(self, arguments: tuple[Expression, ...]) -> list[str]:
        """Write values that are compared or chosen from: as doubles unless all are plain 64-bit integers."""
        if not all(type_of(a, self.table).numeric for a in arguments) or all(self._is_whole(a) for a in arguments):
            return [self.write(a) for a in arguments]
        return ["NULL" if a == Literal(None) else self.real(a) for a in arguments]

    def _is_whole(self, expression: Expression) -> bool:
        if isinstance(expression, Literal):
            value = expression.value
            return value is None or (isinstance(value, int) and -_INT64 <= value < _INT64)
        return not self.is_double(expression)

    def _numeric(self, call: Call) -> str:
        return f"{call.function}({', '.join(self.real(a) for a in call.arguments)})"

    def _round(self, call: Call) -> str:
        digits = [constant(a.value) for a in call.arguments[1:] if isinstance(a, Literal)]
        return f"round({', '.join([self.real(call.arguments[0]), *digits])})"

    def _in(self, call: Call) -> str:
        value, *others = self._alike(call.arguments)
        return f"({value} IN ({', '.join(others)}))"

    def _coalesce(self, call: Call) -> str:
        return self._as_double(call, f"coalesce({', '.join(self._alike(call.arguments))})")

    def _case(self, call: Call) -> str:
        conditions = [self.write(a) for a in call.arguments[:-1:2]]
        *values, otherwise = self._alike((*call.arguments[1::2], call.arguments[-1]))
        branches = " ".join(f"WHEN {c} THEN {v}" for c, v in zip(conditions, values, strict=True))
        return self._as_double(call, f"CASE {branches} ELSE {otherwise} END")

    def _as_double(self, call: Call, written: str) -> str:
        # A chosen number is declared a double like any other computed number, whatever it was chosen from.
        return f"CAST({written} AS DOUBLE)" if self.is_double(call) else written

    def _logic(self, call: Call) -> str:
        return f"({self.write(call.arguments[0])} {call.function.upper()} {self.write(call.arguments[1])})"

    def _plain(self, call: Call) -> str:
        return f"{call.function}({self.write(call.arguments[0])})"


_TEMPLATES: dict[str, Callable[[Emitter, Call], str]] = {
    "/": lambda e, c: f"({e.real(c.arguments[0])} / nullif({e.real(c.arguments[1])}, 0))",
    "negate": lambda e, c: f"(-{e.real(c.arguments[0])})",
    "abs": Emitter._numeric,
    "floor": Emitter._numeric,
    "ceil": Emitter._numeric,
    "least": Emitter._numeric,
    "greatest": Emitter._numeric,
    "round": Emitter._round,
    "and": Emitter._logic,
    "or": Emitter._logic,
    "not": lambda e, c: f"(NOT {e.write(c.arguments[0])})",
    "is null": lambda e, c: f"({e.write(c.arguments[0])} IS NULL)",
    "in": Emitter._in,
    "like": lambda e, c: f"({e.write(c.arguments[0])} LIKE {e.write(c.arguments[1])})",
    "lower": Emitter._plain,
    "upper": Emitter._plain,
    "coalesce": Emitter._coalesce,
    "case": Emitter._case,
    # DuckDB casts to integers by rounding halves to even; 64-bit casts would fail where a double does not.
    "whole": lambda e, c: f"round_even(TRY_CAST({e.write(c.arguments[0])} AS DOUBLE), 0)",
    "number": lambda e, c: f"TRY_CAST({e.write(c.arguments[0])} AS {type_name(Kind.REAL)})",
}

WRITTEN = frozenset(_TEMPLATES) | _OPERATORS | _COMPARISONS
