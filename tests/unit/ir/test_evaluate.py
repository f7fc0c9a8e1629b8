"""Post-processing: expressions on noisy values give what DuckDB gives on constants, and intervals hold them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal
from jali.ir.functions.evaluate import evaluate
from jali.ir.functions.interval_arithmetic import Interval, enclose
from jali.sql.reader.read_select import read_value

# Doubles are written with an exponent: DuckDB reads 0.5 as a decimal.
CONSTANTS = [
    "1 + 2 * 3",
    "10 - 4 - 3",
    "7 / 2",
    "-7 / 2",
    "100 / 10 / 5",
    "- 2 * -3",
    "1e0 / 3",
    "ABS(-3)",
    "ABS(-2.5e0)",
    "FLOOR(-1.5e0)",
    "FLOOR(1.5e0)",
    "CEIL(-1.5e0)",
    "CEIL(1.5e0)",
    "ROUND(2.5e0)",
    "ROUND(0.4999e0)",
    "ROUND(-0.4e0)",
    "ROUND(-0.5e0)",
    "ROUND(-2.5e0)",
    "ROUND(0.49999999999999994e0)",
    "ROUND(7)",
    "ROUND(9007199254740993)",
    "ROUND(1e20)",
    "ROUND(2.345e0, 1)",
    "ROUND(0.15e0, 1)",
    "ROUND(2.675e0, 2)",
    "ROUND(-1.25e0, 1)",
    "LEAST(1, NULL, -2)",
    "GREATEST(1, NULL, -2)",
    "LEAST(NULL, NULL)",
    "LEAST(1.5e0, 2)",
    "COALESCE(NULL, NULL, 3)",
    "COALESCE(NULL, NULL)",
    "CASE WHEN NULL THEN 1 ELSE 2 END",
    "CASE WHEN FALSE THEN 1 END",
    "CASE WHEN FALSE THEN 1 WHEN TRUE THEN 2 ELSE 3 END",
    "CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END",
    "NULL + 1",
    "1 < 2",
    "2 <= 2",
    "2 > 1",
    "1 >= 2",
    "1 = 1.0",
    "1 <> 1",
    "NULL = NULL",
    "NULL <> 1",
    "'a' < 'b'",
    "'a' = 'A'",
    "'Z' < 'a'",
    "NULL AND FALSE",
    "NULL AND TRUE",
    "NULL OR TRUE",
    "NULL OR FALSE",
    "NOT NULL",
    "NOT 1 = 2 AND TRUE",
    "TRUE OR FALSE AND FALSE",
    "1 IN (1, 2)",
    "3 NOT IN (1, 2)",
    "NULL IN (1)",
    "2 IN (1, 2.0)",
    "5 BETWEEN 1 AND 5",
    "NULL BETWEEN 1 AND 5",
    "0 BETWEEN 1 AND NULL",
    "NULL IS NULL",
    "1 IS NOT NULL",
    "TRUE IS TRUE",
    "NULL IS TRUE",
    "NULL IS NOT TRUE",
    "NULL IS NOT FALSE",
]


@pytest.fixture(scope="module")
def plain() -> Any:
    with duckdb.connect() as connection:
        yield connection


@pytest.mark.parametrize("written", CONSTANTS)
def test_a_constant_expression_has_the_value_that_duckdb_gives(written: str, plain: Any) -> None:
    (expected,) = plain.execute(f"SELECT {written}").fetchone()
    value = evaluate(read_value(written), {})
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        assert value is expected or value == expected
        assert type(value) is type(expected)
    else:
        assert value == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize("written", ["1 / 0", "0 / 0", "1e300 * 1e300", "-1e300 * 1e300"])
def test_what_has_no_finite_value_is_null(written: str) -> None:
    assert evaluate(read_value(written), {}) is None


def test_a_column_is_negated() -> None:
    assert evaluate(Call("negate", (Column("n"),)), {Column("n"): 3}) == -3


def test_columns_and_aggregates_take_the_given_values() -> None:
    values: dict[Expression, Any] = {Column("ward"): "A", Aggregate("count"): 7}
    assert evaluate(read_value("CASE WHEN ward = 'A' THEN COUNT(*) * 2 END"), values) == 14


HUGE = "9" * 99


@pytest.mark.parametrize(
    "written",
    [
        f"COUNT(*) * {HUGE} * {HUGE} * {HUGE} * {HUGE} + 0.5",
        f"COUNT(*) * {HUGE} * {HUGE} * {HUGE} * {HUGE} / 3",
        f"ROUND(COUNT(*) * {HUGE} * {HUGE} * {HUGE} * {HUGE})",
    ],
)
def test_numbers_beyond_doubles_are_null_and_never_raise(written: str) -> None:
    """Nothing may raise after the answer was paid for."""
    value = evaluate(read_value(written), {Aggregate("count"): 10})
    assert value is None or isinstance(value, int | float)


NAMES = ("a", "b", "c")
leaves = st.one_of(
    st.sampled_from([Column(name) for name in NAMES]),
    st.sampled_from([Literal(2), Literal(-3), Literal(Fraction(1, 2))]),
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            lambda f, x, y: Call(f, (x, y)),
            st.sampled_from(["+", "-", "*", "/", "least", "greatest"]),
            inner,
            inner,
        ),
        st.builds(lambda f, x: Call(f, (x,)), st.sampled_from(["negate", "abs", "floor", "ceil", "round"]), inner),
        st.builds(lambda x, d: Call("round", (x, Literal(d))), inner, st.integers(0, 3)),
    ),
    max_leaves=6,
)
ends = st.floats(-100, 100)


@given(st.data(), expressions)
def test_an_enclosure_holds_every_value_of_its_expression(data: st.DataObject, expression: Expression) -> None:
    known: dict[Expression, Interval] = {}
    values: dict[Expression, Any] = {}
    for name in NAMES:
        low, value, high = sorted([data.draw(ends), data.draw(ends), data.draw(ends)])
        known[Column(name)] = (low, high)
        values[Column(name)] = value
    interval, value = enclose(expression, known), evaluate(expression, values)
    assert interval is not None
    if value is None:
        return
    slack = 1e-9 * max(1.0, abs(value))
    assert interval[0] - slack <= value <= interval[1] + slack


def test_an_enclosure_is_narrow_where_it_can_be() -> None:
    known: dict[Expression, Interval] = {Column("a"): (1.0, 2.0), Column("b"): (-3.0, 4.0)}
    assert enclose(read_value("a + b"), known) == (-2.0, 6.0)
    assert enclose(read_value("a * b"), known) == (-6.0, 8.0)
    assert enclose(read_value("ABS(b)"), known) == (0.0, 4.0)
    assert enclose(read_value("b / a"), known) == (-3.0, 4.0)
    assert enclose(read_value("LEAST(a, b)"), known) == (-3.0, 2.0)


def test_an_enclosure_is_everything_where_a_denominator_may_be_zero() -> None:
    known: dict[Expression, Interval] = {Column("a"): (1.0, 2.0), Column("b"): (-3.0, 4.0)}
    assert enclose(read_value("a / b"), known) == (-math.inf, math.inf)


def test_an_enclosure_is_nothing_where_intervals_make_no_sense() -> None:
    known: dict[Expression, Interval] = {Column("a"): (1.0, 2.0)}
    for written in ("CASE WHEN a > 1 THEN 1 ELSE 2 END", "a > 1", "'text'", "COALESCE(a, 1)"):
        assert enclose(read_value(written), known) is None
