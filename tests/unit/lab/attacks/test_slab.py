from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
from tests.depth import thinned

from jali.errors import CatalogError
from jali.lab.attacks import Facts, Noise, Slab, simulator
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.convex_attacks import find_nearest_point
from jali.lab.attacks.oracles.simulator import RationedOracle
from jali.lab.attacks.staging import stage
from jali.lab.attacks.subsets.random_subsets import draw_packed_subsets, random_subsets
from jali.lab.attacks.subsets.subset_operators import Subsets


def _reference(matrix: Doubles, answers: Doubles, width: float) -> Doubles:
    """Minimise the squared violation by another method, in double precision, with the number of ones free."""
    questions, people = matrix.shape
    centred = np.hstack([matrix - 0.5, np.full((questions, 1), 0.5)])
    target = answers - matrix.sum(axis=1) / 2

    def violation(point: Doubles) -> tuple[float, Doubles]:
        off = centred @ point - target
        off -= np.clip(off, -width, width)
        return float(off @ off) / 2, centred.T @ off

    found = scipy.optimize.minimize(
        violation,
        np.zeros(people + 1),
        jac=True,
        method="L-BFGS-B",
        bounds=[(-0.5, 0.5)] * people + [(None, None)],
        options={"maxiter": 20_000, "ftol": 1e-14, "gtol": 1e-8},
    )
    return np.asarray(found.x[:-1] + 0.5)


@pytest.mark.parametrize(
    ("people", "each", "bound", "shrink"), [(64, 8, 8.0, 0.8), (64, 4, 4.0, 0.8), (96, 3, 8.0, 0.5)]
)
def test_the_steps_reach_the_least_violation(people: int, each: int, bound: float, shrink: float) -> None:
    subsets = random_subsets(each * people, people, seed=12)
    answers = simulator(n=people, noise=Noise("uniform", bound), seed=5).ask(subsets)
    found = find_nearest_point(subsets, answers, shrink * bound, steps=600)
    expected = _reference(subsets.matrix.astype(np.float64), answers, shrink * bound)
    assert found.bits == pytest.approx(expected, abs=5e-3)
    assert found.steps < 300


def test_the_steps_stay_in_single_precision() -> None:
    """A width that is not Python's own number would double the memory and the time."""
    subsets = random_subsets(64, 16, seed=1)
    answers = simulator(n=16, noise="uniform:4", seed=1).ask(subsets)
    assert find_nearest_point(subsets, answers, float(np.float64(3.2)), steps=9).bits.dtype == np.float32
    assert find_nearest_point(subsets, answers, np.float64(3.2), steps=9).bits.dtype == np.float32


def test_any_operator_of_random_subsets_will_do() -> None:
    packed = draw_packed_subsets(512, 64, seed=3)
    listed = random_subsets(1, 64).of(np.array(list(packed.rows())))
    answers = simulator(n=64, noise="uniform:8", seed=3).ask(packed)
    both: list[Subsets] = [packed, listed]
    first, second = (find_nearest_point(one, answers, 6.4, steps=600).bits for one in both)
    assert first == pytest.approx(second, abs=5e-3)


def test_no_step_is_taken_where_nothing_is_violated() -> None:
    subsets = random_subsets(64, 16, seed=1)
    assert find_nearest_point(subsets, subsets.matvec(np.full(16, 0.5)), 1.0, steps=50).steps == 1
    assert find_nearest_point(subsets, subsets.matvec(np.ones(16)), 0.0, steps=3).steps == 3


def test_errors_of_sqrt_n_leave_at_most_three_percent_wrong() -> None:
    result = stage("slab", n=512, noise="uniform:sqrt(n)", trials=4, seed=1).run()
    assert result.questions == 8 * 512
    assert result.fraction >= 0.97
    assert result.figures["steps"] <= 600


@thinned(3)
@pytest.mark.parametrize(
    ("noise", "shrink", "questions"),
    [("uniform:sqrt(n)", 0.8, 1024), ("uniform:sqrt(n)", 0.0, 512), ("gaussian:0.5*sqrt(n)", 0.5, 512)],
)
def test_the_share_of_right_bits_is_the_limit(noise: str, shrink: float, questions: int) -> None:
    """Seeded; 60 secrets of 128 bits, within 4 standard errors of their mean, and two tenths of a percent."""
    shares = []
    for seed in range(60):
        attack = Slab(questions=questions, shrink=shrink, seed=seed + 1000)
        shares.append(attack.run(simulator(n=128, noise=noise, seed=seed)).fraction)
    prediction = attack.predict(Facts(128, Noise.of(noise, n=128), questions))
    assert prediction is not None
    error = np.std(shares, ddof=1) / math.sqrt(len(shares))
    assert abs(np.mean(shares) - prediction.fraction) < 4 * error + 0.002


def test_no_law_is_claimed_where_the_slabs_have_points_in_common() -> None:
    few, many = (Slab().predict(Facts(128, Noise("uniform", 6.0), questions)) for questions in (100, 1024))
    assert few is None
    assert many is not None
    assert Slab().predict(Facts(128, Noise("worst", 6.0), 1024)) is None


@pytest.mark.parametrize("answers", [0, 1, 7, 40])
def test_few_answers_are_attacked_too(answers: int) -> None:
    oracle = RationedOracle(simulator(n=16, noise="uniform:1", prior=0.3, seed=2), answers, refuses=True)
    guess = Slab(seed=2).guess(oracle)
    assert guess.questions == answers
    assert ((guess.confidence >= 0) & (guess.confidence <= 1)).all()
    assert answers or (guess.bits == 0).all()


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(CatalogError, match="shrink must be from 0 to 1, not 2"):
        Slab(shrink=2)
    with pytest.raises(CatalogError, match="steps must be a whole number of at least 1"):
        Slab(steps=0)
    with pytest.raises(CatalogError, match="questions must be a whole number of at least 1"):
        Slab(questions=-1)
