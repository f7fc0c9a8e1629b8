"""Tumbling and sliding windows: sums, noise for people who are in several windows, errors, and what is kept."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits
from tests.unit.streams.patterns import COUNTERS, made, noises

from jali.errors import MechanismError
from jali.streams import Counter, EveryPrefix, Participation, Recipe, Sliding, ToeplitzRoot, Tumbling, windows

ONCE_TUMBLING = Participation(adjacency="add-remove")


@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_who_takes_part_once_costs_what_a_counter_of_one_window_costs(kind: type[Counter]) -> None:
    noise = noises(kind)[0]
    alone = made(kind, 12, ONCE_TUMBLING, noise, "1/2")
    counter = Tumbling(window=12, person=ONCE_TUMBLING, each=kind, **{noise: "1/2"})
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
    running = Tumbling(window=3, epsilon=1000, person=ONCE_TUMBLING, each="EveryItem").start()
    assert running.extend(np.ones(3000, np.int64)).tolist() == [1, 2, 3] * 1000
    assert not running.exhausted
    assert running.append(5) == 5


def test_a_window_is_refused_by_name() -> None:
    for bad in (0, -1, 2.5, "week"):
        with pytest.raises(MechanismError, match="window"):
            Tumbling(window=bad, epsilon=1, person=ONCE_TUMBLING)  # type: ignore[arg-type]


def test_there_is_a_counter_by_default() -> None:
    assert Tumbling(window=7, epsilon=1, person=ONCE_TUMBLING).each == Recipe("SmoothTree")
    assert Tumbling(window=7, rho=1, person=ONCE_TUMBLING).each == Recipe("BufferedToeplitz")
    assert repr(Tumbling(window=7, epsilon=1, person=ONCE_TUMBLING)) == (
        "Tumbling(window=7, epsilon=1, person=Participation(adjacency='add-remove'), each='SmoothTree')"
    )


ONCE = Participation(adjacency="add-remove")


@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_variances_are_those_of_dense_matrices(kind: type[Counter]) -> None:
    """Three blocks side by side: what the last values say of the last W ticks, from all measurements."""
    window = 6
    counter = Sliding(window=window, person=ONCE, each=kind, **{noises(kind)[0]: "1/2"})
    rows = len(counter.part().strategy())
    values = np.array([counter.answer(unit) for unit in np.eye(3 * rows, dtype=np.int64)]).T
    wanted = (values**2).sum(axis=1) * float(counter.law.stddev) ** 2
    assert [counter.stddev(t) ** 2 for t in range(1, 3 * window + 1)] == pytest.approx(wanted.tolist(), rel=1e-6)
    assert np.allclose(counter.variances(), wanted[window : 2 * window], rtol=1e-6)
    assert counter.largest == pytest.approx(counter.stddev(counter.worst_tick))
    assert counter.largest >= counter.rms


def test_the_variances_of_simple_counters() -> None:
    """Noise on every item adds up over the window; noise on every prefix has three of them, and one at an end."""
    items = Sliding(window=5, rho="1/2", person=ONCE, each="EveryItem")
    assert [round(items.stddev(t) ** 2, 3) for t in (1, 4, 5, 6, 9, 10, 12)] == [1, 4, 5, 5, 5, 5, 5]
    prefixes = Sliding(window=5, rho="1/10", person=ONCE, each="EveryPrefix")
    unit = prefixes.law.stddev**2
    assert [round(prefixes.stddev(t) ** 2 / unit, 6) for t in (1, 5, 6, 9, 10, 12)] == [1, 1, 3, 3, 1, 3]


def test_the_standard_deviation_is_that_of_simulated_streams() -> None:
    """300 streams: a sample variance is within 6 of its standard errors, sqrt(2/300)."""
    counter = Sliding(window=6, rho="1/8", person=ONCE, each="BinaryTree")
    increments, runs = np.arange(17), 300 * DEPTH
    found = np.array([counter.start(ahead=8, bits=SeededBits(i)).extend(increments) for i in range(runs)])
    for tick in (3, 6, 7, 10, 17):
        errors = found[:, tick - 1] - increments[max(0, tick - 6) : tick].sum()
        assert abs(float((errors**2).mean()) / counter.stddev(tick) ** 2 - 1) < 6 * math.sqrt(2 / runs)


@pytest.mark.parametrize("each", ["EveryItem", "BinaryTree", "EveryPrefix"])
def test_long_windows_have_bounds(each: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = Sliding(window=8, epsilon=1, person=ONCE, each=each)
    wanted = {t: (exact.stddev(t), exact.error(0.9, tick=t)) for t in (3, 8, 9, 13, 16, 18)}
    variances = exact.variances()
    monkeypatch.setattr(windows, "_WRITTEN_OUT", 4)
    bounded = Sliding(window=8, epsilon=1, person=ONCE, each=each)
    for tick, (stddev, error) in wanted.items():
        assert stddev * (1 - 1e-9) <= bounded.stddev(tick) <= 3 * stddev
        assert error * (1 - 1e-9) <= bounded.error(0.9, tick=tick) <= 5 * error
    assert np.all(bounded.variances() >= variances * (1 - 1e-9))
    assert bounded.variances()[-1] == pytest.approx(variances[-1])
    assert bounded.error(0.9) >= exact.error(0.9)


def test_one_block_of_values_is_kept() -> None:
    counter = Sliding(window=4, epsilon=1, person=ONCE, each="EveryItem")
    running = counter.start(width=2)
    running.extend(np.ones((1003, 2), np.int64))
    kept = json.loads(running.state())
    assert np.array(kept["public"]).shape == (5, 2)
    assert counter.numbers_kept() == counter.part().numbers_kept() + 5


def test_the_sum_slides_for_ever() -> None:
    running = Sliding(window=3, epsilon=1000, person=ONCE, each="EveryItem").start()
    assert running.extend(np.arange(1, 2001))[-1] == 1998 + 1999 + 2000
    assert not running.exhausted
