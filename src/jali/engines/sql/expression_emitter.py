"""Write expressions in the SQL of a dialect.

Every expression is total: it gives a value or NULL for every row, never an error.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from jali.catalog.columns import Kind
from jali.engines.sql.dialect import INT64, Dialect
from jali.errors import Unsupported
from jali.ir.expressions import Call, Column, Expression, Literal
from jali.ir.functions import Type
from jali.ir.functions.text_functions import JOINS_TEXTS, LIMITED, MAKES_TEXT
from jali.ir.relations import Fields
from jali.ir.types import find_field, infer_call_type, infer_type

_DATED = (Kind.DATE, Kind.TIMESTAMP)
# These give one of their arguments, which are in the calendar.
_CHOSEN = frozenset({"case", "coalesce", "nullif", "least", "greatest"})


class Emitter:
    """Writes the expressions over rows with certain columns, all of which come from a normalising scan."""

    def __init__(self, table: Fields, dialect: Dialect) -> None:
        self.table = table
        self.dialect = dialect
        self._types: dict[int, tuple[Expression, Type]] = {}

    def write(self, expression: Expression) -> str:
        """Write an expression with its own kind."""
        if isinstance(expression, Column):
            return self._column(expression)
        if isinstance(expression, Literal):
            return self.dialect.constant(expression.value)
        if not isinstance(expression, Call):
            raise TypeError("aggregates and subqueries are not computed row by row")
        template = self.dialect.templates.get(expression.function)
        if template is None:
            raise Unsupported(
                "function-unknown-on-engine", function=expression.function.upper(), engine=self.dialect.name
            )
        if expression.function in MAKES_TEXT:
            expression = replace(expression, arguments=tuple(map(self._limit_text, expression.arguments)))
        made = template(self, expression)
        if expression.function in _CHOSEN or self.kind(expression) not in _DATED:
            return made
        return self.dialect.in_calendar(made, self.kind(expression) or Kind.DATE)

    def _limit_text(self, argument: Expression) -> Expression:
        """Leave out texts that are too long to make another of; what was made of others is short."""
        short = isinstance(argument, Literal) or (
            isinstance(argument, Call) and argument.function in MAKES_TEXT | JOINS_TEXTS
        )
        return argument if short or self.kind(argument) is not Kind.TEXT else Call(LIMITED, (argument,))

    def real(self, expression: Expression) -> str:
        """Write a number as a double: integer arithmetic would overflow, and raise."""
        if isinstance(expression, Literal) and isinstance(expression.value, int | Fraction):
            return self.dialect.double(Fraction(expression.value))
        written = self.write(expression)
        return written if self.is_double(expression) else self.dialect.real(written)

    def is_double(self, expression: Expression) -> bool:
        """Say whether the emitted expression is a double, so that it may hold NaN and infinities."""
        if isinstance(expression, Column):
            field = find_field(expression, self.table)
            return field.kind is Kind.REAL or (field.computed and field.kind.numeric)
        return isinstance(expression, Call) and self._type(expression).numeric

    def kind(self, expression: Expression) -> Kind | None:
        """Return the kind of an expression, None where it is always NULL."""
        return self._type(expression).kind

    def write_as(self, expression: Expression, kind: Kind) -> str:
        """Write an expression; one that is always NULL as the NULL of a kind, which every function takes."""
        return self.dialect.cast_constant(None, kind) if self.kind(expression) is None else self.write(expression)

    def write_key(self, expression: Expression, kind: Kind) -> str:
        """Write a key in the type of its kind, NULL where it has no such value."""
        return self.dialect.cast_key(self.write(expression), kind, double=self.is_double(expression))

    def condition(self, expression: Expression) -> str:
        """Write a condition, or any value of its own kind, with a bare NULL for what is always NULL."""
        return "NULL" if self.kind(expression) is None else self.write(expression)

    def test(self, expression: Expression) -> str:
        """Write a condition where logic is applied to it: what is always NULL is a condition there."""
        return self.dialect.no_truth if self.kind(expression) is None else self.write(expression)

    def write_alike(self, arguments: tuple[Expression, ...]) -> list[str]:
        """Write values that are compared or chosen from: as doubles unless all are plain 64-bit integers."""
        kinds = {self.kind(a) for a in arguments}
        if kinds >= {Kind.DATE, Kind.TIMESTAMP}:
            # Engines would cast dates to timestamps too, but fail on those beyond the last timestamp.
            return [self.dialect.timestamp(self.condition(a)) for a in arguments]
        if not kinds <= {Kind.INTEGER, Kind.REAL, None} or all(self._is_whole(a) for a in arguments):
            return [self.condition(a) for a in arguments]
        return ["NULL" if self.kind(a) is None else self.real(a) for a in arguments]

    def _type(self, expression: Expression) -> Type:
        """Return the type of an expression, found once: every node asks for the types of those below it."""
        known = self._types.get(id(expression))
        if known is None:
            if isinstance(expression, Call) and expression.function == LIMITED:
                found = self._type(expression.arguments[0])
            elif isinstance(expression, Call):
                found = infer_call_type(expression, [self._type(argument) for argument in expression.arguments])
            else:
                found = infer_type(expression, self.table)
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
        return self.dialect.quote(find_field(column, self.table).name)
