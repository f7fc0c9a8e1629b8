"""The slope as a statistic: exact local sensitivity, and a bound nearby that is smooth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.regression.slope import PointMoments, Slope
from jali.mechanisms.smooth.smooth_sensitivity import SmoothSensitivity
from jali.mechanisms.stability.propose_test_release import ProposeTestRelease
from jali.privacy.adjacency import Adjacency

Table = list[tuple[int, int]]
GRAIN = 2
CELLS = [(x, y) for x in range(-GRAIN, GRAIN + 1) for y in range(-GRAIN, GRAIN + 1)]

adjacencies = pytest.mark.parametrize("adjacency", list(Adjacency))
tables = st.lists(st.sampled_from(CELLS), max_size=7)
ridges = st.sampled_from([Fraction(1, 7), Fraction(1), Fraction(20), Fraction(300)])
limits = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(10)])


def _statistic(adjacency: Adjacency, ridge: Fraction, steepest: Fraction) -> Slope:
    ends = (-GRAIN, GRAIN)
    return Slope(feature=ends, target=ends, adjacency=adjacency, ridge=ridge, steepest=steepest, grain=GRAIN)


def _slope(table: Table, ridge: Fraction, steepest: Fraction) -> Fraction:
    """The definition, from the means."""
    if not table:
        return Fraction(0)
    mean_x, mean_y = (Fraction(sum(column), len(table)) for column in zip(*table, strict=True))
    across = sum((x - mean_x) ** 2 for x, _ in table) + ridge
    return min(max(sum((x - mean_x) * (y - mean_y) for x, y in table) / across, -steepest), steepest)


def _neighbours(table: Table, adjacency: Adjacency) -> Iterator[Table]:
    for i in range(len(table)):
        rest = table[:i] + table[i + 1 :]
        yield from ([rest] if adjacency is Adjacency.ADD_REMOVE else [[*rest, cell] for cell in CELLS])
    if adjacency is Adjacency.ADD_REMOVE:
        yield from ([*table, cell] for cell in CELLS)


@adjacencies
@settings(deadline=None)
@given(table=tables, ridge=ridges, steepest=limits)
def test_the_local_sensitivity_is_the_largest_change_over_all_neighbours(
    adjacency: Adjacency, table: Table, ridge: Fraction, steepest: Fraction
) -> None:
    statistic = _statistic(adjacency, ridge, steepest)
    here, points = _slope(table, ridge, steepest), statistic.read(table)
    moves = [abs(_slope(other, ridge, steepest) - here) for other in _neighbours(table, adjacency)]
    assert statistic.value(points) == here
    assert statistic.local(points) == max(moves, default=0) <= statistic.at_distance(points, 0)


@adjacencies
@settings(deadline=None)
@given(
    table=tables,
    ridge=ridges,
    steepest=limits,
    pick=st.integers(0, 10**6),
    beta=st.sampled_from(["1/100", "1/6", 1]),
)
def test_no_neighbour_has_a_smaller_bound_at_one_more_change(
    adjacency: Adjacency, table: Table, ridge: Fraction, steepest: Fraction, pick: int, beta: Any
) -> None:
    statistic, step = _statistic(adjacency, ridge, steepest), Fraction(beta)
    others = list(_neighbours(table, adjacency)) or [table]
    here, there = statistic.read(table), statistic.read(others[pick % len(others)])
    for k in range(len(table) + 3):
        assert statistic.at_distance(here, k) <= statistic.at_distance(there, k + 1)
        assert (
            statistic.at_distance(here, k) <= statistic.at_distance(here, k + 1) <= statistic.global_sensitivity()
        )
    one, other = statistic.smooth(here, step), statistic.smooth(there, step)
    assert float(one) <= math.exp(step) * float(other) * (1 + 1e-12)


@thinned(4)
@adjacencies
@pytest.mark.parametrize("changes", [1, 2])
def test_the_bound_holds_for_every_table_within_so_many_changes(adjacency: Adjacency, changes: int) -> None:
    ridge, steepest = Fraction(3), Fraction(2)
    generator = np.random.default_rng(changes)
    statistic = _statistic(adjacency, ridge, steepest)
    for _ in range(8):
        # Wide tables, so that the bound is not the trivial one.
        table = [(int(generator.choice([-2, 2])), int(y)) for y in generator.integers(-2, 3, 40)]
        points, bound = statistic.read(table), statistic.at_distance(statistic.read(table), changes)
        assert bound < statistic.global_sensitivity()
        for _ in range(20):
            other = table
            for _ in range(changes):
                near = list(_neighbours(other, adjacency))
                other = near[generator.integers(len(near))]
            assert statistic.local(statistic.read(other)) <= bound
        assert statistic.at_distance(points, 0) <= bound


@thinned(2)
@adjacencies
def test_the_smooth_bound_is_the_largest_over_all_distances_and_is_smooth_up_to_a_thousand(
    adjacency: Adjacency,
) -> None:
    generator = np.random.default_rng(12)
    statistic = Slope(feature=(0, 10), target=(0, 40), adjacency=adjacency, grain=1000)
    for count in (1, 10, 100, 1000):
        for spread in (0.3, 3.0):
            x = np.clip(generator.normal(5, spread, count), 0, 10)
            table = np.column_stack([x, 3 * x + generator.normal(0, 3, count)])
            for beta in (Fraction(1, 1000), Fraction(1, 50), Fraction(1, 6), Fraction(1)):
                points = statistic.read(table)
                found = float(statistic.smooth(points, beta))
                every = range(count + 2)
                wanted = max(math.exp(-beta * k) * float(statistic.at_distance(points, k)) for k in every)
                assert found == pytest.approx(wanted, rel=1e-12)
                _check_neighbours(statistic, table, beta, found, generator)


def _check_neighbours(statistic: Slope, table: Any, beta: Fraction, found: float, generator: Any) -> None:
    for corner in itertools.product((0, 10), (0, 40)):
        i = generator.integers(len(table))
        other = np.vstack([table, [corner]])
        if statistic.adjacency is Adjacency.REPLACE_ONE:
            other = np.delete(other, i, axis=0)
        near = float(statistic.smooth(statistic.read(other), beta))
        assert math.exp(-beta) * (1 - 1e-12) <= near / found <= math.exp(beta) * (1 + 1e-12)


@settings(deadline=None)
@given(table=st.lists(st.sampled_from(CELLS), min_size=2, max_size=7), person=st.sampled_from(CELLS))
def test_the_formula_of_sherman_and_morrison_gives_the_change(table: Table, person: tuple[int, int]) -> None:
    """On centred data: A^-1 x (y - x theta) / (1 + x A^-1 x) for who comes, A^-1 x r / (1 - h) for who goes."""
    ridge, count = Fraction(2, 3), len(table)
    mean_x, mean_y = (Fraction(sum(column), count) for column in zip(*table, strict=True))
    inverse = 1 / (sum((x - mean_x) ** 2 for x, _ in table) + ridge)
    theta = _slope(table, ridge, Fraction(10**9))
    weight = Fraction(count, count + 1)
    x, y = person[0] - mean_x, person[1] - mean_y
    change = weight * inverse * x * (y - x * theta) / (1 + weight * inverse * x * x)
    assert _slope([*table, person], ridge, Fraction(10**9)) == theta + change
    weight = Fraction(count, count - 1)
    x, y = table[0][0] - mean_x, table[0][1] - mean_y
    change = weight * inverse * x * (y - x * theta) / (1 - weight * inverse * x * x)
    assert _slope(table[1:], ridge, Fraction(10**9)) == theta - change


@settings(deadline=None)
@given(table=st.lists(st.sampled_from(CELLS), max_size=6), ridge=ridges)
def test_the_least_and_the_largest_slope_with_one_more_point_are_found(table: Table, ridge: Fraction) -> None:
    moments = PointMoments(0, 0, 0, 0, 0)
    for x, y in table:
        moments = moments.with_one(x, y)
    grain = 9
    every = [moments.with_one(x, y).slope(ridge) for x, y in itertools.product(range(-grain, grain + 1), repeat=2)]
    found = list(moments.slopes_with_one_more(ridge, grain))
    assert (min(found), max(found)) == (min(every), max(every))


@adjacencies
def test_the_bound_falls_as_one_over_the_number_of_people(adjacency: Adjacency) -> None:
    statistic = Slope(feature=(0, 1), target=(0, 1), adjacency=adjacency)
    generator = np.random.default_rng(3)
    bounds = []
    for count in (1000, 10_000, 100_000):
        x = generator.random(count)
        bounds.append(float(statistic.smooth(statistic.read(np.column_stack([x, x / 2])), Fraction(1, 6))))
    assert 8 < bounds[0] / bounds[1] < 12
    assert 9 < bounds[1] / bounds[2] < 11


def test_far_from_the_edge_the_bound_is_near_the_exact_local_sensitivity() -> None:
    """A line of slope 3/4 of the steepest, 1000 people: 15 % above under add-remove, twice under replace-one."""
    generator = np.random.default_rng(0)
    x = generator.uniform(0, 10, 1000)
    table = np.column_stack([x, 3 * x + generator.normal(0, 3, 1000)])
    for adjacency, most in ((Adjacency.ADD_REMOVE, 1.25), (Adjacency.REPLACE_ONE, 2.25)):
        statistic = Slope(feature=(0, 10), target=(0, 40), adjacency=adjacency)
        points = statistic.read(table)
        assert 1 <= statistic.at_distance(points, 0) / statistic.local(points) <= most


@adjacencies
def test_the_slope_is_released_by_smooth_sensitivity(adjacency: Adjacency) -> None:
    statistic = Slope(feature=(0, 10), target=(0, 100), adjacency=adjacency)
    mechanism = SmoothSensitivity(statistic=statistic, epsilon=1)
    x = np.random.default_rng(1).uniform(0, 10, 5000)
    table = np.column_stack([x, 7 * x + 5])
    smooth = Fraction(float(statistic.smooth(statistic.read(table), mechanism.beta or Fraction(1, 10))))
    within = mechanism.error(0.5, smooth=smooth)
    off = [abs(mechanism.release(table, bits=SeededBits(i)) - 7) for i in range(60 * DEPTH)]
    assert within < 0.3
    # Half of the releases, less six standard deviations; the ridge and the lattice move the slope a little.
    assert np.mean([error <= within + 0.03 for error in off]) > 0.5 - 3 / math.sqrt(60 * DEPTH)


@adjacencies
def test_the_slope_is_released_by_propose_test_release(adjacency: Adjacency) -> None:
    """More than 100 people must change before the bound is passed; so far away the test never declines."""
    statistic = Slope(feature=(0, 10), target=(0, 100), adjacency=adjacency)
    mechanism = ProposeTestRelease(statistic=statistic, bound="1/5", epsilon=2, delta="1e-6")
    x = np.random.default_rng(1).uniform(0, 10, 5000)
    table = np.column_stack([x, 7 * x + 5])
    assert statistic.distance_above(statistic.read(table), Fraction(1, 5), 1000) > 100
    off = [abs(mechanism.release(table, bits=SeededBits(i)) - 7) for i in range(20)]
    assert np.median(off) < 0.5


@adjacencies
@pytest.mark.parametrize(
    "table",
    [
        [],
        [(3, 4)],
        [(5, 1)] * 40,
        [(math.nan, math.inf), (-math.inf, 1e308), (5e-324, -1e308)],
        [(0, 0), (10, 100)] * 500,
    ],
)
def test_no_table_fails(adjacency: Adjacency, table: Any) -> None:
    statistic = Slope(feature=(0, 10), target=(0, 100), adjacency=adjacency)
    points = statistic.read(table)
    low, high = statistic.outputs
    assert low <= statistic.value(points) <= high
    assert (
        0
        <= statistic.local(points)
        <= statistic.at_distance(points, 0)
        <= statistic.global_sensitivity(len(table))
    )
    for beta in (Fraction(1, 10**400), Fraction(1, 10), Fraction(10**6)):
        assert 0 < float(statistic.smooth(points, beta)) <= float(high - low) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("feature", (1, 0)),
        ("target", 5),
        ("adjacency", "add"),
        ("steepest", 0),
        ("ridge", 0),
        ("ridge", -1),
        ("ridge", "1e200"),
        ("steepest", "1e-200"),
        ("grain", 0),
        ("step", 0),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, bad: Any) -> None:
    given_ones = {"feature": (0, 1), "target": (0, 1), "adjacency": "add-remove", name: bad}
    with pytest.raises(JaliError, match=name):
        Slope(**given_ones)
