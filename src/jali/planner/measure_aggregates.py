"""Rule: each aggregate becomes integer measures, clamped to public ranges and put on a lattice."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from jali.errors import Unsupported
from jali.planner.bound_contributions import RESOLUTION
from jali.planner.draft import Draft
from jali.planner.show_expression import show_expression
from jali.query.aggregation import CountPeople, CountRows, Measure, SumValues
from jali.query.bounds import Bounds
from jali.query.catalog import Kind, Table
from jali.query.estimate import Estimate, Linear
from jali.query.functions import Type
from jali.query.nodes import Aggregate, Column, Expression, aggregates, walk
from jali.query.types import find_field, type_of

# Noise is sampled up to scale 2^60. A person moves a weighted sum by max_rows * 2^20 * 2^bits steps, and a
# measure gets a share of the loss: what is left of 58 bits is how finely values are put on the lattice.
_NOISE_BITS = 58
_MOST_BITS = 30
_LEAST_BITS = 8
_DOUBLE_LIMIT = Fraction(2) ** 1000


def measure_aggregates(draft: Draft) -> Draft:
    """List the measures that the aggregates need, each once, and how the aggregates are made from them."""
    drafted = _Measuring(draft.table, lattice_bits(draft))
    estimates = tuple((a, drafted.estimate(a)) for a in aggregates(draft.question))
    return replace(draft, measures=tuple(drafted.measures), estimates=estimates)


class _Measuring:
    """Collects distinct measures and refers to them by number, with coefficient 1 per unit of the measure."""

    def __init__(self, table: Table, bits: int) -> None:
        self.table = table
        self.bits = bits
        self.measures: list[Measure] = []

    def term(self, measure: Measure) -> Linear:
        if measure not in self.measures:
            self.measures.append(measure)
        return Linear(((self.measures.index(measure), Fraction(1)),))

    def estimate(self, aggregate: Aggregate) -> Estimate:
        if aggregate.distinct:
            return Estimate(self.term(CountPeople()))
        if aggregate.argument is None:
            return Estimate(self.term(CountRows()))
        if aggregate.function == "count":
            return Estimate(self.term(self._present(aggregate.argument)))
        return (self._mean if aggregate.function == "avg" else self._sum)(aggregate.argument)

    def _present(self, argument: Expression) -> CountRows:
        return CountRows(argument, _kind(argument, self.table))

    def _sum(self, argument: Expression) -> Estimate:
        low, high = _ends(argument, self.table)
        return Estimate(self.term(self._on_lattice(argument, low, high, Fraction(0))))

    def _mean(self, argument: Expression) -> Estimate:
        """Centre the values, so that the sum's sensitivity is half the width of the range."""
        low, high = _ends(argument, self.table)
        middle = _double((low + high) / 2, math.floor)
        if _kind(argument, self.table) is Kind.INTEGER:
            middle = Fraction(math.floor(middle))
        above = self.term(self._on_lattice(argument, low, high, middle))
        below = self.term(self._present(argument))
        return Estimate(above + below.scaled(middle), below, Bounds(low, high))

    def _on_lattice(self, argument: Expression, low: Fraction, high: Fraction, center: Fraction) -> SumValues:
        kind = _kind(argument, self.table)
        reach = max(abs(low - center), abs(high - center))
        whole = kind is Kind.INTEGER and reach <= 1 << self.bits
        steps = Fraction(1) if whole else Fraction(2) ** (self.bits - _exponent(reach, self.bits))
        return SumValues(argument, kind, low, high, center, steps)


def _kind(argument: Expression, table: Table) -> Kind:
    return type_of(argument, table).kind or Kind.INTEGER


def _ends(argument: Expression, table: Table) -> tuple[Fraction, Fraction]:
    """Return the public range of an expression as numbers that a double holds, or say which column lacks one."""
    found: Type = type_of(argument, table)
    low, high = found.bounds.low, found.bounds.high
    if low is None or high is None or max(abs(low), abs(high)) > _DOUBLE_LIMIT:
        raise _no_range(argument, table)
    if found.kind is Kind.INTEGER:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
    return _double(low, math.floor), max(_double(high, math.ceil), _double(low, math.floor))


def _no_range(argument: Expression, table: Table) -> Unsupported:
    columns = [node for node in walk(argument) if isinstance(node, Column)]
    missing = [c.name for c in columns if find_field(c, table).range is None]
    if missing:
        return Unsupported(
            f"Column {missing[0]} has no declared range, so one person could move this sum without limit.",
            position=argument.position,
            remedy=f"Ask the curator to declare one, Range(low, high), for {table.name}.{missing[0]}; "
            f"or clamp the value in the question: LEAST(GREATEST({show_expression(argument)}, 0), 100).",
        )
    return Unsupported(
        "The range of this expression is unbounded.",
        position=argument.position,
        remedy="Clamp it: LEAST(GREATEST(expression, low), high).",
    )


def lattice_bits(draft: Draft) -> int:
    """Return how many bits a value gets on the lattice: as many as the noise of this loss leaves room for.

    The rounding error of a sum of n rows is then at most n 2^-35 of its noise scale, or n epsilon 2^-30 where
    the bits are capped.
    """
    event = draft.loss.event
    loss = event.epsilon if event.epsilon is not None else Fraction(math.sqrt(2 * event.rho))
    parts = 4 * max(4, len(aggregates(draft.question)))
    bits = _NOISE_BITS - math.ceil(parts / loss).bit_length()
    if draft.owner is not None:
        bits -= (RESOLUTION - 1).bit_length() + draft.table.max_rows.bit_length()
    return min(_MOST_BITS, max(_LEAST_BITS, bits))


def _exponent(reach: Fraction, bits: int) -> int:
    """Return the least e with reach <= 2^e, within what a double can scale by."""
    if reach == 0:
        return bits
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() - 1
    while Fraction(2) ** exponent < reach:
        exponent += 1
    return max(exponent, -900)


def _double(value: Fraction, direction: Callable[[Fraction], int]) -> Fraction:
    """Return a number near `value` that a double holds exactly, at or beyond it in the given direction."""
    nearest, down = float(value), direction is math.floor
    if Fraction(nearest) != value and (Fraction(nearest) > value) == down:
        nearest = math.nextafter(nearest, -math.inf if down else math.inf)
    return Fraction(nearest)
