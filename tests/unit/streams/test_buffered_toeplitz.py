"""Buffered Toeplitz counters: what is measured, how far neighbours are apart, streams, states and errors."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import fields
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.streams import BufferedToeplitz, Participation
from jali.streams.buffer_measurements import OFF, SPAN

ONCE = Participation(adjacency="add-remove")
ALL = SPAN + 100
UNIT = 1 << 300
FIXED = {"buffers": 2, "decays": ("0.99", "0.5"), "weights": ("0.1", "0.25")}


def counter(horizon: int, **given: Any) -> BufferedToeplitz:
    return BufferedToeplitz(**{"horizon": horizon, "rho": "1/2", "person": ONCE, **given})


def column(made: BufferedToeplitz) -> list[int]:
    """The first column of C in units of 2^-300: the weights times powers of the decays."""
    powers = [int(w * UNIT) for w in made.weights]
    found = [UNIT]
    for _ in range(1, made.horizon):
        found.append(sum(powers))
        powers = [p * theta.numerator // theta.denominator for p, theta in zip(powers, made.decays, strict=True)]
    return found


def exact(made: BufferedToeplitz, increments: list[int]) -> list[Fraction]:
    """2^lattice C x, by rationals."""
    first, scale = column(made), Fraction(1 << made.lattice, UNIT)
    sums = [sum(c * x for c, x in zip(first[t::-1], increments, strict=False)) for t in range(len(increments))]
    return [scale * total for total in sums]


def measured(made: BufferedToeplitz, increments: Any, cuts: tuple[int, ...] = ()) -> list[int]:
    """What is measured if ticks come in batches, without its noise: that of zeros with the same bits."""
    return [
        a - b
        for a, b in zip(_noisy(made, increments, cuts), _noisy(made, [0] * len(increments), cuts), strict=True)
    ]


def _noisy(made: BufferedToeplitz, increments: Any, cuts: tuple[int, ...]) -> list[int]:
    stream = made.start(bits=SeededBits(7), ahead=made.horizon)
    places = [0, *cuts, len(increments)]
    parts = [stream.advance(np.array(increments[a:b], dtype=object)) for a, b in itertools.pairwise(places)]
    return [number for part in parts for number in part.measurements.tolist()]


def one_by_one(made: BufferedToeplitz, increments: list[int]) -> list[int]:
    return measured(made, increments, tuple(range(1, len(increments))))


@thinned(4)
@pytest.mark.parametrize(
    ("buffers", "top"), [(4, 1), (1, 300), (8, 1 << 13), (4, 1 << 16), (8, 1 << 16), (4, 1 << 40), (1, 1 << 80)]
)
def test_every_measurement_is_near_the_strategy_times_the_increments(buffers: int, top: int) -> None:
    """Tick by tick, in one batch, and in both: for increments of any size and sign."""
    made = counter(ALL, buffers=buffers)
    generator = np.random.default_rng(buffers * 1000 + top.bit_length())
    increments = [int(x) * top // 1000 for x in generator.integers(-1000, 1000, ALL, endpoint=True)]
    wanted = exact(made, increments)
    for found in (
        one_by_one(made, increments),
        measured(made, increments),
        measured(made, increments, (50, 50 + SPAN)),
    ):
        assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) <= OFF


def test_constant_streams_of_large_counts_stay_near_too() -> None:
    """Buffers are as full as they can be, in batches after batches."""
    made = counter(8 * SPAN)
    sums = list(itertools.accumulate(column(made)))
    for size in (1, 500, 1 << 17):
        found = measured(made, [size] * made.horizon, (SPAN, 4 * SPAN))
        wanted = [Fraction(size * total << made.lattice, UNIT) for total in sums]
        assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) <= OFF


def test_the_strategy_is_the_rounded_matrix_and_lower_triangular() -> None:
    made = counter(40)
    strategy = made.strategy()
    first = exact(made, [1] + [0] * 39)
    assert all(abs(entry - c) <= Fraction(1, 2) for entry, c in zip(strategy[:, 0].tolist(), first, strict=True))
    assert (strategy[1:, 1:] == strategy[:-1, :-1]).all()
    assert not np.triu(strategy.astype(float), 1).any()
    assert made.measure(np.eye(40, dtype=np.int64)[0]).tolist() == strategy[:, 0].tolist()


def test_measurements_do_not_depend_on_later_increments() -> None:
    """What adaptive streams need: with the same noise, the past stays what it was, also in one batch."""
    made, generator = counter(ALL, **FIXED), np.random.default_rng(3)
    increments = generator.integers(0, 50, ALL)
    for place in (10, SPAN // 2, SPAN + 3):
        other = increments.copy()
        other[place:] += generator.integers(0, 50, ALL - place)
        one, two = (made.start(bits=SeededBits(4)).advance(x).measurements for x in (increments, other))
        assert (one[:place] == two[:place]).all()
    assert made.adaptive


@thinned(4)
@pytest.mark.parametrize(
    "person",
    [
        ONCE,
        Participation(adjacency="add-remove", ticks=3, separation=4, l1=3),
        Participation(adjacency="replace-one", ticks=2),
        Participation(adjacency="replace-one", l1=2, signed=True),
    ],
    ids=str,
)
@pytest.mark.parametrize("lattice", [0, 9])
def test_no_neighbours_are_further_apart_than_the_distance(person: Participation, lattice: int) -> None:
    """By the integer code itself, on random streams, batched in other ways on the two sides."""
    made = counter(ALL, person=person, lattice=lattice, **FIXED)
    generator = np.random.default_rng(lattice)
    furthest = 0
    for draw in range(4 * DEPTH):
        base = generator.integers(0, 9, ALL).tolist()
        one, two = (_with_person(base, person, generator, there=side) for side in (True, False))
        first, second = measured(made, one), (one_by_one if draw % 2 else measured)(made, two)
        furthest = max(furthest, sum((a - b) ** 2 for a, b in zip(first, second, strict=True)))
    assert furthest <= made.distance[1]
    assert furthest >= (made.distance[1] / 40 if lattice == 9 else 1)


def _with_person(
    base: list[int], person: Participation, generator: np.random.Generator, *, there: bool
) -> list[int]:
    found = list(base)
    if not there and str(person.adjacency) == "add-remove":
        return found
    start = int(generator.integers(0, 60))
    for tick in range(start, start + person.ticks * person.separation, person.separation):
        found[tick] += int(person.l1) * (-1 if person.signed and not there else 1)
    return found


@pytest.mark.parametrize("horizon", [1, 5, 1000, 1 << 20, 1 << 30])
@pytest.mark.parametrize(
    "person",
    [
        ONCE,
        Participation(adjacency="replace-one", ticks=4, separation=30, l1=50),
        Participation(adjacency="add-remove", l1=1 << 30),
        Participation(adjacency="add-remove", l1=10**6, l2=1000, ticks=2),
    ],
    ids=str,
)
def test_roundings_add_less_than_a_thousandth_to_the_noise(horizon: int, person: Participation) -> None:
    made = counter(horizon, person=person)
    square = made._recurrence.column_square(horizon, person.entered(horizon), person.separation)
    exact_distance = math.sqrt(square * person.squared_weight) * 2.0**made.lattice
    assert exact_distance < math.sqrt(made.distance[1]) <= 1.001 * exact_distance


def test_the_charge_for_roundings_covers_every_key_that_one_person_moves() -> None:
    """With five keys moved by 1 each, each of their measurements may be rounded apart."""
    person = Participation(adjacency="add-remove", l1=5, l2=Fraction(9, 4))
    made = counter(16, person=person, lattice=0, **FIXED)
    generator = np.random.default_rng(8)
    base = generator.integers(0, 9, (16, 7))
    moved = base.copy()
    moved[0, :5] += 1
    pairs = [[made.measure(x[:, key]) for key in range(7)] for x in (base, moved)]
    apart = sum(int(((a - b) ** 2).sum()) for a, b in zip(*pairs, strict=True))
    length = math.hypot(*(c / UNIT for c in column(made)))
    assert apart <= made.distance[1]
    assert math.sqrt(made.distance[1]) >= 2.25 * length + 2 * float(OFF) * math.sqrt(16 * 5)
    assert counter(16, person=person, lattice=0, keys=1, **FIXED).distance[1] < made.distance[1]
    with pytest.raises(MechanismError, match="width"):
        counter(16, person=person, keys=3).start(width=4)


def test_the_largest_error_at_a_million_ticks_is_below_five_point_six() -> None:
    """At rho = 1/2 the noise has standard deviation 1 per unit of distance, and roundings are charged."""
    made = counter(1 << 20)
    assert 5.56 < made.largest < 5.57
    assert 5.38 < made.rms < 5.39
    assert made.rms < made.largest == made.stddev(1 << 20)


def test_closed_forms_agree_with_the_coefficients_of_the_noises() -> None:
    made = counter(700, buffers=3)
    assert made.variances()[-1] == pytest.approx(made.largest**2, rel=1e-9)
    assert math.sqrt(made.variances().mean()) == pytest.approx(made.rms, rel=1e-9)
    for tick in (1, 9, 700):
        row = made.influence(tick)
        assert len(row) == tick
        assert made.stddev(tick) == pytest.approx(made.law.stddev * math.sqrt(row @ row), rel=1e-9)
        assert made.factors()[tick - 1] == pytest.approx(row @ row, rel=1e-9)
    assert made.worst_tick == 700
    assert made.error(0.95) >= 1.959 * made.largest


@pytest.mark.parametrize("tick", [900, 1500, 5000])
def test_long_and_short_streams_have_the_error_of_a_normal_variable_and_roundings(tick: int) -> None:
    made = counter(5000)
    slack = made.influence(tick).sum()
    wanted = NormalDist().inv_cdf(0.975) * made.stddev(tick) + float(OFF) * slack
    assert wanted <= made.error(0.95, tick=tick) <= wanted * (1 + 1e-9) + slack
    assert counter(1 << 40).error(0.5) > counter(1 << 30).error(0.5)


def test_simulated_errors_have_the_stated_deviation() -> None:
    """For 3000 keys the sample deviation is within six of its own: a false alarm in 5e8 runs."""
    made, width = counter(SPAN), 3000
    zeros = np.zeros((40, width), dtype=np.int64)
    values = made.start(width=width, ahead=40, bits=SeededBits(11)).extend(zeros)
    for tick in (1, 7, 40):
        assert values[tick - 1].std() == pytest.approx(made.stddev(tick), rel=6 / math.sqrt(2 * width))
    batches = np.array([made.start(bits=SeededBits(seed)).extend([0] * SPAN)[-1] for seed in range(300)])
    assert batches.std() == pytest.approx(made.largest, rel=6 / math.sqrt(600))


def test_values_are_running_sums_and_the_noise_alone() -> None:
    """With the noise of a stream of zeros taken off, the values of large counts are their sums."""
    made, generator = counter(3 * SPAN), np.random.default_rng(9)
    increments = generator.integers(0, 1000, 3 * SPAN)
    values, noise = (made.start(bits=SeededBits(1)).extend(x) for x in (increments, 0 * increments))
    slack = float(OFF) * made.influence(made.horizon).sum()
    assert np.abs(values - noise - np.cumsum(increments)).max() <= 2 * slack + 1e-6


@thinned(4)
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("cuts", [(), (70,), (SPAN,), (30, SPAN + 30)])
def test_values_are_the_inverse_of_the_measurements(width: int, cuts: tuple[int, ...]) -> None:
    size = 3 * SPAN
    made, generator = counter(size, **FIXED), np.random.default_rng(2)
    increments = generator.integers(0, 9, (size, width) if width > 1 else size)
    stream = made.start(width=width, bits=SeededBits(2))
    parts = [stream.advance(increments[a:b]) for a, b in itertools.pairwise((0, *cuts, size))]
    noisy = np.concatenate([part.measurements for part in parts]).reshape(size, width)
    values = np.concatenate([part.values for part in parts]).reshape(size, width)
    coefficients = made.influence(size)[::-1]
    for key in range(width):
        wanted = np.convolve(coefficients, noisy[:, key].astype(float))[:size]
        assert values[:, key] == pytest.approx(wanted, rel=1e-9, abs=1e-6)
        assert made.answer(noisy[:, key]) == pytest.approx(wanted, rel=1e-9, abs=1e-6)


def test_keys_side_by_side_are_measured_as_if_alone() -> None:
    made, generator = counter(ALL, **FIXED), np.random.default_rng(4)
    increments = generator.integers(0, 9, (ALL, 3))
    noise = made.start(width=3, bits=SeededBits(5)).advance(0 * increments).measurements
    together = made.start(width=3, bits=SeededBits(5)).advance(increments).measurements - noise
    for key in range(3):
        assert (together[:, key] == made.measure(increments[:, key])).all()


@pytest.mark.parametrize("batch", [1, 30, SPAN])
def test_a_resumed_stream_goes_on_as_if_nothing_had_happened(batch: int) -> None:
    made, increments = counter(3 * SPAN), np.random.default_rng(1).integers(0, 99, 3 * SPAN)

    def rest(stream: Any) -> list[float]:
        return [stream.append(5), *stream.extend(increments[: SPAN + 30]).tolist(), stream.append(7)]

    stream = made.start(ahead=3 * SPAN, bits=SeededBits(6))
    for start in range(0, SPAN, batch):
        stream.extend(increments[start : start + batch]) if batch > 1 else stream.append(int(increments[start]))
    kept = stream.state()
    again = made.resume(kept, bits=SeededBits(77))
    assert again.tick == stream.tick == -(-SPAN // batch) * batch
    assert rest(again) == rest(stream)
    assert json.loads(again.state())["keys"] == json.loads(stream.state())["keys"]


@pytest.mark.parametrize("ahead", [1, 7, 5000])
def test_noise_is_used_once_and_in_order_however_ticks_come(ahead: int) -> None:
    made, zeros = counter(200), np.zeros(200, dtype=np.int64)
    stream = made.start(ahead=ahead, bits=SeededBits(3))
    found = [stream.append(0) for _ in range(10)]
    found += stream.extend(zeros[:33]).tolist()
    found += [stream.append(np.int64(0)), stream.append(0)]
    found += stream.extend(zeros[:155]).tolist()
    assert stream.exhausted
    steps = np.diff(np.array(found))
    assert len(set(steps.tolist())) == 199
    if ahead == 5000:
        whole = made.start(ahead=ahead, bits=SeededBits(3)).extend(zeros)
        assert found == pytest.approx(whole.tolist())


def test_streams_end_at_their_horizon_and_take_integers_only() -> None:
    stream = counter(3).start()
    stream.extend([1, 2])
    with pytest.raises(MechanismError, match="integers"):
        stream.append(1.5)
    assert isinstance(stream.append(True), float)
    with pytest.raises(MechanismError, match="horizon"):
        stream.append(1)


def test_numbers_of_any_size_are_taken() -> None:
    """Beyond 2^500 they count as 2^500: nothing overflows, and no two are moved further apart."""
    made = counter(SPAN)
    increments = [10**400, -(10**300), *[10**1000] * (SPAN - 2)]
    values = made.start().extend(increments)
    assert np.isfinite(values).all()
    assert values[-1] == pytest.approx((SPAN - 2) * 2.0**500, rel=1e-9)
    assert made.start().append(-(10**5000)) == pytest.approx(-(2.0**500), rel=1e-9)


def test_parameters_are_kept_and_a_restored_counter_is_the_same() -> None:
    made = counter(5000, buffers=3)
    given = {field.name: getattr(made, field.name) for field in fields(made)}
    again = BufferedToeplitz.restored(**given)
    assert again == made == BufferedToeplitz(**given)
    assert again.law == made.law
    assert (
        again.start(bits=SeededBits(1)).extend([3] * 9).tolist()
        == made.start(bits=SeededBits(1)).extend([3] * 9).tolist()
    )
    assert "decays" not in repr(made)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"decays": ("0.5",)}, "weights"),
        ({"buffers": 2, "decays": ("0.5", "0.9"), "weights": ("0.1", "0.1")}, "decays"),
        ({"buffers": 1, "decays": ("1",), "weights": ("0.1",)}, "decays"),
        ({"buffers": 1, "decays": ("0.5",), "weights": ("0.5",)}, "weights"),
        ({"buffers": 1, "decays": ("0.5",), "weights": (Fraction(1, 1 << 99),)}, "weights"),
        ({"buffers": 3, "decays": ("0.5",), "weights": ("0.1",)}, "decays"),
        ({"lattice": 65}, "lattice"),
        ({"lattice": -1}, "lattice"),
        ({"buffers": 0}, "buffers"),
        ({"buffers": 9}, "buffers"),
        ({"keys": 0}, "keys"),
    ],
    ids=str,
)
def test_parameters_that_make_no_counter_are_refused_by_name(given: dict[str, Any], name: str) -> None:
    with pytest.raises(MechanismError, match=rf"\b{name}\b"):
        counter(10, **given)


def test_measurements_have_a_type_that_tells_of_them_alone() -> None:
    made = counter(SPAN)
    assert made.start().advance(np.array([1 << 20] * SPAN)).measurements.dtype == np.int64
    large: NDArray[Any] = made.start().advance(np.array([1, 1 << 70], dtype=object)).measurements
    assert large.dtype == object
