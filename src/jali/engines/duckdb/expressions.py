"""Expressions in DuckDB's SQL. Everything emitted here is total: a value or NULL for every row, never an error."""

from __future__ import annotations

from fractions import Fraction

from jali.engines.duckdb.functions import TEMPLATES
from jali.engines.duckdb.literals import INT64, constant, double, quoted, text
from jali.engines.duckdb.types import type_name
from jali.query.catalog import Kind
from jali.query.functions import Type
from jali.query.nodes import Call, Column, Expression, Literal
from jali.query.relation import Fields
from jali.query.types import call_type, find_field, type_of

__all__ = ["WRITTEN", "Emitter", "constant", "double", "quoted", "text"]

WRITTEN = frozenset(TEMPLATES)


class Emitter:
    """Writes the expressions over rows with certain columns."""

    def __init__(self, table: Fields) -> None:
        self.table = table
        self._types: dict[int, tuple[Expression, Type]] = {}

    def write(self, expression: Expression) -> str:
        """Write an expression with its own kind."""
        if isinstance(expression, Column):
            return self._column(expression)
        if isinstance(expression, Literal):
            return constant(expression.value)
        if not isinstance(expression, Call):
            raise TypeError("aggregates and subqueries are not computed row by row")
        return TEMPLATES[expression.function](self, expression)

    def real(self, expression: Expression) -> str:
        """Write a number as a double: integer arithmetic would overflow, and raise."""
        if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
            return double(Fraction(expression.value))
        written = self.write(expression)
        return written if self.is_double(expression) else f"CAST({written} AS DOUBLE)"

    def is_double(self, expression: Expression) -> bool:
        """Say whether the emitted expression is a double, so that it may hold NaN and infinities."""
        if isinstance(expression, Column):
            field = find_field(expression, self.table)
            return field.kind is Kind.REAL or (field.computed and field.kind.numeric)
        return isinstance(expression, Call) and self._type(expression).numeric

    def kind(self, expression: Expression) -> Kind | None:
        """Return the kind of an expression, None where it is always NULL."""
        return self._type(expression).kind

    def typed(self, expression: Expression, kind: Kind) -> str:
        """Write an expression; one that is always NULL as the NULL of a kind, which every function takes."""
        return f"CAST(NULL AS {type_name(kind)})" if self.kind(expression) is None else self.write(expression)

    def condition(self, expression: Expression) -> str:
        """Write a condition, or any value of its own kind, with a bare NULL for what is always NULL."""
        return "NULL" if self.kind(expression) is None else self.write(expression)

    def alike(self, arguments: tuple[Expression, ...]) -> list[str]:
        """Write values that are compared or chosen from: as doubles unless all are plain 64-bit integers."""
        kinds = {self.kind(a) for a in arguments}
        if kinds >= {Kind.DATE, Kind.TIMESTAMP}:
            # DuckDB would cast dates to timestamps too, but fail on those beyond the last timestamp.
            return [f"TRY_CAST({self.condition(a)} AS TIMESTAMP)" for a in arguments]
        if not kinds <= {Kind.INTEGER, Kind.REAL, None} or all(self._is_whole(a) for a in arguments):
            return [self.condition(a) for a in arguments]
        return ["NULL" if self.kind(a) is None else self.real(a) for a in arguments]

    def _type(self, expression: Expression) -> Type:
        """Return the type of an expression, found once: every node asks for the types of those below it."""
        known = self._types.get(id(expression))
        if known is None:
            if isinstance(expression, Call):
                found = call_type(expression, [self._type(argument) for argument in expression.arguments])
            else:
                found = type_of(expression, self.table)
            # Equal expressions may differ in kind (1 and TRUE): they are told apart by their ids, which last
            # as long as they are kept.
            known = self._types[id(expression)] = expression, found
        return known[1]

    def _is_whole(self, expression: Expression) -> bool:
        if isinstance(expression, Literal):
            value = expression.value
            return value is None or (isinstance(value, int) and -INT64 <= value < INT64)
        return not self.is_double(expression)

    def _column(self, column: Column) -> str:
        field = find_field(column, self.table)
        # A cast to the type that is there costs nothing; after a rewrite with other types it gives NULL, no error.
        return f"TRY_CAST({quoted(field.name)} AS {field.type})"
