"""Running streams: what they accept, the same values however ticks are grouped, and several keys at once.

With several keys, each key is a stream of its own. Losses there are so large that every noise is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import thinned
from tests.seeded import SeededBits
from tests.unit.streams.patterns import COUNTERS, made, noises
from tests.unit.streams.patterns import COUNTERS as KINDS

from jali.errors import MechanismError
from jali.sampling import BitSource
from jali.streams import (
    BinaryTree,
    Counter,
    Doubling,
    EveryItem,
    EveryPrefix,
    Participation,
    Sliding,
    SmoothTree,
    Tumbling,
    binary_tree,
    smooth_tree,
)
from jali.streams.noise_buffer import NoiseBuffer

ONE_TICK = Participation(adjacency="add-remove")
HORIZONS = (1, 2, 3, 7, 8, 13, 64, 100)
MAKERS: dict[str, Callable[[int], Counter]] = {
    "item": lambda n: EveryItem(horizon=n, epsilon=1, person=ONE_TICK),
    "prefix": lambda n: EveryPrefix(horizon=n, rho=1, person=ONE_TICK),
    "plain": lambda n: BinaryTree(horizon=n, epsilon=1, person=ONE_TICK, estimate="plain"),
    "honaker": lambda n: BinaryTree(horizon=n, rho=1, person=ONE_TICK),
    "smooth": lambda n: SmoothTree(horizon=n, epsilon=1, person=ONE_TICK),
    "balanced": lambda n: SmoothTree(horizon=n, rho=1, person=ONE_TICK, shape="balanced"),
}
counters = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
widths = pytest.mark.parametrize("width", [1, 3])


def stream(horizon: int, width: int, seed: int = 0) -> NDArray[Any]:
    shape = (horizon,) if width == 1 else (horizon, width)
    return np.random.default_rng(seed).integers(-5, 50, shape)


@thinned(4)
@counters
@widths
def test_the_same_noise_gives_the_same_values_however_ticks_are_grouped(
    make: Callable[[int], Counter], width: int
) -> None:
    """To the last bit: one by one, many at once, nothing at all, and with the state written and read between."""
    generator = np.random.default_rng(9)
    for horizon in HORIZONS:
        counter, rows = make(horizon), stream(horizon, width)
        wanted = counter.start(width=width, ahead=horizon, bits=SeededBits(5)).extend(rows)
        for _ in range(4):
            run, found = counter.start(width=width, ahead=horizon, bits=SeededBits(5)), []
            while run.tick < horizon:
                if run.tick and generator.random() < 0.3:
                    run = counter.resume(run.state())
                part = rows[run.tick : run.tick + int(generator.integers(0, 6))]
                one_by_one = generator.random() < 0.5
                found += [run.append(row.tolist()) for row in part] if one_by_one else list(run.extend(part))
            assert np.array_equal(found, wanted)


@counters
@widths
def test_measurements_are_the_strategy_applied_to_the_stream_plus_noise(
    make: Callable[[int], Counter], width: int
) -> None:
    """With the same noise, a stream and an empty one differ by the exact measurements; keys do not mix."""
    for horizon in HORIZONS:
        counter, rows = make(horizon), stream(horizon, width)
        one, other = (
            counter.start(width=width, bits=SeededBits(3)).advance(increments).measurements
            for increments in (rows, np.zeros_like(rows))
        )
        assert np.array_equal(one - other, counter.strategy() @ rows)
        assert len(np.unique(other)) > 1 or horizon < 13


@counters
def test_values_are_computed_from_the_measurements_alone(make: Callable[[int], Counter]) -> None:
    for horizon in HORIZONS:
        counter = make(horizon)
        published = counter.start(bits=SeededBits(4)).advance(stream(horizon, 1))
        assert np.array_equal(counter.answer(published.measurements), published.values)


@counters
def test_noises_are_independent_of_each_other_and_of_the_ahead(make: Callable[[int], Counter]) -> None:
    """Each noise is in one measurement: with noises 1, 2, 3, ... all measurements of nothing are different."""
    counter = make(50)
    for ahead in (1, 4, 1000):
        run = counter.start(ahead=ahead)
        run.noise.sampler = _Counting()  # type: ignore[attr-defined]
        noises = [number for part in (1, 6, 43) for number in _measured(run, part)]
        assert len(set(noises)) == len(noises) == len(counter.strategy())


def _measured(run: Any, ticks: int) -> list[int]:
    measured: list[int] = run.advance(np.zeros(ticks, dtype=np.int64)).measurements.tolist()
    return measured


class _Counting:
    """A sampler that never repeats itself."""

    def __init__(self) -> None:
        self.drawn = 0

    def sample(self, size: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        self.drawn += size
        return np.arange(self.drawn - size, self.drawn)


def test_noise_at_hand_is_handed_out_once_and_in_order() -> None:
    noise = NoiseBuffer(_Counting(), 2, 5)  # type: ignore[arg-type]
    found = [noise.one(), noise.one(), *noise.take(7).tolist(), noise.one(), *noise.take(0).tolist(), noise.one()]
    left = noise.list_unused()
    assert found + left == np.arange(2 * (len(found) + len(left))).reshape(-1, 2).tolist()
    assert len(found) == 11


@counters
def test_more_ticks_than_fit_into_the_cache_are_passed_in_parts(
    make: Callable[[int], Counter], monkeypatch: pytest.MonkeyPatch
) -> None:
    counter, rows = make(100), stream(100, 1)
    wanted = counter.start(ahead=100, bits=SeededBits(6)).extend(rows)
    for module in (binary_tree, smooth_tree):
        monkeypatch.setattr(module, "CHUNK", 7)
    assert np.array_equal(counter.start(ahead=100, bits=SeededBits(6)).extend(rows), wanted)


@counters
@widths
def test_increments_of_any_size_and_type_are_counted_exactly(make: Callable[[int], Counter], width: int) -> None:
    counter = make(9)
    huge: list[Any] = [2**62, -(2**70), 2**63 - 1, 10**400, -(10**400), 3]
    runs = [counter.start(width=width, ahead=9, bits=SeededBits(2)) for _ in range(2)]
    for number in huge:
        values = [runs[0].append([number] * width), runs[1].extend([number] if width == 1 else [[number] * width])]
        assert np.array_equal(values[0], values[1][0])
        assert np.isfinite(values[0]).all()
    runs = [counter.resume(run.state()) for run in runs]
    words = np.full((1, width), 2**64 - 1, dtype=np.uint64)
    noisy = [run.advance(words if width > 1 else words.ravel()).measurements for run in runs]
    assert np.array_equal(noisy[0], noisy[1])
    given = [*huge, 2**64 - 1]
    exact = [sum(x for a, x in zip(row, given, strict=False) if a) for row in counter.strategy().tolist()]
    for number in np.ravel(noisy[0]).tolist():
        assert any(abs(number - wanted) < 1000 for wanted in exact)


@counters
def test_what_is_no_row_of_increments_is_refused_and_passes_no_tick(make: Callable[[int], Counter]) -> None:
    for width in (1, 3):
        run = make(9).start(width=width)
        for bad in ([1, 2], [], [[1, 2, 3]] * 2, 1.5, "1", None):
            with pytest.raises(MechanismError):
                run.append(bad)
        for rows in (5, [[1]], [[[1]]], [1.5]):
            with pytest.raises(MechanismError):
                run.extend(rows)
        assert run.tick == 0
        run.extend(stream(9, width))
        assert run.exhausted
        with pytest.raises(MechanismError, match="All 9 ticks of the horizon are published"):
            run.append(1 if width == 1 else [1, 1, 1])


@counters
def test_a_stream_is_one_release_of_its_counter(make: Callable[[int], Counter]) -> None:
    counter = make(13)
    released = counter.release(stream(13, 1), bits=SeededBits(11))
    assert np.array_equal(released.values, counter.start(bits=SeededBits(11)).extend(stream(13, 1)))
    assert counter.loss.event in (
        EveryItem(horizon=1, epsilon=1, person=ONE_TICK).loss.event,
        EveryItem(horizon=1, rho=Fraction(1), person=ONE_TICK).loss.event,
    )


ONCE = Participation(adjacency="add-remove")
ONE_OF_EACH_KIND = [kind(horizon=8, epsilon=1, person=ONCE) for kind in (EveryItem, BinaryTree, SmoothTree)]


@pytest.mark.parametrize(
    "counter", [*ONE_OF_EACH_KIND, Doubling(epsilon=1, person=ONCE)], ids=lambda one: type(one).__name__
)
@pytest.mark.parametrize("increment", [2.5, 2.0, Fraction(5, 2), Decimal(2), np.float64(2)])
def test_what_is_no_integer_is_refused_with_a_remedy_that_there_is(counter: Counter, increment: Any) -> None:
    running = counter.start()
    for ask in (running.append, lambda one: running.extend([one]), lambda one: counter.release([one])):
        with pytest.raises(MechanismError, match="The increments of a stream must be integers") as refused:
            ask(increment)
        assert "step=" not in str(refused.value)
        assert "whole units" in str(refused.value)
    assert running.tick == 0


@pytest.mark.parametrize("increment", [3, np.int8(3), True, 2**70, np.uint64(3)])
def test_integers_of_every_type_are_taken(increment: Any) -> None:
    running = ONE_OF_EACH_KIND[0].start()
    assert abs(running.append(increment) - int(increment)) < 1e3 + int(increment) / 1e9


@pytest.mark.parametrize("state", [{}, None, 7, "", "[]", "{}", "{", '{"tick": 3}', "null"])
def test_what_is_no_state_is_refused_in_words_that_tell_nothing_of_it(state: Any) -> None:
    every = [made(kind, 8, ONCE) for kind in KINDS]
    for counter in [*every, Doubling(epsilon=1, person=ONCE)]:
        with pytest.raises(MechanismError, match="This is not a stream state of this counter") as refused:
            counter.resume(state)
        assert "3" not in str(refused.value)


ONCE_IN_A_VECTOR = Participation(adjacency="add-remove")
LOUD = 10**5
HORIZON = 37
X = np.random.default_rng(8).integers(-9, 50, (HORIZON, 3))


def _streams() -> list[Counter]:
    """Return every counter, and every stream without an end made of it, without noise."""
    found: list[Counter] = []
    for kind in COUNTERS:
        noise: dict[str, Any] = {noises(kind)[-1]: LOUD}
        found += [
            made(kind, HORIZON, ONCE_IN_A_VECTOR, noises(kind)[-1], LOUD),
            Doubling(person=ONCE_IN_A_VECTOR, each=kind, first=2, growth=3, **noise),
            Tumbling(window=5, person=ONCE_IN_A_VECTOR, each=kind, **noise),
            Sliding(window=6, person=ONCE_IN_A_VECTOR, each=kind, **noise),
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
        with pytest.raises(MechanismError, match="one per key"):
            running.extend(bad)
    assert running.tick == 0


@thinned(4)
@pytest.mark.parametrize("kind", COUNTERS, ids=lambda kind: kind.__name__)
def test_keys_have_independent_noise(kind: type[Counter]) -> None:
    """Correlations of the errors of two keys over 200 streams: below 6 standard errors."""
    counter = made(kind, 4, ONCE_IN_A_VECTOR)
    errors = np.array(
        [counter.start(width=2, bits=SeededBits(i)).extend(np.zeros((4, 2), int))[-1] for i in range(200)]
    )
    assert np.all(errors.std(axis=0) > 0)
    assert abs(np.corrcoef(errors.T)[0, 1]) < 6 / np.sqrt(200)
