"""Streams of several keys, in every counter of `jali.streams`: each key is a stream of its own.

Losses are so large that every noise is 0 (all but 1e-20 of the time) or, on fine lattices, small: what is left
must be exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import thinned
from tests.seeded import SeededBits
from tests.unit.streams.patterns import COUNTERS, made, noises

from jali.errors import MechanismError
from jali.streams import Counter, Doubling, Participation, Sliding, Tumbling

ONCE = Participation(adjacency="add-remove")
LOUD = 10**5
HORIZON = 37
X = np.random.default_rng(8).integers(-9, 50, (HORIZON, 3))


def _streams() -> list[Counter]:
    """Return every counter, and every stream without an end made of it, without noise."""
    found: list[Counter] = []
    for kind in COUNTERS:
        noise: dict[str, Any] = {noises(kind)[-1]: LOUD}
        found += [
            made(kind, HORIZON, ONCE, noises(kind)[-1], LOUD),
            Doubling(person=ONCE, each=kind, first=2, growth=3, **noise),
            Tumbling(window=5, person=ONCE, each=kind, **noise),
            Sliding(window=6, person=ONCE, each=kind, **noise),
        ]
    return found


streams = pytest.mark.parametrize("counter", _streams(), ids=repr)


def _sums(counter: Counter, increments: NDArray[Any]) -> NDArray[Any]:
    """Return what is to be published, from plain sums of the increments."""
    ends = range(1, len(increments) + 1)
    if isinstance(counter, Tumbling):
        starts = [(end - 1) // counter.window * counter.window for end in ends]
    elif isinstance(counter, Sliding):
        starts = [max(0, end - counter.window) for end in ends]
    else:
        starts = [0 for _ in ends]
    return np.array([increments[start:end].sum(axis=0) for start, end in zip(starts, ends, strict=True)])


def _within(counter: Counter) -> float:
    """Return how far values may be off: twelve standard deviations, for lattices so fine that noise is not 0."""
    off = 12 * max(counter.stddev(tick) for tick in range(1, HORIZON + 1)) + 1e-6
    assert off < 0.3
    return off


@thinned(4)
@streams
def test_every_key_has_its_own_sums(counter: Counter) -> None:
    values = counter.start(width=3, bits=SeededBits(1)).extend(X)
    assert values.shape == X.shape
    assert np.allclose(values, _sums(counter, X), atol=_within(counter), rtol=0)


@thinned(4)
@streams
def test_one_key_is_a_stream_of_numbers(counter: Counter) -> None:
    running = counter.start(bits=SeededBits(1))
    values = [running.append(int(x)) for x in X[:, 0]]
    assert all(type(value) is float for value in values)
    assert np.allclose(values, _sums(counter, X[:, 0]), atol=_within(counter), rtol=0)


@thinned(4)
@streams
def test_values_do_not_depend_on_how_the_ticks_are_cut_or_on_stops_in_between(counter: Counter) -> None:
    whole = counter.start(width=3, bits=SeededBits(1)).extend(X)
    running = counter.start(width=3, ahead=4, bits=SeededBits(2))
    found: list[Any] = []
    for start, end in ((0, 1), (1, 2), (2, 9), (9, 10), (10, 30), (30, HORIZON)):
        found += running.extend(X[start:end]).tolist()
        running = counter.resume(running.state(), bits=SeededBits(3))
        assert (running.tick, running.width) == (end, 3)
    assert np.allclose(found, whole, atol=2 * _within(counter), rtol=0)


@streams
def test_increments_of_another_shape_are_refused(counter: Counter) -> None:
    running = counter.start(width=3)
    for bad in ([1, 2, 3], [[1, 2]], [[1, 2, 3, 4]], 7):
        with pytest.raises(MechanismError, match="one for each key"):
            running.extend(bad)
    assert running.tick == 0


@thinned(4)
@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_keys_have_independent_noise(kind: type[Counter]) -> None:
    """Correlations of the errors of two keys over 200 streams: below 6 standard errors."""
    counter = made(kind, 4, ONCE)
    errors = np.array(
        [counter.start(width=2, bits=SeededBits(i)).extend(np.zeros((4, 2), int))[-1] for i in range(200)]
    )
    assert np.all(errors.std(axis=0) > 0)
    assert abs(np.corrcoef(errors.T)[0, 1]) < 6 / np.sqrt(200)
