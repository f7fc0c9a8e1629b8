"""Intervals for correlations, slopes and intercepts."""

from __future__ import annotations

import numpy as np

from jali.mechanisms.moments.corners import Corners, combined, of_ends, of_inverses, of_squares
from jali.mechanisms.moments.facts import (
    FEW_PARTS,
    PARTS,
    SIDE,
    Ends,
    Facts,
    most_within,
    rest,
    spread_x,
    spread_y,
    together,
)
from jali.mechanisms.moments.sums import Floats, form

# With x = 0 at most so many reaches from the centre, the slope's error is not all that matters to the intercept.
_NEAR = 1.5
# Further away it is nearly all. These parts of the allowed misses go to the slope, further away and near.
_FAR_SLOPE, _NEAR_SLOPE = 0.75, 0.15


def correlation(facts: Facts) -> Ends:
    """The sum of (x-a)(y-b) is r times that of k (x-a)^2/2 + (y-b)^2/(2k), k the ratio of the deviations.

    By the inequality of the two means the second sum is least at the true k, so that k matters little.
    """
    mean_x, mean_y = of_squares(*facts.mean_x(), FEW_PARTS), of_squares(*facts.mean_y(), FEW_PARTS)
    low, high = _variances(facts, mean_x, mean_y)
    x, y, k = combined(mean_x, mean_y, of_inverses(np.sqrt(low), np.sqrt(high), FEW_PARTS))
    below = k.first / 2 * spread_x(x) + k.second / 2 * spread_y(y)
    return facts.test(together(x, y), below, rest(3)).interval(-1.0, 1.0)


def _variances(facts: Facts, mean_x: Corners, mean_y: Corners) -> Ends:
    """The variance of y over that of x."""
    x, y = combined(mean_x, mean_y)
    return facts.test(spread_y(y), spread_x(x)).interval(0.0, np.inf)


def slope(facts: Facts) -> Ends:
    """The sum of (x - mean)(y - mean) is the slope times that of (x - mean)^2."""
    return _slope(facts, facts.mean_x(), rest(2))


def _slope(facts: Facts, mean_x: Ends, share: float) -> Ends:
    x, y = combined(of_squares(*mean_x, FEW_PARTS), of_ends(*facts.mean_y()))
    return facts.test(together(x, y), spread_x(x), share).interval(-np.inf, np.inf)


def intercept(facts: Facts) -> Ends:
    """The height of the line at x = 0, from the centre of y."""
    zero, mean = -facts.x.center / facts.x.reach, facts.mean_x()
    if abs(zero) > _NEAR:
        return _height(facts, _slope(facts, mean, _FAR_SLOPE), zero, rest(2) - _FAR_SLOPE)
    inclined = _slope(facts, mean, _NEAR_SLOPE)
    around = _height(facts, inclined, zero, SIDE)
    found = _balanced(facts, mean, inclined, zero)
    return np.maximum(found[0], around[0]), np.minimum(found[1], around[1])


def _height(facts: Facts, inclined: Ends, zero: float, share: float) -> Ends:
    """The mean of y - slope (x - zero), for a slope in its interval."""
    b = of_ends(*inclined).first
    return facts.test(form(sy=1.0, sx=-b, n=b * zero), form(n=1.0), share).interval(-np.inf, np.inf)


def _balanced(facts: Facts, mean: Ends, inclined: Ends, zero: float) -> Ends:
    """The sum of (y - r - slope (x - zero)) w is 0 for w = v + (zero - a)(x - a), a and v mean and variance of x.

    The sum of (x - zero) w is 0 as well, so that what is not known of the slope matters little.
    """
    test = facts.test(spread_x(of_squares(*mean, PARTS)), form(n=1.0))
    spread = test.interval(0.0, most_within(facts.x, mean))
    a, v, b = combined(of_squares(*mean, FEW_PARTS), of_ends(*spread), of_ends(*inclined))
    level, tilt = v.first - a.first * zero + a.second, zero - a.first
    above = weighted(level, tilt, b.first, zero)
    return facts.test(above, form(n=level, sx=tilt), rest(4) - _NEAR_SLOPE).interval(-np.inf, np.inf)


def weighted(level: Floats, tilt: Floats, b: Floats, zero: Floats | float) -> Floats:
    """Return the sum of (y - b (x - zero)) (level + tilt x)."""
    return form(
        n=level * b * zero,
        sy=level,
        sx=tilt * b * zero - level * b,
        sxx=-tilt * b,
        sxy=tilt,
    )
