"""Ranges as marks, and exact sums of products of them."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.mechanisms.regression.column_axes import ColumnAxis, read_grain, read_range, read_table, sums_of_products

HUGE = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324)


@pytest.mark.parametrize("grain", [1, 2, 7, 1 << 15, 1 << 20])
def test_a_mark_is_the_nearest_one_up_to_the_fine_ruler(grain: int) -> None:
    axis = ColumnAxis(Fraction("-0.3"), Fraction("17.1"), grain)
    values = np.random.default_rng(1).uniform(-3, 20, 500)
    for value, mark in zip(values.tolist(), axis.marks(values).tolist(), strict=True):
        inside = min(max(Fraction(value), axis.low), axis.high)
        assert abs(axis.at(mark) - inside) <= axis.half * (Fraction(1, 2 * grain) + Fraction(1, 1 << 28))
        assert abs(mark) <= grain


def test_the_ends_of_a_range_are_the_outermost_marks() -> None:
    axis = ColumnAxis(Fraction(1, 3), Fraction(22, 7), 100)
    assert axis.marks([Fraction(1, 3), Fraction(22, 7), -5, 5, Decimal("1e999")]).tolist() == [
        -100,
        100,
        -100,
        100,
        100,
    ]


def test_no_value_is_refused_and_all_fall_on_the_axis() -> None:
    axis = ColumnAxis(Fraction(0), Fraction(10), 5)
    marks = axis.marks(list(HUGE))
    assert marks.tolist() == [-5, 5, -5, 5, -5, -5]
    assert axis.marks([10**400, -(10**400)]).tolist() == [5, -5]


@pytest.mark.parametrize("grain", [3, 1 << 20])
def test_sums_of_products_are_exact_across_chunks(grain: int) -> None:
    rows = 20_000 if grain > 3 else 300_000
    marks = np.random.default_rng(2).integers(-grain, grain + 1, (rows, 2))
    marks[: rows // 2] = grain  # sums as large as they come
    found = sums_of_products(marks, marks, grain)
    x, y = marks.astype(object).T
    assert found.tolist() == [[int((x * x).sum()), int((x * y).sum())], [int((y * x).sum()), int((y * y).sum())]]
    assert all(isinstance(item, int) for item in found.ravel().tolist())


@pytest.mark.parametrize("table", [[], np.zeros((0, 2)), np.zeros((0, 5))])
def test_an_empty_table_has_no_rows(table: Any) -> None:
    axis = ColumnAxis(Fraction(0), Fraction(1), 4)
    assert read_table(table, (axis, axis)).shape == (0, 2)


@pytest.mark.parametrize("table", [[1, 2], [[1], [2]], [[1, 2, 3]], 5, [["a", "b"]], [[1, None]]])
def test_a_table_of_another_form_is_refused(table: Any) -> None:
    axis = ColumnAxis(Fraction(0), Fraction(1), 4)
    with pytest.raises(MechanismError):
        read_table(table, (axis, axis))


def test_columns_of_different_types_keep_their_digits() -> None:
    axis = ColumnAxis(Fraction(0), Fraction(1 << 30), 1 << 20)
    assert read_table([[1 << 30, 0.5], [Fraction(1, 3), 0]], (axis, axis)).tolist() == [
        [1 << 20, -(1 << 20)],
        [-(1 << 20), -(1 << 20)],
    ]


@pytest.mark.parametrize(
    "bad", [5, (), (1,), (1, 2, 3), (2, 1), (1, 1), ("x", 2), (0, math.inf), (0, math.nan), None]
)
def test_a_range_that_is_none_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(MechanismError, match="target"):
        read_range(bad, "target")


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, (1 << 20) + 1])
def test_a_grain_that_is_none_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(MechanismError, match="grain"):
        read_grain(bad)
