"""What is needed on the way to an interval: means with their intervals, and centred sums as linear forms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jali.mechanisms.moments.axis import Axis
from jali.mechanisms.moments.corners import Corners
from jali.mechanisms.moments.inversion import Inversion
from jali.mechanisms.moments.sums import Floats, Reading, form
from jali.mechanisms.moments.value import most_spread

Ends: TypeAlias = tuple[Floats, Floats]
# Which part of the allowed misses goes to each fact that is needed on the way. A smaller part makes the facts
# wider, of which the interval feels the square; a larger one widens the test itself.
SIDE = 0.05
# The interval of a mean is cut in so many parts: alone, and beside others.
PARTS, FEW_PARTS = 8, 2


def rest(facts: int) -> float:
    """Return what is left of the allowed misses after so many facts on the way."""
    return 1 - facts * SIDE


@dataclass(frozen=True)
class Facts:
    """The noisy sums, the public facts, and how often the interval may miss."""

    reading: Reading
    x: Axis
    y: Axis
    allowed: float

    def test(self, above: Floats, below: Floats, share: float = SIDE) -> Inversion:
        """Return a test that may miss in this part of what is allowed."""
        return Inversion(self.reading, above, below, self.allowed * share)

    def mean_x(self, share: float = SIDE) -> Ends:
        """Return an interval for the mean of x, from the centre."""
        return self.test(form(sx=1.0), form(n=1.0), share).interval(self.x.unit_low, self.x.unit_high)

    def mean_y(self, share: float = SIDE) -> Ends:
        """Return an interval for the mean of y, from the centre."""
        return self.test(form(sy=1.0), form(n=1.0), share).interval(self.y.unit_low, self.y.unit_high)

    def count(self, share: float = SIDE) -> Ends:
        """Return an interval for the count."""
        return self.test(form(n=1.0), form(one=1.0), share).interval(-np.inf, np.inf, self.size)

    def sample(self) -> Floats:
        """Return the most that n/(n-1) can be: one more fact."""
        least = self.count()[0]
        return np.where(least > 1, least / (least - 1), np.inf)

    @property
    def size(self) -> Floats:
        """About the number of rows: the unit in which sums are searched."""
        return np.maximum(1.0, self.reading["n"])


def spread_x(mean: Corners) -> Floats:
    """Return the sum of (x - mean)^2."""
    return form(sxx=1.0, sx=-2 * mean.first, n=mean.second)


def spread_y(mean: Corners) -> Floats:
    """Return the sum of (y - mean)^2."""
    return form(syy=1.0, sy=-2 * mean.first, n=mean.second)


def together(mean_x: Corners, mean_y: Corners) -> Floats:
    """Return the sum of (x - its mean)(y - its mean)."""
    a, b = mean_x.first, mean_y.first
    return form(sxy=1.0, sx=-b, sy=-a, n=a * b)


def most_within(axis: Axis, mean: Ends) -> Floats:
    """Return the largest variance with a mean in an interval."""
    return most_spread(axis, np.clip((axis.unit_low + axis.unit_high) / 2, *mean))
