"""The clipped mean: the loss of the whole release, exact sums, intervals that cover, and accuracy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.quantiles.clipped_mean import ClippedMean, NoisyMean, exact_sum

ADJACENCIES = ("add-remove", "replace-one")
EXTREMES = (1e300, -1e300, math.nan, math.inf, -math.inf, Fraction(1, 3), Decimal("1e4000"), 10**400, -0.0, 2.5)


def make(**given: Any) -> ClippedMean:
    return ClippedMean(**({"step": 1, "reach": 2, "growth": 2, "spare": 1} | given))


def largest_ratio(one: Any, other: Any) -> float:
    """Return the largest log-ratio of masses; what only one window has is less than 1e-11 of the law."""
    assert math.fsum(math.exp(one[key]) for key in one.keys() - other.keys()) < 1e-11
    assert math.fsum(math.exp(other[key]) for key in other.keys() - one.keys()) < 1e-11
    return max(abs(float(one[key]) - float(other[key])) for key in one.keys() & other.keys())


ADDED: list[tuple[Any, Any]] = [(t, (*t, x)) for t in ((), (0,), (2,), (1, 2)) for x in (-2, 0, 1, 2)]
MOVED: list[tuple[Any, Any]] = [((*t, x), (*t, y)) for t in ((), (0,), (1, 2)) for x in (-2, 0, 1) for y in (0, 2)]


@thinned(4)
@pytest.mark.parametrize(("adjacency", "pairs"), [("add-remove", ADDED), ("replace-one", MOVED)])
@pytest.mark.parametrize(("low", "share"), [(0, "1/4"), (0, "3/4"), (None, "1/2")])
def test_no_two_neighbouring_tables_lose_more_than_epsilon(
    low: int | None, share: str, adjacency: str, pairs: list[tuple[Any, Any]]
) -> None:
    mechanism = make(low=low, share=share, epsilon=16, adjacency=adjacency)
    law = cache(mechanism.log_masses)
    worst = max(largest_ratio(law(one), law(other)) for one, other in pairs)
    assert 16 * (1 - Fraction(share)) * 0.99 < worst <= 16 * (1 + 1e-9)


def test_the_sums_alone_spend_their_part_exactly() -> None:
    """Where the bounds are certain, what is left is one person's width at scale width over the rest."""
    mechanism = make(low=0, reach=1, epsilon=4, adjacency="add-remove")
    one, other = mechanism.log_masses((1, 1)), mechanism.log_masses((1,))
    assert largest_ratio(one, other) == pytest.approx(2, rel=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**60), max_size=50))
def test_sums_of_marks_are_exact_where_int64_would_wrap(marks: list[int]) -> None:
    assert exact_sum(np.array(marks, np.int64)) == sum(marks)


def test_a_thousand_of_the_largest_marks_add_up() -> None:
    assert exact_sum(np.full(1000, 2**60)) == 1000 * 2**60


def clipped(column: NDArray[np.float64], mean: NoisyMean) -> float:
    """The mean of the column on the lattice, clipped: the quantity that intervals are about."""
    step = float(mean.ruler.step)
    return float(np.clip(np.floor(column / step + 0.5) * step, mean.low, mean.high).mean())


@thinned(6)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize(("people", "low"), [(5, None), (60, 0), (3000, None)])
def test_intervals_cover_the_mean_of_the_clipped_column(people: int, low: int | None, adjacency: str) -> None:
    """Each interval misses with a chance of at most 20 %; false alarms below 1e-8 a case."""
    column = np.abs(np.random.default_rng(people).normal(40, 15, people))
    mechanism = ClippedMean(low=low, step="1/4", growth="1.1", epsilon=2, adjacency=adjacency)
    bits, times = SeededBits(21), 100 * DEPTH
    missed = 0
    for _ in range(times):
        mean = mechanism.release(column, bits=bits)
        least, most = mean.interval(0.8)
        assert mean.low <= least <= most <= mean.high
        assert mean.low <= mean.value <= mean.high
        missed += not least - 1e-9 <= clipped(column, mean) <= most + 1e-9
    assert missed <= binom.isf(1e-8, times, 0.2)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_error_bounds_the_distance_from_the_mean_of_the_clipped_column(adjacency: str) -> None:
    """Each release is off by more with a chance of at most 10 %; false alarms below 1e-8 a case."""
    column = np.random.default_rng(4).normal(40, 15, 500)
    mechanism = ClippedMean(low=0, step="1/4", growth="1.1", epsilon=2, adjacency=adjacency)
    bits, times, wrong = SeededBits(22), 200 * DEPTH, 0
    for _ in range(times):
        mean = mechanism.release(column, bits=bits)
        allowed = mechanism.error(0.9, people=500, width=mean.high - mean.low)
        wrong += abs(mean.value - clipped(column, mean)) > allowed
    assert wrong <= binom.isf(1e-8, times, 0.1)


