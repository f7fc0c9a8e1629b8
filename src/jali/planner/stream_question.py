"""Read a question with a time key as the input of a stream."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.catalog.columns import Kind
from jali.catalog.tables import Catalog, Table
from jali.errors import CatalogError, QueryError, Unsupported
from jali.ir.aggregates import KeySet
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, Position, Question, aggregates
from jali.ir.functions.aggregate_functions import read_constants
from jali.ir.ownership import own
from jali.ir.relations import Keep, Relation, Scan, find_scan
from jali.ir.stream_input import StreamInput
from jali.ir.types import infer_type
from jali.planner.draft import Draft
from jali.planner.public_facts import apply_filter, filter_key_values, find_key_values, find_range, round_to_double
from jali.planner.rules.qualify_names import qualify_names
from jali.planner.terms import QuestionTerms
from jali.privacy import Pure
from jali.sql.printer import show_expression

EVERY = ("hour", "day", "week", "month")
MOST_CELLS = 10_000
_NAMING = (Kind.INTEGER, Kind.TEXT)
_MEASURES = {"count": "count", "sum": "sum", "avg": "mean", "cdf": "cdf"}


def read_stream_input(question: Question, catalog: Catalog, *, key: str | None = None) -> StreamInput:
    """Read what a stream is to follow, or refuse it with the place and a remedy. Free: no data is read.

    Args:
        question: One time key, declared keys besides, and one of COUNT, SUM, AVG and CDF.
        catalog: The declared tables.
        key: Where each row is a person: the unique column that tells rows apart from one tick to the next.
    """
    _check_clauses(question)
    # The loss plays no part in what a question means.
    draft = qualify_names(Draft(question, catalog, QuestionTerms(Pure(1))))
    table = _only_table(draft)
    moment, every = _time_key(draft)
    others = [e for e in draft.question.group_by if _as_time(e, draft.rows) is None]
    followed = StreamInput(
        rows=_from_sources(draft.rows),
        owner=_owner(draft.rows, table, key),
        moment=moment,
        every=every,
        keys=tuple(_keys_of(expression, draft) for expression in others),
        measure="count",
    )
    if followed.cells > MOST_CELLS:
        raise Unsupported("stream-too-many-keys", position=others[0].position, most=MOST_CELLS)
    return _read_measure(followed, draft)


def _check_clauses(question: Question) -> None:
    """Refuse what is done to an answer: a stream publishes every key at every tick."""
    said = {
        "HAVING": question.having is not None,
        "ORDER BY": bool(question.order_by),
        "LIMIT": question.limit is not None or bool(question.offset),
        "ROLLUP, CUBE and GROUPING SETS": question.sets is not None,
    }
    for clause, there in said.items():
        if there:
            raise Unsupported("stream-clause", position=question.position, clause=clause)


def _only_table(draft: Draft) -> Table:
    scan, position = find_scan(draft.rows), draft.question.position
    if scan is None or not isinstance(scan.table, Table):
        raise Unsupported("stream-of-joins", position=position)
    table = scan.table
    if table.min_people > 1:
        raise Unsupported("stream-min-people", position=position, table=table.name, min_people=table.min_people)
    return table


def _from_sources(rows: Relation) -> Relation:
    """Read the sources themselves, not copies that were prepared some time ago."""
    if isinstance(rows, Keep):
        return replace(rows, source=_from_sources(rows.source))
    assert isinstance(rows, Scan)
    assert isinstance(rows.table, Table)
    return replace(rows, table=_read_source_table(rows.table))


def _read_source_table(table: Table) -> Table:
    reach = None if table.reach is None else replace(table.reach, table=_read_source_table(table.reach.table))
    return replace(table, copy=None, reach=reach)


def _owner(rows: Relation, table: Table, key: str | None) -> Expression | None:
    """Return the column that names the person; where each row is one, the column that tells rows apart."""
    if not table.row_level:
        if key is not None:
            raise CatalogError("stream-key-with-unit", table=table.name, unit=table.owner, column=key)
        return None if table.reach is not None else Column(_spell_column(rows, table.unit or ""))
    if key is None:
        raise CatalogError("stream-rows-unnamed", table=table.name)
    field = table.field(key)
    if field is None or field.kind not in _NAMING:
        raise CatalogError("stream-name-column", table=table.name, column=key)
    return Column(_spell_column(rows, key))


def _spell_column(rows: Relation, column: str) -> str:
    scan = find_scan(rows)
    assert scan is not None
    field = scan.table.field(column)
    assert field is not None
    return scan.prefix + field.name


def _time_key(draft: Draft) -> tuple[Expression, str]:
    """Return when a row happened, and how long a tick is."""
    found = [(e, time) for e in draft.question.group_by if (time := _as_time(e, draft.rows)) is not None]
    if len(found) != 1:
        raise Unsupported(
            "stream-time-key",
            position=found[1][0].position if found else draft.question.position,
            several=bool(found),
        )
    expression, (moment, every) = found[0]
    if every not in EVERY:
        raise Unsupported("stream-tick-length", position=expression.position, every=every)
    return moment, every


def _as_time(expression: Expression, rows: Relation) -> tuple[Expression, str] | None:
    """Read a key as time: DATE_TRUNC of a moment, a moment as a date, or a date."""
    if isinstance(expression, Call) and expression.function.startswith("trunc "):
        return expression.arguments[0], expression.function.removeprefix("trunc ")
    if isinstance(expression, Call) and expression.function == "date":
        return expression.arguments[0], "day"
    kind = infer_type(expression, rows).kind
    if kind is Kind.TIMESTAMP:
        raise Unsupported("stream-moment", position=expression.position, column=show_expression(expression))
    return (expression, "day") if kind is Kind.DATE else None


def _keys_of(expression: Expression, draft: Draft) -> KeySet:
    if isinstance(expression, Column) and expression.name in own(draft.rows).owner_columns():
        raise Unsupported("stream-group-by-unit", position=expression.position, column=expression.name)
    values = filter_key_values(expression, find_key_values(expression, draft.rows), draft.rows)
    if values is None:
        raise Unsupported(
            "stream-keys-undeclared", position=expression.position, column=show_expression(expression)
        )
    return KeySet(expression, infer_type(expression, draft.rows).kind or Kind.INTEGER, values)


def _read_measure(followed: StreamInput, draft: Draft) -> StreamInput:
    aggregate = apply_filter(_only_aggregate(draft.question))
    argument, measure = aggregate.argument, _MEASURES[aggregate.function]
    if argument is None or measure == "count":
        return replace(followed, value=argument)
    if measure == "cdf":
        return _cells(followed, aggregate, argument)
    low, high = find_range(argument, followed.rows) if aggregate.bounds is None else aggregate.bounds
    return replace(
        followed,
        measure=measure,
        value=argument,
        low=round_to_double(low, math.floor),
        high=round_to_double(high, math.ceil),
    )


def _only_aggregate(question: Question) -> Aggregate:
    """Return the one aggregate; beside it the outputs may show keys, and nothing else."""
    found = aggregates(question)
    shown = [o.expression for o in question.outputs if o.expression not in question.group_by]
    if len(found) != 1 or [e for e in shown if not isinstance(e, Literal)] != [found[0]]:
        raise Unsupported("stream-one-aggregate", position=_place(question, found))
    aggregate = found[0]
    if aggregate.function not in _MEASURES or aggregate.distinct or aggregate.per_group:
        raise Unsupported(
            "stream-aggregate-unsupported", position=aggregate.position, aggregate=show_expression(aggregate)
        )
    return aggregate


def _place(question: Question, found: tuple[Aggregate, ...]) -> Position:
    return found[1].position if len(found) > 1 else question.position


def _cells(followed: StreamInput, aggregate: Aggregate, argument: Expression) -> StreamInput:
    """Read the cell ends of a CDF. Beyond the first and the last of them it does not matter how far a value is."""
    if not aggregate.others or not infer_type(argument, followed.rows).numeric:
        raise QueryError("stream-cdf-malformed", position=aggregate.position)
    ends = read_constants(aggregate)
    return replace(
        followed,
        measure="cdf",
        value=argument,
        low=round_to_double(ends[0] - 1, math.floor),
        high=round_to_double(ends[-1] + 1, math.ceil),
        ends=ends,
    )
