"""Rounding to a lattice and back, against rationals."""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jali.mechanisms.additive.gaussian_mechanism import Gaussian
from jali.mechanisms.additive.laplace_mechanism import Laplace
from jali.mechanisms.exact_values import convert_points_to_doubles, round_to_lattice
from jali.mechanisms.global_sensitivity import Root
from jali.mechanisms.lattice import Lattice

STEPS = [
    Fraction(1),
    Fraction(1, 1024),
    Fraction(8),
    Fraction(3, 7),
    Fraction(1, 1000),
    Fraction(7),
    Fraction(1, 2**890),
]
EXTREME = [Fraction(1, 10**280), Fraction(10**280), Fraction(2) ** 950, Fraction(1, 2**950)]


def wanted(value: Any, step: Fraction) -> int:
    return math.floor(Fraction(value) / step + Fraction(1, 2)) if math.isfinite(value) else 0


def around(value: float) -> list[float]:
    return [math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf)]


@pytest.mark.parametrize("step", STEPS + EXTREME, ids=str)
def test_ties_and_their_neighbours_are_rounded_as_rationals_are(step: Fraction) -> None:
    ties = [float(step * Fraction(2 * n + 1, 2)) for n in (-1000, -7, -2, -1, 0, 1, 2, 999) if abs(step) < 10**200]
    values = [v for tie in ties for v in around(tie)]
    values += [0.0, -0.0, 5e-324, -5e-324, 0.49999999999999994, -0.49999999999999994, 1e-300, 1e300, -1e300]
    values += [math.nan, math.inf, -math.inf, sys.float_info.max, 2.0**52 + 0.5, 2.0**53 + 1, 2.0**62, 2.0**63]
    points = round_to_lattice(np.array(values), step)
    assert [int(p) for p in points] == [wanted(v, step) for v in values]


@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=20),
    step=st.one_of(st.sampled_from(STEPS), st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_double_is_rounded_as_a_rational_is(values: list[float], step: Fraction) -> None:
    if step <= 0:
        return
    points = round_to_lattice(np.array(values, np.float64), step)
    assert [int(p) for p in points] == [wanted(v, step) for v in values]


def test_integers_and_other_numbers_are_rounded_exactly_too() -> None:
    step = Fraction(3, 7)
    for values in ([2**53 + 1, -(2**63), 2**63 - 1], [1, -5, 10**15]):
        points = round_to_lattice(np.array(values, np.int64), step)
        assert [int(p) for p in points] == [wanted(v, step) for v in values]
    mixed = np.array([Fraction(1, 3), Decimal("0.1"), 2**200, Decimal("NaN"), 1.5], dtype=object)
    assert [int(p) for p in round_to_lattice(mixed, step)] == [1, 0, wanted(2**200, step), 0, 4]
    assert round_to_lattice(np.array([True, False]), Fraction(1, 2)).tolist() == [2, 0]
    assert round_to_lattice(np.array([1.5, 2.5], np.float32), Fraction(1)).tolist() == [2, 3]
    assert round_to_lattice(np.zeros((0, 2)), step).shape == (0, 2)


@given(
    points=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=10),
    step=st.one_of(st.sampled_from(STEPS), st.fractions(min_value=Fraction(1, 10**6), max_value=10**6)),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_points_become_the_nearest_doubles(points: list[int], step: Fraction) -> None:
    if step <= 0:
        return
    assert convert_points_to_doubles(np.array(points, np.int64), step).tolist() == [
        float(n * step) for n in points
    ]


def test_points_beyond_the_doubles_become_the_largest_of_them() -> None:
    ends = convert_points_to_doubles(np.array([10**400, -(10**400)], dtype=object), Fraction(1, 3))
    assert ends.tolist() == [sys.float_info.max, -sys.float_info.max]
    released = Laplace(sensitivity=1, epsilon=1, step="1/2").release(sys.float_info.max)
    assert math.isfinite(released)


@pytest.mark.parametrize("dimension", [1, 2, 5, 100])
def test_the_squared_sensitivity_in_steps_is_a_bound_and_not_a_loose_one(dimension: int) -> None:
    for squared in (Fraction(2), Fraction(1, 9), Fraction(50)):
        lattice = Lattice(Fraction(1, 4), dimension)
        bound = float(lattice.steps_squared(Root(squared)))
        if dimension > 1:
            exact = (4 * math.sqrt(squared) + math.sqrt(dimension)) ** 2
            assert exact - 1 <= bound <= exact + 1e-4
        else:
            assert bound == math.ceil(4 * math.sqrt(squared) - 1e-12) ** 2
    assert Gaussian(sensitivity=Root(2), rho=1).squared_sensitivity == 2
