"""Intervals of expressions on noisy values hold the values, for every function that has a rule."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.depth import thinned

from jali.ir.expressions import Column, Expression
from jali.ir.functions.evaluate import evaluate
from jali.ir.functions.interval_arithmetic import Interval, enclose
from jali.sql.reader.read_select import read_value

EXPRESSIONS = [
    "SIGN(a)",
    "TRUNC(a)",
    "a // b",
    "a % b",
    "SQRT(a)",
    "EXP(a)",
    "LN(a)",
    "LOG10(a)",
    "LOG2(a)",
    "POWER(a, b)",
    "POWER(ABS(a) + 1, b / 20)",
    "CLAMP(a, -3, 7.5)",
    "WIDTH_BUCKET(a, -10, 10, 7)",
    "CAST(a AS DOUBLE)",
    "CAST(a AS INTEGER)",
    "ROUND(a, -1)",
    "ROUND(a, 2)",
]
ends = st.floats(-100, 100)


@thinned(4)
@pytest.mark.parametrize("written", EXPRESSIONS)
@given(data=st.data())
def test_an_enclosure_holds_every_value_of_its_expression(written: str, data: st.DataObject) -> None:
    known: dict[Expression, Interval] = {}
    values: dict[Expression, Any] = {}
    for name in "ab":
        low, value, high = sorted([data.draw(ends), data.draw(ends), data.draw(ends)])
        known[Column(name)], values[Column(name)] = (low, high), value
    interval, made = enclose(read_value(written), known), evaluate(read_value(written), values)
    assert interval is not None
    slack = 0 if made is None else 1e-9 * max(1.0, abs(made))
    assert made is None or interval[0] - slack <= made <= interval[1] + slack


@pytest.mark.parametrize(
    ("written", "interval"),
    [
        ("SQRT(a)", (1.0, 2.0)),
        ("SQRT(b)", (0.0, 3.0)),
        ("SQRT(-a)", (-math.inf, math.inf)),
        ("LOG2(a)", (0.0, 2.0)),
        ("LN(b)", (-math.inf, math.log(9))),
        ("EXP(b * 1000)", (0.0, math.inf)),
        ("POWER(a, 2)", (1.0, 16.0)),
        ("POWER(a, 2000)", (-math.inf, math.inf)),
        ("b % 3", (-3.0, 3.0)),
        ("a % 3", (0.0, 3.0)),
        ("SIGN(a)", (1.0, 1.0)),
        ("SIGN(b)", (-1.0, 1.0)),
        ("CLAMP(b, -1, 2)", (-1.0, 2.0)),
        ("WIDTH_BUCKET(a, 0, 10, 5)", (1, 3)),
    ],
)
def test_an_enclosure_is_narrow_where_it_can_be(written: str, interval: Interval) -> None:
    known: dict[Expression, Interval] = {Column("a"): (1.0, 4.0), Column("b"): (-5.0, 9.0)}
    assert enclose(read_value(written), known) == interval
