"""Bounds on both sides of 0: mirror images, promises for columns anywhere, and the law of the pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.mechanisms.quantiles.clipped_mean import ClippedMean
from jali.mechanisms.quantiles.clipping_bounds import ClippingBounds, OpenBounds
from jali.privacy.adjacency import Adjacency

Floats = NDArray[np.float64]
adjacencies = pytest.mark.parametrize("adjacency", list(Adjacency))

COLUMNS: dict[str, Callable[[np.random.Generator], Floats]] = {
    "far from 0": lambda rng: rng.normal(1e6, 10, 5000),
    "all on one side": lambda rng: rng.lognormal(6, 1, 5000),
    "mixed": lambda rng: np.concatenate((rng.normal(-1000, 5, 1000), rng.normal(30, 5, 4000))),
    "straddling 0": lambda rng: rng.normal(0, 50, 5000),
    "a few on the other side": lambda rng: np.concatenate((rng.normal(1e5, 10, 4600), rng.normal(-5, 1, 400))),
}
either_way = pytest.mark.parametrize("mirror", [1, -1])
columns = pytest.mark.parametrize("name", COLUMNS)


def bounds(adjacency: Adjacency, **others: Any) -> OpenBounds:
    given: dict[str, Any] = {"lower": Fraction(1, 10), "upper": Fraction(3, 4), "spare": 1, "epsilon": Fraction(3)}
    return OpenBounds(**given | others, adjacency=adjacency, origin=5, growth=Fraction(2))


@thinned(4)
@adjacencies
@pytest.mark.parametrize("table", [[], [4], [0, 1, 6, 9], [5, 5, 5], [0, 0, 10]])
def test_walks_on_a_mirrored_column_are_mirrored(table: list[int], adjacency: Adjacency) -> None:
    one, other = bounds(adjacency), bounds(adjacency, lower=Fraction(1, 4), upper=Fraction(9, 10))
    rises = one.rising.log_masses(np.array(table, np.int64))
    falls = other.falling.log_masses(np.array([10 - mark for mark in reversed(table)], np.int64))
    assert {(10 - high, 10 - low): log for (low, high), log in rises.items()} == pytest.approx(falls)
    assert one.side.quantile == 1 - other.side.quantile


@adjacencies
def test_the_law_of_a_pair_is_that_of_the_side_and_of_two_walks_each(adjacency: Adjacency) -> None:
    law, column = bounds(adjacency), np.array([1, 4, 4, 6, 9], np.int64)
    masses = {pair: math.exp(log) for pair, log in law.log_masses(column).items()}
    assert math.fsum(masses.values()) == pytest.approx(1)
    drawn = law.draw(column, 20_000, SeededBits(3))
    for pair, mass in masses.items():
        spread = 6 * math.sqrt(20_000 * mass * (1 - mass)) + 3
        assert abs(drawn.count(pair) - 20_000 * mass) < spread


@columns
@either_way
@adjacencies
def test_as_many_people_are_left_out_as_promised(name: str, mirror: int, adjacency: Adjacency) -> None:
    """Each release breaks the promise with a chance of at most 10 %; false alarms below 1e-8 a case."""
    column = mirror * COLUMNS[name](np.random.default_rng(3))
    mechanism = ClippingBounds(step="1/4", lower="0.02", upper="0.98", epsilon=2, adjacency=adjacency)
    allowed = mechanism.error(0.9) + mechanism.left_out + 0.02 * len(column)
    pairs: list[Any] = mechanism.sample(column, 30 * DEPTH, bits=SeededBits(5))
    wrong = sum(max((column < low - 0.2).sum(), (column > high + 0.2).sum()) > allowed for low, high in pairs)
    assert wrong <= binom.isf(1e-8, len(pairs), 0.1)
    reach = float(np.abs(column).max())
    widths = [high - low for low, high in pairs]
    assert float(np.median(widths)) < 1.1 * float(column.max() - column.min()) + 0.03 * reach


@thinned(4)
@columns
@adjacencies
def test_the_mean_of_a_mirrored_column_is_as_good(name: str, adjacency: Adjacency) -> None:
    """Both are within a few hundredths of the width of their columns, and the worse not far above the better."""
    column = COLUMNS[name](np.random.default_rng(2))
    mechanism = ClippedMean(step=1, epsilon=2, adjacency=adjacency)
    bits = SeededBits(6)
    off = [
        float(
            np.median([abs(mechanism.release(m * column, bits=bits).value - m * column.mean()) for _ in range(15)])
        )
        for m in (1, -1)
    ]
    assert max(off) < 0.02 * float(np.ptp(column)) + 2
    assert max(off) < 3 * min(off) + 0.005 * float(np.ptp(column)) + 1


def test_the_mean_of_a_column_far_below_zero_is_close() -> None:
    column = np.random.default_rng(2).normal(-1e6, 10, 20_000)
    mechanism = ClippedMean(step=1, epsilon=2, spare=60, adjacency="add-remove")
    assert abs(mechanism.release(column, bits=SeededBits(3)).value - column.mean()) < 10


def test_the_side_is_asked_at_the_quantile_between_the_two() -> None:
    usual = bounds(Adjacency.ADD_REMOVE, lower=Fraction(0), upper=Fraction(1))
    assert usual.side.quantile == Fraction(1, 2)
    fine = bounds(Adjacency.ADD_REMOVE, lower=Fraction(1, 999_983), upper=Fraction(999_978, 999_979))
    assert fine.side.quantile.denominator <= 10**6
