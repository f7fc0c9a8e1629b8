"""Permute-and-flip for a quantile: exact distances, privacy by brute force, and when it is the default."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from tests.depth import deep
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.mechanisms.quantiles.private_quantile import PermutedQuantile, PiecewiseLaplace, private_median
from jali.mechanisms.quantiles.quantile_mechanism import FEW_MARKS
from jali.mechanisms.quantiles.rank_laws import WindowDistances
from jali.mechanisms.quantiles.weighted_ranks import (
    LinearRanks,
    WeightedMarks,
    WindowRanks,
    find_usual_target,
    sort_marks,
)

shares = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)])


def median(**others: Any) -> PermutedQuantile:
    usual: dict[str, Any] = {"at": "1/2", "low": 0, "high": 4, "step": 1, "epsilon": 1, "adjacency": "replace-one"}
    return PermutedQuantile(**usual | others)


def weights_of_one(table: list[int], top: int, target: Fraction) -> WindowRanks:
    return WindowRanks.of(WeightedMarks.ones(np.array(table, np.int64), top), (0, top), 1, target)


@settings(deadline=None)
@given(st.lists(st.integers(0, 12), max_size=9), st.integers(12, 14), shares)
def test_weights_of_one_have_the_ranks_of_the_sorted_values(table: list[int], top: int, at: Fraction) -> None:
    target = find_usual_target(at, len(table))
    ranks, plain = weights_of_one(table, top, target), LinearRanks(sort_marks(table), 0, top, target)
    assert ranks.best == plain.best
    assert ranks.at(target) == plain.at(target)
    exponents = WindowDistances(ranks).exponents(Fraction(1), 0, top)
    for mark in range(top + 1):
        assert ranks.distance(mark) == plain.distance(mark)
        assert exponents.exact(mark) == plain.distance(mark) - plain.best


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(7), Fraction(10) ** 100, Fraction(1, 10**100)])
@pytest.mark.parametrize("target", [Fraction(5, 2), Fraction(10**20 + 1, 10**20)])
def test_exponents_in_double_are_as_near_as_promised(rate: Fraction, target: Fraction) -> None:
    ranks = weights_of_one([1, 30, 31, 700], 999, target)
    exponents = WindowDistances(ranks).exponents(rate, 0, 999)
    for mark in range(1000):
        exact = exponents.exact(mark)
        if exact <= 2**40:
            assert abs(Fraction(float(exponents.doubles[mark])) - exact) <= exact / 2**50 + Fraction(1, 2**900)
        else:
            assert exponents.doubles[mark] >= 2.0**40 * (1 - 2.0**-50)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("at", ["1/2", "1/5", "1"])
def test_no_two_small_neighbours_are_told_apart_by_more_than_epsilon(adjacency: str, at: str) -> None:
    mechanism = median(at=at, high=3, epsilon=2, adjacency=adjacency)
    tables = [t for n in range(4) for t in itertools.combinations_with_replacement(range(4), n)]
    laws = {table: mechanism.log_masses(table) for table in tables}
    worst = max(
        abs(laws[one][mark] - laws[other][mark])
        for one, other in itertools.permutations(tables, 2)
        if _are_neighbours(one, other, adjacency)
        for mark in range(4)
    )
    assert worst <= 2 * (1 + 1e-12)
    assert worst > 0.8  # the claim is not idle


def _are_neighbours(one: tuple[int, ...], other: tuple[int, ...], adjacency: str) -> bool:
    apart = Counter(one)
    apart.subtract(Counter(other))
    changes = sorted(change for change in apart.values() if change)
    return changes == [-1, 1] if adjacency == "replace-one" else changes in ([1], [-1])


def test_releases_follow_the_law() -> None:
    mechanism = median(high=9, epsilon=1)
    table = [1, 4, 4, 6, 8]
    counts = Counter(mechanism.sample(table, 20_000, bits=SeededBits(5)))
    expected = {mark: 20_000 * math.exp(log) for mark, log in mechanism.log_masses(table).items()}
    statistic = math.fsum((counts[mark] - mean) ** 2 / mean for mark, mean in expected.items())
    assert chi2.sf(statistic, len(expected) - 1) > 1e-8


def test_its_rank_error_is_never_above_that_of_the_exponential_mechanism() -> None:
    random = np.random.default_rng(1)
    for _ in range(30):
        table = random.integers(0, 40, random.integers(1, 30)).tolist()
        one = median(high=40, epsilon=1)
        other = PiecewiseLaplace(at="1/2", low=0, high=40, step=1, epsilon=1, adjacency="replace-one")
        errors = [_rank_error(law, other, table) for law in (one.log_masses(table), other.log_masses(table))]
        assert errors[0] <= errors[1] * (1 + 1e-9)


def _rank_error(law: Any, measure: PiecewiseLaplace, table: list[int]) -> float:
    return math.fsum(math.exp(log) * float(measure.deviation(table, mark)) for mark, log in law.items())


@deep
def test_few_marks_are_permuted_and_many_are_not() -> None:
    """On constant data of a few people the two laws differ clearly; the default follows the ruler alone."""
    bits = SeededBits(9)
    column = [2] * 3

    def share(step: str, high: int) -> float:
        given: Any = {"epsilon": 2, "adjacency": "replace-one", "bits": bits}
        hits = [private_median(column, 0, high, step, **given) == 2 for _ in range(1000)]
        return float(np.mean(hits))

    few = math.exp(median(epsilon=2).log_masses(column)[2])
    other = PiecewiseLaplace(at="1/2", low=0, high=4, step=1, epsilon=2, adjacency="replace-one")
    assert share("1", 4) == pytest.approx(few, abs=0.09)
    assert few > math.exp(other.log_masses(column)[2]) + 0.08
    with pytest.raises(MechanismError, match=r"2\*\*16 marks") as refused:
        median(high=FEW_MARKS)
    assert refused.value.remedy == "Take PiecewiseLaplace."
    assert median(high=FEW_MARKS - 1).ruler.top == FEW_MARKS - 1
    assert share("1", FEW_MARKS) < 0.01  # too many marks for three people, by either law


@pytest.mark.parametrize("table", [list(range(2001)), [0] * 2001])
def test_exponents_are_told_whatever_the_denominators_are(table: list[int]) -> None:
    """As a stored plan of old could have them: the integers are beyond all doubles."""
    ranks = weights_of_one(table, 2000, find_usual_target(Fraction(1, 10**305), len(table)))
    exponents = WindowDistances(ranks).exponents(Fraction(1, 2), 0, 2000)
    for mark in (0, 1, 1000, 2000):
        assert float(exponents.doubles[mark]) == pytest.approx(float(exponents.exact(mark)), rel=2.0**-50)


def test_the_range_of_doubles_is_no_matter_of_the_data() -> None:
    mechanism = median(at=Fraction(1, 10**305), high=2000)
    for table in (list(range(2001)), [0] * 2001):
        assert 0 <= mechanism.release(table, bits=SeededBits(1)) <= 2000
