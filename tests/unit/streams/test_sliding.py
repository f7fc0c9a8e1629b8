"""Sliding windows: the sum over the last ticks, its errors, and what is kept."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits
from tests.unit.streams.patterns import COUNTERS, noises

from jali.streams import Counter, Participation, Sliding, sliding

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
    monkeypatch.setattr(sliding, "_WRITTEN_OUT", 4)
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
