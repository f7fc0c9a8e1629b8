"""Sweeps: their places, sizes of noise, thresholds and ceilings by formulas of their own."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.attacks import Hadamard, simulator
from jali.lab.attacks.noise_models import Noise
from jali.lab.attacks.oracles.simulator import RationedOracle
from jali.lab.attacks.subsets.random_subsets import random_subsets
from jali.lab.attacks.sweeps import (
    EpsilonSweep,
    NoiseSweep,
    QuestionSweep,
    Sweep,
    Sweeper,
    choose_attacks,
    space_evenly,
)

PHI = NormalDist().cdf
HADAMARD = ("hadamard",)


def test_the_law_by_noise_is_that_of_the_standard_deviation_and_what_is_measured_meets_it() -> None:
    """Six shares of 8 * 256 bits, each within 5 standard deviations of the law."""
    sweep = NoiseSweep(HADAMARD, n=256, noises=("uniform",), points=6, trials=8, seed=2).run()
    (line,) = sweep.lines
    assert (line.name, len(line.points), sweep.marks) == (
        "hadamard, uniform noise",
        6,
        {"sqrt(n)": 1.0, "n": 16.0},
    )
    assert (line.points[0].at, line.points[-1].at) == pytest.approx((1 / 16, 32))
    for point in line.points:
        law = PHI(math.sqrt(3) / (4 * point.at))  # E = at sqrt(n) has the standard deviation E / sqrt(3)
        assert point.predicted == pytest.approx(law, abs=2e-3)
        assert abs(point.fraction - law) < 5 * math.sqrt(law * (1 - law) / 2048) + 2e-3
        assert point.interval[0] <= point.fraction <= point.interval[1]


def test_worst_case_noise_does_more_harm_than_uniform_noise_of_the_same_size() -> None:
    sweep = NoiseSweep(HADAMARD, n=256, low="0.3", high="0.6", points=2, trials=2, seed=2).run()
    uniform, worst = sweep.lines
    assert all(bad.fraction < good.fraction - 0.2 for good, bad in zip(uniform.points, worst.points, strict=True))


def test_by_epsilon_the_noise_is_what_so_many_questions_need() -> None:
    sweep = EpsilonSweep(HADAMARD, n=256, low=1, high=10, points=2, trials=1, seed=1).run()
    geometric, gaussian = sweep.lines
    scale = 256 / 10
    stddev = math.sqrt(2) * math.exp(-0.5 / scale) / -math.expm1(-1 / scale)
    assert geometric.points[1].predicted == pytest.approx(PHI(16 / (4 * stddev)), abs=1e-3)
    # At epsilon 10 and delta 1e-6 Gaussian noise leaks .66 at any n.
    assert gaussian.points[1].predicted == pytest.approx(0.665, abs=0.01)
    assert dict(sweep.ceiling)[1.0] == pytest.approx(math.e / (1 + math.e))
    assert sweep.ceiling[-1][1] == pytest.approx(1 / (1 + math.exp(-10)))


def test_by_questions_the_ledger_stops_where_the_budget_ends() -> None:
    sweep = QuestionSweep(HADAMARD, n=64, epsilon="1/2", each="0.1", points=4, trials=1, seed=1).run()
    without, with_ = sweep.lines
    assert [point.at for point in without.points] == [1, 4, 16, 64]
    assert [point.questions for point in without.points] == [1, 4, 16, 64]
    assert [point.questions for point in with_.points] == [1, 4, 5, 5]
    assert [point.refused for point in with_.points] == [False, False, True, True]
    assert not any(point.refused for point in without.points)
    assert (sweep.marks, sweep.each) == ({"refused": 5.0}, 0.1)
    ceilings = [share for _, share in sweep.ceiling]
    assert max(ceilings) == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert ceilings[0] == pytest.approx(1 / (1 + math.exp(-0.1)))


def test_a_rationed_oracle_answers_the_first_questions_of_all_it_is_asked() -> None:
    subsets = random_subsets(6, 20, seed=1)
    counts = subsets.matrix @ simulator(n=20, seed=3).secret.bits
    oracle = RationedOracle(simulator(n=20, seed=3), 8, refuses=True)
    assert np.array_equal(oracle.ask(subsets), counts)
    assert np.array_equal(oracle.ask(subsets), counts[:2])
    assert len(oracle.ask(subsets)) == 0
    refusal = oracle.refusal()
    assert refusal is not None
    assert refusal.after == 8
    assert RationedOracle(simulator(n=20, seed=3), 8).refusal() is None


def test_an_attack_that_is_not_answered_at_all_guesses() -> None:
    result = Hadamard().run(RationedOracle(simulator(n=64, noise=Noise("gaussian", 1), seed=1), 0))
    assert (result.questions, result.guessed) == (0, 64)


def test_sweeps_become_text_and_plain_numbers() -> None:
    sweep = QuestionSweep(HADAMARD, n=64, epsilon="1/2", each="0.1", points=4, trials=2, seed=1).run()
    text = str(sweep)
    assert text.startswith("share of right bits by questions: 64 people, 2 secrets at each place\n")
    assert text.count(" refused\n") == 2
    assert "The ledger refuses from question 6 on; each spends 0.1." in text
    assert max(map(len, text.splitlines())) <= 100
    document = json.loads(json.dumps(sweep.to_dict()))
    assert [line["attack"] for line in document["lines"]] == ["hadamard", "hadamard"]
    assert document["lines"][1]["points"][3]["refused"] is True
    assert "hadamard, with a ledger" in repr(sweep)


def test_by_noise_the_text_tells_the_thresholds() -> None:
    text = str(NoiseSweep(HADAMARD, n=64, noises=("uniform",), points=2, trials=1, seed=1).run())
    assert text.endswith("sqrt(n) is at 1; n is at 8.")
    assert "hadamard, uniform noise" in text


def test_the_attacks_of_a_sweep_are_the_named_ones_or_those_that_are_quick() -> None:
    assert choose_attacks(("hadamard",), n=10**9) == ("hadamard",)
    assert "hadamard" in choose_attacks(n=1024)
    assert "exponential" not in choose_attacks(n=1024)
    with pytest.raises(CatalogError, match="tracing cannot be swept"):
        choose_attacks(("tracing",), n=4)


def test_places_are_evenly_spaced_in_their_logarithms() -> None:
    assert space_evenly("1/4", 64, 5) == pytest.approx([0.25, 1, 4, 16, 64])


@pytest.mark.parametrize(
    ("sweeper", "told"),
    [
        (lambda: NoiseSweep(HADAMARD, noises=("garbage",)), "noise 'garbage' cannot be swept"),
        (lambda: EpsilonSweep(HADAMARD, noises=("uniform",)), "noise 'uniform' cannot be swept"),
        (lambda: NoiseSweep(HADAMARD, n=0), "n must be"),
        (lambda: NoiseSweep(HADAMARD, points=1), "points must be from 2"),
        (lambda: NoiseSweep(HADAMARD, low=2, high=1), "low must be below the last point: 2 is not below 1"),
        (lambda: NoiseSweep(HADAMARD, low=-1), "low must be above 0"),
        (lambda: NoiseSweep(("nothing",)), "There is no attack 'nothing'"),
        (lambda: QuestionSweep(HADAMARD, each=0), "each must be above 0"),
        (lambda: QuestionSweep(HADAMARD, n=64, each=2), "each must be at most epsilon"),
    ],
)
def test_what_is_wrong_is_named(sweeper: object, told: str) -> None:
    def run() -> Sweep:
        assert callable(sweeper)
        made = sweeper()
        assert isinstance(made, Sweeper)
        return made.run()

    with pytest.raises(CatalogError, match=told):
        run()


def test_progress_names_the_place() -> None:
    told: list[str] = []
    NoiseSweep(HADAMARD, n=16, noises=("uniform",), points=2, trials=1, seed=1).run(progress=told.append)
    assert told == ["hadamard, uniform noise: 1 of 2", "hadamard, uniform noise: 2 of 2"]
