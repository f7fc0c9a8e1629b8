"""Following: a question with a key that is time becomes what a stream takes from a table, row by row."""

from __future__ import annotations

import math
from dataclasses import replace

from jali.errors import CatalogError, QueryError, Unsupported
from jali.planner.draft import Draft
from jali.planner.key_values import kept_values, key_values
from jali.planner.lattice import double, ends_of, filtered
from jali.planner.qualify_names import qualify_names
from jali.planner.show_expression import show_expression
from jali.planner.terms import Terms
from jali.privacy import Pure
from jali.query.aggregates import numbers
from jali.query.aggregation import KeySet
from jali.query.catalog import Catalog, Kind, Table
from jali.query.followed import Followed
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, Position, Question, aggregates
from jali.query.ownership import own
from jali.query.relation import Keep, Relation, Scan
from jali.query.types import type_of

EVERY = ("hour", "day", "week", "month")
MOST_CELLS = 10_000
_NAMING = (Kind.INTEGER, Kind.TEXT)
_MEASURES = {"count": "count", "sum": "sum", "avg": "mean", "cdf": "cdf"}
_EXAMPLE = "SELECT date_trunc('day', admitted) AS day, COUNT(*) FROM visits GROUP BY day"


def follow(question: Question, catalog: Catalog, *, key: str | None = None) -> Followed:
    """Read what a stream is to follow, or refuse it with the place and a remedy. Free: no data is read.

    Args:
        question: One time key, declared keys besides, and one of COUNT, SUM, AVG and CDF.
        catalog: The declared tables.
        key: Where each row is a person: the unique column that tells rows apart from one tick to the next.
    """
    _check_clauses(question)
    # The loss plays no part in what a question means.
    draft = qualify_names(Draft(question, catalog, Terms(Pure(1))))
    table = _only_table(draft)
    moment, every = _time_key(draft)
    others = [e for e in draft.question.group_by if _as_time(e, draft.rows) is None]
    followed = Followed(
        rows=_from_sources(draft.rows),
        owner=_owner(draft.rows, table, key),
        moment=moment,
        every=every,
        keys=tuple(_keys_of(expression, draft) for expression in others),
        measure="count",
    )
    if followed.cells > MOST_CELLS:
        raise Unsupported(
            f"The keys of this stream multiply to more than {MOST_CELLS:,}.",
            position=others[0].position,
            remedy="Group by fewer columns, or declare fewer keys.",
        )
    return _measured(followed, draft)


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
            raise Unsupported(
                f"A stream cannot follow a question with {clause}: it publishes every key at every tick.",
                position=question.position,
                remedy=f"Leave it out: {_EXAMPLE}.",
            )


def _only_table(draft: Draft) -> Table:
    rows = draft.rows
    while isinstance(rows, Keep):
        rows = rows.source
    if not isinstance(rows, Scan) or not isinstance(rows.table, Table):
        raise Unsupported(
            "A stream follows the rows of one protected table; joins and subqueries change rows of earlier ticks.",
            position=draft.question.position,
            remedy="Write the joined rows into a table of their own, protect that, and follow it.",
        )
    if rows.table.min_people > 1:
        raise Unsupported(
            f"{rows.table.name} hides groups of fewer than {rows.table.min_people} people, and a stream publishes"
            " every key at every tick.",
            position=draft.question.position,
            remedy="Protect the table with min_people=1 to follow it.",
        )
    return rows.table


def _from_sources(rows: Relation) -> Relation:
    """Read the sources themselves, not copies that were prepared some time ago."""
    if isinstance(rows, Keep):
        return replace(rows, source=_from_sources(rows.source))
    assert isinstance(rows, Scan)
    assert isinstance(rows.table, Table)
    return replace(rows, table=_uncopied(rows.table))


def _uncopied(table: Table) -> Table:
    reach = None if table.reach is None else replace(table.reach, table=_uncopied(table.reach.table))
    return replace(table, copy=None, reach=reach)


def _owner(rows: Relation, table: Table, key: str | None) -> Expression | None:
    """Return the column that names the person; where each row is one, the column that tells rows apart."""
    if not table.row_level:
        if key is not None:
            raise CatalogError(
                f"The people of {table.name} are told by {table.owner}, not by {key}.", remedy="Leave key out."
            )
        return None if table.reach is not None else Column(_spelled(rows, table.unit or ""))
    if key is None:
        raise CatalogError(
            f"Each row of {table.name} is a person, and rows have no name that stays from tick to tick.",
            remedy='Name a column whose value is another in every row: key="visit_id".',
        )
    field = table.field(key)
    if field is None or field.kind not in _NAMING:
        raise CatalogError(
            f"{table.name} has no column {key} of texts or whole numbers.",
            remedy="Name such a column of the table, whose value is another in every row.",
        )
    return Column(_spelled(rows, key))


