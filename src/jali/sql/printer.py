"""Write expressions and questions in SQL: for people to read, and as SQL that reads back as the same question.

`show_expression` and `show_question` write for the eye, and are never run by an engine. `write_question` writes
how a question that was built in Python travels.
"""

from __future__ import annotations

import datetime
from fractions import Fraction

from jali.catalog.value_domain import Value
from jali.errors import JaliError, Unsupported
from jali.ir.expressions import (
    Aggregate,
    Call,
    Column,
    Derived,
    Expression,
    Joined,
    Literal,
    NamedTable,
    Ordering,
    Output,
    Question,
    Source,
    Subquery,
    map_children,
)
from jali.privacy import decimal
from jali.sql.reader.read_select import read_sql

_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from", "like", "ilike")
_INFIX = {"+", "-", "*", "/", "//", "%", "and", "or", "||", *_COMPARISONS}
# How tightly an operator binds; what is not listed stands in brackets of its own.
_TIGHTNESS = {"or": 1, "and": 2, "not": 3, "+": 5, "-": 5, "||": 5, "*": 6, "/": 6, "//": 6, "%": 6, "negate": 7}
_TIGHTNESS |= dict.fromkeys((*_COMPARISONS, "is null", "in"), 4)
_TIGHTNESS |= dict.fromkeys(("add months", "add days", "add seconds"), 5)
_CASTS = {"number": "DOUBLE", "whole": "INTEGER"} | {
    kind: kind.upper() for kind in ("text", "date", "timestamp", "boolean")
}
_LEFT_TO_RIGHT = {"or", "and", "+", "-", "*", "/", "add months", "add days", "add seconds"}
_OF_PARTS = {"trunc": "DATE_TRUNC", "diff": "DATE_DIFF", "sub": "DATE_SUB"}


def column_name(expression: Expression) -> str | None:
    """Return the name of a column; None for any other expression."""
    return expression.name if isinstance(expression, Column) else None


def show_expression(expression: Expression) -> str:
    """Write an expression in SQL, for the eye.

    Example:
        >>> age = Column("age")
        >>> show_expression(Call("and", (Call(">", (age, Literal(60))), Call("is null", (Column("ward"),)))))
        'age > 60 AND ward IS NULL'
    """
    if isinstance(expression, Column):
        return expression.name
    if isinstance(expression, Literal):
        return show_value(expression.value)
    if isinstance(expression, Aggregate):
        return show_aggregate(expression)
    if isinstance(expression, Subquery):
        return "EXISTS (...)" if expression.value is None else f"{show_expression(expression.value)} IN (...)"
    return _call(expression)


def show_aggregate(aggregate: Aggregate) -> str:
    """Write an aggregate."""
    inner = "*" if aggregate.argument is None else show_expression(aggregate.argument)
    others = "".join(f", {show_expression(other)}" for other in aggregate.others)
    if len(aggregate.others) > 1:
        others = f", [{others.removeprefix(', ')}]"
    shown = f"{aggregate.function.upper()}({'DISTINCT ' if aggregate.distinct else ''}{inner}{others})"
    return shown if aggregate.filter is None else f"{shown} FILTER (WHERE {show_expression(aggregate.filter)})"


