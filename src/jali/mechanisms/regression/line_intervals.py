"""Intervals of the slope and the intercept of a line, from bands of its heights at two places."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from jali.mechanisms.regression.axis import Axis
from jali.mechanisms.regression.fit import Interval
from jali.privacy.rounding import float_above, float_below

Band: TypeAlias = tuple[int, int]
Bands: TypeAlias = tuple[Band, Band]


def intervals_of(axes: tuple[Axis, Axis], marks: tuple[int, int], bands: Bands) -> tuple[Interval, Interval]:
    """Return the intervals of slope and intercept, both of them linear in the heights; the line is within.

    Args:
        axes: The feature and the target.
        marks: The marks of the line at a quarter and at three quarters of the feature's range.
        bands: The marks below and above at the same places.
    """
    across, up = axes
    heights = [
        (up.at(min(low, mark)), up.at(max(high, mark))) for mark, (low, high) in zip(marks, bands, strict=True)
    ]
    per_height, aside = 1 / across.half, across.middle / across.half - Fraction(1, 2)
    return _sum(heights, (-per_height, per_height)), _sum(heights, (1 + aside, -aside))


def _sum(heights: list[tuple[Fraction, Fraction]], factors: tuple[Fraction, Fraction]) -> Interval:
    """Return the least and the largest sum of factors times heights, rounded outwards."""
    parts = [sorted((low * factor, high * factor)) for (low, high), factor in zip(heights, factors, strict=True)]
    (low, high), (other_low, other_high) = parts
    return float_below(low + other_low), float_above(high + other_high)
