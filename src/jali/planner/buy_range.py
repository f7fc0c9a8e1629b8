"""Plan the private estimate of a column's range (`Range(auto=True)`): where nearly all of its values lie.

Numbers are counted on a public scale of signed powers of two, dates and times on one of days. The plan draws the
least and the largest cell, aimed so far inside that with a chance of 0.998 neither is beyond all values: the best
bound of a sum is about the (1/epsilon)-th largest value, not the largest (Amin, Kulesza, Munoz Medina and
Vassilvitskii 2019, "Bounding user contributions: a bias-variance trade-off in differential privacy").

Proof:
    docs/proofs/bought_range.md.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from jali.catalog.columns import Field, Kind, Range, since_1970
from jali.catalog.tables import Catalog, Table
from jali.errors import CatalogError
from jali.ir.estimators import Picked
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal, NamedTable, Output, Question
from jali.mechanisms.measurement import Measurement
from jali.planner.draft import Draft
from jali.planner.measured_query import AxisRelease, GroupingSet, MeasuredQuery
from jali.planner.plan import Plan, finish
from jali.planner.rules import RULES
from jali.planner.rules.split_loss import split_loss
from jali.planner.terms import QuestionTerms
from jali.privacy import Pure
from jali.serialization.answer_keys import answer_key

# What one range costs where nothing else is said: this part of the table's epsilon.
SHARE = Fraction(1, 20)
# Powers of two from 2^-64 to 2^64: smaller numbers count as the smallest, larger ones as the largest.
_LAST = 64
_CELLS = 2 * _LAST + 1
# How surely each end is not beyond all values: a purchase is never repeated.
_CONFIDENCE = 0.999
_DATES = (datetime.date(1900, 1, 1), datetime.date(2100, 1, 1))
_DAY = {Kind.DATE: 1, Kind.TIMESTAMP: 86_400_000_000}


def list_wanted_ranges(table: Table) -> tuple[Field, ...]:
    """Return the columns whose range is still to be bought."""
    return tuple(field for field in table.fields if field.range is not None and field.range.wanted)


def price_range(table: Table, field: Field) -> Fraction:
    """Return the epsilon of a column's range: as declared, or a public share of the budget."""
    given = None if field.range is None else field.range.epsilon
    return SHARE * table.budget.epsilon if given is None else given


def purchase_name(table: Table, field: Field) -> str:
    """Return how the ledger calls the purchase. No question reads so, and there is one for each column."""
    return f"RANGE OF {table.name}.{field.name}"


def purchase_key(table: Table, field: Field, plan: Plan) -> str:
    """Return the ledger's key of the purchase: what its plan means, and which column it is for."""
    return answer_key(f"{purchase_name(table, field)}\n", plan.meaning)


def plan_range(table: Table, field: Field) -> Plan:
    """Plan the purchase of one column's range: both ends together, in one release."""
    # The purchase shows no groups, so no minimum of people applies to it.
    draft = Draft(
        _question(table, field),
        Catalog((replace(table, min_people=1),)),
        QuestionTerms(Pure(price_range(table, field))),
    )
    for rule in RANGE_RULES:
        draft = rule(draft)
    return finish(draft)


def check_enough_rows(table: Table, plans: list[Plan]) -> None:
    """Refuse a purchase that would say nothing, as far as the public guess of the rows tells."""
    needed = max((rows_needed(plan) for plan in plans), default=0)
    if table.rows is not None and table.rows < needed:
        raise CatalogError("range-needs-rows", needed=needed, rows=table.rows)


def rows_needed(plan: Plan) -> int:
    """Return how many rows a purchase needs, so that both ends are among them: twice the error of one."""
    (part,) = plan.parts
    weights = part.aggregation.weights
    resolution = 1 if weights is None else weights.resolution
    errors = (m.bound_error(_CONFIDENCE, _cells(part)) for m in part.mechanisms)
    return math.ceil(2 * max(errors) / resolution)


def without_intervals(draft: Draft) -> Draft:
    """Rule: the two ends are released alone, so that nothing is spent on the ends of their intervals."""
    ends = tuple(draw for draw in draft.draws if not draw.end)
    estimates = []
    for aggregate, estimate in draft.estimates:
        assert isinstance(estimate, Picked)
        place = ends.index(draft.draws[estimate.picks[0].value])
        alone = replace(estimate.picks[0], value=place, low=None, high=None)
        estimates.append((aggregate, replace(estimate, picks=(alone,))))
    return replace(draft, draws=ends, estimates=tuple(estimates))


