"""Hadamard's questions, and the laws of what they give away."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import hadamard as dense

from jali.errors import CatalogError
from jali.lab.attacks import Facts, Hadamard, Noise, simulator
from jali.lab.attacks.oracles.simulator import RationedOracle
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows

PHI = NormalDist().cdf


def matrix(subsets: HadamardRows) -> NDArray[np.float64]:
    return np.array(list(subsets.rows()), np.float64)


def deviations(right: int, bits: int, share: float) -> float:
    """Return how many standard deviations a count of right bits is from a share."""
    return (right - bits * share) / math.sqrt(bits * share * (1 - share))


@pytest.mark.parametrize("n", [1, 2, 4, 8, 64, 256])
def test_the_questions_are_the_rows_of_the_matrix_each_once_and_everybody_first(n: int) -> None:
    rows = matrix(HadamardRows(n))
    assert rows[0].all()
    assert sorted(rows.tolist()) == sorted(((1 + dense(n)) / 2).tolist())


@pytest.mark.parametrize(("n", "count"), [(1, 1), (2, 1), (64, 64), (64, 20), (64, 0), (256, 129)])
def test_products_are_those_of_the_matrix(n: int, count: int) -> None:
    random = np.random.default_rng(n + count)
    subsets = HadamardRows(n).first(count)
    rows = matrix(subsets).reshape(count, n)
    x, y = random.normal(size=n), random.normal(size=count)
    assert subsets.shape == rows.shape == (len(subsets), n)
    assert subsets.matvec(x) == pytest.approx(rows @ x)
    assert subsets.rmatvec(y) == pytest.approx(rows.T @ y)
    assert subsets.contrast(y) == pytest.approx((2 * rows - 1).T @ y)


@pytest.mark.parametrize("n", [-4, 0, 3, 100, 1023])
def test_n_must_be_a_power_of_two(n: int) -> None:
    with pytest.raises(CatalogError, match="power of two"):
        HadamardRows(n)


def test_the_error_names_the_powers_beside_it() -> None:
    with pytest.raises(CatalogError) as caught:
        Hadamard().run(simulator(n=1000))
    assert "Use 512 or 1024." in str(caught.value)


@pytest.mark.parametrize("n", [1, 2, 4, 32, 1024])
def test_exact_answers_give_every_bit(n: int) -> None:
    for seed in range(4):
        result = Hadamard().run(simulator(n=n, seed=seed))
        assert result.fraction == result.predicted == 1
        assert (result.confidence == 1).all()


def test_the_errors_of_all_but_person_0_are_uncorrelated_and_person_0_keeps_the_whole_of_one() -> None:
    n = 64
    inverse = np.linalg.inv(matrix(HadamardRows(n)))
    covariance = inverse @ inverse.T
    assert covariance[1:, 1:] == pytest.approx(4 / n * np.eye(n - 1))
    assert covariance[0, 0] == pytest.approx(1)
    assert covariance[0, 1:] == pytest.approx(-2 / n)
    assert np.abs(inverse[1:, 0]) == pytest.approx(2 / n)


@pytest.mark.parametrize("seed", range(5))
def test_the_guess_rounds_the_solution_of_the_equations(seed: int) -> None:
    oracle = simulator(n=64, noise="gaussian:3", seed=seed)
    answers = oracle.ask(HadamardRows(64))
    guess = Hadamard().guess(simulator(n=64, noise="gaussian:3", seed=seed))
    solution = np.linalg.solve(matrix(HadamardRows(64)), answers)
    assert np.array_equal(guess.bits, solution > 0.5)


@pytest.mark.parametrize(
    ("noise", "stddev"),
    [
        ("uniform:0.25*sqrt(n)", 64 / math.sqrt(3)),
        ("gaussian:0.25*sqrt(n)", 64),
        ("laplace:0.25*sqrt(n)", 64 * math.sqrt(2)),
        ("rounding:0.32*sqrt(n)", 0.32 * 256 / math.sqrt(12)),
        ("uniform:sqrt(n)", 256 / math.sqrt(3)),
    ],
)
def test_a_share_of_phi_of_root_n_over_four_standard_deviations_is_right(noise: str, stddev: float) -> None:
    n = 1 << 16
    result = Hadamard().run(simulator(n=n, noise=noise, seed=8))
    law = PHI(math.sqrt(n) / (4 * stddev))
    assert abs(deviations(result.right, n, law)) < 3
    assert result.predicted == pytest.approx(law, abs=1 / n)
    for wrong in (0.9, 1.1):
        assert abs(deviations(result.right, n, PHI(math.sqrt(n) / (4 * wrong * stddev)))) > 5


@pytest.mark.parametrize(("bound", "published"), [(1, 0), (4, 1), (16, 202), (64, 429)])
def test_the_law_is_that_of_the_published_counts_of_wrong_bits(bound: int, published: int) -> None:
    n = 1024
    result = Hadamard().run(simulator(n=n, noise=f"uniform:{bound}", seed=bound))
    wrong = n * PHI(-math.sqrt(n) / (4 * bound / math.sqrt(3)))
    for seen in (published, n - result.right):
        assert abs(seen - wrong) <= 1 + 3 * math.sqrt(wrong)


def test_person_0_is_guessed_as_from_one_answer_and_the_law_counts_that() -> None:
    n, trials = 16, 3000
    first = others = 0
    for seed in range(trials):
        oracle = simulator(n=n, noise="gaussian:1", seed=seed)
        right = Hadamard().guess(oracle).bits == oracle.secret.bits
        first += int(right[0])
        others += int(right[1:].sum())
    assert abs(deviations(first, trials, PHI(1 / 2))) < 4
    assert abs(deviations(others, trials * (n - 1), PHI(1))) < 4
    prediction = Hadamard().predict(Facts(n, Noise("gaussian", 1), n))
    assert prediction is not None
    assert prediction.fraction == pytest.approx((PHI(1 / 2) + (n - 1) * PHI(1)) / n)


@pytest.mark.parametrize("noise", ["none", "gaussian:0.1*sqrt(n)", "gaussian:sqrt(n)"])
@pytest.mark.parametrize("answered", [0.02, 0.25, 0.5, 0.75])
def test_after_a_refusal_the_others_bits_are_noise_and_the_law_counts_them(noise: str, answered: float) -> None:
    n = 1 << 14
    m, stddev = int(answered * n), Noise.of(noise, n=n).stddev
    assert stddev is not None
    result = Hadamard().run(RationedOracle(simulator(n=n, noise=noise, seed=5), m))
    law = PHI(math.sqrt(m / (4 * (5 - answered) * stddev**2 + n - m)))
    assert result.questions == m
    assert result.predicted == pytest.approx(law, abs=2 / n)
    assert abs(deviations(result.right, n, law)) < 4


def test_half_of_the_rows_give_more_than_the_sums_of_pairs() -> None:
    result = Hadamard().run(RationedOracle(simulator(n=4096, seed=2), 2048))
    assert result.fraction > 0.82


@pytest.mark.parametrize("m", [0, 1, 2])
def test_few_answers_or_none_are_no_reason_to_fail(m: int) -> None:
    result = Hadamard().run(RationedOracle(simulator(n=64, noise="laplace:1", seed=1), m, refuses=True))
    assert result.questions == m
    assert result.guessed == 64
    assert np.isfinite(result.confidence).all()
    assert result.predicted is not None
    assert 0.5 <= result.predicted < 0.6


def test_a_skewed_secret_is_centred_at_its_prior() -> None:
    n = 4096
    result = Hadamard().run(RationedOracle(simulator(n=n, prior=0.9, seed=3), n // 2))
    assert abs(deviations(result.right, n, PHI(0.5 / math.sqrt(0.9 * 0.1)))) < 4


def test_the_confidence_is_the_probability_of_being_right() -> None:
    n = 1 << 15
    oracle = simulator(n=n, noise="gaussian:0.4*sqrt(n)", seed=4)
    guess = Hadamard().guess(oracle)
    right = guess.bits == oracle.secret.bits
    for low in np.arange(0, 1, 0.2):
        inside = (guess.confidence >= low) & (guess.confidence < low + 0.2)
        stated = float((1 + guess.confidence[inside]).mean() / 2)
        assert abs(deviations(int(right[inside].sum()), int(inside.sum()), stated)) < 4


@pytest.mark.parametrize("noise", [Noise("garbage", 0.1), Noise("rounding", 40.0)])
def test_theory_is_silent_about_garbage_and_about_rounding_beyond_the_spread_of_counts(noise: Noise) -> None:
    assert Hadamard().predict(Facts(4096, noise, 4096)) is None
    result = Hadamard().run(simulator(n=4096, noise=noise, seed=1))
    assert result.predicted is None
    assert 0.4 < result.fraction < 1


def test_errors_that_are_chosen_have_a_bound_instead_of_a_law() -> None:
    prediction = Hadamard().predict(Facts(4096, Noise("worst", 5.0), 4096))
    assert prediction is not None
    assert not prediction.exact
    assert prediction.fraction == 1 - (16 * 25 + 1) / 4096
    exact = Hadamard().predict(Facts(4096, Noise("worst", 0.0), 4096))
    assert exact is not None
    assert exact.fraction == 1
    assert Hadamard().predict(Facts(4096, Noise("worst", 5.0), 100)) is None


def test_a_million_people_are_attacked_as_the_law_says() -> None:
    n = 1 << 20
    result = Hadamard().run(simulator(n=n, noise="uniform:0.25*sqrt(n)", seed=1))
    assert abs(deviations(result.right, n, PHI(math.sqrt(3)))) < 4
