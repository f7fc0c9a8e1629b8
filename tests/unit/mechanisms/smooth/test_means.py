"""Means and their sensitivities against tables tried one by one, and against sums of rationals."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator
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

from jali.errors import JaliError, MechanismError
from jali.mechanisms.smooth.means import LocationStatistic, Mean
from jali.mechanisms.smooth.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.winsorised_mean import WinsorisedMean

ADJACENCIES = ("replace-one", "add-remove")
TRIMS = ("0", "1/5", "1/4", "1/3", "2/5", "9/20")
MEANS: dict[str, Callable[..., LocationStatistic]] = {
    "mean": Mean,
    "trimmed": TrimmedMean,
    "winsorised": WinsorisedMean,
}


@cache
def by_hand(name: str, top: int, trim: str, adjacency: str) -> tuple[LocationStatistic, ByHand]:
    share = Fraction(trim)
    values = {
        "mean": lambda table: means_by_hand.mean(table, top),
        "trimmed": lambda table: means_by_hand.trimmed(table, top, share),
        "winsorised": lambda table: means_by_hand.winsorised(table, top, share),
    }
    return made(name, top, trim, adjacency), ByHand(values[name], top, adjacency)


def made(name: str, top: int, trim: str, adjacency: str, low: int = 0, step: str | int = 1) -> LocationStatistic:
    given = {} if name == "mean" else {"trim": trim}
    return MEANS[name](low=low, high=low + top, step=step, adjacency=adjacency, **given)


def every_mean(adjacency: str) -> Iterator[tuple[str, str, str]]:
    yield "mean", "0", adjacency
    yield from ((name, trim, adjacency) for name in ("trimmed", "winsorised") for trim in TRIMS)


CASES = [case for adjacency in ADJACENCIES for case in every_mean(adjacency)]


@thinned(4)
@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
@pytest.mark.parametrize(("top", "people", "most"), [(1, 7, 8), (2, 7, 4), (3, 5, 3)])
def test_sensitivity_at_a_distance_is_what_all_tables_show(
    name: str, trim: str, adjacency: str, top: int, people: int, most: int
) -> None:
    statistic, reference = by_hand(name, top, trim, adjacency)
    chance = random.Random(f"{name} {trim} {top}")
    for size in range(people + 1):
        tables = list(combinations_with_replacement(range(top + 1), size))
        # Over all cases these are a thousand tables.
        for table in chance.sample(tables, min(len(tables), 2 if DEPTH == 1 else 3 * DEPTH)):
            column = statistic.read(np.array(table, np.int64))
            assert statistic.value(column) == reference.value(table)
            found = [statistic.at_distance(column, changes) for changes in range(most + 1)]
            assert found == reference.at_distances(table, most), table


@settings(max_examples=40 * DEPTH, deadline=None)
@given(
    st.sampled_from([case for case in CASES if case[1] in ("0", "1/5", "1/3")]),
    st.lists(st.integers(0, 3), max_size=7),
    st.fractions(Fraction(1, 5), 2, max_denominator=20),
)
def test_the_smooth_bound_is_the_largest_discounted_sensitivity_of_all_tables(
    case: tuple[str, str, str], table: list[int], beta: Fraction
) -> None:
    statistic, reference = by_hand(case[0], 3, *case[1:])
    most = 4
    found = float(statistic.smooth(statistic.read(table), beta))
    sizes = reference.at_distances(tuple(table), most)
    nearby = max(math.exp(-beta * k) * float(size) for k, size in enumerate(sizes))
    limit = reference_limit(statistic, len(table))
    beyond = math.exp(-beta * (most + 1)) * float(limit)
    assert nearby <= found * (1 + 1e-12)
    assert found <= max(nearby, beyond) * (1 + 1e-12)


def reference_limit(statistic: LocationStatistic, people: int) -> Fraction:
    """Return the whole range, divided as the largest local sensitivity of any table within reach is."""
    return statistic.global_sensitivity(people if statistic.adjacency == "replace-one" else None)


@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_the_global_sensitivity_is_the_largest_local_one(name: str, trim: str, adjacency: str) -> None:
    statistic, reference = by_hand(name, 2, trim, adjacency)
    largest = []
    for size in range(7):
        tables = combinations_with_replacement(range(3), size)
        largest.append(max(reference.local(table) for table in tables))
        assert statistic.global_sensitivity(size) == largest[-1]
    assert statistic.global_sensitivity() == max(largest)


@thinned(4)
@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_bounds_are_smooth_between_random_neighbours(name: str, trim: str, adjacency: str) -> None:
    chance = np.random.default_rng(7)
    statistic = made(name, 1000, trim, adjacency)
    beta = Fraction(1, 4)
    for size in (1, 2, 9, 12, 200, 1000):
        here = _table(chance, size)
        there = _changed(chance, here, adjacency)
        ours, theirs = (float(statistic.smooth(statistic.read(table), beta)) for table in (here, there))
        assert ours <= theirs * math.exp(beta) * (1 + 1e-12)
        assert theirs <= ours * math.exp(beta) * (1 + 1e-12)


@thinned(4)
@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_what_one_person_moves_is_below_the_local_sensitivity(name: str, trim: str, adjacency: str) -> None:
    chance = np.random.default_rng(8)
    statistic = made(name, 1000, trim, adjacency)
    for _ in range(20 * DEPTH):
        here = _table(chance, int(chance.integers(1, 200)))
        there = _changed(chance, here, adjacency)
        columns = statistic.read(here), statistic.read(there)
        moved = abs(statistic.value(columns[0]) - statistic.value(columns[1]))
        assert moved <= min(statistic.local(column) for column in columns)


@thinned(4)
@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_far_bounds_hold_between_neighbours_and_meet_the_near_ones(name: str, trim: str, adjacency: str) -> None:
    chance = np.random.default_rng(9)
    statistic = made(name, 1000, trim, adjacency)
    for size in (11, 40, 400):
        here = _table(chance, size)
        there = _changed(chance, here, adjacency)
        columns = statistic.read(here), statistic.read(there)
        ours, theirs = (statistic.reach(statistic._sort(column)) for column in columns)
        for changes in (0, 3, 6, 7, 8, 9, 15, 35, 60, 95, 96, 97, 140, 390, 450):
            assert ours(changes) <= min(ours(changes + 1), theirs(changes + 1))


def test_the_mean_has_the_sensitivities_that_theory_gives() -> None:
    mean = Mean(low=0, high=100, step=1, adjacency="replace-one")
    column = mean.read(range(10, 100, 10))
    assert mean.local(column) == Fraction(90, 9)
    assert mean.at_distance(column, 1) == mean.at_distance(column, 5) == Fraction(100, 9)
    assert mean.smooth(column, Fraction(1, 10)).terms == ((1, Fraction(100, 9)),)
    assert mean.smooth(column, Fraction(1, 2)).terms == ((0, Fraction(10)),)


def test_a_trimmed_mean_of_one_value_is_the_median_of_theory() -> None:
    """S(.05), S(.1) and S(1) of ten to ninety on [0, 100] are those of the median."""
    median = TrimmedMean(low=0, high=100, step=1, trim="4/9", adjacency="replace-one")
    column = median.read(range(10, 100, 10))
    expected = {"1/20": 63.7628152, "1/10": 40.6569660, "1": 10.0}
    for beta, size in expected.items():
        assert float(median.smooth(column, Fraction(beta))) == pytest.approx(size, abs=5e-8)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_values_are_what_the_standard_library_computes(adjacency: str) -> None:
    chance = np.random.default_rng(3)
    data = chance.normal(20, 30, 501)
    ordered = sorted(Fraction(math.floor(Fraction(x) * 8 + Fraction(1, 2)), 8) for x in np.clip(data, -10, 60))
    whole = made("mean", 70, "0", adjacency, low=-10, step="1/8")
    assert whole.value(whole.read(data)) == statistics.mean(ordered)
    trimmed = made("trimmed", 70, "1/10", adjacency, low=-10, step="1/8")
    assert trimmed.value(trimmed.read(data)) == statistics.mean(ordered[50:451])
    winsorised = made("winsorised", 70, "1/10", adjacency, low=-10, step="1/8")
    pulled = [min(max(item, ordered[50]), ordered[450]) for item in ordered]
    assert winsorised.value(winsorised.read(data)) == statistics.mean(pulled)
    assert whole.outputs == trimmed.outputs == (Fraction(-10), Fraction(60))


@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_units_and_origin_only_rescale(name: str, trim: str, adjacency: str) -> None:
    table = [0, 3, 3, 5, 9, 10]
    plain, moved = (made(name, 10, trim, adjacency), made(name, 10, trim, adjacency, low=-7, step="1/10"))
    fine = [Fraction(mark, 10) - 7 for mark in table]
    assert moved.value(moved.read(fine)) == plain.value(plain.read(table)) / 10 - 7
    coarse = MEANS[name](low=-7, high=-6, step="1/10", adjacency=adjacency, **_trim(name, trim))
    for changes in range(4):
        ours = coarse.at_distance(coarse.read(fine), changes)
        assert ours == plain.at_distance(plain.read(table), changes) / 10


@thinned(4)
@pytest.mark.parametrize(("name", "trim", "adjacency"), CASES)
def test_sums_beyond_64_bits_are_exact(name: str, trim: str, adjacency: str) -> None:
    """A column in units of 2^55 has the sensitivities of the column of small numbers, times 2^55."""
    table = [0, 3, 3, 5, 9, 10, 4, 4, 30, 31, 31]
    small, large = made(name, 31, trim, adjacency), made(name, 31 << 55, trim, adjacency)
    columns = small.read(table), large.read([mark << 55 for mark in table])
    assert large.value(columns[1]) == small.value(columns[0]) * 2**55
    for changes in range(6):
        assert large.at_distance(columns[1], changes) == small.at_distance(columns[0], changes) * 2**55


def test_the_table_of_the_proof_page_is_right() -> None:
    data = np.random.default_rng(1).normal(50, 10, 1000)
    expected = {
        ("mean", "replace-one"): (0.090484, 0.1),
        ("mean", "add-remove"): (0.050492, 0.1),
        ("trimmed", "replace-one"): (0.030687, 0.125),
        ("trimmed", "add-remove"): (0.015626, 0.12484),
        ("winsorised", "replace-one"): (0.070819, 10.1),
        ("winsorised", "add-remove"): (0.046672, 10.09),
    }
    for (name, adjacency), (size, largest) in expected.items():
        statistic = MEANS[name](low=0, high=100, adjacency=adjacency, **_trim(name, "1/10"))
        assert float(statistic.smooth(statistic.read(data), Fraction(1, 10))) == pytest.approx(size, rel=2e-5)
        assert float(statistic.global_sensitivity(1000)) == pytest.approx(largest, rel=1e-4)


def test_an_empty_column_is_in_the_middle() -> None:
    for name, trim, adjacency in CASES:
        statistic = made(name, 10, trim, adjacency)
        column = statistic.read([])
        assert statistic.value(column) == 5
        assert statistic.local(column) == (0 if adjacency == "replace-one" else 5)
        assert float(statistic.smooth(column, Fraction(1))) == (0 if adjacency == "replace-one" else 5)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("name", MEANS)
def test_many_numbers_need_few_distances(name: str, adjacency: str) -> None:
    data = np.random.default_rng(1).normal(50, 10, 10**5)
    statistic = MEANS[name](low=0, high=100, adjacency=adjacency, **_trim(name, "1/10"))
    column = statistic.read(data)
    bound = statistic.smooth(column, Fraction(1, 10))
    assert len(bound.terms) < 5
    assert float(statistic.local(column)) <= float(bound) <= 3 * float(statistic.local(column))


@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "x", True, None])
def test_bad_parameters_are_refused_by_name(name: str, bad: Any) -> None:
    statistic = made(name, 10, "1/5", "add-remove")
    for field in fields(statistic):  # type: ignore[arg-type]
        if (field.name, bad) != ("step", None):
            with pytest.raises(JaliError, match=field.name):
                replace(statistic, **{field.name: bad})  # type: ignore[type-var]


@pytest.mark.parametrize("trim", [-1, "1/2", 1, "0.7"])
def test_a_trim_must_leave_something(trim: Any) -> None:
    for kind in (TrimmedMean, WinsorisedMean):
        with pytest.raises(MechanismError, match="trim"):
            kind(low=0, high=1, trim=trim, adjacency="add-remove")


def _trim(name: str, trim: str) -> dict[str, str]:
    return {} if name == "mean" else {"trim": trim}


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
