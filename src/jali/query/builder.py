"""The question built in Python: `table(...).where(...).group_by(...).agg(...)`, frozen at every step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from jali.errors import QueryError
from jali.query.nodes import Aggregate, Column, Expression, Output, Question
from jali.query.read_expression import conjunction
from jali.query.read_sql import read_condition, read_value

Ask = Callable[..., Any]


def count(column: str | None = None) -> Aggregate:
    """Count rows, or the rows where an expression is not NULL."""
    return Aggregate("count", None if column is None else read_value(column))


def count_people(unit: str) -> Aggregate:
    """Count the people, by the table's unit column."""
    return Aggregate("count", Column(unit), distinct=True)


def sum(column: str) -> Aggregate:  # noqa: A001 - read as jali.sum, beside jali.count and jali.mean
    """Sum an expression such as `"cost"` or `"price * quantity"`."""
    return Aggregate("sum", read_value(column))


def mean(column: str) -> Aggregate:
    """Average an expression."""
    return Aggregate("avg", read_value(column))


@dataclass(frozen=True)
class TableQuestion:
    """A question that is being built; each method returns a new one.

    Example:
        `session.table("visits").where("age > 60").group_by("ward").agg(n=jali.count()).ask(epsilon=0.5)`
    """

    table: str
    asker: Ask
    explainer: Ask
    conditions: tuple[Expression, ...] = ()
    groups: tuple[Column, ...] = ()
    outputs: tuple[Output, ...] = ()

    def where(self, condition: str) -> TableQuestion:
        """Keep the rows that satisfy a condition; several conditions must all hold."""
        return replace(self, conditions=(*self.conditions, read_condition(condition)))

    def group_by(self, *columns: str) -> TableQuestion:
        """Answer per combination of the declared keys of these columns."""
        if not all(isinstance(name, str) for name in columns):
            raise QueryError("Columns are given by name.", remedy='Write .group_by("ward", "year").')
        every = (*self.groups, *(Column(name) for name in columns))
        return replace(self, groups=tuple(dict.fromkeys(every)))

    def agg(self, **aggregates: Aggregate) -> TableQuestion:
        """Name the aggregates to release."""
        for name, aggregate in aggregates.items():
            if not isinstance(aggregate, Aggregate):
                raise QueryError(f"{name} is not an aggregate.", remedy=f"Write {name}=jali.count(), for example.")
        return replace(self, outputs=(*self.outputs, *(Output(n, a) for n, a in aggregates.items())))

    @property
    def question(self) -> Question:
        """The question as nodes."""
        if not self.outputs:
            raise QueryError("The question asks for nothing.", remedy="Add .agg(n=jali.count()).")
        keys = tuple(Output(column.name, column) for column in self.groups)
        names = [output.name for output in keys + self.outputs]
        if len(set(names)) != len(names):
            raise QueryError("Two columns of the answer have the same name.", remedy="Name aggregates apart.")
        return Question(self.table, keys + self.outputs, conjunction(list(self.conditions)), self.groups)

    def ask(self, **loss: Any) -> Any:
        """Ask, as `Session.ask` does."""
        return self.asker(self.question, **loss)

    def explain(self, **loss: Any) -> Any:
        """Explain, as `Session.explain` does."""
        return self.explainer(self.question, **loss)