def aim_inside(draft: Draft) -> Draft:
    """Rule: aim as far inside as the draw may err, so that an empty rest of the scale is seldom drawn."""
    return replace(draft, levels=tuple(_aim_level(level) for level in draft.levels))


_BEFORE = RULES.index(split_loss)
RANGE_RULES = (*RULES[:_BEFORE], without_intervals, *RULES[_BEFORE:], aim_inside)


def _aim_level(level: GroupingSet) -> GroupingSet:
    return replace(level, parts=tuple(_aim_query(part) for part in level.parts))


def _aim_query(part: MeasuredQuery) -> MeasuredQuery:
    pairs = zip(part.mechanisms, part.draws, strict=True)
    return replace(part, mechanisms=tuple(_aim_measurement(mechanism, draw) for mechanism, draw in pairs))


def _aim_measurement(mechanism: Measurement, draw: AxisRelease) -> Measurement:
    inwards = math.ceil(mechanism.bound_error(_CONFIDENCE, draw.axis.cells))
    return mechanism.shift_target(Fraction(inwards if draw.at == 0 else -inwards))


def _cells(part: MeasuredQuery) -> int:
    assert part.aggregation.along is not None
    return part.aggregation.along.cells


def _question(table: Table, field: Field) -> Question:
    scale, ends = _scale(field)
    outputs = tuple(
        Output(name, Aggregate(f, scale, bounds=ends)) for name, f in (("low", "min"), ("high", "max"))
    )
    return Question(NamedTable(table.name), outputs)


def _scale(field: Field) -> tuple[Expression, tuple[Fraction, Fraction]]:
    """Return what is counted of a row, and between which ends."""
    column = Column(field.name)
    if field.kind.numeric:
        return _power(column), (Fraction(-_CELLS), Fraction(_CELLS))
    low, high = (since_1970(date) * _DAY[field.kind] for date in _DATES)
    return column, (low, high)


def _power(column: Column) -> Expression:
    """The cell of a number: 0 for 0, and n for a number above 2^(n-66) up to 2^(n-65); below 0 likewise."""
    above = Call("+", (_exponent(column), Literal(_LAST + 1)))
    below = Call("-", (Literal(-_LAST - 1), _exponent(Call("negate", (column,)))))
    zero = Literal(0)
    return Call(
        "case",
        (
            *(Call(">", (column, zero)), above),
            *(Call("<", (column, zero)), below),
            *(Call("=", (column, zero)), zero),
            Literal(None),
        ),
    )


def _exponent(value: Expression) -> Expression:
    return Call("clamp", (Call("ceil", (Call("log2", (value,)),)), Literal(-_LAST), Literal(_LAST)))


def with_range(table: Table, field: Field, drawn: tuple[Any, ...], epsilon: Fraction | None) -> Table:
    """Return the declaration with the range that was bought, and what it cost."""
    bought = read_range(field, drawn, epsilon)
    fields = tuple(replace(f, range=bought) if f.name == field.name else f for f in table.fields)
    return replace(table, fields=fields)


def read_range(field: Field, drawn: tuple[Any, ...], epsilon: Fraction | None) -> Range:
    """Return the range between two cells, whichever way round the noise put them."""
    low, high = sorted(drawn)
    if not field.kind.numeric:
        # A cell is up to two days wide: one more on either side holds all of it.
        return Range(_day(low, -1, field.kind), _day(high, 2, field.kind), auto=True, epsilon=epsilon)
    ends = _least(low), -_least(-high)
    if field.kind is Kind.INTEGER:
        ends = Fraction(math.ceil(ends[0])), Fraction(math.floor(ends[1]))
    return Range(*ends, auto=True, epsilon=epsilon)


def _least(cell: int) -> Fraction:
    """Return the power of two at or below every number of a cell; 0 for the numbers next to it."""
    if cell > 1:
        return Fraction(2) ** (cell - _LAST - 2)
    return Fraction(0) if cell >= 0 else -(Fraction(2) ** (-cell - _LAST - 1))


def _day(cell: datetime.date, days: int, kind: Kind) -> datetime.date:
    day = datetime.date(cell.year, cell.month, cell.day) + datetime.timedelta(days=days)
    return day if kind is Kind.DATE else datetime.datetime(day.year, day.month, day.day)  # noqa: DTZ001
