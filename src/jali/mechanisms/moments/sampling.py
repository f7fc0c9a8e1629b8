"""Sampling errors of means, proportions and regressions, from released numbers alone.

Statement:
    If the rows are a random sample of a population, the mean of n independent values has the variance v/n, v that
    of one value. No variance of values in [low, high] exceeds (high - mean)(mean - low), which is attained where
    they are at the ends alone (Bhatia and Davis 2000): it is exact for 0/1 values. A least squares line whose
    errors have the variance s everywhere has a slope of variance s/(n v) and, at x = 0, a height of variance
    s (1 + mean^2/v)/n, v the variance of x. The correlation r of normal pairs has about (1 - r^2)^2/(n - 1).

A mean that a sample has near an end of its range would have a variance near 0, though the population's mean need
not be as near. The variance is taken at the mean with two more rows at either end, as Agresti and Coull 1998 do
for proportions.

Nothing but released numbers comes in, so nothing is lost (post-processing).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jali.mechanisms.moments.axis import Axis
from jali.mechanisms.moments.sums import Floats
from jali.mechanisms.moments.value import moment_value

# Rows that are added at each end of a range.
_ADDED = 2
LINES = ("regr_slope", "regr_intercept", "corr")


def bounded_mean_error(mean: Floats, count: Floats, low: float, high: float) -> Floats:
    """Return the most that the standard error of a mean can be, per group; exact where values are at the ends.

    Example:
        >>> bounded_mean_error(np.array([0.5]), np.array([100.0]), 0, 1).round(3).tolist()
        [0.05]
    """
    with np.errstate(all="ignore"):
        size = _positive(count)
        share = (np.clip((mean - low) / (high - low), 0.0, 1.0) * size + _ADDED) / (size + 2 * _ADDED)
        return np.asarray((high - low) * np.sqrt(share * (1 - share) / size))


def mean_error(sums: Mapping[str, Floats], count: Floats, x: Axis) -> Floats:
    """Return the standard error of a mean of which the squares are released too.

    Args:
        sums: n, sx and sxx, from the centre of x.
        count: How many independent rows there are.
        x: The variable.
    """
    with np.errstate(all="ignore"):
        return np.asarray(np.sqrt(moment_value("var_samp", sums, x) / _positive(count)))


def line_error(kind: str, sums: Mapping[str, Floats], count: Floats, x: Axis, y: Axis) -> Floats:
    """Return the standard error of a slope, an intercept or a correlation; without syy the most that it can be.

    Args:
        kind: One of `LINES`.
        sums: n, sx, sy, sxx and sxy from the centres, and syy if it is known.
        count: How many independent rows there are.
        x: The explaining variable.
        y: The other one.
    """
    with np.errstate(all="ignore"):
        free = np.where(count > 2, count - 2, np.nan)
        if kind == "corr":
            return np.asarray((1 - moment_value("corr", sums, x, y) ** 2) / np.sqrt(free + 1))
        spread = moment_value("var_pop", sums, x)
        left = _spread_of_y(sums, y) - moment_value("regr_slope", sums, x, y) ** 2 * spread
        slope = np.sqrt(np.maximum(left, 0.0) / (_positive(spread) * free))
        if kind == "regr_slope":
            return np.asarray(slope)
        return np.asarray(slope * np.sqrt(spread + moment_value("regr_avgx", sums, x) ** 2))


def _spread_of_y(sums: Mapping[str, Floats], y: Axis) -> Floats:
    if "syy" in sums:
        return moment_value("var_pop", {"n": sums["n"], "sx": sums["sy"], "sxx": sums["syy"]}, y)
    mean = moment_value("regr_avgx", {"n": sums["n"], "sx": sums["sy"]}, y)
    return np.maximum(0.0, (y.high - mean) * (mean - y.low))


def _positive(value: Floats) -> Floats:
    return np.where(value > 0, value, np.nan)
