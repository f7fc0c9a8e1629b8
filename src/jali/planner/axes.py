"""Axes: the public cells that quantiles, modes and histograms are taken over."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.errors import Unsupported
from jali.planner.draft import Draft
from jali.planner.key_values import key_values
from jali.planner.lattice import double, ends_of
from jali.planner.show_expression import column_name, show_expression
from jali.query.aggregates import numbers
from jali.query.aggregation import Categories, KeySet, Marks
from jali.query.catalog import Kind
from jali.query.nodes import Aggregate, Call, Expression, Literal, Value
from jali.query.types import type_of

_MOST_MARKS = 1 << 16
_LEAST_MARKS = 1 << 10
_ALL_MARKS = 1 << 22
_MOST_CATEGORIES = 10_000


def marks_of(argument: Expression, draft: Draft, given: tuple[Fraction, Fraction] | None) -> Marks:
    """Return the marks of a number or date: every whole number of a short range, else 2^16 or fewer."""
    kind = type_of(argument, draft.rows).kind or Kind.INTEGER
    low, high = given or ends_of(argument, draft.rows)
    low, high = double(low, math.floor), double(high, math.ceil)
    groups = math.prod(len(key.values) for key in draft.keys if key.values is not None)
    most = max(_LEAST_MARKS, min(_MOST_MARKS, _ALL_MARKS // groups)) - 1
    if kind is not Kind.REAL and kind is not Kind.TIMESTAMP and high - low <= most:
        return Marks(argument, kind, low, Fraction(1), int(high - low))
    if high == low:
        return Marks(argument, kind, low, Fraction(1), 0)
    whole = kind is not Kind.REAL
    step = Fraction(math.ceil((high - low) / most)) if whole else double((high - low) / most, math.ceil)
    return Marks(argument, kind, low, step, math.ceil((high - low) / step))


def categories_of(aggregate: Aggregate, argument: Expression, draft: Draft) -> Categories:
    """Return the values that can be picked, from public facts. NULL is none of them, as in every aggregate."""
    found = key_values(argument, draft.rows)
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
    kind = type_of(argument, draft.rows).kind or Kind.INTEGER
    return Categories(KeySet(argument, kind, values))


def bins_of(aggregate: Aggregate, argument: Expression, draft: Draft) -> tuple[Categories, tuple[Value, ...]]:
    """Return the cells of a histogram: bins that the question writes, or the values that there can be.

    As in DuckDB, a bin holds what is above the bin before it and at most its own number; what is above all of
    them is counted in a last one.
    """
    if not aggregate.others:
        found = categories_of(aggregate, argument, draft)
        return found, found.keys.values or ()
    edges = numbers(aggregate)
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