def _spelled(rows: Relation, column: str) -> str:
    while isinstance(rows, Keep):
        rows = rows.source
    assert isinstance(rows, Scan)
    field = rows.table.field(column)
    assert field is not None
    return rows.prefix + field.name


def _time_key(draft: Draft) -> tuple[Expression, str]:
    """Return when a row happened, and how long a tick is."""
    found = [(e, time) for e in draft.question.group_by if (time := _as_time(e, draft.rows)) is not None]
    if len(found) != 1:
        raise Unsupported(
            "A stream follows a question with one key that is time" + (", not several." if found else "."),
            position=found[1][0].position if found else draft.question.position,
            remedy=f"Group by date_trunc('day', column), or by a column of dates: {_EXAMPLE}.",
        )
    expression, (moment, every) = found[0]
    if every not in EVERY:
        raise Unsupported(
            f"Ticks are hours, days, weeks or months, not {every}s.",
            position=expression.position,
            remedy="Write date_trunc('hour' or 'day' or 'week' or 'month', column).",
        )
    return moment, every


def _as_time(expression: Expression, rows: Relation) -> tuple[Expression, str] | None:
    """Read a key as time: DATE_TRUNC of a moment, a moment as a date, or a date."""
    if isinstance(expression, Call) and expression.function.startswith("trunc "):
        return expression.arguments[0], expression.function.removeprefix("trunc ")
    if isinstance(expression, Call) and expression.function == "date":
        return expression.arguments[0], "day"
    kind = type_of(expression, rows).kind
    if kind is Kind.TIMESTAMP:
        raise Unsupported(
            f"{show_expression(expression)} is a moment, not a tick.",
            position=expression.position,
            remedy=f"Group by date_trunc('day', {show_expression(expression)}).",
        )
    return (expression, "day") if kind is Kind.DATE else None


def _keys_of(expression: Expression, draft: Draft) -> KeySet:
    if isinstance(expression, Column) and expression.name in own(draft.rows).owner_columns():
        raise Unsupported(
            f"GROUP BY {expression.name} would publish a line for each person.",
            position=expression.position,
            remedy="Leave it out.",
        )
    values = kept_values(expression, key_values(expression, draft.rows), draft.rows)
    if values is None:
        raise Unsupported(
            f"The keys of {show_expression(expression)} are not declared, and are not read off the data.",
            position=expression.position,
            remedy="Declare them, Keys([...]), where the table is protected.",
        )
    return KeySet(expression, type_of(expression, draft.rows).kind or Kind.INTEGER, values)


def _measured(followed: Followed, draft: Draft) -> Followed:
    aggregate = filtered(_only_aggregate(draft.question))
    argument, measure = aggregate.argument, _MEASURES[aggregate.function]
    if argument is None or measure == "count":
        return replace(followed, value=argument)
    if measure == "cdf":
        return _cells(followed, aggregate, argument)
    low, high = ends_of(argument, followed.rows) if aggregate.bounds is None else aggregate.bounds
    return replace(
        followed,
        measure=measure,
        value=argument,
        low=double(low, math.floor),
        high=double(high, math.ceil),
    )


def _only_aggregate(question: Question) -> Aggregate:
    """Return the one aggregate; beside it the outputs may show keys, and nothing else."""
    found = aggregates(question)
    shown = [o.expression for o in question.outputs if o.expression not in question.group_by]
    if len(found) != 1 or [e for e in shown if not isinstance(e, Literal)] != [found[0]]:
        raise Unsupported(
            "A stream publishes one aggregate, as it is.",
            position=_place(question, found),
            remedy=f"Write one of COUNT, SUM, AVG and CDF, and a stream for each: {_EXAMPLE}.",
        )
    aggregate = found[0]
    if aggregate.function not in _MEASURES or aggregate.distinct or aggregate.per_group:
        raise Unsupported(
            f"A stream cannot follow {show_expression(aggregate)}.",
            position=aggregate.position,
            remedy="Follow COUNT(*), COUNT(x), SUM(x), AVG(x) or CDF(x, [10, 20]).",
        )
    return aggregate


def _place(question: Question, found: tuple[Aggregate, ...]) -> Position:
    return found[1].position if len(found) > 1 else question.position


def _cells(followed: Followed, aggregate: Aggregate, argument: Expression) -> Followed:
    """Read the cell ends of a CDF. Beyond the first and the last of them it does not matter how far a value is."""
    if not aggregate.others or not type_of(argument, followed.rows).numeric:
        raise QueryError(
            "A CDF over time needs a number and the ends of its cells.",
            position=aggregate.position,
            remedy="Write CDF(x, [10, 20, 30]).",
        )
    ends = numbers(aggregate)
    return replace(
        followed,
        measure="cdf",
        value=argument,
        low=double(ends[0] - 1, math.floor),
        high=double(ends[-1] + 1, math.ceil),
        ends=ends,
    )
