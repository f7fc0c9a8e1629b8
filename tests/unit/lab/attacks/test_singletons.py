"""Questions about one person each."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab import attacks
from jali.lab.attacks.oracles.simulator import Simulator
from jali.lab.attacks.subsets.subset_operators import Singles


def test_the_subsets_are_the_first_rows_of_the_identity() -> None:
    subsets, random = Singles(7, 4), np.random.default_rng(1)
    dense, x, y = np.eye(7)[:4], random.normal(size=7), random.normal(size=4)
    np.testing.assert_array_equal(np.array(list(subsets.rows())), dense)
    np.testing.assert_allclose(subsets.matvec(x), dense @ x)
    np.testing.assert_allclose(subsets.rmatvec(y), dense.T @ y)
    assert subsets.first(2).shape == (2, 7)


def test_exact_answers_give_every_bit() -> None:
    assert attacks.Singletons().run(attacks.simulator(n=50, seed=1)).fraction == 1


def test_whole_numbers_with_the_loss_epsilon_are_read_right_as_often_as_the_ceiling_allows() -> None:
    epsilon = 1.5
    oracle = attacks.simulator(n=40_000, noise=f"geometric:{1 / epsilon}", seed=2)
    result = attacks.Singletons().run(oracle)
    assert result.predicted == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert result.fraction == pytest.approx(result.predicted, abs=0.01)
    assert result.calibration[0].claim == pytest.approx(result.predicted)


def test_of_the_others_nothing_is_learned() -> None:
    result = attacks.Singletons(people=100).run(attacks.simulator(n=400, seed=3))
    assert result.predicted == pytest.approx(0.25 + 0.75 / 2)
    assert 0.5 < result.fraction < 0.75
    assert result.confidence.tolist() == [1] * 100 + [0] * 300


def test_an_oracle_that_refuses_leaves_the_likelier_value() -> None:
    class Silent(Simulator):
        def ask(self, _: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
            return np.empty(0)

    simulator = attacks.simulator(n=9, prior=0.9, seed=4)
    guess = attacks.Singletons().guess(Silent(simulator.secret, simulator.noise, simulator.random))
    assert guess.bits.tolist() == [1] * 9
    assert guess.confidence.tolist() == [0] * 9


def test_wrong_numbers_of_people_are_refused() -> None:
    with pytest.raises(CatalogError, match="people"):
        attacks.Singletons(people=0)
    with pytest.raises(CatalogError, match="people must be at most n = 4, not 5"):
        attacks.Singletons(people=5).run(attacks.simulator(n=4, seed=1))
