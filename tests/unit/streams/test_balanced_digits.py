"""Balanced digits and their counter: its figures, its nodes by brute force, its streams against matrices."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import MechanismError
from jali.streams import BalancedDigits, Participation
from jali.streams.balanced_digits import _Digits, best_radix, digit_sums, digits, levels_for, total_of_digits

RADICES = (3, 5, 7, 19, 101)


@pytest.mark.parametrize("radix", RADICES)
def test_digits_are_balanced_and_write_the_number(radix: int) -> None:
    for number in range(1, 500):
        found = digits(number, radix)
        assert sum(d * radix**i for i, d in enumerate(found)) == number
        assert all(abs(d) <= (radix - 1) // 2 for d in found)


@pytest.mark.parametrize("radix", RADICES)
def test_levels_are_as_many_as_the_longest_number_needs(radix: int) -> None:
    for horizon in range(1, 400):
        assert levels_for(horizon, radix) == max(len(digits(t, radix)) for t in range(1, horizon + 1))


@pytest.mark.parametrize("radix", RADICES)
def test_sums_of_digits_are_counted_and_totalled(radix: int) -> None:
    sizes = [sum(map(abs, digits(t, radix))) for t in range(1, 400)]
    for horizon, total in enumerate(itertools.accumulate(sizes), start=1):
        assert total_of_digits(horizon, radix) == total
    assert digit_sums(399, radix).tolist() == sizes


@pytest.mark.parametrize("horizon", [1, 2, 5, 30, 100, 365, 1024])
def test_no_radix_is_better_than_the_best(horizon: int) -> None:
    def squared(radix: int) -> float:
        sizes = [sum(map(abs, digits(t, radix))) for t in range(1, horizon + 1)]
        return levels_for(horizon, radix) ** 2 * math.fsum(sizes) / horizon

    radices = [*range(3, 102, 2), 2 * horizon + 1]
    assert squared(best_radix(horizon)) == min(map(squared, radices))


def test_the_radices_of_the_theorem_book_are_chosen() -> None:
    assert (best_radix(1024), levels_for(1024, 13)) == (13, 3)
    assert (best_radix(1 << 20), levels_for(1 << 20, 19)) == (19, 5)


ONCE = Participation(adjacency="add-remove")


def counter(horizon: int, **given: Any) -> BalancedDigits:
    return BalancedDigits(**{"horizon": horizon, "epsilon": 1, "person": ONCE, **given})


def used_by(tick: int, radix: int) -> dict[tuple[int, int], int]:
    """The nodes of one tick with their signs, walked from the highest digit down: level and number."""
    found: dict[tuple[int, int], int] = {}
    place = 0
    for level, digit in reversed(list(enumerate(digits(tick, radix)))):
        steps = range(digit) if digit > 0 else range(digit, 0)
        found |= {(level, place // radix**level + step): 1 if digit > 0 else -1 for step in steps}
        place += digit * radix**level
    assert place == tick
    return found


@pytest.mark.parametrize(("horizon", "rms", "largest"), [(1024, 13.06, 18.00), (1 << 20, 33.87, 46.90)])
def test_the_errors_of_the_theorem_book_are_reproduced(horizon: int, rms: float, largest: float) -> None:
    """They are for continuous noise, of variance 2 scale^2; discrete noise has a little less."""
    found = counter(horizon)
    smooth = math.sqrt(2) * found.levels
    assert smooth * math.sqrt(found.factors().mean()) == pytest.approx(rms, abs=0.005)
    assert smooth * math.sqrt(found.factors().max()) == pytest.approx(largest, abs=0.005)
    assert 0.99 * rms < found.rms < rms
    assert 0.99 * largest < found.largest < largest < 47


@pytest.mark.parametrize("radix", [3, 5, 7])
@pytest.mark.parametrize("horizon", [1, 2, 4, 13, 14, 40, 122])
def test_nodes_are_those_that_ticks_use_and_their_signed_sums_are_running_sums(horizon: int, radix: int) -> None:
    found = counter(horizon, radix=radix)
    walks = [used_by(tick, radix) for tick in range(1, horizon + 1)]
    nodes = sorted({node for walk in walks for node in walk})
    assert nodes == [(level, j) for level, used in enumerate(found.nodes) for j in used.tolist()]
    rows = [[j * radix**i <= tick < (j + 1) * radix**i for tick in range(horizon)] for i, j in nodes]
    assert found.strategy().tolist() == np.array(rows, dtype=int).tolist()
    signs = np.array([[walk.get(node, 0) for node in nodes] for walk in walks])
    assert (signs @ found.strategy() == np.tril(np.ones((horizon, horizon)))).all()
    noisy = np.random.default_rng(horizon).integers(-99, 99, len(nodes))
    assert found.answer(noisy).tolist() == (signs @ noisy).tolist()
    assert found.factors().tolist() == np.abs(signs).sum(axis=1).tolist()
    for tick, row in enumerate(signs, start=1):
        assert sorted(found.influence(tick)) == sorted(row[row != 0])


@pytest.mark.parametrize("horizon", [*range(1, 60), 365, 1024])
def test_the_distance_is_the_largest_column_of_the_matrix(horizon: int) -> None:
    for radix in (3, 5, None):
        found = counter(horizon, radix=radix)
        columns = found.strategy().sum(axis=0)
        assert found.distance == (columns.max(), columns.max())


@pytest.mark.parametrize("person", [
    Participation(adjacency="add-remove", ticks=2),
    Participation(adjacency="add-remove", ticks=3, separation=2),
    Participation(adjacency="add-remove", ticks=9, separation=4),
])  # fmt: skip
def test_no_pattern_of_ticks_moves_the_nodes_further_than_charged(person: Participation) -> None:
    found = counter(10, radix=3, person=person)
    matrix = found.strategy()
    patterns = [
        ticks
        for ticks in itertools.chain.from_iterable(itertools.combinations(range(10), n) for n in (1, 2, 3))
        if len(ticks) <= person.ticks and all(b - a >= person.separation for a, b in itertools.pairwise(ticks))
    ]
    moved = [matrix[:, list(ticks)].sum(axis=1) for ticks in patterns]
    assert 0.7 * found.distance[0] < max(m.sum() for m in moved) <= found.distance[0]
    assert max((m * m).sum() for m in moved) <= found.distance[1]


def test_replaced_increments_move_the_nodes_as_far_as_charged_and_no_further() -> None:
    """Ticks far apart share no node: their distance is reached."""
    found = counter(45, radix=5, person=Participation(adjacency="replace-one", l1=2))
    streams = [amount * column for column in found.strategy().T for amount in (0, 1, 2)]
    assert max(np.abs(one - other).sum() for one in streams for other in streams) == found.distance[0]


class Recorded(_Digits):
    """A running stream whose noises are given by the places of their nodes."""

    def draw(self, level: int, first: int, count: int) -> NDArray[Any]:
        return np.array([recorded(level, block, self.radix, self.width) for block in range(first, first + count)])


def noise_at(level: int, node: int, key: int) -> int:
    return (7919 * level + 104_729 * node + 31 * key) % 2003 - 1001


def recorded(level: int, block: int, radix: int, width: int) -> list[list[int]]:
    """What each digit adds in a block: nodes are added to the right of its centre, and taken away to the left."""
    half, centre, table = radix // 2, block * radix, []
    for digit in range(-half, half + 1):
        nodes = range(centre, centre + digit) if digit > 0 else range(centre + digit, centre)
        sign = 1 if digit > 0 else -1
        table.append([sign * sum(noise_at(level, node, key) for node in nodes) for key in range(width)])
    return table


def recorded_stream(found: BalancedDigits, width: int) -> Recorded:
    begun = found.start(width=width, bits=SeededBits(1))
    assert isinstance(begun, _Digits)
    tables = [np.array(recorded(level, 0, found.radix, width)) for level in range(found.levels)]
    return Recorded(found, begun.noise, 0, begun.sums, tables)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("radix", [3, 7])
@pytest.mark.parametrize("cuts", [(), (1, 2, 3), (2, 5, 40, 41, 90), tuple(range(1, 130))])
def test_a_running_stream_is_the_matrix_with_its_noise(width: int, radix: int, cuts: tuple[int, ...]) -> None:
    """Whatever the blocks in which ticks come: each node's noise is the same wherever it is used."""
    found = counter(130, radix=radix)
    increments = np.random.default_rng(radix).integers(-3, 20, (130, width))
    nodes = [(level, j) for level, used in enumerate(found.nodes) for j in used.tolist()]
    noise = np.array([[noise_at(level, j, key) for key in range(width)] for level, j in nodes])
    wanted = np.stack([found.answer(column) for column in (found.strategy() @ increments + noise).T], axis=1)
    running, values = recorded_stream(found, width), []
    for start, stop in itertools.pairwise((0, *cuts, 130)):
        values.append(running.extend(increments[start:stop] if width > 1 else increments[start:stop, 0]))
    assert np.concatenate(values).reshape(130, width).tolist() == wanted.tolist()


