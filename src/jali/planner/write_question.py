"""A question as SQL that reads back as the same question: how one that was built in Python travels."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction

from jali.errors import JaliError, Unsupported
from jali.planner.show_expression import show_expression
from jali.query.nodes import (
    Aggregate,
    Call,
    Column,
    Expression,
    Joined,
    Literal,
    Named,
    Ordering,
    Output,
    Question,
    Source,
)
from jali.query.read_sql import read_sql


def write_question(question: Question) -> str:
    """Write a question in SQL.

    Guarantee:
        Reading the text gives an equal question: it is read, and refused if it does not.

    Example:
        >>> write_question(read_sql("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 60 GROUP BY ward"))
        'SELECT "ward" AS "ward", COUNT(*) AS "n" FROM "visits" WHERE "age" > 60 GROUP BY "ward"'
    """
    text = _written(question)
    try:
        same = read_sql(text) == question
    except JaliError:
        same = False
    if not same:
        raise Unsupported("question-from-python")
    return text


def _written(question: Question) -> str:
    parts = [
        f"SELECT {', '.join(_output(output) for output in question.outputs)} FROM {_source(question.source)}",
        *([] if question.where is None else [f"WHERE {_expression(question.where)}"]),
        *([f"GROUP BY {_groups(question)}"] if question.group_by else []),
        *([] if question.having is None else [f"HAVING {_expression(question.having)}"]),
        *([f"ORDER BY {', '.join(map(_ordering, question.order_by))}"] if question.order_by else []),
        *([] if question.limit is None else [f"LIMIT {question.limit}"]),
        *([f"OFFSET {question.offset}"] if question.offset else []),
    ]
    return " ".join(parts)


def _output(output: Output) -> str:
    return f"{_expression(output.expression)} AS {_quoted(output.name)}"


def _source(source: Source) -> str:
    if isinstance(source, Named):
        alias = "" if source.alias is None else f" AS {_quoted(source.alias)}"
        return _quoted(source.name) + alias
    if isinstance(source, Joined):
        match = "" if source.on is None else f" ON {_expression(source.on)}"
        using = f" USING ({', '.join(map(_quoted, source.using))})" if source.using else ""
        kind = source.kind if match or using else "cross"
        return f"{_source(source.left)} {kind.upper()} JOIN {_source(source.right)}{match}{using}"
    raise Unsupported("subquery-from-python")


def _groups(question: Question) -> str:
    keys = [_expression(key) for key in question.group_by]
    if question.sets is None:
        return ", ".join(keys)
    sets = (f"({', '.join(keys[place] for place in places)})" for places in question.sets)
    return f"GROUPING SETS ({', '.join(sets)})"


def _ordering(ordering: Ordering) -> str:
    order = " DESC" if ordering.descending else ""
    return f"{_expression(ordering.expression)}{order} NULLS {'FIRST' if ordering.nulls_first else 'LAST'}"


def _expression(expression: Expression) -> str:
    return show_expression(_named(expression))


def _named(expression: Expression) -> Expression:
    """Quote the names of columns, and say which texts are dates: what is shown to people has neither."""
    if isinstance(expression, Column):
        table = "" if expression.table is None else f"{_quoted(expression.table)}."
        return Column(table + _quoted(expression.name))
    if isinstance(expression, Literal) and isinstance(expression.value, datetime.date):
        kind = "TIMESTAMP" if isinstance(expression.value, datetime.datetime) else "DATE"
        return Column(f"{kind} '{expression.value}'")
    if isinstance(expression, Literal) and isinstance(expression.value, Fraction):
        # A whole number that was written with a point is another constant than one without.
        return Column(f"{expression.value}.0") if expression.value.denominator == 1 else expression
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(map(_named, expression.arguments)))
    if isinstance(expression, Aggregate):
        return replace(
            expression,
            argument=None if expression.argument is None else _named(expression.argument),
            others=tuple(map(_named, expression.others)),
            filter=None if expression.filter is None else _named(expression.filter),
        )
    return expression


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
