"""Intervals for variances and covariances."""

from __future__ import annotations

import numpy as np

from jali.mechanisms.moments.corners import combined, of_ends, of_squares
from jali.mechanisms.moments.facts import PARTS, Ends, Facts, most_within, rest, spread_x, spread_y, together
from jali.mechanisms.moments.sums import form


def variance(facts: Facts) -> Ends:
    """The sum of (x - mean)^2 is the variance times n."""
    mean = facts.mean_x()
    test = facts.test(spread_x(of_squares(*mean, PARTS)), form(n=1.0), rest(1))
    return test.interval(0.0, most_within(facts.x, mean))


def sample_variance(facts: Facts) -> Ends:
    """The sum of (x - mean)^2 is the variance of the sample times n - 1."""
    mean = facts.mean_x()
    test = facts.test(spread_x(of_squares(*mean, PARTS)), form(n=1.0, one=-1.0), rest(2))
    return test.interval(0.0, most_within(facts.x, mean) * facts.sample())


def covariance(facts: Facts) -> Ends:
    """The sum of (x - mean)(y - mean) is the covariance times n; no more than two deviations (Cauchy)."""
    mean_x, mean_y = facts.mean_x(), facts.mean_y()
    most = np.sqrt(most_within(facts.x, mean_x) * most_within(facts.y, mean_y))
    above = together(*combined(of_ends(*mean_x), of_ends(*mean_y)))
    return facts.test(above, form(n=1.0), rest(2)).interval(-most, most)


def sample_covariance(facts: Facts) -> Ends:
    """The sum of (x - mean)(y - mean) is the covariance of the sample times n - 1."""
    mean_x, mean_y = facts.mean_x(), facts.mean_y()
    most = np.sqrt(most_within(facts.x, mean_x) * most_within(facts.y, mean_y)) * facts.sample()
    above = together(*combined(of_ends(*mean_x), of_ends(*mean_y)))
    return facts.test(above, form(n=1.0, one=-1.0), rest(3)).interval(-most, most)


def squares_x(facts: Facts) -> Ends:
    """The sum of (x - mean)^2."""
    mean = of_squares(*facts.mean_x(), PARTS)
    return facts.test(spread_x(mean), form(one=1.0), rest(1)).interval(0.0, np.inf, facts.size)


def squares_y(facts: Facts) -> Ends:
    """The sum of (y - mean)^2."""
    mean = of_squares(*facts.mean_y(), PARTS)
    return facts.test(spread_y(mean), form(one=1.0), rest(1)).interval(0.0, np.inf, facts.size)


def products(facts: Facts) -> Ends:
    """The sum of (x - mean)(y - mean)."""
    means = combined(of_ends(*facts.mean_x()), of_ends(*facts.mean_y()))
    return facts.test(together(*means), form(one=1.0), rest(2)).interval(-np.inf, np.inf, facts.size)
