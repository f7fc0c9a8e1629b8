from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize

from jali.errors import CatalogError
from jali.lab.attacks import Facts, LinearProgram, Noise, simulator
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.decoding import solvers
from jali.lab.attacks.decoding.design import round_cut_estimate
from jali.lab.attacks.oracles.simulator import RationedOracle
from jali.lab.attacks.staging import stage
from jali.lab.attacks.subsets.random_subsets import Listed, random_subsets


def _asked(n: int, questions: int, noise: str, seed: int = 1) -> tuple[Listed, Doubles]:
    subsets = random_subsets(questions, n, seed=seed + 100)
    return subsets, simulator(n=n, noise=noise, seed=seed).ask(subsets)


def _primal(cost: Doubles, above: Doubles, right: Doubles, n: int) -> float:
    """Return the least cost where the first n variables are from 0 to 1, and the others are not negative."""
    bounds = [(0, 1)] * n + [(0, None)] * (len(cost) - n)
    return float(scipy.optimize.linprog(cost, A_ub=above, b_ub=right, bounds=bounds, method="highs-ipm").fun)


@pytest.mark.parametrize("questions", [5, 12, 60])
def test_the_chebyshev_program_finds_the_least_largest_error(questions: int) -> None:
    subsets, answers = _asked(12, questions, "uniform:4")
    found = solvers.build_chebyshev(subsets, answers).bits(12)
    assert found is not None
    a, ones = subsets.matrix.astype(float), np.ones((questions, 1))
    above, right = np.block([[a, -ones], [-a, -ones]]), np.concatenate([answers, -answers])
    least = _primal(np.append(np.zeros(12), 1.0), above, right, 12)
    assert np.abs(a @ found - answers).max() == pytest.approx(least, abs=1e-6)
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9


@pytest.mark.parametrize("questions", [5, 12, 60])
def test_the_absolute_program_finds_the_least_sum_of_errors(questions: int) -> None:
    subsets, answers = _asked(12, questions, "laplace:3")
    found = solvers.build_absolute(subsets, answers).bits(12)
    assert found is not None
    a, eye = subsets.matrix.astype(float), np.eye(questions)
    above, right = np.block([[a, -eye], [-a, -eye]]), np.concatenate([answers, -answers])
    least = _primal(np.append(np.zeros(12), np.ones(questions)), above, right, 12)
    assert np.abs(a @ found - answers).sum() == pytest.approx(least, abs=1e-6)
    assert found.min() >= -1e-9
    assert found.max() <= 1 + 1e-9


def test_the_feasible_program_goes_as_far_as_the_bound_allows() -> None:
    subsets, answers = _asked(12, 60, "uniform:2")
    direction = np.random.default_rng(3).standard_normal(12)
    found = solvers.build_feasible(subsets, answers, 2.0, direction).bits(12)
    assert found is not None
    a = subsets.matrix.astype(float)
    least = _primal(-direction, np.concatenate([a, -a]), np.concatenate([answers + 2, 2 - answers]), 12)
    assert np.abs(a @ found - answers).max() <= 2 + 1e-6
    assert -direction @ found == pytest.approx(least, abs=1e-6)


def test_a_program_without_a_solution_says_so() -> None:
    subsets, answers = _asked(12, 60, "uniform:2")
    assert solvers.build_feasible(subsets, answers, 0.01, np.ones(12)).bits(12) is None


def test_answers_that_break_their_bound_are_still_attacked() -> None:
    subsets, answers = _asked(12, 60, "uniform:2")
    lied = LinearProgram(loss="feasible", seed=1).solve(subsets, answers, Noise("uniform", 0.01))
    honest = solvers.build_chebyshev(subsets, answers).bits(12)
    assert lied == pytest.approx(honest)


def test_errors_of_sqrt_n_leave_at_most_two_percent_wrong() -> None:
    """Seeded. The law is .988, so two secrets together are above .98 in nearly all seeds."""
    result = stage("linear-program", n=256, noise="uniform:sqrt(n)", trials=2, seed=1).run()
    assert result.questions == 8 * 256
    assert result.fraction >= 0.98


