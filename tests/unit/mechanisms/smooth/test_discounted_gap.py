"""Columns made so that a great many discounted gaps are about as large as the largest one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, deep, thinned

from jali.mechanisms.smooth.discounted_gap import largest_discounted_gap
from jali.mechanisms.smooth.discounted_maximum import DiscountPowers, largest, largest_in_array, peak
from jali.mechanisms.smooth.order_statistics import Maximum, Median, Minimum
from jali.mechanisms.smooth.sorted_columns import LazySortedColumn
from jali.mechanisms.smooth.trimmed_mean import TrimmedMean
from jali.mechanisms.smooth.winsorised_mean import WinsorisedMean

TOP = 2**60


def growing(count: int, beta: float) -> NDArray[np.int64]:
    """Return marks that grow by exp(beta) each, up to the last one."""
    powers: NDArray[np.float64] = np.exp(beta * (np.arange(1, count + 1) - count - 1))
    return (powers * (TOP - 2**20)).astype(np.int64)


def tied(lefts: int, rights: int, beta: float) -> NDArray[np.int64]:
    """Return left ends one mark apart, far apart from right ends that grow by exp(beta)."""
    return np.concatenate((np.arange(lefts + 1), lefts + growing(rights, beta)))


@pytest.mark.parametrize("inner", [(20, 20), (20, 21), (19, 22), (0, 1), (90, 91)])
@pytest.mark.parametrize("beta", ["0.001", "0.05", "0.3"])
def test_ties_that_doubles_cannot_tell_are_compared_exactly(inner: tuple[int, int], beta: str) -> None:
    marks, reach = tied(20, 69, float(beta)), 80
    ranks = [0, *marks.tolist(), TOP]
    pairs = product(range(inner[0] + 1), range(inner[1], len(ranks)))
    terms = [(inner[0] - i + j - inner[1], ranks[j] - ranks[i]) for i, j in pairs]
    found = largest_discounted_gap(LazySortedColumn(marks, TOP), inner, reach, Fraction(beta))
    assert found == largest([term for term in terms if term[0] <= reach], Fraction(beta))


def test_a_level_with_many_ties_is_not_weighed_more_than_once() -> None:
    beta = 1e-4
    for lefts in (256, 9000):
        marks = np.concatenate((np.zeros(20_000 - lefts, np.int64), tied(lefts, 20_000, beta)))
        assert (
            largest_discounted_gap(LazySortedColumn(marks, TOP), (20_001, 20_001), 20_001, Fraction("1e-4"))
            is not None
        )


def test_where_too_many_tie_the_search_by_distance_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(9000)
    for statistic in (
        Median(low=0, high=9000, step=1, adjacency="replace-one"),
        TrimmedMean(low=0, high=9000, step=1, trim="2/5", adjacency="replace-one"),
    ):
        with monkeypatch.context() as patch:
            found = [statistic.smooth(statistic.read(values), Fraction(1, 2000))]
            patch.setattr("jali.mechanisms.smooth.discounted_gap._SPARE", 0)
            found.append(statistic.smooth(statistic.read(values), Fraction(1, 2000)))
        assert found[0] == found[1]


@pytest.mark.parametrize("beta", ["0.0001", "0.02", "1/3", "50"])
def test_the_heaviest_of_an_array_is_the_peak(beta: str) -> None:
    generator = np.random.default_rng(4)
    for trial in range(20 * DEPTH):
        count = int(generator.integers(1, 300))
        sizes = np.sort(generator.integers(0, TOP, count)) if trial % 2 else growing(count, float(Fraction(beta)))
        sizes[: int(generator.integers(0, count))] = 0
        assert largest_in_array(sizes, Fraction(beta)) == peak(
            sizes.tolist().__getitem__, count - 1, Fraction(beta)
        )
    assert largest_in_array(np.zeros(5, np.int64), Fraction(beta)) == (0, 0)


def test_the_rungs_of_the_ladder_are_powers_from_below() -> None:
    beta, most = Fraction(1, 700), 5000
    rungs, slack = DiscountPowers(beta, most)._rungs, DiscountPowers(beta, most)._slack
    with mpmath.workprec(400):
        for step in range(0, most + 1, 500):
            exact = mpmath.exp(-mpmath.mpf(step) / 700) * mpmath.mpf(2) ** 192
            assert rungs[step] <= exact <= rungs[step] + slack
    assert slack < 2**20


@deep
@thinned(3)
@pytest.mark.parametrize("kind", [Minimum, Median, Maximum])
def test_many_who_may_join_or_leave_have_the_peak_of_all_distances(kind: type) -> None:
    beta, people = Fraction("1e-3"), 9001
    values = growing(people, 1e-3) if kind is not Maximum else TOP - growing(people, 1e-3)[::-1]
    statistic = kind(low=0, high=TOP, step=1, adjacency="add-remove")
    column = statistic.read(values)
    with mpmath.workdps(60):
        sizes = [int(statistic.at_distance(column, k)) for k in range(people + 1)]
        best = max(range(people + 1), key=lambda k: sizes[k] * mpmath.exp(-mpmath.mpf(k) / 1000))
    assert statistic.smooth(column, beta).terms == ((best, Fraction(sizes[best])),)


@thinned(4)
@pytest.mark.parametrize("trim", ["0", "1/10", "2/5", "0.49995"])
def test_many_numbers_have_the_peak_of_all_windows(trim: str) -> None:
    beta, people = Fraction("2e-4"), 10_000
    statistic = TrimmedMean(low=0, high=TOP, step=1, trim=trim, adjacency="replace-one")
    cut = statistic.cut(people)
    for values in (
        np.concatenate((np.zeros(people - cut, np.int64), growing(cut, 2e-4))),
        np.concatenate((TOP // 2 - growing(5000, 2e-4)[::-1] // 2, TOP // 2 + growing(5000, 2e-4) // 2)),
        np.arange(people) * (TOP // people),
    ):
        column = statistic.read(values)
        kept = column.copy()
        at = statistic.reach(statistic._sort(column))
        wanted = peak(lambda k, at=at: at(k), statistic.furthest(people), beta)  # type: ignore[misc]
        assert statistic.smooth(column, beta).terms == (wanted,)
        assert np.array_equal(column, kept)


@pytest.mark.parametrize("kind", [TrimmedMean, WinsorisedMean])
def test_a_smooth_bound_has_one_term_however_close_others_are(kind: type) -> None:
    values = np.concatenate((np.zeros(1800, np.int64), growing(1200, 1e-3)))
    for adjacency in ("replace-one", "add-remove"):
        statistic = kind(low=0, high=TOP, step=1, trim="2/5", adjacency=adjacency)
        bound = statistic.smooth(statistic.read(values), Fraction("1e-3"))
        ((distance, size),) = bound.terms
        assert size == statistic.at_distance(statistic.read(values), distance)
        for k in (0, distance // 2, distance + 1, 2999):
            other = float(statistic.at_distance(statistic.read(values), k)) * math.exp(-k / 1000)
            assert other <= float(bound) * (1 + 1e-12)
