"""Order statistics against every neighbour of every small table, and against the definition on larger ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import accumulate, combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.unit.mechanisms.smooth.exhaustive_search import BOTH, Exhaustive, Table, discounted

from jali.errors import JaliError
from jali.mechanisms.smooth.discounted_gap import doubles_suffice, largest_discounted_gap
from jali.mechanisms.smooth.discounted_maximum import largest, peak
from jali.mechanisms.smooth.order_statistic_gaps import (
    RankPairs,
    gap_when_replacing,
    widest_of_pairs,
    widest_of_width,
)
from jali.mechanisms.smooth.order_statistics import Maximum, Median, Minimum, OrderStatistic, Quantile
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn
from jali.mechanisms.smooth.statistic import local_sensitivity, smooth_sensitivity

SHARES = [Fraction(share) for share in ("1/2", "1/4", "9/10", "0", "1", "2/3", "1/3", "2/5")]
BETAS = ["0.01", "0.1", "0.5", "2"]
TENS = range(10, 100, 10)


def quantile(at: Fraction, adjacency: str, high: int = 3) -> Quantile:
    return Quantile(at=at, low=0, high=high, step=1, adjacency=adjacency)


@cache
def exhaustive(at: Fraction, adjacency: str, marks: int = 4) -> Exhaustive:
    def of(table: Table) -> Fraction:
        return Fraction(sorted(table)[max(1, math.ceil(at * len(table))) - 1] if table else 0)

    return Exhaustive(of, marks, adjacency)


@thinned(4)
@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("at", SHARES, ids=str)
@pytest.mark.parametrize(("marks", "most"), [(3, 7), (4, 4)])
def test_every_neighbour_of_every_small_table_agrees(marks: int, most: int, at: Fraction, adjacency: str) -> None:
    statistic, truth = quantile(at, adjacency, marks - 1), exhaustive(at, adjacency, marks)
    for people in range(most + 1):
        for table in combinations_with_replacement(range(marks), people):
            column = statistic.read(list(reversed(table)))
            expected = truth.at_distances(table, people + 1)
            assert [statistic.at_distance(column, k) for k in range(people + 2)] == expected
            for beta in BETAS:
                wanted = discounted(expected, float(beta))
                assert float(statistic.smooth(column, Fraction(beta))) == pytest.approx(wanted, rel=1e-13)


@settings(max_examples=15 * DEPTH, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=6, max_size=7),
    st.fractions(0, 1, max_denominator=12),
    st.sampled_from(BETAS),
)
def test_seven_people_who_may_be_replaced(table: list[int], at: Fraction, beta: str) -> None:
    expected = exhaustive(at, "replace-one").at_distances(tuple(sorted(table)), 8)
    statistic = quantile(at, "replace-one")
    column = statistic.read(table)
    assert [statistic.at_distance(column, k) for k in range(9)] == expected
    assert float(statistic.smooth(column, Fraction(beta))) == pytest.approx(discounted(expected, float(beta)))


@settings(max_examples=15 * DEPTH, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=5, max_size=7), st.fractions(0, 1, max_denominator=12))
def test_seven_people_who_may_join_or_leave(table: list[int], at: Fraction) -> None:
    expected = exhaustive(at, "add-remove").at_distances(tuple(sorted(table)), 4)
    statistic = quantile(at, "add-remove")
    column = statistic.read(table)
    assert [statistic.at_distance(column, k) for k in range(5)] == expected


def pairs_by_definition(at: Fraction, adjacency: str, values: list[int], top: int) -> list[int]:
    """A(k) from the costs of all pairs of ranks: what must go between them, and the nearest balanced table."""
    people = len(values)
    ranks = [0, *sorted(values), top]
    middle = [0, *(max(1, math.ceil(at * size)) for size in range(1, 2 * people + 3))]
    sizes = range(2 * people + 2)
    balanced = {(middle[size + 1] - 1, size) for size in sizes} | {(middle[size - 1], size) for size in sizes[1:]}
    found = [0] * people + [top]
    for i in range(people + 1):
        for j in range(i + 1, people + 2):
            above = people + 1 - j
            if adjacency == "replace-one":
                cost = j - 1 - i if i <= middle[people] <= j else people
            else:
                cost = j - 1 - i + min(abs(low - i) + abs(size - low - above) for low, size in balanced)
            cost = min(cost, people)
            found[cost] = max(found[cost], ranks[j] - ranks[i])
    return list(accumulate(found, max))


@thinned(4)
@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize(
    "at", [Fraction(1, 2), Fraction(9, 10), Fraction(3, 10), Fraction(0), Fraction(1)], ids=str
)
def test_many_people_agree_with_all_pairs_of_ranks(at: Fraction, adjacency: str) -> None:
    generator = np.random.default_rng(5)
    people = 300 if adjacency == "replace-one" else 60
    for top in (5, 10**6):
        values = generator.integers(0, top + 1, people).tolist()
        statistic = quantile(at, adjacency, top)
        column = statistic.read(values)
        expected = pairs_by_definition(at, adjacency, values, top)
        assert [statistic.at_distance(column, k) for k in range(people + 1)] == expected
        for beta in ("0.001", "0.05", "1"):
            wanted = discounted(expected, float(beta))
            assert float(statistic.smooth(column, Fraction(beta))) == pytest.approx(wanted, rel=1e-13)


SHAPES: dict[str, Callable[[int, np.random.Generator], NDArray[Any]]] = {
    "equal steps": lambda n, rng: np.arange(n),
    "normal": lambda n, rng: (rng.normal(0.5, 0.1, n) * n).astype(np.int64),
    "two values": lambda n, rng: rng.integers(0, 2, n) * (n // 2),
    "one value": lambda n, rng: np.full(n, n // 3),
    "few values": lambda n, rng: rng.integers(0, 7, n) * (n // 7),
}


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_large_table_is_searched_as_its_whole_sorted_column_would_be(shape: str, adjacency: str) -> None:
    people, top = 20_000, 10**5
    values = SHAPES[shape](people, np.random.default_rng(7))
    ranks = np.concatenate(([0], np.sort(np.clip(values, 0, top)), [top]))
    statistic = Median(low=0, high=top, step=1, adjacency=adjacency)
    column = statistic.read(values)
    distances = [*range(40), 5000, 9999, 10_000, 15_000, 19_999, 20_000]
    for k in distances:
        if adjacency == "replace-one":
            lefts = np.arange(max(0, 10_000 - k - 1), min(10_000, people - k) + 1)
            expected = (ranks[lefts + k + 1] - ranks[lefts]).max()
        else:
            expected = ranks[(k + people + 2) // 2] - ranks[max(0, -((k + 1 - people) // 2))]
        assert statistic.at_distance(column, k) == expected
    for beta in ("1e-5", "1e-3", "0.1", "10"):
        found = float(statistic.smooth(column, Fraction(beta)))
        some = [float(statistic.at_distance(column, k)) * math.exp(-float(beta) * k) for k in distances]
        assert found >= max(some) * (1 - 1e-13)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_coarse_look_finds_the_widest_gap(shape: str) -> None:
    people, top = 20_000, 10**5
    column = LazySortedColumn(SHAPES[shape](people, np.random.default_rng(8)).astype(np.int64), top)
    ranks = np.concatenate(([0], np.sort(column.between(1, people)), [top]))
    places = np.arange(1000, 16_001)
    rising: RankPairs = lambda i: (i, i + 500 + i // 9)  # noqa: E731 - one of two
    falling: RankPairs = lambda i: (people - i - i // 7, people + 1 - i)  # noqa: E731
    for pairs in (rising, falling):
        left, right = pairs(places)
        assert widest_of_pairs(column, pairs, 1000, 16_000) == (ranks[right] - ranks[left]).max()
    assert widest_of_width(column, 700, 1000, 16_000) == (ranks[places + 700] - ranks[places]).max()


@pytest.mark.parametrize("first", [-5, 0, 1, 7, 2999, 3000, 3001, 9_990])
def test_only_the_part_that_is_looked_at_is_sorted(first: int) -> None:
    marks = np.random.default_rng(first + 9).integers(0, 5000, 10_000)
    ranks = np.concatenate((np.zeros(6), np.sort(marks), np.full(20, 5000)))
    column = LazySortedColumn(marks.copy(), 5000)
    for start, last in ((first, first + 3), (first - 3, first), (4000, 4300), (first, 9000), (-5, 10_012)):
        low, high = max(-5, min(start, last)), max(start, last)
        assert column.between(low, high).tolist() == ranks[low + 5 : high + 6].tolist()
        assert column.take(np.array([high, low])).tolist() == [ranks[high + 5], ranks[low + 5]]


@thinned(4)
@pytest.mark.parametrize("top", [3, 50, 10**6, 2**59])
def test_divide_and_conquer_keeps_the_largest_of_all_pairs(top: int) -> None:
    generator = np.random.default_rng(top % 1000)
    for trial in range(30 * DEPTH):
        people = int(generator.integers(1, 200))
        shares = generator.random(people) if trial % 3 else np.arange(people) / people
        values = (np.where(shares < 0.4, 0, shares) if trial % 5 == 0 else shares) * top
        rank, beta = (
            int(generator.integers(1, people + 1)),
            Fraction(str(generator.choice([0.0001, 0.003, 0.05, 0.2]))),
        )
        ranks = [0, *sorted(values.astype(np.int64).tolist()), top]
        pairs = [(i, j) for i in range(rank + 1) for j in range(max(rank, i + 1), people + 2)]
        terms = [(j - i - 1, ranks[j] - ranks[i]) for i, j in pairs]
        logs = [math.log(size) - float(beta) * k if size else -math.inf for k, size in terms]
        best = max(logs)
        near = {term for term, log in zip(terms, logs, strict=True) if log > best - 1e-9}
        found = largest_discounted_gap(
            LazySortedColumn(values.astype(np.int64), top), (rank, rank), people + 1, beta
        )
        assert doubles_suffice(beta, people + 1)
        assert found is not None
        assert (found[0] - 1, found[1]) == largest(near, beta)


def test_many_people_are_searched_by_divide_and_conquer_to_the_same_end() -> None:
    values = np.arange(9000)
    statistic, beta = Median(low=0, high=9000, step=1, adjacency="replace-one"), Fraction(1, 2000)
    column = statistic.read(values)
    gaps = LazySortedColumn(values, 9000)
    wanted = peak(lambda k: gap_when_replacing(gaps, Fraction(1, 2), k), 9000, beta)
    assert statistic.smooth(column, beta).terms == (wanted,)
    assert wanted[1] == wanted[0] + 1


def neighbour(generator: np.random.Generator, table: list[int], top: int, adjacency: str) -> list[int]:
    """Return a random neighbour: with a value at an end, in a gap or anywhere."""
    place = int(generator.integers(len(table)))
    value = int(generator.choice([0, top, int(generator.integers(top + 1))]))
    if adjacency == "replace-one":
        return [*table[:place], value, *table[place + 1 :]]
    return [*table, value] if generator.integers(2) else table[:place] + table[place + 1 :]


@pytest.mark.parametrize("adjacency", BOTH)
def test_the_smooth_sensitivity_is_smooth(adjacency: str) -> None:
    generator = np.random.default_rng(11)
    for _ in range(50 * DEPTH):
        people, top = int(generator.integers(1, 1001)), int(generator.choice([4, 100, 10**9]))
        middle = generator.normal(0.5, 0.2, people) if generator.integers(2) else generator.random(people)
        table = np.clip(middle * top, 0, top).astype(np.int64).tolist()
        other = neighbour(generator, table, top, adjacency)
        statistic = quantile(Fraction(int(generator.integers(0, 11)), 10), adjacency, top)
        beta = Fraction(str(generator.choice([0.001, 0.02, 0.2, 1.5])))
        here, there = (statistic.smooth(statistic.read(rows), beta) for rows in (table, other))
        assert float(here) <= math.exp(beta) * float(there) * (1 + 1e-14)
        assert float(there) <= math.exp(beta) * float(here) * (1 + 1e-14)
        assert float(here) >= local_sensitivity(statistic, table) * (1 - 1e-15)
        moved = abs(statistic.value(statistic.read(table)) - statistic.value(statistic.read(other)))
        assert moved <= local_sensitivity(statistic, table)


@pytest.mark.parametrize(("beta", "expected"), [("0.05", 63.7628152), ("0.1", 40.6569660), ("1", 10)])
def test_the_tens_have_the_smooth_sensitivities_of_the_book(beta: str, expected: float) -> None:
    median = Median(low=0, high=100, step=1, adjacency="replace-one")
    assert smooth_sensitivity(median, TENS, beta) == pytest.approx(expected, abs=5e-8)
    assert local_sensitivity(median, TENS) == 10


@pytest.mark.parametrize("adjacency", BOTH)
def test_extremes_and_median_are_quantiles(adjacency: str) -> None:
    generator = np.random.default_rng(3)
    for kind, at in ((Minimum, 0), (Median, Fraction(1, 2)), (Maximum, 1)):
        special: OrderStatistic = kind(low=0, high=50, step="1/2", adjacency=adjacency)
        general = Quantile(at=at, low=0, high=50, step="1/2", adjacency=adjacency)
        for people in (0, 1, 2, 9):
            column = special.read(generator.random(people) * 60 - 5)
            assert special.value(column) == general.value(column)
            assert special.smooth(column, Fraction(1, 7)) == general.smooth(column, Fraction(1, 7))


def test_a_column_without_values_has_the_value_low() -> None:
    for adjacency, local in zip(BOTH, (0, 90), strict=True):
        median = Median(low=10, high=100, step=10, adjacency=adjacency)
        column = median.read([])
        assert median.value(column) == 10
        assert median.local(column) == median.at_distance(column, 3) == local == median.global_sensitivity(0)
        assert float(median.smooth(column, Fraction(1))) == local
        assert median.global_sensitivity() == median.global_sensitivity(5) == 90
        assert median.outputs == (Fraction(10), Fraction(100))


def test_the_distance_to_a_larger_sensitivity() -> None:
    median = Median(low=0, high=100, step=1, adjacency="replace-one")
    column = median.read(TENS)
    for bound in (0, 5, 10, 25, 49, 99, 100):
        above = [k for k in range(20) if median.at_distance(column, k) > bound]
        assert median.distance_above(column, Fraction(bound), 20) == (above[0] if above else 20)
    assert median.distance_above(column, Fraction(100), 0) == 0
    assert median.distance_above(column, Fraction(99), 3) == 3


def test_rare_shares_of_many_digits_are_exact() -> None:
    at = Fraction("0.123456789012345678901234567890")
    values = np.random.default_rng(2).integers(0, 1000, 60).tolist()
    for adjacency in BOTH:
        statistic = quantile(at, adjacency, 1000)
        column = statistic.read(values)
        expected = pairs_by_definition(at, adjacency, values, 1000)
        assert [statistic.at_distance(column, k) for k in range(61)] == expected


@pytest.mark.parametrize(
    "bad", [{"at": -0.1}, {"at": 1.1}, {"at": "x"}, {"low": 5}, {"step": 0}, {"adjacency": "near"}]
)
def test_bad_parameters_are_refused_by_name(bad: dict[str, object]) -> None:
    given_ones = {"at": 0.5, "low": 0, "high": 5, "step": 1, "adjacency": "add-remove"} | bad
    with pytest.raises(JaliError, match=next(iter(bad))):
        Quantile(**given_ones)  # type: ignore[arg-type]


def test_a_statistic_tells_its_parameters() -> None:
    assert repr(quantile(Fraction(1, 4), "add-remove")) == (
        "Quantile(low=0, high=3, step=1, adjacency='add-remove', at=1/4)"
    )
