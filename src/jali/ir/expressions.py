"""The question as frozen nodes, without behaviour. SQL and the builder both end here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

from jali.catalog.value_domain import Value

Position: TypeAlias = tuple[int, int] | None


@dataclass(frozen=True)
class Column:
    """A column. As written it may name its table; once resolved, its name alone tells it from all others."""

    name: str
    position: Position = field(default=None, compare=False)
    table: str | None = None


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
    """A function or operator of `ir.functions` on its arguments."""

    function: str
    arguments: tuple[Expression, ...]
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of `ir.functions.aggregate_functions` on its arguments; COUNT(*) has none.

    Attributes:
        function: How nodes call it.
        argument: What is aggregated, row by row.
        distinct: Whether equal values count once.
        others: Further arguments: a second column (CORR), or constants (quantiles, bins, k).
        filter: The condition of FILTER (WHERE ...).
        bounds: The range that the question gives for its values; or
        per_group: for what one person adds to one group.
    """

    function: str
    argument: Expression | None = None
    distinct: bool = False
    position: Position = field(default=None, compare=False)
    others: tuple[Expression, ...] = ()
    filter: Expression | None = None
    bounds: tuple[Fraction, Fraction] | None = None
    per_group: bool = False


@dataclass(frozen=True)
class Subquery:
    """A subquery in an expression: EXISTS, or `value IN (SELECT ...)`."""

    query: Select | UnionQuery
    value: Expression | None = None
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Star:
    """`*` or `t.*` among the outputs of a subquery."""

    table: str | None = None
    position: Position = field(default=None, compare=False)


Expression: TypeAlias = Column | Literal | Call | Aggregate | Subquery


@dataclass(frozen=True)
class Output:
    """One column of the answer, or of a subquery."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class Ordering:
    """One term of ORDER BY."""

    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class NamedTable:
    """A table of the catalog."""

    name: str
    alias: str | None = None
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Joined:
    """Two relations side by side.

    Attributes:
        kind: "inner", "left", "right", "full", "semi" or "anti"; a cross join is an inner one without condition.
        using: Columns of the same name on both sides that must be equal.
    """

    kind: str
    left: Source
    right: Source
    on: Expression | None = None
    using: tuple[str, ...] = ()
    natural: bool = False
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Derived:
    """A subquery in FROM, or a table of WITH."""

    query: Select | UnionQuery
    alias: str | None = None
    columns: tuple[str, ...] = ()
    position: Position = field(default=None, compare=False)


Source: TypeAlias = NamedTable | Joined | Derived


@dataclass(frozen=True)
class Select:
    """A SELECT inside the question: its rows are intermediate, never released."""

    source: Source
    outputs: tuple[Output | Star, ...]
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    distinct: bool = False
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class UnionQuery:
    """UNION ALL, or UNION where `distinct`."""

    parts: tuple[Select | UnionQuery, ...]
    distinct: bool = False
    position: Position = field(default=None, compare=False)


@dataclass(frozen=True)
class Question:
    """A whole question: what is released of a relation.

    Attributes:
        sets: The grouping sets, each as places in `group_by`; one set with all of them unless written otherwise.
    """

    source: Source
    outputs: tuple[Output, ...]
    where: Expression | None = None
    group_by: tuple[Expression, ...] = ()
    having: Expression | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    position: Position = field(default=None, compare=False)
    sets: tuple[tuple[int, ...], ...] | None = None


def children(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of an expression; a subquery's own parts are not among them."""
    if isinstance(expression, Call):
        return expression.arguments
    if isinstance(expression, Aggregate):
        first = () if expression.argument is None else (expression.argument,)
        return (*first, *expression.others, *(() if expression.filter is None else (expression.filter,)))
    if isinstance(expression, Subquery) and expression.value is not None:
        return (expression.value,)
    return ()


def map_children(change: Callable[[Expression], Expression], expression: Expression) -> Expression:
    """Return an expression whose direct parts are changed; a subquery's own parts stay as they are."""
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(map(change, expression.arguments)))
    if isinstance(expression, Aggregate):
        return replace(
            expression,
            argument=None if expression.argument is None else change(expression.argument),
            others=tuple(map(change, expression.others)),
            filter=None if expression.filter is None else change(expression.filter),
        )
    return expression


def replace_columns(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """Replace columns that name no table by what their names stand for, outside aggregates."""
    if isinstance(expression, Column) and expression.table is None:
        return values.get(expression.name.lower(), expression)
    if isinstance(expression, Aggregate):
        return expression
    return map_children(lambda part: replace_columns(part, values), expression)


def walk(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def conjuncts(condition: Expression | None) -> tuple[Expression, ...]:
    """Return the conditions that must all hold for a condition to hold."""
    if condition is None:
        return ()
    if isinstance(condition, Call) and condition.function == "and":
        return tuple(part for side in condition.arguments for part in conjuncts(side))
    return (condition,)


# Longer chains of AND and OR are read as if they had brackets, so that they are not as deep as they are long.
LONG_CHAIN = 16


def balance_operands(function: str, operands: Sequence[Expression], position: Position) -> Expression:
    """Join operands by an operator that may be bracketed in any way, no deeper than need be."""
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    sides = (balance_operands(function, part, position) for part in (operands[:half], operands[half:]))
    return Call(function, tuple(sides), position)


def join_conditions(conditions: Sequence[Expression]) -> Expression | None:
    """Join conditions by AND."""
    if len(conditions) > LONG_CHAIN:
        return balance_operands("and", conditions, None)
    return reduce(lambda a, b: Call("and", (a, b)), conditions) if conditions else None


def aggregates(question: Question) -> tuple[Aggregate, ...]:
    """Return the distinct aggregates of a question, in order of appearance."""
    roots = [output.expression for output in question.outputs]
    roots += [] if question.having is None else [question.having]
    roots += [ordering.expression for ordering in question.order_by]
    found = [node for root in roots for node in walk(root) if isinstance(node, Aggregate)]
    return tuple(dict.fromkeys(found))
