"""Projections: optimality conditions, brute force, and that no truth gets further away."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import MechanismError
from jali.mechanisms.workloads.consistency import cumulative, nonnegative, rising, with_total

numbers = st.lists(st.floats(-100, 100), min_size=1, max_size=12).map(np.array)


def max_min(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> list[float]:
    """The max-min formula of isotonic regression: independent of pooling."""
    n = len(values)

    def mean(i: int, j: int) -> float:
        return float(np.average(values[i : j + 1], weights=weights[i : j + 1]))

    return [max(min(mean(i, j) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]


@given(noisy=numbers, total=st.floats(0.1, 300))
@settings(max_examples=60 * DEPTH, deadline=None, derandomize=True)
def test_the_nearest_histogram_with_a_total_satisfies_the_optimality_conditions(noisy: Any, total: float) -> None:
    found = nonnegative(noisy, total=total)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(total)
    kept = found > 0
    level = (noisy - found)[kept]
    assert level == pytest.approx(np.full(kept.sum(), level[0]), abs=1e-8)
    assert (noisy[~kept] <= level[0] + 1e-8).all()


def test_the_nearest_histogram_is_the_best_of_all_choices_of_zeros() -> None:
    noisy, total = np.array([5.0, -2.0, 0.5, 1.0]), 4.0
    candidates = []
    for kept in itertools.chain.from_iterable(itertools.combinations(range(4), k) for k in range(1, 5)):
        trial = np.zeros(4)
        chosen = list(kept)
        trial[chosen] = noisy[chosen] + (total - noisy[chosen].sum()) / len(kept)
        if (trial >= 0).all():
            candidates.append(trial)
    best = min(candidates, key=lambda trial: ((trial - noisy) ** 2).sum())
    assert nonnegative(noisy, total=total) == pytest.approx(best)


def test_without_a_total_negative_counts_become_zero() -> None:
    assert nonnegative([3, -1, 0.5]).tolist() == [3, 0, 0.5]
    assert nonnegative([3, -1, 2], total=0).tolist() == [0, 0, 0]
    assert nonnegative([-3.0, -1.0], total=2).tolist() == [0, 2]


@given(noisy=numbers, data=st.data())
@settings(max_examples=60 * DEPTH, deadline=None, derandomize=True)
def test_pooling_is_the_weighted_projection(noisy: Any, data: Any) -> None:
    weights = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=len(noisy), max_size=len(noisy))))
    found = rising(noisy, weights=weights.tolist())
    assert found == pytest.approx(max_min(noisy, weights), abs=1e-8)
    assert (np.diff(found) >= 0).all()


@given(noisy=numbers, truth=numbers)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_no_projection_moves_away_from_a_truth_with_the_property(noisy: Any, truth: Any) -> None:
    size = min(len(noisy), len(truth))
    noisy, counts = noisy[:size], np.abs(truth[:size])
    before = ((noisy - counts) ** 2).sum()
    assert ((nonnegative(noisy) - counts) ** 2).sum() <= before + 1e-6
    assert ((nonnegative(noisy, total=counts.sum()) - counts) ** 2).sum() <= before + 1e-6
    assert ((with_total(noisy, total=counts.sum()) - counts) ** 2).sum() <= before + 1e-6
    curve = np.cumsum(counts)
    away = ((noisy - curve) ** 2).sum()
    assert ((rising(noisy) - curve) ** 2).sum() <= away + 1e-6
    assert ((cumulative(noisy, total=curve[-1]) - curve) ** 2).sum() <= away + 1e-6


def test_the_bounded_projection_is_the_best_on_a_grid() -> None:
    noisy = np.array([-1.0, 2.5, 1.5, 4.0])
    grid = np.linspace(0, 3, 13)
    trials = [t for t in itertools.product(grid, repeat=4) if list(t) == sorted(t)]
    best = min(trials, key=lambda t: ((np.array(t) - noisy) ** 2).sum())
    assert cumulative(noisy, total=3) == pytest.approx(best)


def test_removing_negative_counts_biases_and_the_total_does_not() -> None:
    """100,000 noises of an empty cell: the mean is 0.4 or so, a hundred standard errors above 0."""
    noise = np.random.default_rng(1).normal(size=100_000)
    assert nonnegative(noise).mean() == pytest.approx(1 / math.sqrt(2 * math.pi), abs=0.02)
    assert with_total(noise, total=0).sum() == pytest.approx(0, abs=1e-6)


def test_large_inputs_take_linear_time_in_practice() -> None:
    noisy = np.random.default_rng(2).normal(size=200_000)
    assert nonnegative(noisy, total=10.0).sum() == pytest.approx(10)
    assert (np.diff(rising(noisy)) >= 0).all()


def test_bad_inputs_are_refused() -> None:
    for total in (-1, math.nan, math.inf):
        with pytest.raises(MechanismError, match="total"):
            nonnegative([1.0], total=total)
    for weights in ([1.0], [1.0, 0.0], [1.0, -1.0]):
        with pytest.raises(MechanismError, match="weights"):
            rising([1.0, 2.0], weights=weights)
    with pytest.raises(MechanismError, match="at least one"):
        nonnegative([])
    for bad in ([math.nan, 1.0], [math.inf], [-math.inf, 2.0], [1e308, 1e308], ["x"], [None], [[1.0]], [10**400]):
        for project in (nonnegative, rising, cumulative):
            with pytest.raises(MechanismError, match="finite numbers"):
                project(bad)  # type: ignore[arg-type]
        with pytest.raises(MechanismError, match="finite numbers"):
            with_total(bad, total=1)  # type: ignore[arg-type]
    totals: list[Any] = [-3, math.nan, math.inf, True, "3"]
    for wrong in totals:
        with pytest.raises(MechanismError, match="total"):
            with_total([1.0], total=wrong)
        with pytest.raises(MechanismError, match="total"):
            cumulative([1.0], total=wrong)
