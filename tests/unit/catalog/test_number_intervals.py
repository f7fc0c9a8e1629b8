"""Intervals: whatever values the columns take inside their ranges, an expression stays inside its interval."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jali.catalog.columns import Field, Kind, Range
from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.catalog.tables import Source, Table
from jali.ir.expressions import Call, Column, Expression, Literal
from jali.ir.functions.evaluate import evaluate
from jali.ir.types import infer_type
from jali.privacy import Adjacency, Budget

numbers = st.fractions(min_value=-20, max_value=20, max_denominator=8)


@st.composite
def intervals(draw: st.DrawFn) -> tuple[NumberInterval, Fraction]:
    """An interval, perhaps open on a side, and a number in it."""
    low, value, high = sorted([draw(numbers), draw(numbers), draw(numbers)])
    return NumberInterval(draw(st.sampled_from([low, None])), draw(st.sampled_from([high, None]))), value


def holds(bounds: NumberInterval, value: Fraction) -> bool:
    return (bounds.low is None or bounds.low <= value) and (bounds.high is None or value <= bounds.high)


Known = tuple[NumberInterval, Fraction]


@given(intervals(), intervals())
def test_an_operation_on_intervals_holds_the_operation_on_numbers(one: Known, other: Known) -> None:
    (a, x), (b, y) = one, other
    assert holds(a + b, x + y)
    assert holds(a - b, x - y)
    assert holds(a * b, x * y)
    assert holds(-a, -x)
    assert holds(abs(a), abs(x))
    assert holds(a.least(b), min(x, y))
    assert holds(a.greatest(b), max(x, y))
    assert holds(a.union(b), x)
    assert holds(a.union(b), y)
    if y != 0:
        assert holds(a / b, x / y)


closed = st.tuples(numbers, numbers).map(lambda ends: NumberInterval(min(ends), max(ends)))


@given(closed, closed)
def test_intervals_are_as_narrow_as_their_ends(a: NumberInterval, b: NumberInterval) -> None:
    """Both ends are reached, so no sensitivity is larger than it must be."""
    assert a.low is not None
    assert a.high is not None
    assert b.low is not None
    assert b.high is not None
    assert a + b == NumberInterval(a.low + b.low, a.high + b.high)
    assert a - b == NumberInterval(a.low - b.high, a.high - b.low)
    products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    assert a * b == NumberInterval(min(products), max(products))
    assert a.least(b) == NumberInterval(min(a.low, b.low), min(a.high, b.high))
    assert a.greatest(b) == NumberInterval(max(a.low, b.low), max(a.high, b.high))
    least = 0 if a.low <= 0 <= a.high else min(abs(a.low), abs(a.high))
    assert abs(a) == NumberInterval(Fraction(least), max(abs(a.low), abs(a.high)))


def test_division_by_what_may_be_zero_has_no_bounds() -> None:
    one = NumberInterval(Fraction(1), Fraction(1))
    for low, high in ((-1, 1), (0, 1), (-1, 0), (0, 0)):
        assert one / NumberInterval(Fraction(low), Fraction(high)) == ANYTHING
    assert one / NumberInterval(Fraction(2), Fraction(4)) == NumberInterval(Fraction(1, 4), Fraction(1, 2))


RANGES = {"a": (0, 10), "b": (-5, 5), "c": (2, 3)}
TABLE = Table(
    name="t",
    source=Source("parquet", "t.parquet"),
    unit=None,
    max_rows=1,
    adjacency=Adjacency.ADD_REMOVE,
    fields=tuple(Field(name, Kind.REAL, "DOUBLE", range=Range(*ends)) for name, ends in RANGES.items()),
    budget=Budget(1),
)


def _call(function: str, *arguments: Expression) -> Expression:
    return Call(function, arguments)


def _condition(left: Expression, right: Expression) -> Expression:
    return Call("<", (left, right))


leaves = st.one_of(
    st.sampled_from([Column(name) for name in RANGES]),
    st.sampled_from([Literal(2), Literal(-3), Literal(Fraction(1, 2))]),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(_call, st.sampled_from(["+", "-", "*", "/", "least", "greatest", "coalesce"]), inner, inner),
        st.builds(_call, st.sampled_from(["negate", "abs", "floor", "ceil", "round"]), inner),
        st.builds(lambda e, d: Call("round", (e, Literal(d))), inner, st.integers(0, 3)),
        st.builds(lambda a, b, c, d: Call("case", (_condition(a, b), c, d)), inner, inner, inner, inner),
    ),
    max_leaves=6,
)


def _values(draw: Any, nulls: bool) -> dict[Expression, Any]:
    return {
        Column(name): draw(st.one_of(st.none(), st.floats(*ends)) if nulls else st.floats(*ends))
        for name, ends in RANGES.items()
    }


def _inside(expression: Expression, values: dict[Expression, Any]) -> None:
    value, bounds = evaluate(expression, values), infer_type(expression, TABLE).bounds
    if value is None:
        return
    # The engine computes in doubles: a rounding error beyond an end is clamped to it.
    slack = 1e-9 * (1 + abs(value))
    assert bounds.low is None or value >= float(bounds.low) - slack
    assert bounds.high is None or value <= float(bounds.high) + slack


@given(st.data(), expressions)
def test_the_interval_of_an_expression_holds_its_value(data: st.DataObject, expression: Expression) -> None:
    _inside(expression, _values(data.draw, nulls=False))


@given(st.data(), expressions)
def test_the_interval_of_an_expression_holds_its_value_also_where_parts_are_null(
    data: st.DataObject, expression: Expression
) -> None:
    _inside(expression, _values(data.draw, nulls=True))


def test_least_and_greatest_of_columns_that_may_be_null_can_be_any_of_them() -> None:
    """NULLs are left out, so LEAST(a, b) is b where a is NULL: its upper end is the larger of the two."""
    a, b = Column("a"), Column("b")
    assert infer_type(Call("least", (a, b)), TABLE).bounds == NumberInterval(Fraction(-5), Fraction(10))
    assert infer_type(Call("greatest", (a, b)), TABLE).bounds == NumberInterval(Fraction(-5), Fraction(10))


def test_a_constant_in_least_or_greatest_clamps() -> None:
    """Constants are never NULL: this is how a question clamps a column without a range."""
    clamped = Call("least", (Call("greatest", (Column("a"), Literal(1))), Literal(4)))
    assert infer_type(clamped, TABLE).bounds == NumberInterval(Fraction(1), Fraction(4))
