"""Noise for every item and for every prefix (the lecture's two programs): for whom they are private."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.seeded import SeededBits

from jali.streams import EveryItem, EveryPrefix, Participation

ONCE_FOR_ITEMS = Participation(adjacency="add-remove")


def test_the_scale_is_one_over_epsilon_and_not_epsilon() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(4)):
        assert EveryItem(horizon=1000, epsilon=epsilon, person=ONCE_FOR_ITEMS).law.scale == 1 / epsilon  # type: ignore[union-attr]


def test_the_errors_at_horizon_a_million_are_those_of_the_theory() -> None:
    """The identity has norm 1, so sigma is 1 at rho = 1/2: 1024 at the last tick, 724 on average."""
    counter = EveryItem(horizon=1 << 20, rho=Fraction(1, 2), person=ONCE_FOR_ITEMS)
    assert math.sqrt(counter.factors().max() * counter.distance[1]) == 1024
    assert math.sqrt(counter.factors().mean() * counter.distance[1]) == pytest.approx(724.0776, abs=1e-3)
    assert counter.largest == pytest.approx(1024, rel=1e-6)


@pytest.mark.parametrize("entered", [1, 3, 4, 10])
def test_the_distance_counts_the_ticks_that_a_person_can_enter(entered: int) -> None:
    person = Participation(adjacency="add-remove", ticks=entered, separation=3, l1=5, l2=4)
    most = min(entered, 4)  # ticks 1, 4, 7 and 10
    assert EveryItem(horizon=10, epsilon=1, person=person).distance == (Fraction(5 * most), Fraction(16 * most))


def test_an_inserted_item_shifts_all_later_ones_and_is_no_neighbour() -> None:
    """Neighbours have the same ticks. Were items inserted, 0101... would move in every tick: n epsilon."""
    counter = EveryItem(horizon=8, epsilon=Fraction(1, 3), person=ONCE_FOR_ITEMS)
    stream, shifted = (0, 1) * 4, (1, 0) * 4
    assert sum(abs(a - b) for a, b in zip(stream, shifted, strict=True)) == 8
    below = -5
    loss = sum(
        counter.law.log_mass(below - a) - counter.law.log_mass(below - b)
        for a, b in zip((0,) * 8, (1,) * 8, strict=True)
    )
    assert loss == pytest.approx(8 / 3)


def test_values_are_the_running_sums_of_the_measurements() -> None:
    published = (
        EveryItem(horizon=50, epsilon=1, person=ONCE_FOR_ITEMS).start(bits=SeededBits(1)).advance(np.arange(50))
    )
    assert published.values.tolist() == np.cumsum(published.measurements).tolist()


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
