"""Suggest coarser questions, with fewer groups, where the budget refuses a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from jali.ir.expressions import Aggregate, Call, Column, Expression, Ordering, Question, children, walk
from jali.sql.printer import show_expression


def suggest_coarser(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield coarser questions, each with what is different. Not all of them can be planned.

    Example:
        >>> from jali.sql.reader.read_select import read_sql
        >>> found = suggest_coarser(read_sql("SELECT ward, seen, COUNT(*) FROM visits GROUP BY ward, seen"))
        >>> [change for change, _ in found]
        ['without ward', 'without seen', 'by month of ward', 'by month of seen']
    """
    if question.sets is not None and len(question.sets) > 1:
        yield "without totals", replace(question, sets=None)
    for place, key in enumerate(question.group_by):
        yield f"without {show_expression(key)}", _without(question, place)
    for key in question.group_by:
        if isinstance(key, Column):
            month = Call("trunc month", (key,))
            yield f"by month of {show_expression(key)}", _replace_key(question, key, month)


def _without(question: Question, place: int) -> Question:
    """Drop one grouping expression, and what shows it or orders by it."""
    dropped = question.group_by[place]
    kept = [key for i, key in enumerate(question.group_by) if i != place]
    having = question.having
    return replace(
        question,
        outputs=tuple(o for o in question.outputs if not _mentions(o.expression, dropped)),
        group_by=tuple(kept),
        having=None if having is not None and _mentions(having, dropped) else having,
        order_by=tuple(o for o in question.order_by if not _mentions(o.expression, dropped)),
        sets=None if question.sets is None or not kept else _sets(question.sets, place),
    )


def _sets(sets: tuple[tuple[int, ...], ...], place: int) -> tuple[tuple[int, ...], ...]:
    moved = (tuple(i - (i > place) for i in one if i != place) for one in sets)
    return tuple(dict.fromkeys(moved))


def _mentions(expression: Expression, key: Expression) -> bool:
    """Whether an expression shows a key: what an aggregate has inside is not shown."""
    if expression == key:
        return True
    return not isinstance(expression, Aggregate) and any(_mentions(part, key) for part in children(expression))


def _replace_key(question: Question, key: Expression, made: Expression) -> Question:
    """Put one expression in the place of a grouping expression, wherever its groups are shown."""

    def change(expression: Expression) -> Expression:
        return _replace_in(expression, key, made)

    return replace(
        question,
        outputs=tuple(replace(o, expression=change(o.expression)) for o in question.outputs),
        group_by=tuple(change(e) for e in question.group_by),
        having=None if question.having is None else change(question.having),
        order_by=tuple(Ordering(change(o.expression), o.descending, o.nulls_first) for o in question.order_by),
    )


def _replace_in(expression: Expression, key: Expression, made: Expression) -> Expression:
    if expression == key:
        return made
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(_replace_in(part, key, made) for part in expression.arguments))
    return expression


def has_aggregates(question: Question) -> bool:
    """Whether a question still measures something."""
    return any(isinstance(node, Aggregate) for o in question.outputs for node in walk(o.expression))
