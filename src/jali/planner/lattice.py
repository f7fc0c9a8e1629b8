"""Lattices: public ranges as numbers that doubles hold, and how finely values between them are counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from jali.errors import QueryError, Unsupported
from jali.planner.show_expression import show_expression
from jali.query.catalog import Kind
from jali.query.functions import Type
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal, walk
from jali.query.relation import Fields
from jali.query.types import find_field, type_of

_DOUBLE_LIMIT = Fraction(2) ** 1000


def filtered(aggregate: Aggregate) -> Aggregate:
    """Move FILTER (WHERE ...) into the argument: what is filtered out is NULL, and aggregates leave NULL out."""
    if aggregate.filter is None:
        return aggregate
    value: Expression = Literal(1) if aggregate.argument is None else aggregate.argument
    kept = Call("case", (aggregate.filter, value, Literal(None)), aggregate.position)
    return replace(aggregate, argument=kept, filter=None)


def ends_of(argument: Expression, fields: Fields) -> tuple[Fraction, Fraction]:
    """Return the public range of an expression as numbers that a double holds, or say which column lacks one."""
    found: Type = type_of(argument, fields)
    low, high = found.bounds.low, found.bounds.high
    if low is None or high is None or max(abs(low), abs(high)) > _DOUBLE_LIMIT:
        raise _no_range(argument, fields)
    if found.kind is Kind.INTEGER:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return double(low, math.floor), max(double(high, math.ceil), double(low, math.floor))


def _no_range(argument: Expression, fields: Fields) -> Unsupported:
    if type_of(argument, fields).kind in (Kind.DATE, Kind.TIMESTAMP):
        return Unsupported(
            "date-range-undeclared", position=argument.position, expression=show_expression(argument)
        )
    columns = [node for node in walk(argument) if isinstance(node, Column)]
    missing = [c.name for c in columns if type_of(c, fields).bounds.low is None and not _text(c, fields)]
    if missing:
        return Unsupported(
            "range-undeclared", position=argument.position, column=missing[0], expression=show_expression(argument)
        )
    return Unsupported("expression-unbounded", position=argument.position, expression=show_expression(argument))


def _text(column: Column, fields: Fields) -> bool:
    return not find_field(column, fields).kind.numeric


def steps_for(reach: Fraction, bits: int) -> Fraction:
    """Return how many lattice points one unit has when values up to `reach` get this many bits."""
    return Fraction(2) ** (bits - _exponent(reach, bits))


def _exponent(reach: Fraction, bits: int) -> int:
    """Return the least e with reach <= 2^e, within what a double can scale by."""
    if reach == 0:
        return bits
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() - 1
    while Fraction(2) ** exponent < reach:
        exponent += 1
    return max(exponent, -900)


def double(value: Fraction, direction: Callable[[Fraction], int]) -> Fraction:
    """Return a number near `value` that a double holds exactly, at or beyond it in the given direction."""
    if abs(value) > _DOUBLE_LIMIT:
        raise QueryError("range-too-wide")
    nearest, down = float(value), direction is math.floor
    if Fraction(nearest) != value and (Fraction(nearest) > value) == down:
        nearest = math.nextafter(nearest, -math.inf if down else math.inf)
    return Fraction(nearest)
