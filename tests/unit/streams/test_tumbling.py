"""Tumbling windows: sums apart, noise for people who are in several, and errors that repeat."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from tests.unit.streams.patterns import COUNTERS, made, noises

from jali.errors import MechanismError
from jali.streams import Counter, EveryPrefix, Participation, Recipe, ToeplitzRoot, Tumbling

ONCE = Participation(adjacency="add-remove")


@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_who_takes_part_once_costs_what_a_counter_of_one_window_costs(kind: type[Counter]) -> None:
    noise = noises(kind)[0]
    alone = made(kind, 12, ONCE, noise, "1/2")
    counter = Tumbling(window=12, person=ONCE, each=kind, **{noise: "1/2"})
    assert counter.law == alone.law
    assert counter.rms == pytest.approx(alone.rms)
    assert counter.largest == pytest.approx(alone.largest)
    assert [counter.stddev(t) for t in (1, 5, 12)] == pytest.approx([alone.stddev(t) for t in (1, 5, 12)])
    assert [counter.stddev(t) for t in (13, 17, 24)] == pytest.approx([alone.stddev(t) for t in (1, 5, 12)])
    assert counter.error(0.9, tick=29) == pytest.approx(alone.error(0.9, tick=5), rel=0.01)
    assert counter.numbers_kept() == alone.numbers_kept()


def test_a_person_who_fits_once_into_a_window_may_be_in_the_best_tick_of_several() -> None:
    """Noise for one counter would do for a person of 1 tick; two ticks, 4 apart, are in two windows."""
    twice = Participation(adjacency="add-remove", ticks=2, separation=4)
    one, counter = (
        made(ToeplitzRoot, 4, twice, "rho"),
        Tumbling(window=4, rho=1, person=twice, each=ToeplitzRoot),
    )
    assert counter.distance[1] == 2 * one.distance[1]
    assert counter.part().law == counter.law
    assert counter.part().rho == Fraction(1, 2)
    assert counter.loss.event.rho == 1


def test_columns_that_overlap_are_worst_in_one_window() -> None:
    """Every prefix: ticks 1 and 2 of 4 move by 1, 2, 2, 2, and two first ticks by 1 four times each."""
    twice = Participation(adjacency="add-remove", ticks=2)
    counter = Tumbling(window=4, rho=1, person=twice, each=EveryPrefix)
    assert list(counter.distance) == [8, 13]
    thrice = Participation(adjacency="add-remove", ticks=3)
    assert Tumbling(window=2, rho=1, person=thrice, each=EveryPrefix).distance[1] == 5 + 2


def test_many_ticks_of_one_person_are_bounded() -> None:
    """Beyond 64 ticks not every split is looked at: the bound is at most an eighth above the price of one tick."""
    for ticks in (65, 200):
        person = Participation(adjacency="add-remove", ticks=ticks)
        distance = Tumbling(window=300, epsilon=1, person=person, each="EveryItem").distance
        assert ticks <= distance[0] <= ticks * Fraction(9, 8)
        assert ticks <= distance[1] <= ticks * Fraction(9, 8)


def test_windows_are_summed_apart_and_for_ever() -> None:
    running = Tumbling(window=3, epsilon=1000, person=ONCE, each="EveryItem").start()
    assert running.extend(np.ones(3000, np.int64)).tolist() == [1, 2, 3] * 1000
    assert not running.exhausted
    assert running.append(5) == 5


def test_a_window_is_refused_by_name() -> None:
    for bad in (0, -1, 2.5, "week"):
        with pytest.raises(MechanismError, match="window"):
            Tumbling(window=bad, epsilon=1, person=ONCE)  # type: ignore[arg-type]


def test_there_is_a_counter_by_default() -> None:
    assert Tumbling(window=7, epsilon=1, person=ONCE).each == Recipe("SmoothTree")
    assert Tumbling(window=7, rho=1, person=ONCE).each == Recipe("BufferedToeplitz")
    assert repr(Tumbling(window=7, epsilon=1, person=ONCE)) == (
        "Tumbling(window=7, epsilon=1, person=Participation(adjacency='add-remove'), each='SmoothTree')"
    )
