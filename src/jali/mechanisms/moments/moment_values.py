"""Compute statistics from noisy sums, kept within what is possible for clamped values, and their sampling errors.

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

from collections.abc import Callable, Mapping

import numpy as np

from jali.mechanisms.moments.moment_sums import Axis, Floats, find_unit


def moment_value(kind: str, sums: Mapping[str, Floats], x: Axis, y: Axis | None = None) -> Floats:
    """Return the statistic per group; nan where it is undefined.

    Args:
        kind: A name of `KINDS`.
        sums: n, and sums over the rows of x, y, x^2, y^2, xy, each value from its centre; those it needs.
        x: The variable of a variance; the explaining variable of a regression.
        y: The other variable.

    A count that is not above 0 (above 1 for a sample) leaves nothing to say. A variance below 0 is read as 0;
    under a correlation or a slope it leaves them undefined. No variance exceeds (high - mean)(mean - low)
    (Bhatia and Davis 2000), no covariance the root of two of them.

    Example:
        >>> sums = {"n": np.array([4.0]), "sx": np.array([0.0]), "sxx": np.array([8.0])}
        >>> moment_value("var_pop", sums, Axis(0, 10, 5)).tolist()
        [2.0]
    """
    with np.errstate(all="ignore"):
        return _VALUES[kind](_ClampedMoments(sums, x, y or x))


class _ClampedMoments:
    """Means, variances and covariance in units of the reaches, each within what is possible."""

    def __init__(self, sums: Mapping[str, Floats], x: Axis, y: Axis) -> None:
        self.x, self.y = x, y
        self.sums = {name: np.asarray(sums[name], np.float64) / find_unit(name, x, y) for name in sums}
        self.count = np.where(self.sums["n"] > 0, self.sums["n"], np.nan)
        self.sample = np.where(self.count > 1, self.count / (self.count - 1), np.nan)

    @property
    def mean_x(self) -> Floats:
        return np.clip(self.sums["sx"] / self.count, self.x.unit_low, self.x.unit_high)

    @property
    def mean_y(self) -> Floats:
        return np.clip(self.sums["sy"] / self.count, self.y.unit_low, self.y.unit_high)

    @property
    def spread_x(self) -> Floats:
        mean = self.mean_x
        return np.clip(self.sums["sxx"] / self.count - mean**2, 0.0, bound_variance(self.x, mean))

    @property
    def spread_y(self) -> Floats:
        mean = self.mean_y
        return np.clip(self.sums["syy"] / self.count - mean**2, 0.0, bound_variance(self.y, mean))

    @property
    def together(self) -> Floats:
        most = np.sqrt(bound_variance(self.x, self.mean_x) * bound_variance(self.y, self.mean_y))
        return np.clip(self.sums["sxy"] / self.count - self.mean_x * self.mean_y, -most, most)

    @property
    def slope(self) -> Floats:
        return self.together / _keep_positive(self.spread_x)

    @property
    def correlation(self) -> Floats:
        both = np.sqrt(_keep_positive(self.spread_x)) * np.sqrt(_keep_positive(self.spread_y))
        return np.asarray(np.clip(self.together / both, -1.0, 1.0))

    @property
    def intercept(self) -> Floats:
        """The height of the line at x = 0, which is at -center/reach in these units."""
        at_zero: Floats = self.mean_y + self.slope * (-self.x.center / self.x.reach - self.mean_x)
        return self.y.center + at_zero * self.y.reach


def bound_variance(axis: Axis, mean: Floats) -> Floats:
    """Return the largest variance that values of the axis can have around a mean, in units of the reach."""
    return np.maximum(0.0, (axis.unit_high - mean) * (mean - axis.unit_low))


def _keep_positive(value: Floats) -> Floats:
    return np.where(value > 0, value, np.nan)


_VALUES: Mapping[str, Callable[[_ClampedMoments], Floats]] = {
    "var_pop": lambda m: m.spread_x * m.x.square,
    "var_samp": lambda m: m.spread_x * m.sample * m.x.square,
    "stddev_pop": lambda m: np.sqrt(m.spread_x) * m.x.reach,
    "stddev_samp": lambda m: np.sqrt(m.spread_x * m.sample) * m.x.reach,
    "covar_pop": lambda m: m.together * m.x.reach * m.y.reach,
    "covar_samp": lambda m: m.together * m.sample * m.x.reach * m.y.reach,
    "corr": lambda m: m.correlation,
    "regr_slope": lambda m: m.slope * (m.y.reach / m.x.reach),
    "regr_intercept": lambda m: m.intercept,
    "regr_r2": lambda m: m.correlation**2,
    "regr_count": lambda m: m.sums["n"],
    "regr_avgx": lambda m: m.x.center + m.mean_x * m.x.reach,
    "regr_avgy": lambda m: m.y.center + m.mean_y * m.y.reach,
    "regr_sxx": lambda m: m.count * m.spread_x * m.x.square,
    "regr_syy": lambda m: m.count * m.spread_y * m.y.square,
    "regr_sxy": lambda m: m.count * m.together * m.x.reach * m.y.reach,
}


# Rows that are added at each end of a range.
_ADDED = 2
LINES = ("regr_slope", "regr_intercept", "corr")


def bound_mean_error(mean: Floats, count: Floats, low: float, high: float) -> Floats:
    """Return the most that the standard error of a mean can be, per group; exact where values are at the ends.

    Example:
        >>> bound_mean_error(np.array([0.5]), np.array([100.0]), 0, 1).round(3).tolist()
        [0.05]
    """
    with np.errstate(all="ignore"):
        size = _keep_positive(count)
        share = (np.clip((mean - low) / (high - low), 0.0, 1.0) * size + _ADDED) / (size + 2 * _ADDED)
        return np.asarray((high - low) * np.sqrt(share * (1 - share) / size))


def estimate_mean_error(sums: Mapping[str, Floats], count: Floats, x: Axis) -> Floats:
    """Return the standard error of a mean of which the squares are released too.

    Args:
        sums: n, sx and sxx, from the centre of x.
        count: How many independent rows there are.
        x: The variable.
    """
    with np.errstate(all="ignore"):
        return np.asarray(np.sqrt(moment_value("var_samp", sums, x) / _keep_positive(count)))


def estimate_line_error(kind: str, sums: Mapping[str, Floats], count: Floats, x: Axis, y: Axis) -> Floats:
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
        left = _find_variance_of_y(sums, y) - moment_value("regr_slope", sums, x, y) ** 2 * spread
        slope = np.sqrt(np.maximum(left, 0.0) / (_keep_positive(spread) * free))
        if kind == "regr_slope":
            return np.asarray(slope)
        return np.asarray(slope * np.sqrt(spread + moment_value("regr_avgx", sums, x) ** 2))


def _find_variance_of_y(sums: Mapping[str, Floats], y: Axis) -> Floats:
    if "syy" in sums:
        return moment_value("var_pop", {"n": sums["n"], "sx": sums["sy"], "sxx": sums["syy"]}, y)
    mean = moment_value("regr_avgx", {"n": sums["n"], "sx": sums["sy"]}, y)
    return np.maximum(0.0, (y.high - mean) * (mean - y.low))
