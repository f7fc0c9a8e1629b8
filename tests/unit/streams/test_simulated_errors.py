"""The errors that counters forecast are those that their running streams have: seeded, over all counters."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.streams import Counter, Participation, counters

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