def test_ticks_appended_one_by_one_are_those_of_the_matrix() -> None:
    found = counter(130, radix=5)
    running, whole = recorded_stream(found, 1), recorded_stream(found, 1)
    increments = np.random.default_rng(2).integers(0, 9, 130)
    given = [(int(x), x, [int(x)])[t % 3] for t, x in enumerate(increments)]
    values = [running.append(increment) for increment in given]
    assert values == whole.extend(increments).tolist()
    with pytest.raises(MechanismError, match="All 130 ticks of the horizon are published"):
        running.append(1)


@pytest.mark.parametrize("width", [1, 2])
def test_a_restart_changes_nothing(width: int) -> None:
    found = counter(60, radix=3)
    shape = (60,) if width == 1 else (60, width)
    increments = np.random.default_rng(3).integers(0, 9, shape)
    bits, again = SeededBits(4), SeededBits(4)
    steady, restarted = found.start(width=width, bits=bits), found.start(width=width, bits=again)
    for tick in range(60):
        one = steady.extend(increments[tick : tick + 1])
        restarted = found.resume(restarted.state(), bits=again)
        assert restarted.extend(increments[tick : tick + 1]).tolist() == one.tolist()
    assert restarted.tick == 60


def test_noise_in_a_state_is_not_drawn_again() -> None:
    """Two streams that go on from one state, with other bits, agree until the noise drawn ahead is used up."""
    found = counter(100, radix=3)
    running = found.start(ahead=100, bits=SeededBits(5))
    running.extend([1] * 10)
    state = running.state()
    one, other = found.resume(state, bits=SeededBits(6)), found.resume(state, bits=SeededBits(7))
    assert one.extend([1] * 40).tolist() == other.extend([1] * 40).tolist() == running.extend([1] * 40).tolist()
    assert one.extend([1] * 50).tolist() != other.extend([1] * 50).tolist()


