"""Rule: every name is a declared column, every part is of the right kind and stands where it may."""

from __future__ import annotations

from dataclasses import replace

from jali.errors import QueryError, Unsupported
from jali.planner.draft import Draft
from jali.query.catalog import Kind, Table
from jali.query.functions import FUNCTIONS, Type
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Output, Question, aggregates
from jali.query.types import call_type, find_field, literal_type, qualified, type_of


def qualify_names(draft: Draft) -> Draft:
    """Resolve the question against the catalog, or refuse it with the place and a remedy."""
    question = _resolved(draft.question, draft.table)
    if question.where is not None:
        _expect_condition(type_of(question.where, draft.table), question.where, "WHERE")
    if not aggregates(question):
        raise Unsupported(
            "The question asks for no aggregate, so it would print rows.",
            position=question.position,
            remedy="Ask for COUNT, SUM or AVG.",
        )
    for aggregate in aggregates(question):
        _check_aggregate(aggregate, draft.table)
    _check_after(question, draft.table)
    return replace(draft, question=question)


def _resolved(question: Question, table: Table) -> Question:
    return replace(
        question,
        outputs=tuple(Output(o.name, qualified(o.expression, table)) for o in question.outputs),
        where=None if question.where is None else qualified(question.where, table),
        table=table.name,
        group_by=tuple(dict.fromkeys(_grouping_column(column, question, table) for column in question.group_by)),
        having=None if question.having is None else qualified(question.having, table),
        order_by=tuple(replace(o, expression=qualified(o.expression, table)) for o in question.order_by),
    )


def _grouping_column(column: Column, question: Question, table: Table) -> Column:
    """Find a grouping column: a column of the table, or else the alias of one, as DuckDB does."""
    if table.field(column.name) is None:
        for output in question.outputs:
            if output.name.lower() == column.name.lower() and isinstance(output.expression, Column):
                column = replace(output.expression, position=column.position)
    return replace(column, name=find_field(column, table).name)


def _expect_condition(kind: Type, expression: Expression, clause: str) -> None:
    if kind.kind not in (Kind.BOOLEAN, None):
        raise QueryError(f"{clause} takes a condition.", position=expression.position)


def _check_aggregate(aggregate: Aggregate, table: Table) -> None:
    if aggregate.argument is None:
        return
    kind = type_of(aggregate.argument, table)
    if aggregate.distinct:
        _check_people(aggregate, table)
    elif aggregate.function != "count" and not kind.numeric:
        raise QueryError(
            f"{aggregate.function.upper()} takes a number.",
            position=aggregate.position,
            remedy="Use CAST(column AS DOUBLE) where text should be read as a number.",
        )


def _check_people(aggregate: Aggregate, table: Table) -> None:
    if table.unit is None:
        raise Unsupported(
            f"Table {table.name} has no unit column: each row is a person.",
            position=aggregate.position,
            remedy="Ask for COUNT(*).",
        )
    if not isinstance(aggregate.argument, Column) or aggregate.argument.name != table.unit:
        raise Unsupported(
            "COUNT(DISTINCT ...) counts people only.",
            position=aggregate.position,
            remedy=f"Write COUNT(DISTINCT {table.unit}).",
        )


def _check_after(question: Question, table: Table) -> None:
    """Check what is computed after the noise: it may use aggregates and grouping columns only."""
    for output in question.outputs:
        _after_type(output.expression, question, table)
    if question.having is not None:
        _expect_condition(_after_type(question.having, question, table), question.having, "HAVING")
    for ordering in question.order_by:
        _after_type(ordering.expression, question, table)


def _after_type(expression: Expression, question: Question, table: Table) -> Type:
    if isinstance(expression, Aggregate):
        return Type(Kind.REAL)
    if isinstance(expression, Literal):
        return literal_type(expression.value)
    if isinstance(expression, Column):
        return _grouping_type(expression, question, table)
    return _after_call(expression, question, table)


def _grouping_type(column: Column, question: Question, table: Table) -> Type:
    if column not in question.group_by:
        raise QueryError(
            f"Column {column.name} is neither grouped nor aggregated.",
            position=column.position,
            remedy="Add it to GROUP BY, or put it inside an aggregate.",
        )
    return type_of(column, table)


def _after_call(call: Call, question: Question, table: Table) -> Type:
    if not FUNCTIONS[call.function].after:
        raise Unsupported(
            f"{FUNCTIONS[call.function].shape} works on rows, not on aggregates or keys.",
            position=call.position,
        )
    return call_type(call, [_after_type(argument, question, table) for argument in call.arguments])
