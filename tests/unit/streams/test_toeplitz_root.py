"""The square-root counter and its filters: figures, sensitivity by brute force, streams against matrices."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.streams import Participation, ToeplitzRoot
from jali.streams.toeplitz_root import CausalFilter, GrowingRows

ONCE_FILTERED = Participation(adjacency="add-remove")


def slowly(column: list[int], past: list[int], start: int) -> list[int]:
    return [sum(column[t - j] * past[j] for j in range(t + 1)) for t in range(start, len(past))]


@pytest.mark.parametrize("largest", [1, 1000, 1 << 31, 1 << 70])
@pytest.mark.parametrize(("start", "ticks"), [(0, 1), (0, 200), (150, 200), (0, 33), (199, 200), (100, 140)])
def test_sums_of_integers_are_exact(largest: int, start: int, ticks: int) -> None:
    generator = np.random.default_rng(ticks + start)
    column = np.sort(generator.integers(0, 1 << 20, 256))[::-1].copy()
    signs = generator.integers(-1000, 1001, ticks).tolist()
    past = [sign * largest // 1000 for sign in signs]
    causal = CausalFilter(column)
    kind = np.int64 if largest < causal.roomy else object
    found = causal.integers(np.array(past, dtype=kind), start)
    assert found.tolist() == slowly(column.tolist(), past, start)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_least_favourable_increments_are_summed_exactly_too(sign: int) -> None:
    """All increments at the limit of a digit and all coefficients at their largest: the worst for rounding."""
    ticks = 1 << 12
    column = np.full(ticks, 1 << 24)
    for value in (1, 255, 256, (1 << 24) - 1):
        found = CausalFilter(column).integers(np.full(ticks, sign * value), 0)
        assert (found == sign * value * (1 << 24) * np.arange(1, ticks + 1)).all()


def test_a_long_stream_is_summed_exactly_at_places_looked_at() -> None:
    ticks = 1 << 17
    column = ToeplitzRoot(horizon=ticks, rho=1, person=ONCE_FILTERED).column
    past = np.random.default_rng(3).integers(-(1 << 28), 1 << 28, ticks)
    found = CausalFilter(column).integers(past, 0)
    for t in (0, 1, 12_345, ticks - 1):
        assert found[t] == sum(c * x for c, x in zip(column[t::-1].tolist(), past[: t + 1].tolist(), strict=True))


def test_doubles_by_transforms_and_one_by_one_agree() -> None:
    generator = np.random.default_rng(5)
    causal, past = CausalFilter(generator.random(300)), generator.normal(size=300)
    whole = causal.doubles(past, 0)
    assert causal.doubles(past, 290) == pytest.approx(whole[290:], abs=1e-12)
    assert whole == pytest.approx(np.convolve(causal.column, past)[:300], abs=1e-12)


def test_a_past_grows_and_keeps_what_it_had() -> None:
    past = GrowingRows(np.zeros((2, 0), np.int64))
    parts = [np.arange(2 * n).reshape(2, n) for n in (1, 0, 5, 3)]
    for part in parts:
        past.grow(part)
    assert past.rows.dtype == np.int64
    past.grow(np.array([[1 << 80], [0]], dtype=object))
    assert past.rows.tolist() == [
        [*np.concatenate(parts, axis=1)[key].tolist(), last] for key, last in ((0, 1 << 80), (1, 0))
    ]


ONCE = Participation(adjacency="add-remove")


def counter(horizon: int, **given: Any) -> ToeplitzRoot:
    return ToeplitzRoot(**{"horizon": horizon, "rho": "1/2", "person": ONCE, **given})


def noise_of(root: ToeplitzRoot, seed: int, width: int = 1) -> NDArray[Any]:
    """The noise that a stream with these bits adds: what is measured where nothing comes in."""
    zeros = np.zeros((root.horizon, width), np.int64) if width > 1 else np.zeros(root.horizon, np.int64)
    return root.start(width=width, bits=SeededBits(seed)).advance(zeros).measurements


@pytest.mark.parametrize(
    ("horizon", "largest", "rms"),
    [(1024, 3.272554, None), (1 << 16, 4.596444, 4.434444), (1 << 20, 5.478988, 5.317452)],
)
def test_the_errors_of_the_theorem_book_are_reproduced(horizon: int, largest: float, rms: float | None) -> None:
    """At rho = 1/2 the noise has standard deviation 1 per unit of distance."""
    root = counter(horizon)
    assert root.largest == pytest.approx(largest, abs=6e-7)
    assert rms is None or root.rms == pytest.approx(rms, abs=6e-7)
    assert root.largest == pytest.approx((math.log(horizon) + 0.5772157 + 4 * math.log(2)) / math.pi, abs=1e-4)


@pytest.mark.parametrize(("cells", "rms"), [(8, 1.5858575), (16, 1.7968144), (64, 2.2296765)])
def test_short_horizons_have_the_errors_of_the_same_factorization_of_thresholds(cells: int, rms: float) -> None:
    assert counter(cells, grain=1 << 24).rms == pytest.approx(rms, abs=1e-6)


@pytest.mark.parametrize("grain", [1, 2, 1000, 1 << 20])
def test_the_column_never_increases_and_is_the_rounded_root_of_summing(grain: int) -> None:
    column = counter(1000, grain=grain).column
    exact = [Fraction(1)]
    for k in range(1, 1000):
        exact.append(exact[-1] * Fraction(2 * k - 1, 2 * k))
    assert all(
        abs(int(c) - grain * f) <= Fraction(1, 2) + Fraction(grain, 1 << 40)
        for c, f in zip(column, exact, strict=True)
    )
    assert (np.diff(column) <= 0).all()
    assert column[-1] >= 0


@pytest.mark.parametrize("person", [
    ONCE,
    Participation(adjacency="add-remove", ticks=2),
    Participation(adjacency="add-remove", ticks=3, separation=2),
    Participation(adjacency="add-remove", ticks=9, separation=3),
    Participation(adjacency="add-remove", ticks=2, separation=50),
])  # fmt: skip
@pytest.mark.parametrize("grain", [3, 1 << 20])
def test_no_pattern_of_ticks_moves_the_measurements_further_than_charged(
    person: Participation, grain: int
) -> None:
    horizon = 9
    matrix = counter(horizon, grain=grain).strategy().astype(object)
    patterns = [
        ticks
        for size in range(1, person.ticks + 1)
        for ticks in itertools.combinations(range(horizon), size)
        if all(b - a >= person.separation for a, b in itertools.pairwise(ticks))
    ]
    moved = [matrix[:, list(ticks)].sum(axis=1) for ticks in patterns]
    found = counter(horizon, grain=grain, person=person).distance
    assert found == (max(m.sum() for m in moved), max((m * m).sum() for m in moved))


@pytest.mark.parametrize("horizon", [1, 2, 100, 1024])
@pytest.mark.parametrize(("ticks", "separation"), [(1, 1), (5, 7), (1000, 1), (1000, 30)])
def test_the_distance_is_that_of_the_written_matrix(horizon: int, ticks: int, separation: int) -> None:
    person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
    root = counter(horizon, person=person)
    pattern = list(range(0, horizon, separation))[:ticks]
    moved = root.strategy()[:, pattern].astype(object).sum(axis=1)
    assert root.distance == (moved.sum(), (moved * moved).sum())


def test_replaced_and_vector_increments_stay_within_the_distance() -> None:
    """All increments over two keys and three ticks, of both neighbours, on a small grid."""
    person = Participation(adjacency="replace-one", ticks=2, separation=2, l1=2, l2=2)
    root = counter(3, grain=8, person=person)
    vectors = [v for v in itertools.product(range(3), repeat=2) if sum(v) <= 2]
    streams = [np.array([a, (0, 0), b]) for a in vectors for b in vectors]
    streams += [np.array([(0, 0), a, (0, 0)]) for a in vectors]
    measured = [root.strategy() @ stream for stream in streams]
    apart = max(int(((one - other) ** 2).sum()) for one in measured for other in measured)
    assert 0.6 * root.distance[1] < apart <= root.distance[1]


def test_measurements_are_the_matrix_times_the_increments_plus_the_noise() -> None:
    root = counter(50, grain=100)
    increments = np.random.default_rng(1).integers(0, 9, 50)
    published = root.start(bits=SeededBits(4)).advance(increments)
    assert (published.measurements == root.strategy() @ increments + noise_of(root, 4)).all()
    back = np.tril(np.ones((50, 50))) @ np.linalg.inv(root.strategy())
    assert published.values == pytest.approx(back @ published.measurements, abs=1e-9)
    assert published.values == pytest.approx(root.answer(published.measurements), abs=1e-9)


def test_values_are_the_running_sums_plus_what_the_noise_makes_of_them() -> None:
    root = counter(300)
    increments = np.random.default_rng(2).integers(0, 1000, 300)
    values = root.start(bits=SeededBits(5)).extend(increments)
    noise = noise_of(root, 5)
    wanted = [root.influence(t) @ noise[:t] for t in range(1, 301)]
    assert values - np.cumsum(increments) == pytest.approx(np.array(wanted), abs=1e-8)
    assert [root.influence(t) @ root.influence(t) for t in (1, 300)] == pytest.approx(root.factors()[[0, 299]])


@pytest.mark.parametrize("width", [1, 3])
def test_ticks_one_by_one_in_blocks_and_after_a_restart_are_the_ticks_at_once(width: int) -> None:
    root = counter(120)
    shape = (120,) if width == 1 else (120, width)
    increments = np.random.default_rng(6).integers(-5, 50, shape)
    whole = root.start(width=width, ahead=120, bits=SeededBits(7)).advance(increments)
    bits = SeededBits(7)
    running = root.start(width=width, ahead=120, bits=bits)
    values, measurements = [], []
    for start, stop in [(0, 1), (1, 2), (2, 60), (60, 60), (60, 61), (61, 120)]:
        running = root.resume(running.state(), bits=bits)
        published = running.advance(running.checked(increments[start:stop]))
        values.append(published.values)
        measurements.append(published.measurements)
    assert np.concatenate(measurements).tolist() == whole.measurements.tolist()
    assert np.concatenate(values) == pytest.approx(whole.values, abs=1e-8)
    assert running.exhausted


def test_increments_beyond_machine_words_are_measured_exactly() -> None:
    root = counter(60)
    increments = [(-1) ** t * (1 << 70) + t for t in range(60)]
    measured = root.start(bits=SeededBits(8)).advance(np.array(increments, dtype=object)).measurements
    exact = root.strategy().astype(object) @ np.array(increments, dtype=object)
    assert (measured.astype(object) - exact == noise_of(root, 8)).all()
    state = root.start(bits=SeededBits(8))
    state.extend(increments[:30])
    again = root.resume(state.state()).advance(np.array(increments[30:], dtype=object)).measurements
    assert again.tolist() == measured[30:].tolist()


def test_the_bias_of_doubles_is_far_below_the_noise() -> None:
    """The way back applied to the exact measurements of ones: long double sums, so that only `back` is judged."""
    root = counter(1 << 14)
    exact, back = np.cumsum(root.column).astype(np.longdouble), root.back.astype(np.longdouble)
    for t in (1, 1000, 1 << 14):
        assert abs(float(back[t - 1 :: -1] @ exact[:t]) / t - 1) < 1e-12


def test_simulated_errors_are_those_of_the_factors() -> None:
    """Squared errors of all ticks over many streams; with chance below 1e-9 one is off by six deviations."""
    root, streams = counter(40, rho=2), 4000 * DEPTH
    values = root.start(width=streams, bits=SeededBits(9)).extend(np.zeros((40, streams), np.int64))
    found = (values**2).mean(axis=1)
    assert (np.abs(found / root.variances() - 1) < 6.5 * math.sqrt(2 / streams)).all()
    assert (np.abs(values.mean(axis=1)) < 6.5 * np.sqrt(root.variances() / streams)).all()


def test_what_cannot_be_kept_or_rounded_is_refused() -> None:
    with pytest.raises(MechanismError, match=r"horizon.*BufferedToeplitz"):
        counter((1 << 22) + 1)
    with pytest.raises(MechanismError, match="grain"):
        counter(5, grain=(1 << 24) + 1)
    with pytest.raises(MechanismError, match="All 2 ticks of the horizon are published"):
        counter(2).start().extend([1, 2, 3])
