"""Rulers: the mark nearest to a value, for numbers of every kind, and nothing that fails for a value."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import MechanismError
from jali.mechanisms.lattice import BoundedLattice

AGES = BoundedLattice.of(0, 120, 1)
TENTHS = BoundedLattice.of(-1, 1, "1/10")
RULERS = [
    AGES,
    TENTHS,
    BoundedLattice.of(-5, 5),
    BoundedLattice.of("1/3", "22/7", "1/7"),
    BoundedLattice.of(-(10**30), 10**30, 10**20),
]


def nearest(ruler: BoundedLattice, value: Fraction) -> int:
    """The mark nearest to a value, ties up, by rationals."""
    clamped = min(max(value, ruler.low), ruler.high)
    point = math.floor(clamped / ruler.step + Fraction(1, 2))
    return min(max(point - math.ceil(ruler.low / ruler.step), 0), ruler.top)


@settings(max_examples=100 * DEPTH, deadline=None)
@given(st.sampled_from(RULERS), st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_doubles_fall_on_their_nearest_mark(ruler: BoundedLattice, values: list[float]) -> None:
    expected = [nearest(ruler, Fraction(value)) for value in values]
    assert ruler.marks(np.array(values, np.float64)).tolist() == expected
    assert ruler.marks(values).tolist() == expected


@settings(max_examples=60 * DEPTH, deadline=None)
@given(
    st.sampled_from(RULERS),
    st.lists(st.integers(-(2**80), 2**80) | st.fractions() | st.decimals(-100, 200, places=9)),
)
def test_integers_fractions_and_decimals_fall_on_their_nearest_mark(
    ruler: BoundedLattice, values: list[Any]
) -> None:
    assert ruler.marks(values).tolist() == [nearest(ruler, Fraction(value)) for value in values]


def test_ties_go_up_and_neighbours_of_ties_to_their_side() -> None:
    values = [36.5, np.nextafter(36.5, 0), np.nextafter(36.5, 99), 37.5]
    assert AGES.marks(values).tolist() == [37, 36, 37, 38]
    assert BoundedLattice.of(-3, 3, 1).marks([-0.5, -1.5, 0.49999999999999994]).tolist() == [3, 2, 3]


@pytest.mark.parametrize("ruler", RULERS[:3], ids=repr)
def test_what_is_beyond_the_range_counts_as_its_end(ruler: BoundedLattice) -> None:
    low = [-math.inf, -1e300, -(10**400), Decimal("-Infinity"), Decimal("-1e999999"), np.float32(-np.inf)]
    high = [math.inf, 1e300, 10**400, Decimal("Infinity"), Decimal("1e999999"), np.longdouble("inf")]
    for item in low:
        assert ruler.marks([item]).tolist() == [0]
    for item in high:
        assert ruler.marks([item]).tolist() == [ruler.top]
    assert ruler.marks(np.array([-np.inf, np.inf])).tolist() == [0, ruler.top]


def test_what_is_no_number_counts_as_the_mark_nearest_to_0() -> None:
    for item in (math.nan, Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), np.longdouble("nan")):
        assert TENTHS.marks([item]).tolist() == [10]
        assert BoundedLattice.of(5, 9, 1).marks([item]).tolist() == [0]
        assert BoundedLattice.of(-9, -5, 1).marks([item]).tolist() == [4]


FAR = BoundedLattice.of(1_700_000_000_000, 1_700_000_000_100)  # its first mark is a multiple beyond 64 bits


@pytest.mark.parametrize(
    "column",
    [[math.nan], [5, Fraction(1, 3)], np.array([5]), [-math.inf, Decimal("NaN")], np.array([5.0, np.nan])],
)
def test_no_value_is_refused_on_a_range_far_from_0(column: Any) -> None:
    assert FAR.marks(column).tolist() == [0] * len(column)
    mirrored = BoundedLattice.of(-1_700_000_000_100, -1_700_000_000_000)
    assert set(mirrored.marks(column).tolist()) <= {0, mirrored.top}


def test_values_on_a_range_far_from_0_fall_on_their_nearest_mark() -> None:
    values: list[Any] = [1_700_000_000_050, Fraction(5_100_000_000_001, 3), 1_700_000_000_099.75, 1e300]
    expected = [nearest(FAR, Fraction(value)) for value in values]
    assert FAR.marks(values).tolist() == expected
    column = np.full(32_769, 1_700_000_000_050.0)
    column[-1] = math.nan  # in a part of its own
    assert FAR.marks(column).tolist() == [expected[0]] * 32_768 + [0]


def test_every_type_of_integers_is_read_to_its_extremes() -> None:
    wide = BoundedLattice.of(-(2**63), 2**64, 2**10)
    for kind in (np.int64, np.uint64, np.int32, np.uint8):
        ends = [np.iinfo(kind).min, np.iinfo(kind).max]
        assert wide.marks(np.array(ends, kind)).tolist() == [nearest(wide, Fraction(int(end))) for end in ends]
    assert AGES.marks(np.array([False, True])).tolist() == [0, 1]
    assert AGES.marks(np.array([2**64 - 1, 3], np.uint64)).tolist() == [120, 3]
    assert AGES.marks(np.array([-(2**63), 2**63 - 1])).tolist() == [0, 120]


def test_long_doubles_keep_their_digits() -> None:
    values = np.array([36.5], np.longdouble) - np.spacing(np.longdouble(36.5))
    expected = 36 if np.finfo(np.longdouble).nmant > 52 else 37
    assert AGES.marks(values).tolist() == [min(expected, nearest(AGES, Fraction(*values[0].as_integer_ratio())))]
    fine = np.array([np.inf, -np.inf, np.nan], np.longdouble)
    assert AGES.marks(fine).tolist() == [120, 0, 0]


def test_parts_of_a_long_column_are_read_as_the_whole() -> None:
    values = np.random.default_rng(6).normal(60, 50, 100_000)
    expected = np.floor(np.clip(values, 0, 120) + 0.5)
    assert AGES.marks(values).tolist() == expected.tolist()
    assert AGES.marks(values.astype(np.float32)[:5000]).tolist() == [
        nearest(AGES, Fraction(float(value))) for value in values.astype(np.float32)[:5000]
    ]
    assert AGES.marks([]).tolist() == []


def test_the_default_step_puts_a_thousand_million_marks_on_the_range() -> None:
    for low, high in ((0, 1), (0, 100), (-1, 2), ("1e-200", "1e-199"), (0, "1e250"), (0, 2**40), (0, "1/3")):
        ruler = BoundedLattice.of(low, high)
        assert 2**30 - 2 <= ruler.top <= 2**31
        power = ruler.step.numerator * ruler.step.denominator
        assert power & (power - 1) == 0


def test_a_mark_is_an_int_where_the_step_is_whole_and_else_the_nearest_double() -> None:
    assert [BoundedLattice.of(-5, 5, 2).at(mark) for mark in range(5)] == [-4, -2, 0, 2, 4]
    assert isinstance(AGES.at(7), int)
    assert TENTHS.at(13) == 0.3
    assert isinstance(TENTHS.at(10), float)
    assert AGES.nearest("36.5") == 37
    assert TENTHS.nearest(0.3) == 13


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 0, 1), "low"), ((2, 1, 1), "low"), ((0, 1, 0), "step"), ((0, 1, 2), "step"), ((0, 1, "1e-19"), "step"),
     (("x", 1, 1), "low"), ((0, math.inf, 1), "high"), ((0, None, 1), "high"),
     ((0, 1, math.nan), "step"), ((0, 1, True), "step")],
)  # fmt: skip
def test_bad_rulers_are_refused_by_name(arguments: tuple[Any, Any, Any], name: str) -> None:
    with pytest.raises(MechanismError, match=name):
        BoundedLattice.of(*arguments)


@pytest.mark.parametrize("values", [5, [[1, 2]], "12", ["a"], [None], [1j]])
def test_what_is_no_column_of_numbers_is_refused_for_its_type(values: Any) -> None:
    with pytest.raises(MechanismError, match="values"):
        AGES.marks(values)
