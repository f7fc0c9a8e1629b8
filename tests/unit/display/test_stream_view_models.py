"""Distribution functions between the values at which they were published."""

from __future__ import annotations

import numpy as np
import pytest

from jali.display.stream_view_models import DistributionCurve
from jali.display.view_models import CellLine, Series

# Uneven on purpose.
SHARES = Series(
    "tick 1", (CellLine(10, 0.1, (0.0, 0.2)), CellLine(20, 0.4, (0.3, 0.5)), CellLine(60, 0.9, (0.8, 0.95)))
)


def test_a_curve_is_0_below_its_range_and_1_at_the_end_of_it() -> None:
    curve = DistributionCurve.of(SHARES, (0.0, 100.0))
    assert list(curve.places) == [0, 10, 20, 60, 100]
    assert list(curve.shares) == [0, 0.1, 0.4, 0.9, 1]
    assert list(curve.places[curve.published]) == [10, 20, 60]
    for within in (None, (10.0, 60.0)):
        assert list(DistributionCurve.of(SHARES, within).places) == [10, 20, 60]


def test_every_rising_function_through_the_intervals_lies_in_the_band() -> None:
    curve, chance = DistributionCurve.of(SHARES, (0.0, 100.0)), np.random.default_rng(3)
    corners = curve.band()
    for _ in range(300):
        knots = np.sort(chance.uniform(curve.lows, curve.highs))
        for piece in range(4):
            # Between two values it may jump anywhere.
            between = chance.uniform(knots[piece], knots[piece + 1])
            (_, low, high), (_, *same) = corners[2 * piece : 2 * piece + 2]
            assert low <= between <= high
            assert same == [low, high]


def test_the_band_is_no_wider_than_what_neighbours_allow() -> None:
    assert DistributionCurve.of(SHARES).band() == [
        (10, 0.0, 0.5),
        (20, 0.0, 0.5),
        (20, 0.3, 0.95),
        (60, 0.3, 0.95),
    ]


def test_values_stand_as_far_apart_as_they_are() -> None:
    places, strand = DistributionCurve.of(SHARES, (0.0, 100.0)).spread(101)
    assert places == pytest.approx(range(101))
    assert strand.values == pytest.approx(np.interp(range(101), [0, 10, 20, 60, 100], [0, 0.1, 0.4, 0.9, 1]))
    assert (strand.lows[20], strand.highs[20]) == (0.3, 0.5)
    assert (strand.lows[21], strand.highs[21]) == (0.3, 0.95)


def test_a_single_value_is_a_curve_too() -> None:
    one = DistributionCurve.of(Series("tick 1", (CellLine(5, 0.5, (0.4, 0.6)),)))
    places, strand = one.spread(201)
    assert (places, strand.values, strand.lows, strand.highs) == ([5], (0.5,), (0.4,), (0.6,))
    assert one.band() == []
