"""Noise for every prefix (the lecture's first program): n epsilon, and no less."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.streams import EveryPrefix, Participation

ONCE = Participation(adjacency="add-remove")


@pytest.mark.parametrize("place", [0, 1, 5, 8])
def test_an_item_at_place_i_of_n_costs_n_minus_i_over_the_scale(place: int) -> None:
    """Exactly so where all values are below both sums: the loss of the lecture's program, tight."""
    counter = EveryPrefix(horizon=9, epsilon=9, person=ONCE)
    assert counter.law.scale == 1  # type: ignore[union-attr]
    item = np.eye(9, dtype=np.int64)[place]
    sums = counter.measure(item)
    output = -3
    loss = sum(counter.law.log_mass(output) - counter.law.log_mass(output - int(total)) for total in sums)
    assert loss == pytest.approx(9 - place)


def test_a_total_loss_of_epsilon_needs_noise_of_scale_n_over_epsilon() -> None:
    counter = EveryPrefix(horizon=1000, epsilon=Fraction(1, 2), person=ONCE)
    assert counter.law.scale == 2000  # type: ignore[union-attr]


@pytest.mark.parametrize("ticks", [1, 2, 3, 7])
@pytest.mark.parametrize("separation", [1, 2, 5])
def test_the_distance_is_that_of_the_running_sums_of_the_earliest_pattern(ticks: int, separation: int) -> None:
    for horizon in (1, 2, 9, 20):
        person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
        stream = np.zeros(horizon, dtype=np.int64)
        stream[: ticks * separation : separation] = 1
        sums = np.cumsum(stream)
        counter = EveryPrefix(horizon=horizon, epsilon=1, person=person)
        assert counter.distance == (Fraction(int(sums.sum())), Fraction(int(sums @ sums)))


def test_the_error_at_horizon_a_million_is_that_of_the_theory() -> None:
    counter = EveryPrefix(horizon=1 << 20, rho=Fraction(1, 2), person=ONCE)
    assert math.sqrt(counter.factors().max() * counter.distance[1]) == 1024
    assert counter.rms == counter.largest == pytest.approx(1024)


def test_values_are_the_measurements() -> None:
    published = EveryPrefix(horizon=50, epsilon=1, person=ONCE).start(bits=SeededBits(1)).advance(np.arange(50))
    assert published.values.tolist() == published.measurements.tolist()
