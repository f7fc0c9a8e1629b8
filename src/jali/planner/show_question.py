"""Questions as people write them: what the ledger shows of a question that was built in Python."""

from __future__ import annotations

from jali.planner.show_expression import show_expression
from jali.query.nodes import Derived, Joined, Named, Output, Question, Source


def show_question(question: Question) -> str:
    """Write a question in SQL, for the eye.

    Example:
        >>> from jali.query.nodes import Aggregate, Column
        >>> count = Output("n", Aggregate("count"))
        >>> show_question(Question(Named("visits"), (count,), group_by=(Column("ward"),)))
        'SELECT COUNT(*) AS n FROM visits GROUP BY ward'
    """
    shown = ", ".join(_output(output) for output in question.outputs)
    where = "" if question.where is None else f" WHERE {show_expression(question.where)}"
    group = ", ".join(show_expression(expression) for expression in question.group_by)
    return f"SELECT {shown} FROM {_source(question.source)}{where}" + (f" GROUP BY {group}" if group else "")


def _output(output: Output) -> str:
    written = show_expression(output.expression)
    return written if written == output.name else f"{written} AS {output.name}"


def _source(source: Source) -> str:
    if isinstance(source, Named):
        return source.name if source.alias is None else f"{source.name} AS {source.alias}"
    if isinstance(source, Joined):
        return f"{_source(source.left)} {source.kind.upper()} JOIN {_source(source.right)}"
    assert isinstance(source, Derived)
    return "(...)" if source.alias is None else f"(...) AS {source.alias}"
