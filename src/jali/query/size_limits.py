"""Count the nodes of a question once aliases and WITH tables are written out, before it is planned."""

from __future__ import annotations

from collections.abc import Callable

from jali.errors import QueryError
from jali.query.functions.patterns import MOST_REPEATED_IN_ALL, repetitions
from jali.query.functions.texts import JOINS_TEXTS, MAKES_TEXT
from jali.query.limits import DEFAULT, Limits
from jali.query.nodes import (
    Aggregate,
    Call,
    Derived,
    Expression,
    Found,
    Joined,
    Literal,
    Output,
    Question,
    Select,
    Source,
    Stacked,
    aggregates,
)


def check_size(question: Question, limits: Limits = DEFAULT) -> None:
    """Refuse a question whose expressions are too large once aliases and WITH tables are written out.

    Parts that are used several times are counted each time, and looked at once: this takes linear time.
    """
    if _Sizes(_nodes).of_question(question) > limits.size:
        raise QueryError("question-too-large", position=question.position, most=limits.size)
    if _Sizes(_texts).of_question(question) > limits.texts:
        raise QueryError("too-many-texts", position=question.position, most=limits.texts)
    if _Sizes(_repetitions).of_question(question) > MOST_REPEATED_IN_ALL:
        raise QueryError("too-many-repetitions", position=question.position, most=MOST_REPEATED_IN_ALL)
    if len(aggregates(question)) > limits.aggregates:
        raise QueryError("too-many-aggregates", position=question.position, most=limits.aggregates)


def _nodes(_: Expression | Select | Source) -> int:
    return 1


def _texts(node: Expression | Select | Source) -> int:
    """Count what an engine holds a text for, for thousands of rows at once."""
    return int(isinstance(node, Call) and node.function in MAKES_TEXT | JOINS_TEXTS)


def _repetitions(node: Expression | Select | Source) -> int:
    """Count what an engine writes out of regular expressions."""
    if not isinstance(node, Call) or not node.function.startswith("regexp"):
        return 0
    patterns = (a.value for a in node.arguments if isinstance(a, Literal))
    return sum(repetitions(pattern) for pattern in patterns if isinstance(pattern, str))


class _Sizes:
    """Counts nodes with those that they are made of; the same object is looked at once.

    Args:
        count: For how many a node counts by itself.
    """

    def __init__(self, count: Callable[[Expression | Select | Source], int]) -> None:
        self._count = count
        self._known: dict[int, int] = {}

    def of_question(self, question: Question) -> int:
        written = [*(output.expression for output in question.outputs), *question.group_by]
        written += [ordering.expression for ordering in question.order_by]
        written += [e for e in (question.where, question.having) if e is not None]
        return self._source(question.source) + sum(self._expression(e) for e in written)

    def _expression(self, expression: Expression) -> int:
        known = self._known.get(id(expression))
        if known is not None:
            return known
        found = self._count(expression)
        if isinstance(expression, Call):
            found += sum(self._expression(argument) for argument in expression.arguments)
        elif isinstance(expression, Aggregate):
            inner = (expression.argument, expression.filter, *expression.others)
            found += sum(self._expression(e) for e in inner if e is not None)
        elif isinstance(expression, Found):
            found += self._query(expression.query)
            found += 0 if expression.value is None else self._expression(expression.value)
        self._known[id(expression)] = found
        return found

    def _query(self, query: Select | Stacked) -> int:
        known = self._known.get(id(query))
        if known is not None:
            return known
        if isinstance(query, Stacked):
            found = sum(self._query(part) for part in query.parts)
        else:
            written = [output.expression for output in query.outputs if isinstance(output, Output)]
            written += [*query.group_by, *(e for e in (query.where, query.having) if e is not None)]
            found = self._count(query) + self._source(query.source) + sum(self._expression(e) for e in written)
        self._known[id(query)] = found
        return found

    def _source(self, source: Source) -> int:
        found = 0
        while isinstance(source, Joined):
            found += self._count(source) + self._source(source.right)
            found += 0 if source.on is None else self._expression(source.on)
            source = source.left
        return found + (self._query(source.query) if isinstance(source, Derived) else self._count(source))
