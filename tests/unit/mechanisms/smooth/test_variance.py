"""The variance and its sensitivities against tables tried one by one, and against rationals."""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, thinned
from tests.unit.mechanisms.smooth import means_by_hand
from tests.unit.mechanisms.smooth.means_by_hand import ByHand, Table

from jali.errors import JaliError
from jali.mechanisms.smooth.variance import Variance

ADJACENCIES = ("replace-one", "add-remove")


@cache
def by_hand(top: int, adjacency: str) -> tuple[Variance, ByHand]:
    return Variance(low=0, high=top, mesh=1, adjacency=adjacency), ByHand(means_by_hand.variance, top, adjacency)


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("top", "people", "most"), [(1, 7, 9), (2, 7, 6), (3, 6, 4), (6, 4, 4)])
def test_sensitivity_at_a_distance_is_what_all_tables_show(
    adjacency: str, top: int, people: int, most: int
) -> None:
    statistic, reference = by_hand(top, adjacency)
    chance = random.Random(top)
    for size in range(people + 1):
        tables = list(combinations_with_replacement(range(top + 1), size))
        for table in chance.sample(tables, min(len(tables), 12 * DEPTH)):
            column = statistic.read(np.array(table, np.int64))
            assert statistic.value(column) == reference.value(table)
            found = [statistic.at_distance(column, changes) for changes in range(most + 1)]
            assert found == reference.at_distances(table, most), table


@settings(max_examples=60 * DEPTH, deadline=None)
@given(
    st.sampled_from(ADJACENCIES),
    st.lists(st.integers(0, 3), max_size=7),
    st.fractions(Fraction(1, 5), 2, max_denominator=20),
)
def test_the_smooth_bound_is_the_largest_discounted_sensitivity_of_all_tables(
    adjacency: str, table: list[int], beta: Fraction
) -> None:
    statistic, reference = by_hand(3, adjacency)
    most = 4
    found = float(statistic.smooth(statistic.read(table), beta))
    sizes = reference.at_distances(tuple(table), most)
    nearby = max(math.exp(-beta * k) * float(size) for k, size in enumerate(sizes))
    beyond = math.exp(-beta * (most + 1)) * 9 / 4
    assert nearby <= found * (1 + 1e-12)
    assert found <= max(nearby, beyond) * (1 + 1e-12)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_global_sensitivity_is_the_largest_local_one(adjacency: str) -> None:
    statistic, reference = by_hand(2, adjacency)
    largest = []
    for size in range(8):
        largest.append(max(map(reference.local, combinations_with_replacement(range(3), size))))
        assert statistic.global_sensitivity(size) == largest[-1]
    assert statistic.global_sensitivity() == max(largest)


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("beta", ["1/100", "1/10", "1"])
def test_bounds_are_smooth_between_random_neighbours(adjacency: str, beta: str) -> None:
    chance = np.random.default_rng(7)
    statistic = Variance(low=0, high=1000, mesh=1, adjacency=adjacency)
    most = math.exp(Fraction(beta)) * (1 + 1e-12)
    for size in (1, 2, 5, 12, 19, 20, 21, 40, 200, 1000):
        here = _table(chance, size)
        columns = statistic.read(here), statistic.read(_changed(chance, here, adjacency))
        ours, theirs = (float(statistic.smooth(column, Fraction(beta))) for column in columns)
        assert ours <= theirs * most
        assert theirs <= ours * most
        moved = abs(statistic.value(columns[0]) - statistic.value(columns[1]))
        assert moved <= min(statistic.local(column) for column in columns)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_far_bounds_hold_between_neighbours_and_meet_the_near_ones(adjacency: str) -> None:
    chance = np.random.default_rng(9)
    statistic = Variance(low=0, high=1000, mesh=1, adjacency=adjacency)
    for size in (3, 10, 18, 19, 20, 21, 60, 400):
        here = _table(chance, size)
        columns = statistic.read(here), statistic.read(_changed(chance, here, adjacency))
        ours, theirs = (statistic.reach(statistic._sort(column)) for column in columns)
        for changes in (0, 1, 2, 3, 8, 9, 10, 14, 15, 16, 17, 18, 40, 70, 390, 420):
            assert ours(changes) <= min(ours(changes + 1), theirs(changes + 1))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_tables_of_two_values_meet_the_bounds_too(adjacency: str) -> None:
    """Where half of the people are at each end, one who joins in the middle lowers the variance most."""
    statistic = Variance(low=0, high=10, mesh=1, adjacency=adjacency)
    column = statistic.read([0] * 500 + [10] * 500)
    falls = {"replace-one": Fraction(999, 10**6) * (Fraction(5000, 999) ** 2), "add-remove": Fraction(25, 1001)}
    assert 0.999 <= statistic.local(column) / falls[adjacency] <= 1.01


