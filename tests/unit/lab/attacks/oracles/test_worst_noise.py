"""Errors that are chosen to mislead: within their bound, within the theorem, and far worse than chance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import hadamard as dense
from scipy.optimize import linprog
from tests.depth import thinned

from jali.lab.attacks import Hadamard, simulator
from jali.lab.attacks.arrays import Doubles
from jali.lab.attacks.oracles.simulator import RationedOracle, choose_errors, flip_bits, lure_to_decoy
from jali.lab.attacks.subsets.hadamard_rows import HadamardRows
from jali.lab.attacks.subsets.random_subsets import Listed, random_subsets

ROOTS = (0.1, 0.25, 0.5, 1.0)


def wrong(n: int, noise: str, seed: int = 1) -> int:
    return n - Hadamard().run(simulator(n=n, noise=noise, seed=seed)).right


@thinned(4)
@pytest.mark.parametrize("n", [2, 8, 64, 1024])
@pytest.mark.parametrize("root", [0.0, 0.02, *ROOTS, 3.0])
def test_no_answer_is_beyond_the_bound_and_no_more_bits_are_wrong_than_the_theorem_says(
    n: int, root: float
) -> None:
    bound = root * math.sqrt(n)
    noisy = simulator(n=n, noise=f"worst:{bound}", seed=n)
    deviation = noisy.ask(HadamardRows(n)) - simulator(n=n, seed=n).ask(HadamardRows(n))
    assert np.abs(deviation).max() <= bound + 1e-9
    assert wrong(n, f"worst:{bound}", seed=n) <= min(16 * bound**2 + 1, 36 * bound**2)


@pytest.mark.parametrize("seed", range(20))
def test_the_theorem_holds_for_errors_of_any_signs(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, bound = 64, random.uniform(0.3, 2)
    errors = bound * np.sign(
        dense(n) @ np.where(random.random(n) < random.random(), random.normal(size=n), 0) + 1e-9
    )
    moves = np.linalg.inv((1 + dense(n)) / 2) @ errors
    assert np.count_nonzero(np.abs(moves) >= 0.5) <= min(16 * bound**2 + 1, 36 * bound**2)


@pytest.mark.parametrize(
    ("root", "benign", "chosen"), [(0.1, 1.0, 0.90), (0.25, 0.94, 0.40), (0.5, 0.78, 0.05), (1.0, 0.64, 0.01)]
)
def test_chosen_errors_are_far_worse_than_uniform_ones_of_the_same_bound(
    root: float, benign: float, chosen: float
) -> None:
    n = 4096
    assert 1 - wrong(n, f"uniform:{root}*sqrt(n)") / n >= benign
    assert 1 - wrong(n, f"worst:{root}*sqrt(n)") / n <= chosen


@pytest.mark.parametrize("root", [0.03, 0.05, 0.1, 0.15])
def test_ten_bits_are_flipped_for_every_squared_unit_of_the_bound(root: float) -> None:
    n = 4096
    bound = root * math.sqrt(n)
    assert 10 * bound**2 <= wrong(n, f"worst:{bound}") <= 16 * bound**2


def test_the_flipped_bits_are_those_of_the_equations() -> None:
    n, bound = 256, 2.0
    random = np.random.default_rng(4)
    bits = random.integers(0, 2, n).astype(np.int8)
    errors = flip_bits(bits, bound, random)
    solution = np.linalg.solve((1 + dense(n)) / 2, (1 + dense(n)) / 2 @ bits + errors)
    flipped = (solution > 0.5) != bits
    assert 30 <= np.count_nonzero(flipped[1:]) <= 16 * bound**2


def _least_squares(rows: Doubles, answers: Doubles) -> Doubles:
    return np.asarray(np.linalg.lstsq(rows, answers)[0])


def _largest_deviation(rows: Doubles, answers: Doubles) -> Doubles:
    m, n = rows.shape
    ones = np.ones((m, 1))
    sides = np.block([[rows, -ones], [-rows, -ones]])
    cost = np.append(np.zeros(n), 1)
    limits = [(0.0, 1.0)] * n + [(0.0, None)]
    return np.asarray(linprog(cost, sides, np.append(answers, -answers), bounds=limits).x[:n])


@pytest.mark.parametrize("solve", [_least_squares, _largest_deviation])
@pytest.mark.parametrize(("root", "most"), [(0.25, 0.90), (0.5, 0.65)])
def test_a_decoy_misleads_whoever_asks_random_subsets(solve: object, root: float, most: float) -> None:
    assert callable(solve)
    n, m, bound = 64, 384, root * 8
    random = np.random.default_rng(1)
    subsets = random_subsets(m, n, seed=2)
    bits = random.integers(0, 2, n).astype(np.int8)
    rows = subsets.matrix.astype(np.float64)
    errors = lure_to_decoy(bits, subsets, bound, random)
    assert np.abs(errors).max() <= bound
    benign = solve(rows, rows @ bits + random.uniform(-bound, bound, m))
    misled = solve(rows, rows @ bits + errors)
    assert np.mean((benign > 0.5) == bits) >= 0.95
    assert np.mean((misled > 0.5) == bits) <= most


def test_a_bound_below_what_one_person_changes_misleads_nobody() -> None:
    random = np.random.default_rng(1)
    subsets = random_subsets(64, 16, seed=2)
    assert not lure_to_decoy(np.ones(16, np.int8), subsets, 0.3, random).any()
    assert wrong(256, "worst:0.24") == 0


@pytest.mark.parametrize("value", [0, 1])
def test_a_secret_of_equal_bits_is_hidden_too(value: int) -> None:
    random = np.random.default_rng(1)
    bits = np.full(16, value, np.int8)
    errors = choose_errors(bits, Listed.of(np.eye(16)), 1.0, random)
    assert np.array_equal(bits + errors, np.full(16, 1 - value))


def test_one_person_and_rows_that_were_refused_are_no_reason_to_fail() -> None:
    assert Hadamard().run(simulator(n=1, noise="worst:2", seed=1)).guessed == 1
    refused = Hadamard().run(RationedOracle(simulator(n=256, noise="worst:8", seed=1), 128))
    assert refused.questions == 128
    assert refused.fraction < 0.5
