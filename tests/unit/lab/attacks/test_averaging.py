"""The same question many times."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab import attacks
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.simple_attacks import find_enough_answers, predict_median
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.lab.attacks.subsets.subset_operators import Repeated


def test_the_subsets_are_stacked_copies() -> None:
    subsets, random = Repeated(HadamardRows(8), 3), np.random.default_rng(1)
    dense = np.vstack([np.array(list(HadamardRows(8).rows()), float)] * 3)
    for count in (24, 13, 1):
        first, x, y = subsets.first(count), random.normal(size=8), random.normal(size=count)
        np.testing.assert_array_equal(np.array(list(first.rows())), dense[:count])
        np.testing.assert_allclose(first.matvec(x), dense[:count] @ x)
        np.testing.assert_allclose(first.rmatvec(y), dense[:count].T @ y, atol=1e-12)


@pytest.mark.parametrize("answers", [1, 2, 5, 8])
def test_the_law_of_the_median_is_the_sum_over_all_votes(answers: int) -> None:
    q = math.exp(-0.5)
    above = q / (1 + q)
    chance = [math.comb(answers, k) * above**k * (1 - above) ** (answers - k) for k in range(answers + 1)]
    fair = sum(p * (1.0 if 2 * k < answers else 0.5 if 2 * k == answers else 0.0) for k, p in enumerate(chance))
    assert predict_median(Noise("geometric", 2), answers) == pytest.approx(fair, rel=1e-12)


def test_the_median_of_2655_answers_with_epsilon_a_tenth_is_exact_in_99_percent() -> None:
    noise = Noise("geometric", 10)
    assert find_enough_answers(noise) == 2655
    # Above the count as often as below it: the median is exact with probability 2 r - 1.
    assert 2 * predict_median(noise, 2655) - 1 == pytest.approx(0.990006, abs=1e-6)
    assert 2 * predict_median(noise, 2653) - 1 == pytest.approx(0.989978, abs=1e-6)


def test_medians_drawn_at_random_are_exact_as_often_as_the_law_says() -> None:
    random, stop = np.random.default_rng(5), -math.expm1(-0.1)
    trials = 1000
    noise = random.geometric(stop, (trials, 2655)) - random.geometric(stop, (trials, 2655))
    exact = np.count_nonzero(np.median(noise, axis=1) == 0)
    assert abs(exact - 0.99 * trials) < 3 * math.sqrt(0.99 * 0.01 * trials)


def test_without_a_ledger_almost_every_bit_is_recovered() -> None:
    result = attacks.Averaging().run(attacks.simulator(n=400, noise="geometric:10", seed=6))
    assert result.predicted == pytest.approx(0.995003, abs=1e-6)
    assert result.fraction == pytest.approx(result.predicted, abs=0.012)
    assert result.questions == 400 * 2655


@pytest.mark.parametrize("kind", ["uniform:3", "laplace:2", "gaussian:2", "geometric:2"])
def test_the_law_holds_for_every_noise_that_is_drawn_anew(kind: str) -> None:
    result = attacks.Averaging(repeats=7).run(attacks.simulator(n=20_000, noise=kind, seed=7))
    assert result.predicted is not None
    assert result.fraction == pytest.approx(result.predicted, abs=0.0175)  # five standard deviations
    assert result.calibration[0].claim == pytest.approx(result.predicted)


def test_a_wrong_law_would_be_noticed() -> None:
    result = attacks.Averaging(repeats=7).run(attacks.simulator(n=20_000, noise="laplace:2", seed=7))
    assert abs(result.fraction - predict_median(Noise("laplace", 2.6), 7)) > 0.0175


def test_the_same_words_help_where_answers_are_drawn_anew_and_count_once_where_they_are_not() -> None:
    drawn = attacks.Averaging(repeats=101, same_words=True).run(attacks.simulator(n=8, noise="laplace:1", seed=8))
    assert drawn.questions == 8 * 101
    kept = attacks.Averaging(repeats=101, same_words=True).run(attacks.simulator(n=8, noise="rounding:7", seed=8))
    assert kept.questions == 8
    assert kept.figures["answers"] == 24  # three rounds, and no more
    assert kept.predicted is None


def test_a_number_of_repeats_below_one_is_refused() -> None:
    with pytest.raises(CatalogError, match="repeats"):
        attacks.Averaging(repeats=0)