SHAPES = {
    # name: the column, and how far off its plain mean nearly all releases are, in its own units
    "normal": (np.random.default_rng(1).normal(50, 10, 5000), 0.3),
    "skewed": (np.random.default_rng(2).lognormal(10, 1, 5000), 1200.0),
    "heavy-tailed": (np.random.default_rng(3).standard_t(3, 5000), 0.12),
    "constant": (np.full(5000, 7.0), 0.05),
}


@thinned(4)
@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("shape", SHAPES)
def test_means_of_columns_of_every_shape_are_close(shape: str, adjacency: str) -> None:
    column, close = SHAPES[shape]
    low = 0 if shape == "skewed" else None
    mechanism = ClippedMean(low=low, step="1/100", epsilon=1, adjacency=adjacency)
    bits = SeededBits(6)
    off = [abs(mechanism.release(column, bits=bits).value - column.mean()) for _ in range(21)]
    assert float(np.median(off)) < close


def test_one_sum_and_its_mirror_image_do_better_than_a_sum_and_a_count() -> None:
    """A has noise of scale w/r and so has B: A - B and A + B have variance 4 (w/r)^2, two halves would have 8."""
    mechanism = make(low=0, reach=1, epsilon=2, share="1/2", adjacency="add-remove")
    drawn: list[Any] = mechanism.sample((1,) * 5, 20_000, bits=SeededBits(8))
    sums = np.array([outcome[2:] for outcome in drawn], np.float64)
    variance = 1 / (2 * math.sinh(0.5) ** 2)  # of discrete Laplace noise of scale 1
    for mixed in (sums[:, 0] - sums[:, 1], sums[:, 0] + sums[:, 1]):
        assert float(mixed.var()) == pytest.approx(2 * variance, rel=0.08)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("low", [0, "-1/3", None])
@pytest.mark.parametrize("table", [EXTREMES, (), (math.nan,), (1e300,) * 3, np.array([-np.inf, np.nan])])
def test_extreme_values_and_empty_tables_are_answered_like_any_other(table: Any, low: Any, adjacency: str) -> None:
    mechanism = ClippedMean(low=low, step="1/8", epsilon=1, adjacency=adjacency)
    mean = mechanism.release(table, bits=SeededBits(1))
    least, most = mean.interval(0.95)
    assert all(map(math.isfinite, (mean.value, least, most)))
    assert mean.low <= least <= mean.value <= most <= mean.high


def test_where_nobody_is_left_to_average_over_the_midpoint_is_told_and_all_is_possible() -> None:
    ruler = BoundedLattice.of(0, 10, 1)
    counted = NoisyMean(ruler, (2, 8), (-30, 1), None, Fraction(1))
    public = NoisyMean(ruler, (2, 8), (5,), 0, Fraction(1))
    for mean in (counted, public):
        assert mean.value == 5
        assert mean.interval(0.95) == (2, 8)
    assert repr(counted) == "NoisyMean(5, from 2 to 8 at 95%, clipped to 2..8)"


def test_an_interval_for_a_public_number_of_people_is_the_quantile_of_one_noise() -> None:
    mean = NoisyMean(BoundedLattice.of(0, 100, 1), (10, 20), (450,), 100, Fraction(1, 2))
    # Scale 20: Pr[|N| > 59] = 2 q^60 / (1+q) = 0.0510, and one more is below 5 %.
    q = math.exp(-1 / 20)
    assert 2 * q**60 / (1 + q) > 0.05 > 2 * q**61 / (1 + q)
    assert mean.interval(0.95) == pytest.approx((10 + 3.9, 10 + 5.1))
    assert mean.value == 14.5


def test_the_parts_of_epsilon_add_up_exactly() -> None:
    mechanism = make(low=0, epsilon="0.7", share="0.3", adjacency="add-remove")
    assert mechanism.bounds.epsilon + mechanism.rest == Fraction(7, 10) == mechanism.loss.event.epsilon


@pytest.mark.parametrize(
    ("name", "bad"), [("share", 1), ("share", 0), ("share", "5/4"), ("upper", 2), ("low", "x")]
)
def test_parameters_outside_their_domain_are_refused(name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match=name):
        make(**({"epsilon": 1, "adjacency": "add-remove"} | {name: bad}))


def test_noise_too_wide_to_be_sampled_is_refused_before_anything_is_released() -> None:
    with pytest.raises(JaliError, match="scale"):
        make(low=0, reach=2**60, epsilon="1/100", adjacency="add-remove")


@pytest.mark.parametrize(("name", "bad"), [("people", 0), ("width", 0), ("width", "x")])
def test_what_the_error_is_told_is_checked(name: str, bad: Any) -> None:
    with pytest.raises(JaliError, match=name):
        make(low=0, epsilon=1, adjacency="add-remove").error(0.9, **{name: bad})
