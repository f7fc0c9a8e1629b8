"""Binomial masses, tails and exact intervals against scipy and exact rationals."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats
from tests.depth import thinned

from jali.errors import JaliError
from jali.local.binomial import clopper_pearson, log_mass, longest_arm, tail_ratio, upper_tail


def counts_of(people: int) -> np.ndarray:
    some = np.random.default_rng(people).integers(0, people + 1, 40)
    return np.unique(np.concatenate([[0, 1, people // 2, people - 1, people], some]))


@pytest.mark.parametrize("people", [1, 2, 3, 17, 1000, 10**6])
@pytest.mark.parametrize("chance", [0.001, 0.3, 0.5, 0.97])
def test_masses_and_tails_agree_with_scipy(people: int, chance: float) -> None:
    counts = counts_of(people)
    masses, tails = stats.binom.logpmf(counts, people, chance), stats.binom.sf(counts - 1, people, chance)
    np.testing.assert_allclose(log_mass(counts, people, chance), masses, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(upper_tail(counts, people, chance), tails, rtol=1e-8, atol=1e-290)


def test_far_tails_keep_their_digits() -> None:
    """Exact rationals: 400 of 500 fair coins."""
    exact = Fraction(sum(math.comb(500, c) for c in range(400, 501)), 2**500)
    assert float(upper_tail(400, 500, 0.5)) == pytest.approx(float(exact), rel=1e-11)


@pytest.mark.parametrize("people", [2, 10, 1000, 10**6, 10**9])
@pytest.mark.parametrize("chance", [1e-15, 2.5e-13, 1e-10, 1e-6, 0.001, 0.1, 0.5, 0.999])
def test_masses_keep_their_digits_wherever_the_mean_is(people: int, chance: float) -> None:
    """In 60 digits: means far below and far above the count, and close to it."""
    mean = int(people * chance)
    near = {mean, int(1.04 * mean) + 1, int(1.2 * mean) + 1, 2 * mean + 1}
    with mpmath.workdps(60):
        for count in {0, 1, 2, people // 3, people // 2, people - 1, people} | near:
            if count > people:
                continue
            x = mpmath.mpf(chance)
            exact = mpmath.log(mpmath.binomial(people, count))
            exact += count * mpmath.log(x) + (people - count) * mpmath.log(1 - x)
            assert float(log_mass(count, people, chance)) == pytest.approx(float(exact), rel=1e-13, abs=1e-11)


def test_the_tail_over_its_first_mass_agrees_with_rationals() -> None:
    for people, count in ((2, 1), (40, 20), (40, 39), (40, 40), (301, 151)):
        exact = Fraction(sum(math.comb(people, c) for c in range(count, people + 1)), math.comb(people, count))
        assert float(tail_ratio(count, people, 0.5)) == pytest.approx(float(exact), rel=1e-13)


def test_nobody_has_no_yes() -> None:
    assert upper_tail([0, 1], [0, 0], 0.5).tolist() == [1, 0]
    assert log_mass(0, 0, 0.5) == 0


@thinned(4)
@pytest.mark.parametrize("people", [1, 2, 10, 1000, 10**6, 10**8])
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999999])
def test_exact_intervals_agree_with_the_quantiles_of_the_beta_law(people: int, confidence: float) -> None:
    counts, outside = counts_of(people), (1 - confidence) / 2
    low, high = clopper_pearson(counts, people, confidence)
    first = stats.beta.ppf(outside, np.maximum(counts, 1), people - counts + 1)
    last = stats.beta.isf(outside, counts + 1, np.maximum(people - counts, 1))
    np.testing.assert_allclose(low, np.where(counts == 0, 0, first), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(high, np.where(counts == people, 1, last), rtol=1e-9, atol=1e-15)


def test_intervals_come_in_the_order_and_shape_of_their_counts() -> None:
    low, high = clopper_pearson([[5, 0], [0, 10]], 10, 0.9)
    assert low.shape == high.shape == (2, 2)
    assert (low[0, 1], high[1, 1], low[0, 0] + high[0, 0]) == (0, 1, pytest.approx(1))


@pytest.mark.parametrize("people", [1, 7, 300, 2048])
def test_the_longest_arm_of_few_counts_is_found_among_all_of_them(people: int) -> None:
    counts = np.arange(people + 1)
    first = np.where(counts == 0, 0, stats.beta.ppf(0.025, np.maximum(counts, 1), people - counts + 1))
    assert longest_arm(people, 0.95, 0, 1) == pytest.approx(float((counts / people - first).max()), rel=1e-9)


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.25, 0.75), (0.01, 0.03), (0.96, 0.99)])
@pytest.mark.parametrize("confidence", [0.6, 0.95, 0.9999])
def test_the_closed_form_for_many_counts_bounds_all_arms_and_is_close(
    low: float, high: float, confidence: float
) -> None:
    """5,000 people, all counts: the bound that rests on the inequality of Zubkov and Serov."""
    people, outside = 5000, (1 - confidence) / 2
    counts = np.arange(people + 1)
    first = np.where(counts == 0, 0, stats.beta.ppf(outside, np.maximum(counts, 1), people - counts + 1))
    last = np.where(counts == people, 1, stats.beta.isf(outside, counts + 1, np.maximum(people - counts, 1)))
    meets = (first <= high) & (last >= low)
    arms = np.maximum(counts / people - np.maximum(first, low), np.minimum(last, high) - counts / people)
    exact = float(arms[meets].max())
    assert exact <= longest_arm(people, confidence, low, high) <= 1.15 * exact


def test_a_confidence_outside_zero_and_one_is_refused() -> None:
    with pytest.raises(JaliError, match="confidence"):
        clopper_pearson([1], 2, 1.0)
