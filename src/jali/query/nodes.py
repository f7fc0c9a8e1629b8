"""The question as frozen nodes, without behaviour. SQL and the builder both end here."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

Position: TypeAlias = tuple[int, int] | None
Value: TypeAlias = bool | int | Fraction | str | datetime.date | datetime.datetime | None


@dataclass(frozen=True)
class Column:
    """A column of the table."""

    name: str
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True, eq=False)
class Literal:
    """A constant of the question. 1, 1.0 and TRUE are three constants, though Python calls them equal."""

    value: Value
    position: Position = field(default=None, compare=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True)
class Call:
    """A function or operator of `query.functions` on its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Aggregate:
    """COUNT, SUM or AVG. `argument` is None for COUNT(*)."""

    function: str
    argument: Expression | None = None
    distinct: bool = False
    position: Position = field(default=None, compare=False)


Expression: TypeAlias = Column | Literal | Call | Aggregate


@dataclass(frozen=True)
class Output:
    """One column of the answer."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Ordering:
    """One term of ORDER BY."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Question:
    """A whole question over one table."""

    table: str
    outputs: tuple[Output, ...]
    where: Expression | None = None
    group_by: tuple[Column, ...] = ()
    having: Expression | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    position: Position = field(default=None, compare=False)


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of an expression."""
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, Aggregate) and expression.argument is not None:
        return (expression.argument,)
    return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def aggregates(question: Question) -> tuple[Aggregate, ...]:
    """Return the distinct aggregates of a question, in order of appearance."""
    roots = [output.expression for output in question.outputs]
    roots += [] if question.having is None else [question.having]
    roots += [ordering.expression for ordering in question.order_by]
    found = [node for root in roots for node in walk(root) if isinstance(node, Aggregate)]
    return tuple(dict.fromkeys(found))
