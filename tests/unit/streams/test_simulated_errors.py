"""The errors that counters forecast are those that their running streams have: seeded, over all counters."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.streams import (
    BufferedToeplitz,
    Counter,
    Doubling,
    Participation,
    Recipe,
    Sliding,
    Tumbling,
    counters,
)
from jali.streams.stream_ratios import error_bound, noise_error_bound, noises

PERSON = Participation(adjacency="add-remove")
HORIZON, WIDTH = 256, 2000 * DEPTH
# The mean square of WIDTH independent errors is off by more than six of its deviations with probability 2e-9.
SLACK = 6 * (2 / WIDTH) ** 0.5
LOSSES = {"epsilon": 1, "rho": "1/50"}


def made() -> list[Counter]:
    """Make every counter that needs no more than a horizon, with each kind of noise that it can have."""
    found = []
    for kind in counters().values():
        for loss, amount in LOSSES.items():
            taken = signature(kind).parameters
            if loss in taken and {n for n, p in taken.items() if p.default is p.empty} <= {
                "horizon",
                "person",
                loss,
            }:
                found.append(kind(horizon=HORIZON, person=PERSON, **{loss: amount}))  # type: ignore[call-arg]
    return found


COUNTERS = made()


def test_most_counters_are_simulated() -> None:
    assert len({type(counter) for counter in COUNTERS}) >= 7


@thinned(4)
@pytest.mark.parametrize("counter", COUNTERS, ids=lambda c: f"{type(c).__name__} {c.loss}")
def test_published_values_err_as_forecast(counter: Counter) -> None:
    running = counter.start(width=WIDTH, ahead=HORIZON, bits=SeededBits(7))
    increments = np.arange(HORIZON, dtype=np.int64)[:, None] % 5 + np.zeros((1, WIDTH), dtype=np.int64)
    errors = running.extend(increments) - np.cumsum(increments, axis=0)
    squares = (errors**2).mean(axis=1)
    assert squares.mean() == pytest.approx(counter.rms**2, rel=SLACK)
    assert squares[counter.worst_tick - 1] == pytest.approx(counter.largest**2, rel=SLACK)
    assert abs(errors[-1].mean()) < 6 * counter.stddev(HORIZON) / WIDTH**0.5
    inside = (np.abs(errors[-1]) <= counter.error(0.95, tick=HORIZON)).mean()
    assert inside > 0.95 - 6 * (0.05 * 0.95 / WIDTH) ** 0.5


@pytest.mark.parametrize("kind", [Doubling, Tumbling, Sliding])
def test_roundings_count_in_the_errors_of_parts(kind: Any) -> None:
    """On a coarse lattice the noise is 0 nearly always, and the values are off by roundings alone."""
    shape = {} if kind is Doubling else {"window": 6}
    counter = kind(rho=300, person=PERSON, each=Recipe("BufferedToeplitz", lattice=0), **shape)
    increments = np.arange(12, dtype=np.int64) % 3 + 1
    values = counter.start(bits=SeededBits(3)).extend(increments)
    truth = {
        Doubling: np.cumsum(increments),
        Tumbling: np.concatenate([np.cumsum(increments[:6]), np.cumsum(increments[6:])]),
        Sliding: np.array([increments[max(0, t - 6) : t].sum() for t in range(1, 13)]),
    }[kind]
    errors = np.abs(values - truth)
    assert errors.max() > 0
    for tick in range(1, 13):
        assert errors[tick - 1] <= counter.error(0.999, tick=tick) + 1e-9


def test_roundings_count_in_the_reach_of_columns() -> None:
    counter = BufferedToeplitz(horizon=12, rho=300, person=PERSON, lattice=0)
    alone = noise_error_bound(noises(counter, 12), 2, 0.95)
    sizes = float(np.abs(counter.influence(12)).sum())
    assert error_bound(counter, 12, 2, 0.95) == pytest.approx(alone + 0.75 * 2**0.5 * sizes)


class FailsAt:
    """Bits that cannot be had once, at some draw."""

    def __init__(self, call: int) -> None:
        self.bits, self.left = SeededBits(5), call

    def words(self, count: int) -> Any:
        return self._next().words(count)

    def integers(self, count: int, width: int) -> Any:
        return self._next().integers(count, width)

    def _next(self) -> SeededBits:
        self.left -= 1
        if self.left == 0:
            raise OSError("no bits")
        return self.bits


@pytest.mark.parametrize("counter", COUNTERS, ids=lambda c: f"{type(c).__name__} {c.loss}")
def test_a_tick_for_which_no_bits_can_be_had_has_not_passed(counter: Counter) -> None:
    failed = 0
    for call in range(1, 12):
        bits = FailsAt(call)
        try:
            running = counter.start(ahead=1, bits=bits)
        except OSError:
            failed += 1
            running = counter.start(ahead=1, bits=bits)
        for _ in range(8):
            tick = running.tick
            try:
                running.append(10**12)
            except OSError:
                failed += 1
                assert running.tick == tick
                running.append(10**12)
        assert running.tick == 8
        assert running.append(0) == pytest.approx(8 * 10**12, abs=10**9)
    assert failed
