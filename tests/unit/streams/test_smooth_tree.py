"""The smooth tree: against words that are written out, the theory's numbers, and all patterns of a person."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits
from tests.unit.streams.patterns import furthest_one_by_one

from jali.errors import MechanismError
from jali.streams import Participation, SmoothTree, tree_sensitivity
from jali.streams.smooth_tree import SmoothShape

ONCE = Participation(adjacency="add-remove")
HORIZONS = (1, 2, 3, 5, 8, 13, 19, 20, 40)
losses = pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": Fraction(1, 2)}], ids=["Laplace", "Gaussian"])
shapes = pytest.mark.parametrize("shape", ["best", "balanced"])


def words(tree: SmoothShape, count: int) -> list[str]:
    """Return the first words with so many zeros and ones, as text."""
    length = tree.zeros + tree.ones
    places = itertools.combinations(range(length), tree.ones)
    return sorted("".join("1" if i in ones else "0" for i in range(length)) for ones in places)[:count]


@losses
@shapes
@pytest.mark.parametrize("horizon", HORIZONS)
def test_a_tick_measures_the_node_that_it_completes(horizon: int, shape: str, loss: dict[str, Any]) -> None:
    counter = SmoothTree(horizon=horizon, person=ONCE, shape=shape, **loss)
    leaves = words(counter.tree, horizon + 1)
    for (leaf, following), row in zip(itertools.pairwise(leaves), counter.strategy().tolist(), strict=True):
        common = next(leaf[:i] for i in range(len(leaf)) if leaf[i] != following[i])
        assert row == [word.startswith(common + "0") for word in leaves[:horizon]]


@losses
@shapes
@pytest.mark.parametrize("horizon", HORIZONS)
def test_a_value_adds_up_the_left_siblings_of_the_ones_of_the_next_word(
    horizon: int, shape: str, loss: dict[str, Any]
) -> None:
    counter = SmoothTree(horizon=horizon, person=ONCE, shape=shape, **loss)
    leaves, rows = words(counter.tree, horizon + 1), counter.strategy()
    noisy = np.random.default_rng(4).integers(-99, 99, horizon)
    by_run = {tuple(row): y for row, y in zip(rows.tolist(), noisy.tolist(), strict=True)}
    values, factors = counter.answer(noisy), counter.factors()
    for tick in range(1, horizon + 1):
        nodes = [leaves[tick][:i] + "0" for i, digit in enumerate(leaves[tick]) if digit == "1"]
        runs = [tuple(int(word.startswith(node)) for word in leaves[:horizon]) for node in nodes]
        used = [run for run in runs if any(run)]
        assert np.sum(used, axis=0).tolist() == [1] * tick + [0] * (horizon - tick)
        assert values[tick - 1] == sum(by_run[run] for run in used)
        assert factors[tick - 1] == len(counter.influence(tick)) == len(used) <= counter.tree.ones


def test_spans_and_stays_of_any_ticks_are_parts_of_those_of_all() -> None:
    tree = SmoothShape(8, 9)
    spans, stays = tree.spans(0, tree.leaves - 1), tree.stays(0, tree.leaves - 1)
    assert len(spans) == len(stays) == math.comb(17, 8) - 1
    for start, stop in ((0, 1), (0, 0), (4095, 4097), (5000, 20_000), (24_300, 24_309), (12_869, 12_871)):
        assert tree.spans(start, stop).tolist() == spans[start:stop].tolist()
        assert tree.stays(start, stop).tolist() == stays[start:stop].tolist()


@pytest.mark.parametrize("horizon", [1, 2, 10, 365, 1024, 1 << 20, 1 << 30])
@pytest.mark.parametrize("power", [1, 2])
def test_the_best_shape_is_the_best_of_all(horizon: int, power: int) -> None:
    loss = {"rho": 1} if power == 1 else {"epsilon": 1}
    tree = SmoothTree(horizon=horizon, person=ONCE, **loss).tree  # type: ignore[arg-type]
    assert math.comb(tree.zeros + tree.ones, tree.ones) > horizon
    for zeros, ones in itertools.product(range(1, 64), range(1, 64)):
        if zeros + ones <= 64 and math.comb(zeros + ones, ones) > horizon:
            assert tree.ones * tree.zeros**power <= ones * zeros**power


def test_gaussian_errors_at_horizon_a_million() -> None:
    """The theory has 12.000, with twelve zeros and ones. The first level is never completed; others do better."""
    balanced = SmoothTree(horizon=1 << 20, rho=Fraction(1, 2), person=ONCE, shape="balanced")
    assert math.sqrt(balanced.tree.zeros * balanced.tree.ones) == 12
    assert _norms(balanced) == pytest.approx((math.sqrt(11 * 12), 10.969), abs=1e-3)
    full = SmoothTree(horizon=math.comb(24, 12) - 1, rho=Fraction(1, 2), person=ONCE, shape="balanced")
    assert _norms(full)[0] == pytest.approx(12, abs=1e-12)
    best = SmoothTree(horizon=1 << 20, rho=Fraction(1, 2), person=ONCE)
    assert best.tree == SmoothShape(zeros=10, ones=13)
    assert _norms(best) == pytest.approx((math.sqrt(130), 10.855), abs=1e-3)
    assert (best.largest, best.rms) == pytest.approx(_norms(best), rel=1e-6)


def _norms(counter: SmoothTree) -> tuple[float, float]:
    factors, norm = counter.factors(), float(counter.distance[1])
    return math.sqrt(norm * factors.max()), math.sqrt(norm * factors.mean())


@pytest.mark.parametrize(
    ("horizon", "zeros", "ones", "largest", "rms"),
    [(1 << 20, 6, 27, 44.04, 40.69), (1 << 10, 3, 17, 17.41, 14.91)],
)
def test_laplace_errors_are_below_those_of_balanced_digits(
    horizon: int, zeros: int, ones: int, largest: float, rms: float
) -> None:
    """Which have 46.90 and 18.00 at most, for streams that do not react to what is published."""
    counter = SmoothTree(horizon=horizon, epsilon=1, person=ONCE)
    assert counter.tree == SmoothShape(zeros=zeros, ones=ones)
    assert (counter.largest, counter.rms) == pytest.approx((largest, rms), abs=0.006)
    continuous = math.sqrt(2 * zeros**2 * ones)
    assert counter.largest < continuous < 1.02 * counter.largest


@losses
@shapes
def test_published_errors_have_the_variance_that_is_forecast(shape: str, loss: dict[str, Any]) -> None:
    """Keys are streams of their own: 400 of them. Seven standard errors, seeded."""
    horizon, keys = 256, 400 * DEPTH
    counter = SmoothTree(horizon=horizon, person=ONCE, shape=shape, **loss)
    stream = np.random.default_rng(2).integers(0, 9, (horizon, keys))
    errors = counter.start(width=keys, bits=SeededBits(8)).extend(stream) - np.cumsum(stream, axis=0)
    squares = (errors**2).mean(axis=0)
    assert squares.mean() == pytest.approx(counter.rms**2, abs=7 * squares.std() / math.sqrt(keys))
    worst = errors[counter.worst_tick - 1] ** 2
    assert worst.mean() == pytest.approx(counter.largest**2, abs=7 * worst.std() / math.sqrt(keys))
    assert np.abs(errors.mean(axis=1)).max() < 7 * counter.largest / math.sqrt(keys)


@thinned(4)
@losses
@shapes
@pytest.mark.parametrize("horizon", [1, 3, 9, 14])
def test_distances_are_those_of_the_worst_pattern_and_bounds_without_the_search(
    horizon: int, shape: str, loss: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = SmoothTree(horizon=horizon, person=ONCE, shape=shape, **loss).strategy()
    for ticks, separation in itertools.product((1, 2, 3, 4), (1, 2, 3, 5)):
        person = Participation(adjacency="add-remove", ticks=ticks, separation=separation)
        wanted = furthest_one_by_one(strategy, ticks, separation)
        assert SmoothTree(horizon=horizon, person=person, shape=shape, **loss).distance == wanted
        with monkeypatch.context() as without:
            without.setattr(tree_sensitivity, "_WORK", 0)
            bound = SmoothTree(horizon=horizon, person=person, shape=shape, **loss).distance
        assert bound[0] >= wanted[0]
        assert bound[1] >= wanted[1]


@losses
@shapes
@pytest.mark.parametrize("horizon", [100, 1000, 1024])
def test_one_person_is_in_as_many_counts_as_a_column_has(horizon: int, shape: str, loss: dict[str, Any]) -> None:
    counter = SmoothTree(horizon=horizon, person=ONCE, shape=shape, **loss)
    most = counter.strategy().sum(axis=0).max()
    assert counter.distance == (most, most)
    assert most <= counter.tree.zeros


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(MechanismError, match="shape must be one of best, balanced"):
        SmoothTree(horizon=4, epsilon=1, person=ONCE, shape="even")
    for shape in ("best", "balanced"):
        with pytest.raises(MechanismError, match="horizon must be below"):
            SmoothTree(horizon=1 << 62, epsilon=1, person=ONCE, shape=shape)