def test_sums_and_noises_beyond_machine_words_stay_exact() -> None:
    found = counter(40, radix=3)
    increments = [1 << 70, *[-(1 << 64) + t for t in range(39)]]
    shift = np.array([sum(increments[: t + 1]) for t in range(40)], dtype=object)
    large = found.start(bits=SeededBits(8)).advance(np.array(increments, dtype=object)).measurements
    plain = found.start(bits=SeededBits(8)).advance(np.zeros(40, np.int64)).measurements
    assert (large - shift == plain).all()
    wide = BalancedDigits(horizon=40, epsilon="1/200000000000000000", person=ONCE, radix=3)
    values = wide.start(bits=SeededBits(9)).advance(np.zeros(40, np.int64)).measurements
    assert float(np.abs(values.astype(float)).max()) > 2.0**57


def test_one_value_for_each_of_the_first_ticks_is_released() -> None:
    assert len(counter(50).release([1] * 7, bits=SeededBits(1)).values) == 7


def test_simulated_errors_are_those_of_the_factors() -> None:
    """Squared errors of all ticks over many streams; a mean of so many is off by 7.5 deviations below 1e-9."""
    found, streams = counter(40, radix=5, epsilon=2), 4000 * DEPTH
    values = found.start(width=streams, bits=SeededBits(10)).extend(np.zeros((40, streams), np.int64))
    # A Laplace noise has kurtosis 6: the deviation of a mean of squares is at most sqrt(5 / streams).
    assert (np.abs((values**2).mean(axis=1) / found.variances() - 1) < 7.5 * math.sqrt(5 / streams)).all()
    assert (np.abs(values.mean(axis=1)) < 7.5 * np.sqrt(found.variances() / streams)).all()
    covered = (np.abs(values[found.worst_tick - 1]) <= found.error(0.95)).mean()
    assert 0.95 - 6.5 * math.sqrt(0.05 / streams) < covered < 0.97 + 6.5 * math.sqrt(0.05 / streams)


def test_two_streams_that_react_to_the_values_are_no_easier_to_tell_apart() -> None:
    """Theorem 3 on the whole law of four ticks, whose noises are a, c - b, c, c + d: all transcripts of a box.

    At tick t the two streams get f(what was published), and one of them 1 more at a tick that is chosen so too.
    """
    law, bound = counter(4, radix=3).law, 1 + 1e-9

    def log_mass(values: tuple[int, ...], sums: list[int]) -> float:
        first, second, third, fourth = (v - s for v, s in zip(values, sums, strict=True))
        return sum(law.log_mass(noise) for noise in (first, third - second, third, fourth - third))

    reached = 0.0
    for values in itertools.product(range(-4, 5), repeat=4):
        chosen = [1, values[0] % 3, (values[0] * values[1]) % 5, values[2] % 2]
        entered = 1 if values[0] < 0 else 2 if values[1] > values[0] else 3
        other = [x + (tick == entered) for tick, x in enumerate(chosen)]
        one, two = (log_mass(values, list(itertools.accumulate(xs))) for xs in (chosen, other))
        reached = max(reached, abs(one - two))
    assert 0.99 < reached <= bound


def test_it_says_that_streams_must_not_react_to_it() -> None:
    assert BalancedDigits.adaptive is False
    assert "oblivious streams only" in (BalancedDigits.__doc__ or "")


def test_an_even_radix_is_refused() -> None:
    with pytest.raises(MechanismError, match="radix must be odd"):
        counter(9, radix=4)
