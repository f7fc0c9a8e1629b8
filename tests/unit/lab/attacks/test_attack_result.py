"""What a law claims and in which sense, and whether an attack knows how good it is."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from jali.lab.attacks import (
    Averaging,
    Difference,
    Facts,
    Hadamard,
    LeastSquares,
    LinearProgram,
    Noise,
    Singletons,
    Slab,
    Tracing,
    simulator,
)
from jali.lab.attacks.attack_base import Attack
from jali.lab.attacks.attack_result import CalibrationBin, add_bins, mark_by_confidence
from jali.lab.attacks.oracles.simulator import RationedOracle
from jali.lab.attacks.staging import stage
from jali.lab.attacks.sticky import compute_noncentral_cdf


def test_the_marks_of_a_bin_are_those_of_its_bits() -> None:
    random = np.random.default_rng(5)
    oracle = simulator(n=500, seed=5)
    guess = random.integers(0, 2, 500).astype(np.int8)
    confidence = random.random(500)
    found = {one.place: one for one in mark_by_confidence(oracle, guess, confidence)}
    assert sorted(found) == list(range(10))
    right = guess == oracle.secret.bits
    for place, one in found.items():
        inside = (confidence >= place / 10) & (confidence < (place + 1) / 10)
        assert (one.guessed, one.right) == (inside.sum(), right[inside].sum())
        assert one.claim == pytest.approx(0.5 + confidence[inside].mean() / 2)
        assert one.fraction == pytest.approx(right[inside].mean())


def test_what_is_certain_is_in_the_last_bin() -> None:
    oracle = simulator(n=8, seed=1)
    (one,) = mark_by_confidence(oracle, oracle.secret.bits, np.ones(8))
    assert (one.place, one.claim, one.fraction) == (9, 1.0, 1.0)
    assert one.interval == pytest.approx((0.025 ** (1 / 8), 1.0))


def test_bins_of_several_secrets_are_added_up() -> None:
    runs = [(CalibrationBin(0, 5.5, 6, 10), CalibrationBin(9, 9.9, 10, 10)), (CalibrationBin(9, 4.8, 3, 5),)]
    assert add_bins(runs) == (CalibrationBin(0, 5.5, 6, 10), CalibrationBin(9, 9.9 + 4.8, 13, 15))


def test_marks_that_do_not_count_bits_have_no_bins() -> None:
    class Whole:
        """Marks a guess as a whole."""

        def mark(self, guess: np.ndarray) -> int:
            return 1 if not guess.any() else 0

    assert mark_by_confidence(Whole(), np.zeros(4, np.int8), np.array([0.1, 0.1, 0.9, 0.9])) == ()  # type: ignore[arg-type]


def sense(attack: Attack[Any], n: int, noise: str, questions: int) -> str | None:
    found = attack.predict(Facts(n, Noise.of(noise, n=n), questions))
    return None if found is None else found.sense


@pytest.mark.parametrize("attack", [LeastSquares(), LinearProgram(), Slab()])
def test_limits_are_about_right_for_few_people_and_met_by_many(attack: Attack[Any]) -> None:
    assert sense(attack, 16, "uniform:4", 128) == "about"
    assert sense(attack, 64, "uniform:8", 512) == "equal"
    told = attack.run(simulator(n=16, noise="uniform:4", seed=1))
    assert not told.law_is_exact
    assert "  about " in str(told)


def test_few_answers_are_no_limit_either() -> None:
    assert sense(LeastSquares(), 1000, "gaussian:5", 20) == "about"
    assert sense(LeastSquares(solver="plain"), 1000, "gaussian:5", 1100) == "about"
    assert sense(LeastSquares(members=1), 1000, "gaussian:5", 4000) == "about"
    assert sense(Hadamard(), 1024, "gaussian:5", 20) == "about"
    assert sense(Hadamard(), 1024, "gaussian:5", 512) == "equal"
    assert sense(Tracing(), 100, "none", 20) == "about"
    assert sense(Tracing(), 3, "none", 1000) == "about"
    assert sense(Tracing(), 100, "none", 1000) == "equal"


def test_normal_noise_and_single_answers_have_exact_laws_for_any_number() -> None:
    assert sense(Hadamard(), 2, "gaussian:1", 2) == "equal"
    assert sense(Hadamard(), 2, "laplace:1", 2) == "about"
    for attack in (Singletons(), Difference(), Averaging()):
        assert sense(attack, 1, "laplace:1", 2 if isinstance(attack, Difference) else 1) == "equal"


@pytest.mark.parametrize(
    ("attack", "noise"),
    [(LinearProgram(seed=1), "uniform:4"), (Slab(seed=1), "uniform:4"), (Averaging(repeats=2), "laplace:1")],
)
def test_laws_of_fair_bits_say_nothing_of_others(attack: Attack[Any], noise: str) -> None:
    assert attack.run(simulator(n=64, noise=noise, seed=1)).predicted is not None
    biased = attack.run(simulator(n=64, noise=noise, prior=0.9, seed=1))
    assert (biased.predicted, biased.law, biased.law_is_exact) == (None, "", False)


def test_a_ridge_and_a_refusal_are_about_fair_bits_and_plain_estimates_about_any() -> None:
    biased = simulator(n=64, noise="gaussian:2", prior=0.9, seed=1)
    assert LeastSquares(seed=1, questions=40).run(biased).predicted is None
    assert LeastSquares(seed=1).run(biased).predicted is not None
    assert Hadamard().run(biased).predicted is not None
    assert Hadamard().run(RationedOracle(biased, 32)).predicted is None
    assert LeastSquares(seed=1).run(simulator(n=64, noise="worst:0.5", prior=0.9, seed=1)).predicted is not None


@pytest.mark.parametrize(
    ("attack", "answers"),
    [(Singletons(people=10), 10), (Difference(), 20), (Singletons(), 64), (Difference(), 128)],
)
def test_who_is_not_asked_about_is_guessed_by_the_prior(attack: Attack[Any], answers: int) -> None:
    """Seeded; 200 secrets of 64 bits, 90 % of which are 1, within 4 standard deviations."""
    noise = "gaussian:1"
    made = (RationedOracle(simulator(n=64, noise=noise, prior=0.9, seed=seed), answers) for seed in range(200))
    result = attack.repeat(made)
    assert result.predicted is not None
    error = math.sqrt(result.predicted * (1 - result.predicted) / result.guessed)
    assert abs(result.fraction - result.predicted) < 4 * error
    assert result.predicted > 0.63


@pytest.mark.parametrize("questions", [128, 512])
def test_the_bound_of_the_linear_program_holds_from_64_people_on(questions: int) -> None:
    bound = 0.2 if questions == 128 else 0.4
    for seed in range(4):
        attack = LinearProgram(questions=questions, seed=seed)
        result = attack.run(simulator(n=64, noise=f"worst:{bound}", seed=seed))
        assert result.sense == "at least"
        assert result.predicted is not None
        assert 0.5 < result.predicted <= result.fraction
    assert sense(LinearProgram(), 32, "worst:0.01", 256) is None
    assert sense(LinearProgram(), 64, "worst:0.01", 100) is None


def test_rounding_beyond_the_spread_of_counts_has_no_law_in_tracing_either() -> None:
    assert sense(Tracing(), 100, "rounding:2", 1000) == "equal"
    assert sense(Tracing(), 20, "rounding:20", 200) is None


def test_sticky_noise_is_of_the_seed_and_the_same_for_the_same_question() -> None:
    """Seeded; 2,000 secrets of one bit: Phi(1 / (2 sqrt(2) s)) are right, and not all of them."""
    result = stage("hadamard", n=1, noise="layers:0.5", trials=2000, seed=1).run()
    law = 0.5 * (1 + math.erf(0.5 / math.sqrt(0.5) / math.sqrt(2)))
    assert result.predicted == pytest.approx(law)
    assert abs(result.fraction - law) < 4 * math.sqrt(law * (1 - law) / 2000)
    oracle = simulator(n=8, noise="layers:1", seed=4)
    rows = np.eye(8)
    assert (oracle.ask(rows) == oracle.ask(rows)).all()
    assert (oracle.ask(rows) == simulator(n=8, noise="layers:1", seed=4).ask(rows)).all()
    seeds = [simulator(n=1, noise="layers:1", seed=seed) for seed in range(20)]
    assert len({float(one.ask(np.ones((1, 1)))[0]) for one in seeds}) == 20


@pytest.mark.parametrize("name", ["exponential", "linear-program", "slab", "least-squares", "hadamard"])
@pytest.mark.parametrize(
    "noise", ["uniform:1e15", "gaussian:1e-100", "laplace:1e9", "geometric:1e-3", "layers:1e9"]
)
def test_extreme_noise_leaves_plain_numbers(name: str, noise: str) -> None:
    _check_plain(name, noise, n=4)


@pytest.mark.parametrize("name", ["singletons", "difference", "averaging"])
@pytest.mark.parametrize("noise", ["uniform:1e-100", "gaussian:1e15", "laplace:1e-100", "laplace:1e-3"])
def test_extreme_noise_about_single_people_leaves_plain_numbers(name: str, noise: str) -> None:
    _check_plain(name, noise, n=4, repeats=3)


@pytest.mark.parametrize("noise", ["layers:1e-100", "layers:1e9", "layers:1e15"])
def test_extreme_layers_leave_plain_numbers(noise: str) -> None:
    _check_plain("sticky", noise, n=4)


def _check_plain(name: str, noise: str, *, n: int, repeats: int | None = None) -> None:
    parameters = {"repeats": repeats} if name == "averaging" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = stage(name, n=n, noise=noise, trials=1, seed=1, parameters=parameters).run()
        document = result.to_dict()
    assert ((result.confidence >= 0) & (result.confidence <= 1)).all()
    assert result.predicted is None or 0 <= result.predicted <= 1
    numbers = [value for value in document.values() if isinstance(value, float)]
    assert all(map(math.isfinite, [*numbers, *document["figures"].values(), *document["interval"]]))


def test_the_chi_square_law_has_no_place_where_it_breaks() -> None:
    """Hardly any noncentrality is none: Pr[g^2 < 1] = erf(1 / sqrt(2))."""
    for noncentrality in (0.0, 1e-300, 1e-18, 1e-13):
        assert compute_noncentral_cdf(1.0, 1, noncentrality) == pytest.approx(math.erf(math.sqrt(0.5)))
