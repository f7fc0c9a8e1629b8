"""Losses of sparse vector by exact enumeration, against masses summed term by term."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.depth import thinned

from jali.mechanisms.mechanism import LogMasses
from jali.mechanisms.sparse_vector.above_threshold import AboveThreshold
from jali.mechanisms.sparse_vector.law import pattern_masses
from jali.mechanisms.sparse_vector.sparse_vector import SparseVector
from jali.mechanisms.sparse_vector.split import threshold_share

WINDOW = range(-45, 46)


def laplace(scale: float) -> dict[int, float]:
    weights = {x: math.exp(-abs(x) / scale) for x in WINDOW}
    total = math.fsum(weights.values())
    return {x: weight / total for x, weight in weights.items()}


def loss(p: LogMasses, q: LogMasses) -> float:
    assert p.keys() == q.keys()
    return max(abs(p[output] - q[output]) for output in p)


def neighbours(length: int, *, monotone: bool) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    moves = (0, 1) if monotone else (-1, 0, 1)
    for values in itertools.product((-3, 0, 4), repeat=length):
        for move in itertools.product(moves, repeat=length):
            yield values, tuple(v + m for v, m in zip(values, move, strict=True))


@pytest.mark.parametrize("cutoff", [1, 2, None])
def test_pattern_masses_are_those_of_all_noises_tried_one_by_one(cutoff: int | None) -> None:
    values = (0, 1)
    threshold, query = laplace(0.75), laplace(1.25)
    tried: dict[tuple[bool, ...], float] = defaultdict(float)
    for z, one, two in itertools.product(WINDOW, repeat=3):
        answers: tuple[bool, ...] = (values[0] + one >= z, values[1] + two >= z)
        pattern = answers[:1] if cutoff == 1 and answers[0] else answers
        tried[pattern] += threshold[z] * query[one] * query[two]
    masses = pattern_masses(values, cutoff, Fraction(3, 4), Fraction(5, 4))
    assert masses.keys() == tried.keys()
    for pattern, mass in tried.items():
        assert math.exp(masses[pattern]) == pytest.approx(mass, rel=1e-12)


@thinned(4)
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("cutoff", [1, 2])
def test_no_small_neighbours_lose_more_than_epsilon(cutoff: int, monotone: bool) -> None:
    adjacency = "add-remove" if monotone else None
    mechanism = SparseVector(cutoff=cutoff, sensitivity=1, epsilon=2, monotone=monotone, adjacency=adjacency)
    laws: dict[tuple[int, ...], LogMasses] = {}

    def law(values: tuple[int, ...]) -> LogMasses:
        return laws.setdefault(values, laws.get(values) or mechanism.log_masses(values))

    worst = max(loss(law(one), law(other)) for one, other in neighbours(3, monotone=monotone))
    assert 1 < worst <= 2 * (1 + 1e-12)


@pytest.mark.parametrize(
    "specimen", [*AboveThreshold.specimens(), *SparseVector.specimens()], ids=lambda s: s.name
)
def test_the_claimed_loss_is_reached(specimen: Any) -> None:
    one, other = (specimen.mechanism.log_masses(value) for value in specimen.neighbours[0])
    shared = one.keys() & other.keys()
    worst = max(abs(one[output] - other[output]) for output in shared)
    assert worst == pytest.approx(float(specimen.mechanism.loss.event.epsilon), rel=1e-9)


def test_monotone_noise_loses_half_as_much_again_when_values_move_both_ways() -> None:
    mechanism = AboveThreshold(sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")
    up, both = ((80,) * 4 + (0,), (81,) * 4 + (0,)), ((80,) * 4 + (1,), (81,) * 4 + (0,))
    assert loss(*map(mechanism.log_masses, up)) == pytest.approx(1, abs=1e-9)
    assert loss(*map(mechanism.log_masses, both)) == pytest.approx(1.5, abs=1e-9)


def test_numeric_answers_lose_their_own_epsilon_and_no_more() -> None:
    mechanism = SparseVector(cutoff=2, sensitivity=1, epsilon=3, epsilon_answers=4)
    one, other = mechanism.log_masses((1, 0, 1)), mechanism.log_masses((0, 1, 0))
    shared = one.keys() & other.keys()
    assert math.fsum(math.exp(one[o]) for o in shared) == pytest.approx(1, abs=1e-11)
    assert 5 < max(abs(one[o] - other[o]) for o in shared) <= 7 * (1 + 1e-12)


def test_the_parts_of_epsilon_sum_to_it_exactly_and_nearly_minimise_the_variance() -> None:
    for cutoff, monotone in itertools.product((1, 2, 3, 10, 1000), (False, True)):
        mechanism = SparseVector(
            cutoff=cutoff, sensitivity=1, epsilon="1/3", monotone=monotone, adjacency="add-remove"
        )
        assert mechanism.threshold_epsilon + mechanism.query_epsilon == Fraction(1, 3)
        weight = cutoff if monotone else 2 * cutoff
        best = 1 / (1 + weight ** (2 / 3))
        assert float(threshold_share(weight)) == pytest.approx(best, rel=2e-3)
        assert mechanism.query_scale == weight / mechanism.query_epsilon

        def variance(share: float, weight: int = weight) -> float:
            return share**-2 + (weight / (1 - share)) ** 2

        assert variance(float(threshold_share(weight))) <= min(variance(i / 1000) for i in range(1, 1000)) * (
            1 + 1e-5
        )


def test_twice_the_sensitivity_at_twice_both_losses_is_the_same_law() -> None:
    one = SparseVector(cutoff=1, sensitivity=1, epsilon=1, epsilon_answers=2)
    two = SparseVector(cutoff=1, sensitivity=2, epsilon=2, epsilon_answers=4)
    assert one.log_masses((0, 2)) == two.log_masses((0, 2))