def show_value(value: Value) -> str:
    """Write a constant."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, Fraction):
        return decimal(value)
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _call(call: Call) -> str:
    name, parts = call.function, call.arguments
    if name in _INFIX:
        left = _operand(parts[0], name, alike=name in _LEFT_TO_RIGHT)
        return f"{left} {name.upper()} {_operand(parts[1], name)}"
    if name.startswith("add "):
        return _write_date_shift(call)
    if name in ("not", "negate"):
        return ("NOT " if name == "not" else "-") + _operand(parts[0], name)
    if name == "is null":
        return f"{_operand(parts[0], name)} IS NULL"
    if name == "in":
        return f"{_operand(parts[0], name)} IN ({', '.join(map(show_expression, parts[1:]))})"
    if name == "case":
        return _case(parts)
    if name in _CASTS:
        return f"CAST({_argument(parts[0])} AS {_CASTS[name]})"
    function, _, part = name.partition(" ")
    shown = [_argument(argument) for argument in parts]
    if part:
        function, shown = _OF_PARTS[function], [f"'{part}'", *shown]
    return f"{function.upper()}({', '.join(shown)})"


def _write_date_shift(call: Call) -> str:
    """Write a date that is moved by an interval."""
    moment, amount = call.arguments
    assert isinstance(amount, Literal)
    assert isinstance(amount.value, int)
    unit = call.function.split()[1].removesuffix("s").upper()
    shown = _operand(moment, call.function, alike=True)
    return f"{shown} {'-' if amount.value < 0 else '+'} INTERVAL {abs(amount.value)} {unit}"


def _case(parts: tuple[Expression, ...]) -> str:
    shown = [show_expression(part) for part in parts]
    whens = "".join(f" WHEN {c} THEN {v}" for c, v in zip(shown[:-1:2], shown[1::2], strict=True))
    return f"CASE{whens} ELSE {shown[-1]} END"


def _argument(part: Expression) -> str:
    """Write an argument. A date beside a date needs no more than quotes; elsewhere it says that it is one."""
    shown = show_expression(part)
    if isinstance(part, Literal) and isinstance(part.value, datetime.date):
        return f"{'TIMESTAMP' if isinstance(part.value, datetime.datetime) else 'DATE'} {shown}"
    return shown


def _operand(part: Expression, outer: str, *, alike: bool = False) -> str:
    """Write an operand, in brackets unless it binds more tightly (or, where `alike`, as tightly)."""
    shown = show_expression(part) if outer in _COMPARISONS else _argument(part)
    if not isinstance(part, Call) or part.function not in _TIGHTNESS:
        return shown
    spare = _TIGHTNESS[part.function] - _TIGHTNESS[outer]
    return shown if spare > 0 or (spare == 0 and alike) else f"({shown})"


def show_question(question: Question) -> str:
    """Write a question in SQL, for the eye.

    Example:
        >>> from jali.ir.expressions import Aggregate, Column
        >>> count = Output("n", Aggregate("count"))
        >>> show_question(Question(NamedTable("visits"), (count,), group_by=(Column("ward"),)))
        'SELECT COUNT(*) AS n FROM visits GROUP BY ward'
    """
    shown = ", ".join(_show_output(output) for output in question.outputs)
    where = "" if question.where is None else f" WHERE {show_expression(question.where)}"
    group = ", ".join(show_expression(expression) for expression in question.group_by)
    return f"SELECT {shown} FROM {_show_source(question.source)}{where}" + (f" GROUP BY {group}" if group else "")


def _show_output(output: Output) -> str:
    written = show_expression(output.expression)
    return written if written == output.name else f"{written} AS {output.name}"


def _show_source(source: Source) -> str:
    if isinstance(source, NamedTable):
        return source.name if source.alias is None else f"{source.name} AS {source.alias}"
    if isinstance(source, Joined):
        return f"{_show_source(source.left)} {source.kind.upper()} JOIN {_show_source(source.right)}"
    assert isinstance(source, Derived)
    return "(...)" if source.alias is None else f"(...) AS {source.alias}"


def write_question(question: Question) -> str:
    """Write a question in SQL.

    Guarantee:
        Reading the text gives an equal question: it is read, and refused if it does not.

    Example:
        >>> write_question(read_sql("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 60 GROUP BY ward"))
        'SELECT "ward" AS "ward", COUNT(*) AS "n" FROM "visits" WHERE "age" > 60 GROUP BY "ward"'
    """
    text = _write_clauses(question)
    try:
        same = read_sql(text) == question
    except JaliError:
        same = False
    if not same:
        raise Unsupported("question-from-python")
    return text


def _write_clauses(question: Question) -> str:
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
    return f"{_expression(output.expression)} AS {_quote(output.name)}"


def _source(source: Source) -> str:
    if isinstance(source, NamedTable):
        alias = "" if source.alias is None else f" AS {_quote(source.alias)}"
        return _quote(source.name) + alias
    if isinstance(source, Joined):
        match = "" if source.on is None else f" ON {_expression(source.on)}"
        using = f" USING ({', '.join(map(_quote, source.using))})" if source.using else ""
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
    return show_expression(_quote_names(expression))


def _quote_names(expression: Expression) -> Expression:
    """Quote the names of columns, and say which texts are dates: what is shown to people has neither."""
    if isinstance(expression, Column):
        table = "" if expression.table is None else f"{_quote(expression.table)}."
        return Column(table + _quote(expression.name))
    if isinstance(expression, Literal) and isinstance(expression.value, datetime.date):
        kind = "TIMESTAMP" if isinstance(expression.value, datetime.datetime) else "DATE"
        return Column(f"{kind} '{expression.value}'")
    if isinstance(expression, Literal) and isinstance(expression.value, Fraction):
        # A whole number that was written with a point is another constant than one without.
        return Column(f"{expression.value}.0") if expression.value.denominator == 1 else expression
    return map_children(_quote_names, expression)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
