"""Least squares: the fit against dense algebra, the share against the law, and what happens with few answers."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.depth import DEPTH

from jali.errors import CatalogError
from jali.lab.attacks import Facts, LeastSquares, Noise, Result, simulator
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.decoding.design import Design
from jali.lab.attacks.decoding.solvers import fit
from jali.lab.attacks.subsets.random_subsets import Packed, draw_packed_subsets, draw_sparse_subsets


def dense(subsets: object) -> Doubles:
    return np.array(list(subsets.rows()), np.float64)  # type: ignore[attr-defined]


def attacked(n: int, noise: str, *, seed: int, **parameters: object) -> Result:
    attack = LeastSquares(seed=seed, **parameters)  # type: ignore[arg-type]
    return attack.run(simulator(n=n, noise=noise, seed=seed))


def within_chance(result: Result, deviations: float = 4) -> bool:
    assert result.predicted is not None
    spread = math.sqrt(result.predicted * (1 - result.predicted) / result.guessed)
    return abs(result.fraction - result.predicted) < deviations * spread


def test_the_fit_is_the_least_squares_solution_of_the_matrix() -> None:
    subsets = draw_packed_subsets(160, 45, seed=1)
    answers = np.random.default_rng(2).normal(20, 5, 160)
    exact, *_ = np.linalg.lstsq(dense(subsets), answers, rcond=None)
    found = fit(subsets, answers, density=0.5, gradient=1e-9)
    np.testing.assert_allclose(found.estimate, exact, atol=1e-7)
    residual = float(np.linalg.norm(dense(subsets) @ exact - answers))
    assert found.residual == pytest.approx(residual)
    assert found.stddev == pytest.approx(residual / 115**0.5)


@pytest.mark.parametrize("questions", [20, 45, 160])
def test_a_ridge_is_the_solution_of_its_normal_equations(questions: int) -> None:
    subsets = draw_packed_subsets(questions, 45, seed=3)
    matrix = dense(subsets)
    answers = np.random.default_rng(4).normal(matrix.sum(axis=1) * 0.6, 2)
    sizes = matrix.sum(axis=1)
    centre = float(sizes @ answers / (sizes @ sizes))
    exact = centre + np.linalg.solve(matrix.T @ matrix + 3.0 * np.eye(45), matrix.T @ (answers - centre * sizes))
    found = fit(subsets, answers, density=0.5, ridge=3.0, gradient=1e-9)
    np.testing.assert_allclose(found.estimate, exact, atol=1e-7)


def test_the_mean_of_all_bits_costs_no_steps() -> None:
    """Plain conjugate gradients, on the same matrix to the same gradient, need more of them."""
    subsets = draw_packed_subsets(1600, 400, seed=5)
    secret = np.random.default_rng(6).random(400) < 0.1
    answers = subsets.matvec(secret.astype(float)) + np.random.default_rng(7).normal(0, 3, 1600)
    found = fit(subsets, answers, density=0.5, gradient=1e-3)
    untouched = fit(subsets, answers, density=1e-12, gradient=1e-3)
    np.testing.assert_allclose(found.estimate, untouched.estimate, atol=1e-4)
    assert found.steps + 3 <= untouched.steps


@pytest.mark.parametrize(("people", "questions"), [(150, 300), (150, 600), (150, 1500)])
def test_the_law_of_random_subsets_is_the_mean_diagonal_of_the_inverse(people: int, questions: int) -> None:
    matrix = dense(draw_packed_subsets(questions, people, seed=8))
    variance = np.linalg.inv(matrix.T @ matrix).diagonal().mean()
    assert Design(people, questions).spread(3.0) ** 2 == pytest.approx(9 * variance, rel=0.05)
    assert Design(people, questions).spread(3.0) == pytest.approx(2 * 3 / (questions - people) ** 0.5)


@pytest.mark.parametrize(
    ("people", "questions", "members"),
    [(400, 1600, 4), (400, 1200, 2), (399, 1200, 7), (400, 1600, 40), (400, 1600, 1)],
)
def test_the_law_of_groups_is_the_mean_diagonal_of_the_inverse(people: int, questions: int, members: int) -> None:
    """Close enough to tell it from the law of random subsets of that density, which is 3 % off, or more."""
    matrix = dense(draw_sparse_subsets(questions, people, members, seed=9))
    variance = np.linalg.inv(matrix.T @ matrix).diagonal().mean()
    assert Design(people, questions, members).spread(1.0) ** 2 == pytest.approx(variance, rel=0.015)


@pytest.mark.parametrize("questions", [80, 200, 260, 600])
@pytest.mark.parametrize("members", [None, 5])
def test_the_law_of_a_ridge_is_its_error_in_the_dense_equations(questions: int, members: int | None) -> None:
    """With B = (A'A + r)^-1 A'A the estimate of a centred bit is B_jj of it, and the rest is error."""
    people, stddev, variance = 200, 1.5, 0.25
    design = Design(people, questions, members)
    subsets = draw_packed_subsets(questions, people, seed=10)
    matrix = dense(subsets if members is None else draw_sparse_subsets(questions, people, members, seed=10))
    inverse = np.linalg.inv(matrix.T @ matrix + stddev**2 / variance * np.eye(people))
    kept = inverse @ matrix.T @ matrix
    own = kept.diagonal()
    error = (
        variance * ((kept**2).sum(axis=1) - own**2)
        + stddev**2 * (inverse @ matrix.T @ matrix @ inverse).diagonal()
    )
    assert design.spread(stddev, variance) ** 2 == pytest.approx((error / own**2).mean(), rel=0.08)


@given(st.integers(1, 500), st.integers(0, 2000), st.floats(0, 100), st.booleans())
def test_a_ridge_is_never_worse_than_least_squares_and_always_finite(
    people: int, questions: int, stddev: float, grouped: bool
) -> None:
    design = Design(people, questions, max(1, people // 4) if grouped and people > 1 else None)
    ridge = design.spread(stddev, 0.25)
    assert ridge >= 0
    assert (ridge < float("inf")) == (questions > 0)
    assert ridge <= design.spread(stddev) * (1 + 1e-9)


@pytest.mark.parametrize("noise", ["uniform:12", "gaussian:10", "laplace:8"])
def test_the_share_of_right_bits_is_the_law(noise: str) -> None:
    result = attacked(1000, noise, seed=12)
    stddev = Noise.of(noise, n=1000).stddev
    assert stddev is not None
    assert result.predicted == pytest.approx(NormalDist().cdf(3000**0.5 / (4 * stddev)))
    assert within_chance(result)
    assert result.fraction < 1
    assert result.questions == 4000


def test_fine_rounding_is_noise_of_its_variance_and_coarse_rounding_has_no_law() -> None:
    """Seeded. To multiples of 8 among 28 people's counts, as independent noise of variance 66 / 12 would be."""
    fine = [attacked(576, "rounding:8", seed=seed, questions=400) for seed in range(8)]
    design = Design(576, 400)
    law = NormalDist().cdf(0.5 / design.spread(math.sqrt(66 / 12), 0.25))
    assert fine[0].predicted == pytest.approx(law)
    right = sum(result.right for result in fine)
    assert abs(right - 8 * 576 * law) < 4 * math.sqrt(8 * 576 * law * (1 - law))
    coarse = [attacked(256, "rounding:64", seed=seed) for seed in range(4)]
    assert {result.predicted for result in coarse} == {None}
    # As noise of that variance they would leave 65 % right.
    assert np.mean([result.fraction for result in coarse]) < 0.56
    assert attacked(256, "rounding:1", seed=1).predicted == 1
    few = [LeastSquares(members=9).predict(Facts(1000, Noise("rounding", step), 4000)) for step in (1.5, 2.5)]
    assert few[0] is not None
    assert few[1] is None


@pytest.mark.parametrize("questions", [500, 1000, 1500])
def test_with_few_answers_a_ridge_meets_its_law(questions: int) -> None:
    result = attacked(1000, "gaussian:5", seed=13, questions=questions)
    assert within_chance(result)
    assert result.fraction > 0.7


def test_near_as_many_answers_as_people_a_ridge_finds_more_than_plain_least_squares() -> None:
    plain = attacked(500, "gaussian:3", seed=14, questions=520, solver="plain")
    ridge = attacked(500, "gaussian:3", seed=14, questions=520, solver="ridge")
    assert within_chance(plain)
    assert ridge.right > plain.right + 50


def test_exact_answers_to_fewer_questions_than_people_give_most_bits_away() -> None:
    """The solution nearest to the mean: a projection to m of n dimensions, and the law is that of one."""
    result = attacked(1000, "none", seed=15, questions=750)
    kept = 0.75
    assert result.predicted == pytest.approx(NormalDist().cdf((kept / (1 - kept)) ** 0.5))
    assert within_chance(result)


@pytest.mark.parametrize("noise", ["gaussian:1", "gaussian:2"])
def test_a_handful_of_people_in_a_question_meet_their_law(noise: str) -> None:
    result = attacked(10_000, noise, seed=16, members=8)
    assert within_chance(result)
    assert 0.88 < result.fraction < 0.999


def test_people_who_are_nearly_all_alike_are_told_apart() -> None:
    oracle = simulator(n=500, noise="gaussian:2", prior=0.02, seed=17)
    assert LeastSquares(seed=17).run(oracle).fraction == 1


def test_errors_that_are_chosen_leave_what_the_bound_says() -> None:
    result = attacked(256, "worst:1", seed=18)
    least = 1 - 16 / (256 * 0.25)
    assert result.predicted == pytest.approx(least)
    assert not result.law_is_exact
    assert result.fraction >= least


@pytest.mark.parametrize(("questions", "bound"), [(128, 0.4), (256, 0.8)])
def test_the_bound_for_chosen_errors_holds_from_64_people_on(questions: int, bound: float) -> None:
    for seed in range(40):
        result = attacked(64, f"worst:{bound}", seed=seed, questions=questions)
        assert result.sense == "at least"
        assert result.predicted is not None
        assert 0.2 < result.predicted <= result.fraction
    assert attacked(63, "worst:0.1", seed=1).predicted is None
    assert attacked(64, "worst:0.1", seed=1, questions=127, solver="plain").predicted is None


def test_garbage_is_beyond_the_law_and_makes_the_attack_doubtful() -> None:
    result = attacked(400, "garbage:0.2", seed=19)
    assert result.predicted is None
    assert float(np.mean(result.confidence)) < 0.7


@pytest.mark.parametrize("solver", ["plain", "ridge"])
def test_a_ridge_is_as_sure_as_it_is_right(solver: str) -> None:
    result = attacked(2000, "gaussian:12", seed=20, questions=4400, solver=solver)
    assert float((1 + result.confidence).mean() / 2) == pytest.approx(result.fraction, abs=0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
@pytest.mark.parametrize("answers", [0, 1, 2])
def test_hardly_any_answers_still_give_a_guess(n: int, answers: int) -> None:
    attack = LeastSquares(seed=21)
    assert attack.predict(Facts(n, Noise("gaussian", 1.0), answers)) is not None
    found = fit(Packed.of(np.ones((answers, n))), np.full(answers, float(n)), density=0.5, gradient=1e-6)
    assert found.estimate == pytest.approx(np.full(n, 1.0 if answers else 0.5))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"questions": 0}, "questions must be at least 1"),
        ({"members": -3}, "members must be at least 1"),
        ({"solver": "guessing"}, "no solver 'guessing'. Use plain or ridge"),
    ],
)
def test_a_wrong_parameter_is_named(parameters: dict[str, object], words: str) -> None:
    with pytest.raises(CatalogError, match=words):
        LeastSquares(**parameters)  # type: ignore[arg-type]


def test_groups_of_more_than_half_of_the_people_are_refused() -> None:
    with pytest.raises(CatalogError, match="at most half of n = 10, not 6"):
        attacked(10, "none", seed=22, members=6)


@pytest.mark.skipif(DEPTH == 1, reason="make test-deep reconstructs ten thousand people; make bench does too")
def test_ten_thousand_people_are_reconstructed() -> None:
    result = attacked(10_000, "uniform:0.25*sqrt(n)", seed=23)
    assert result.fraction >= 0.998
    assert within_chance(result)