def test_all_bits_survive_thirty_percent_of_garbage() -> None:
    result = stage("linear-program", n=128, noise="garbage:0.3", trials=3, seed=1).run()
    assert result.questions == 1024
    assert result.fraction == 1
    assert result.predicted == 1


def test_more_garbage_than_can_be_survived_leaves_doubt() -> None:
    result = LinearProgram(seed=2).run(simulator(n=64, noise="garbage:0.8", seed=2))
    assert result.fraction < 0.8
    assert result.predicted is None
    assert result.confidence.max() < 0.6


def test_the_loss_that_suits_the_noise_is_taken() -> None:
    facts = {kind: Facts(64, Noise(kind, size), 512) for kind, size in (("uniform", 8.0), ("laplace", 4.0))}
    for kind, loss, other in (("uniform", "chebyshev", "absolute"), ("laplace", "absolute", "chebyshev")):
        chosen, same, worse = (LinearProgram(loss=one).predict(facts[kind]) for one in (None, loss, other))
        assert chosen == same
        assert chosen is not None
        assert worse is not None
        assert worse.fraction < chosen.fraction


def test_misleading_errors_stay_within_their_bound() -> None:
    n, bound = 64, 0.4
    for loss in ("chebyshev", "feasible"):
        attack = LinearProgram(loss=loss, seed=3)
        result = attack.run(simulator(n=n, noise=Noise("worst", bound), seed=3))
        lost = 64 * bound**2 / (n * (1 - math.sqrt(1 / 8)) ** 2)
        assert result.predicted == pytest.approx(1 - lost)
        assert not result.law_is_exact
        assert result.fraction >= 1 - lost
    assert LinearProgram().predict(Facts(n, Noise("worst", 4.0), 8 * n)) is None
    assert LinearProgram(loss="absolute").predict(Facts(n, Noise("worst", bound), 8 * n)) is None


@pytest.mark.parametrize("loss", ["chebyshev", "absolute", "feasible"])
@pytest.mark.parametrize("answers", [1, 3, 9])
def test_few_answers_are_attacked_too(loss: str, answers: int) -> None:
    oracle = RationedOracle(simulator(n=16, noise="uniform:1", seed=2), answers, refuses=True)
    result = LinearProgram(loss=loss, seed=2).run(oracle)
    assert result.questions == answers
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()


def test_without_answers_the_likelier_value_is_guessed() -> None:
    oracle = RationedOracle(simulator(n=16, noise="uniform:1", prior=0.7, seed=2), 0, refuses=True)
    guess = LinearProgram(seed=2).guess(oracle)
    assert guess.bits.tolist() == [1] * 16
    assert guess.confidence == pytest.approx(0.4)
    assert guess.questions == 0
    assert LinearProgram().predict(Facts(16, Noise("uniform", 1.0), 0)) is None


def test_the_confidence_is_the_probability_of_being_right() -> None:
    """Seeded; 200,000 bits with normal errors, cut off: the stated and the true share differ by 5 s.d. at most."""
    random = np.random.default_rng(5)
    for spread in (0.2, 0.6):
        bits = random.integers(0, 2, 200_000)
        guess = round_cut_estimate(np.clip(bits + spread * random.standard_normal(len(bits)), 0, 1), spread, 1)
        right = guess.bits == bits
        for low, high in ((0.0, 0.4), (0.4, 0.8), (0.8, 1.01)):
            inside = (guess.confidence >= low) & (guess.confidence < high)
            stated = (1 + guess.confidence[inside]) / 2
            chance = math.sqrt(float((stated * (1 - stated)).sum()) + 1)
            assert abs(float(right[inside].sum() - stated.sum())) < 5 * chance


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(CatalogError, match="There is no loss 'huber'"):
        LinearProgram(loss="huber")
    with pytest.raises(CatalogError, match="questions must be a whole number of at least 1"):
        LinearProgram(questions=0)
    with pytest.raises(CatalogError, match="needs a bound on the error, but noise"):
        LinearProgram(loss="feasible").run(simulator(n=8, noise="laplace:1", seed=1))