def test_values_are_what_the_standard_library_computes() -> None:
    data = np.random.default_rng(3).normal(20, 30, 501)
    clipped = [Fraction(math.floor(Fraction(x) * 8 + Fraction(1, 2)), 8) for x in np.clip(data, -10, 60)]
    statistic = Variance(low=-10, high=60, mesh="1/8", adjacency="add-remove")
    assert statistic.value(statistic.read(data)) == statistics.pvariance(clipped)
    assert statistic.outputs == (Fraction(0), Fraction(1225))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_squares_beyond_64_bits_are_exact(adjacency: str) -> None:
    small = Variance(low=0, high=8, mesh=1, adjacency=adjacency)
    large = Variance(low=0, high=2**60, mesh=1, adjacency=adjacency)
    table = [0, 3, 3, 5, 8, 8]
    column = large.read([mark << 57 for mark in table])
    assert large.value(column) == small.value(small.read(table)) * 4**57
    ours, theirs = (float(one.local(one.read(rows))) for one, rows in ((small, table), (large, column)))
    assert theirs / 4**57 == pytest.approx(ours, rel=0.05)  # the finer lattice has marks nearer to the mean


def test_the_table_of_the_proof_page_is_right() -> None:
    data = np.random.default_rng(1).normal(50, 10, 1000)
    expected = {"replace-one": 2.5520, "add-remove": 2.4523}
    for adjacency, size in expected.items():
        statistic = Variance(low=0, high=100, adjacency=adjacency)
        assert float(statistic.smooth(statistic.read(data), Fraction(1, 10))) == pytest.approx(size, abs=6e-5)
        assert statistic.global_sensitivity(1000) == pytest.approx(9.99, abs=6e-4)


def test_an_empty_column_has_no_variance() -> None:
    for adjacency in ADJACENCIES:
        statistic = Variance(low=0, high=10, mesh=1, adjacency=adjacency)
        column = statistic.read([])
        assert statistic.value(column) == statistic.local(column) == 0
        bound = float(statistic.smooth(column, Fraction(1)))
        assert bound == pytest.approx(0 if adjacency == "replace-one" else 25 / math.e)


def test_what_is_released_has_a_lattice_of_its_own() -> None:
    bits = Variance(low=0, high=1, mesh=1, adjacency="replace-one")
    assert bits.outputs == (Fraction(0), Fraction(1, 4))
    assert 2**30 <= bits.outputs[1] / bits.step < 2**31
    assert Variance(low=0, high=10, step="1/2", adjacency="replace-one").step == Fraction(1, 2)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "x", True, None])
def test_bad_parameters_are_refused_by_name(bad: Any) -> None:
    statistic = Variance(low=-1, high=10, step=1, mesh=1, adjacency="add-remove")
    for field in fields(statistic):
        ends = field.name in ("low", "high") and bad in (0, -1) and bad is not True
        if not ends and not (field.name in ("step", "mesh") and bad is None):
            with pytest.raises(JaliError, match=field.name):
                replace(statistic, **{field.name: bad})


def _table(chance: np.random.Generator, size: int) -> Table:
    """Return marks up to 1000, in clumps, at the ends or all over."""
    kinds = (chance.integers(0, 1001, size), chance.integers(400, 420, size), chance.choice([0, 500, 1000], size))
    return tuple(int(mark) for mark in kinds[chance.integers(3)])


def _changed(chance: np.random.Generator, table: Table, adjacency: str) -> Table:
    place, mark = int(chance.integers(len(table))), int(chance.choice([0, 1000, int(chance.integers(1001))]))
    rest = table[:place] + table[place + 1 :]
    if adjacency == "add-remove":
        return rest if chance.integers(2) else (*table, mark)
    return (*rest, mark)
