"""Clipping bounds: their loss on all small tables, how many people they leave out, and extreme values."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.quantiles.clipping_bounds import ClippingBounds
from jali.privacy.adjacency import Adjacency

ADJACENCIES = ("add-remove", "replace-one")
EXTREMES = (1e300, -1e300, math.nan, math.inf, -math.inf, Fraction(1, 3), Decimal("1e4000"), 10**400, -0.0, 2.5)


def make(**given: Any) -> ClippingBounds:
    return ClippingBounds(**({"step": 1, "reach": 4, "growth": 2, "epsilon": 3, "spare": 1} | given))


def largest_ratio(one: Any, other: Any) -> float:
    assert one.keys() == other.keys()
    return max(abs(float(one[key]) - float(other[key])) for key in one)


def small_pairs(marks: range, adjacency: str) -> list[tuple[Any, Any]]:
    """All neighbours of at most two people: two tables of the same number, or with one more."""
    people = [tuple(t) for n in range(3) for t in itertools.combinations_with_replacement(marks, n)]
    if adjacency == "add-remove":
        return [(t, tuple(sorted((*t, m)))) for t in people for m in marks]
    return [(tuple(sorted((*t, a))), tuple(sorted((*t, b)))) for t in people[:6] for a in marks for b in marks]


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, None])
@pytest.mark.parametrize("ends", [{}, {"lower": "1/4", "upper": "3/4", "spare": 0}])
def test_no_two_neighbours_among_all_small_tables_lose_more_than_epsilon(
    ends: Any, low: int | None, adjacency: str
) -> None:
    mechanism = make(low=low, adjacency=adjacency, **ends)
    law = cache(mechanism.log_masses)
    marks = range(5) if low == 0 else range(-4, 5, 2)
    worst = max(largest_ratio(law(one), law(other)) for one, other in small_pairs(marks, adjacency))
    assert 0.5 < worst <= 3 * (1 + 1e-9)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, None])
def test_the_low_bound_is_below_the_high_one_for_every_table(low: int | None, adjacency: str) -> None:
    for reach in (1, 2, 4):
        mechanism = make(low=low, reach=reach, adjacency=adjacency)
        for table in ((), (0,), (-9, 9), (-9, -9, -9)):
            pairs: Any = mechanism.log_masses(table)
            assert all(a < b for a, b in pairs)
            assert math.fsum(map(math.exp, pairs.values())) == pytest.approx(1, abs=1e-11)


def test_a_declared_low_end_is_the_low_bound_and_leaves_all_of_epsilon_to_the_other() -> None:
    one, both = make(low=0, adjacency="add-remove"), make(adjacency="add-remove")
    assert {pair[0] for pair in one.log_masses((1, 2))} == {0}
    assert one._high.epsilon == 3
    assert both._both
    for walks in (both._both.rising, both._both.falling):
        assert both._both.side.epsilon + walks.away.epsilon + walks.back(4).epsilon == 3


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("shape", ["normal", "skewed", "heavy-tailed"])
def test_as_many_people_are_left_out_as_promised(shape: str, adjacency: str) -> None:
    """Each release breaks the promise with a chance of at most 10 %; false alarms below 1e-8 a case."""
    rng = np.random.default_rng(3)
    column = {
        "normal": rng.normal(1000, 200, 5000),
        "skewed": rng.lognormal(6, 1, 5000) - 100,
        "heavy-tailed": rng.standard_t(2, 5000) * 100,
    }[shape]
    mechanism = ClippingBounds(step="1/4", lower="0.02", upper="0.98", epsilon=2, adjacency=adjacency)
    allowed = mechanism.error(0.9) + mechanism.left_out + 0.02 * len(column)
    pairs: list[Any] = mechanism.sample(column, 30 * DEPTH, bits=SeededBits(5))
    wrong = sum(max((column < low - 0.2).sum(), (column > high + 0.2).sum()) > allowed for low, high in pairs)
    assert wrong <= binom.isf(1e-8, len(pairs), 0.1)
    widths = [high - low for low, high in pairs]
    assert float(np.median(widths)) < 1.1 * float(column.max() - column.min())


def test_bounds_far_from_zero_are_as_close_as_the_values_above_the_grain_of_the_high_one() -> None:
    """The low bound is placed from the high one: its distance from 0 does not matter."""
    column = np.random.default_rng(2).normal(1e6, 10, 20_000)
    mechanism = ClippingBounds(step=1, epsilon=2, adjacency="add-remove")
    pairs: list[Any] = mechanism.sample(column, 5, bits=SeededBits(9))
    assert max(high - low for low, high in pairs) < 0.03 * 1e6


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, "-1/3", None])
@pytest.mark.parametrize("table", [EXTREMES, (), (math.nan,), (-1e300,) * 3, np.array([np.inf, np.nan])])
def test_extreme_values_and_empty_tables_are_answered_like_any_other(table: Any, low: Any, adjacency: str) -> None:
    mechanism = ClippingBounds(low=low, step="1/8", epsilon=1, adjacency=adjacency)
    least, most = mechanism.release(table, bits=SeededBits(1))
    assert math.isfinite(least)
    assert math.isfinite(most)
    assert least < most


def test_the_default_spare_is_six_over_the_loss_of_a_bound() -> None:
    assert make(low=0, spare=None, adjacency="add-remove").left_out == 2
    assert make(spare=None, adjacency="add-remove").left_out == 4


@pytest.mark.parametrize(
    ("name", "bad"), [("lower", -1), ("upper", 2), ("spare", -1), ("growth", 1), ("lower", 1)]
)
def test_parameters_outside_their_domain_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match=name):
        make(**({"adjacency": Adjacency.ADD_REMOVE} | {name: bad}))
