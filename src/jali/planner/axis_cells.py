"""Choose the public cells for quantiles, modes and histograms, and which quantiles get an interval.

An end of an interval is aimed aside by its own error. In a group of fewer rows than that it lies at the end of
the range, whatever the rows are, and that end is known for nothing: then the quantile gets all of the loss.
Where nobody declared how many rows there are, ends are bought.
"""

from __future__ import annotations

import datetime
import math
from fractions import Fraction
from typing import Any

from jali.catalog.columns import Kind, since_1970
from jali.catalog.number_intervals import NumberInterval
from jali.catalog.tables import Table
from jali.catalog.value_domain import FIRST_DAY, FIRST_TIME, LAST_DAY, LAST_TIME, Value
from jali.errors import Unsupported
from jali.ir.aggregates import Categories, KeySet, Marks
from jali.ir.estimators import BOUGHT
from jali.ir.expressions import Aggregate, Call, Expression, Literal, aggregates
from jali.ir.functions.aggregate_functions import read_constants
from jali.ir.relations import find_scan
from jali.ir.types import infer_type
from jali.planner.draft import Draft
from jali.planner.public_facts import find_key_values, find_range, round_to_double
from jali.planner.query_sensitivity import rank_sensitivity
from jali.sql.printer import column_name, show_expression

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - columns without time zone are read as they are
_MOST_MARKS = 1 << 16
_LEAST_MARKS = 1 << 10
_ALL_MARKS = 1 << 22
_MOST_CATEGORIES = 10_000


def choose_marks(argument: Expression, draft: Draft, given: tuple[Fraction, Fraction] | None) -> Marks:
    """Return the marks of a number or date: every whole number of a short range, else 2^16 or fewer."""
    kind = infer_type(argument, draft.rows).kind or Kind.INTEGER
    low, high = given or find_range(argument, draft.rows)
    low, high = round_to_double(low, math.floor), round_to_double(high, math.ceil)
    groups = math.prod(len(key.values) for key in draft.keys if key.values is not None)
    most = max(_LEAST_MARKS, min(_MOST_MARKS, _ALL_MARKS // groups)) - 1
    if kind is not Kind.REAL and kind is not Kind.TIMESTAMP and high - low <= most:
        return Marks(argument, kind, low, Fraction(1), int(high - low))
    if high == low:
        return Marks(argument, kind, low, Fraction(1), 0)
    whole = kind is not Kind.REAL
    step = Fraction(math.ceil((high - low) / most)) if whole else round_to_double((high - low) / most, math.ceil)
    return Marks(argument, kind, low, step, math.ceil((high - low) / step))


def choose_categories(aggregate: Aggregate, argument: Expression, draft: Draft) -> Categories:
    """Return the values that can be picked, from public facts. NULL is none of them, as in every aggregate."""
    found = find_key_values(argument, draft.rows)
    values = None if found is None else tuple(value for value in found if value is not None)
    if not values or len(values) > _MOST_CATEGORIES:
        shown = show_expression(argument)
        raise Unsupported(
            "aggregate-values-unknown",
            position=aggregate.position,
            function=aggregate.function.upper(),
            column=shown,
            name=column_name(argument),
            most=_MOST_CATEGORIES,
        )
    kind = infer_type(argument, draft.rows).kind or Kind.INTEGER
    return Categories(KeySet(argument, kind, values))


def choose_bins(aggregate: Aggregate, argument: Expression, draft: Draft) -> tuple[Categories, tuple[Value, ...]]:
    """Return the cells of a histogram: bins that the question writes, or the values that there can be.

    As in DuckDB, a bin holds what is above the bin before it and at most its own number; what is above all of
    them is counted in a last one.
    """
    if not aggregate.others:
        found = choose_categories(aggregate, argument, draft)
        return found, found.keys.values or ()
    edges = read_constants(aggregate)
    parts: list[Expression] = []
    for index, edge in enumerate(edges):
        literal = int(edge) if edge.denominator == 1 else edge
        parts += [Call("<=", (argument, Literal(literal))), Literal(index)]
    beyond = Call("case", (Call("is null", (argument,)), Literal(None), Literal(len(edges))))
    place = Call("case", (*parts, beyond), aggregate.position)
    keys = KeySet(place, Kind.INTEGER, tuple(range(len(edges) + 1)))
    labels = tuple(_label(edge) for edge in edges)
    return Categories(keys), (*labels, "above")


def _label(edge: Fraction) -> Value:
    return int(edge) if edge.denominator == 1 else edge


# What an end gets of the loss of its quantile.
_SHARE = Fraction(1, 16)


def is_interval_worth_buying(draft: Draft, axis: Marks, at: Fraction) -> bool:
    """Say whether the ends of a quantile's interval can be expected within the values of a group."""
    rows = _rows(draft)
    if rows is None:
        return True
    # The farther side has so many rows; where an end is aimed beyond half of them, it seldom tells anything.
    return _aside(draft, axis, at) < rows * max(float(at), 1 - float(at)) / 2


def _rows(draft: Draft) -> float | None:
    """Return how many rows a group has by the declared guess."""
    scan = find_scan(draft.rows)
    table = None if scan is None else scan.table
    if not isinstance(table, Table) or table.rows is None or draft.selecting:
        return None
    return table.rows / max(1, draft.aggregation(draft.sets[0]).groups)


def _aside(draft: Draft, axis: Marks, at: Fraction) -> float:
    """Return about how many rows aside an end is aimed: ln(marks / chance to miss) over its rate."""
    aggregation, event = draft.aggregation(draft.sets[0]), draft.terms.loss.event
    whole = float(event.epsilon) if event.epsilon is not None else math.sqrt(8 * event.rho)
    loss = whole * float(_SHARE) / (len(aggregates(draft.question)) * len(draft.sets))
    resolution = 1 if aggregation.weights is None else aggregation.weights.resolution
    moved = float(rank_sensitivity(aggregation, at, draft.changes)) / resolution
    return 2 * moved * math.log(axis.cells / (1 - BOUGHT)) / loss


def read_cell(axis: Marks | Categories, cell: int, shift: float = 0.0) -> Any:
    """Return what a cell of an axis stands for."""
    if isinstance(axis, Categories):
        return (axis.keys.values or ())[cell]
    low, high = axis.low, axis.low + axis.top * axis.step
    whole = axis.kind is not Kind.REAL and axis.step == 1
    exact = axis.low + axis.step * (cell if whole else cell + Fraction(shift))
    value = min(max(exact, low), high)
    # The last mark of a lattice lies up to a step beyond the range, which may be the end of the calendar.
    if axis.kind is Kind.DATE:
        day = min(max(value, since_1970(FIRST_DAY)), since_1970(LAST_DAY))
        return (_EPOCH + datetime.timedelta(days=int(day))).date()
    if axis.kind is Kind.TIMESTAMP:
        time = min(max(value, since_1970(FIRST_TIME)), since_1970(LAST_TIME))
        return _EPOCH + datetime.timedelta(microseconds=int(time))
    return int(value) if axis.kind is Kind.INTEGER and value.denominator == 1 else to_float(value)


def to_float(value: Fraction) -> float:
    """Return the nearest double; an infinity beyond all doubles. Nothing raises after the noise."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_float_ends(bounds: NumberInterval) -> tuple[float, float]:
    """Return an interval in doubles."""
    low = -math.inf if bounds.low is None else to_float(bounds.low)
    return low, math.inf if bounds.high is None else to_float(bounds.high)
