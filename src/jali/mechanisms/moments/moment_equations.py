"""The equations that variances, covariances, correlations, slopes and intercepts solve, and their intervals."""

from __future__ import annotations

import numpy as np

from jali.mechanisms.moments.moment_inversion import (
    FEW_PARTS,
    PARTS,
    SIDE,
    Corners,
    IntervalEnds,
    MomentFacts,
    bound_variance_within,
    build_end_corners,
    build_inverse_corners,
    build_square_corners,
    combine_corners,
    find_rest,
    sum_products,
    sum_squares_x,
    sum_squares_y,
)
from jali.mechanisms.moments.moment_sums import Floats, build_form


def find_variance(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)^2 is the variance times n."""
    mean = facts.mean_x()
    test = facts.test(sum_squares_x(build_square_corners(*mean, PARTS)), build_form(n=1.0), find_rest(1))
    return test.interval(0.0, bound_variance_within(facts.x, mean))


def find_sample_variance(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)^2 is the variance of the sample times n - 1."""
    mean = facts.mean_x()
    test = facts.test(sum_squares_x(build_square_corners(*mean, PARTS)), build_form(n=1.0, one=-1.0), find_rest(2))
    return test.interval(0.0, bound_variance_within(facts.x, mean) * facts.sample())


def find_covariance(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)(y - mean) is the covariance times n; no more than two deviations (Cauchy)."""
    mean_x, mean_y = facts.mean_x(), facts.mean_y()
    most = np.sqrt(bound_variance_within(facts.x, mean_x) * bound_variance_within(facts.y, mean_y))
    above = sum_products(*combine_corners(build_end_corners(*mean_x), build_end_corners(*mean_y)))
    return facts.test(above, build_form(n=1.0), find_rest(2)).interval(-most, most)


def find_sample_covariance(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)(y - mean) is the covariance of the sample times n - 1."""
    mean_x, mean_y = facts.mean_x(), facts.mean_y()
    most = (
        np.sqrt(bound_variance_within(facts.x, mean_x) * bound_variance_within(facts.y, mean_y)) * facts.sample()
    )
    above = sum_products(*combine_corners(build_end_corners(*mean_x), build_end_corners(*mean_y)))
    return facts.test(above, build_form(n=1.0, one=-1.0), find_rest(3)).interval(-most, most)


def find_squares_x(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)^2."""
    mean = build_square_corners(*facts.mean_x(), PARTS)
    return facts.test(sum_squares_x(mean), build_form(one=1.0), find_rest(1)).interval(0.0, np.inf, facts.size)


def find_squares_y(facts: MomentFacts) -> IntervalEnds:
    """The sum of (y - mean)^2."""
    mean = build_square_corners(*facts.mean_y(), PARTS)
    return facts.test(sum_squares_y(mean), build_form(one=1.0), find_rest(1)).interval(0.0, np.inf, facts.size)


def find_products(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)(y - mean)."""
    means = combine_corners(build_end_corners(*facts.mean_x()), build_end_corners(*facts.mean_y()))
    return facts.test(sum_products(*means), build_form(one=1.0), find_rest(2)).interval(
        -np.inf, np.inf, facts.size
    )


# With x = 0 at most so many reaches from the centre, the slope's error is not all that matters to the intercept.
_NEAR = 1.5
# Further away it is nearly all. These parts of the allowed misses go to the slope, further away and near.
_FAR_SLOPE, _NEAR_SLOPE = 0.75, 0.15


def find_correlation(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x-a)(y-b) is r times that of k (x-a)^2/2 + (y-b)^2/(2k), k the ratio of the deviations.

    By the inequality of the two means the second sum is least at the true k, so that k matters little.
    """
    mean_x, mean_y = (
        build_square_corners(*facts.mean_x(), FEW_PARTS),
        build_square_corners(*facts.mean_y(), FEW_PARTS),
    )
    low, high = _find_variance_ratio(facts, mean_x, mean_y)
    x, y, k = combine_corners(mean_x, mean_y, build_inverse_corners(np.sqrt(low), np.sqrt(high), FEW_PARTS))
    below = k.first / 2 * sum_squares_x(x) + k.second / 2 * sum_squares_y(y)
    return facts.test(sum_products(x, y), below, find_rest(3)).interval(-1.0, 1.0)


def _find_variance_ratio(facts: MomentFacts, mean_x: Corners, mean_y: Corners) -> IntervalEnds:
    """The variance of y over that of x."""
    x, y = combine_corners(mean_x, mean_y)
    return facts.test(sum_squares_y(y), sum_squares_x(x)).interval(0.0, np.inf)


def find_slope(facts: MomentFacts) -> IntervalEnds:
    """The sum of (x - mean)(y - mean) is the slope times that of (x - mean)^2."""
    return _find_slope_within(facts, facts.mean_x(), find_rest(2))


def _find_slope_within(facts: MomentFacts, mean_x: IntervalEnds, share: float) -> IntervalEnds:
    x, y = combine_corners(build_square_corners(*mean_x, FEW_PARTS), build_end_corners(*facts.mean_y()))
    return facts.test(sum_products(x, y), sum_squares_x(x), share).interval(-np.inf, np.inf)


def find_intercept(facts: MomentFacts) -> IntervalEnds:
    """The height of the line at x = 0, from the centre of y."""
    zero, mean = -facts.x.center / facts.x.reach, facts.mean_x()
    if abs(zero) > _NEAR:
        return _find_height(facts, _find_slope_within(facts, mean, _FAR_SLOPE), zero, find_rest(2) - _FAR_SLOPE)
    inclined = _find_slope_within(facts, mean, _NEAR_SLOPE)
    around = _find_height(facts, inclined, zero, SIDE)
    found = _find_balanced_height(facts, mean, inclined, zero)
    return np.maximum(found[0], around[0]), np.minimum(found[1], around[1])


def _find_height(facts: MomentFacts, inclined: IntervalEnds, zero: float, share: float) -> IntervalEnds:
    """The mean of y - slope (x - zero), for a slope in its interval."""
    b = build_end_corners(*inclined).first
    return facts.test(build_form(sy=1.0, sx=-b, n=b * zero), build_form(n=1.0), share).interval(-np.inf, np.inf)


def _find_balanced_height(
    facts: MomentFacts, mean: IntervalEnds, inclined: IntervalEnds, zero: float
) -> IntervalEnds:
    """The sum of (y - r - slope (x - zero)) w is 0 for w = v + (zero - a)(x - a), a and v mean and variance of x.

    The sum of (x - zero) w is 0 as well, so that what is not known of the slope matters little.
    """
    test = facts.test(sum_squares_x(build_square_corners(*mean, PARTS)), build_form(n=1.0))
    spread = test.interval(0.0, bound_variance_within(facts.x, mean))
    a, v, b = combine_corners(
        build_square_corners(*mean, FEW_PARTS), build_end_corners(*spread), build_end_corners(*inclined)
    )
    level, tilt = v.first - a.first * zero + a.second, zero - a.first
    above = sum_weighted(level, tilt, b.first, zero)
    return facts.test(above, build_form(n=level, sx=tilt), find_rest(4) - _NEAR_SLOPE).interval(-np.inf, np.inf)


def sum_weighted(level: Floats, tilt: Floats, b: Floats, zero: Floats | float) -> Floats:
    """Return the sum of (y - b (x - zero)) (level + tilt x)."""
    return build_form(
        n=level * b * zero,
        sy=level,
        sx=tilt * b * zero - level * b,
        sxx=-tilt * b,
        sxy=tilt,
    )
