"""The value of a statistic from noisy sums, kept within what is possible for clamped values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from jali.mechanisms.moments.axis import Axis
from jali.mechanisms.moments.sums import Floats, in_units


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
        return _VALUES[kind](_Moments(sums, x, y or x))


class _Moments:
    """Means, variances and covariance in units of the reaches, each within what is possible."""

    def __init__(self, sums: Mapping[str, Floats], x: Axis, y: Axis) -> None:
        self.x, self.y = x, y
        self.sums = {name: np.asarray(sums[name], np.float64) / in_units(name, x, y) for name in sums}
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
        return np.clip(self.sums["sxx"] / self.count - mean**2, 0.0, most_spread(self.x, mean))

    @property
    def spread_y(self) -> Floats:
        mean = self.mean_y
        return np.clip(self.sums["syy"] / self.count - mean**2, 0.0, most_spread(self.y, mean))

    @property
    def together(self) -> Floats:
        most = np.sqrt(most_spread(self.x, self.mean_x) * most_spread(self.y, self.mean_y))
        return np.clip(self.sums["sxy"] / self.count - self.mean_x * self.mean_y, -most, most)

    @property
    def slope(self) -> Floats:
        return self.together / _positive(self.spread_x)

    @property
    def correlation(self) -> Floats:
        both = np.sqrt(_positive(self.spread_x)) * np.sqrt(_positive(self.spread_y))
        return np.asarray(np.clip(self.together / both, -1.0, 1.0))

    @property
    def intercept(self) -> Floats:
        """The height of the line at x = 0, which is at -center/reach in these units."""
        at_zero: Floats = self.mean_y + self.slope * (-self.x.center / self.x.reach - self.mean_x)
        return self.y.center + at_zero * self.y.reach


def most_spread(axis: Axis, mean: Floats) -> Floats:
    """Return the largest variance that values of the axis can have around a mean, in units of the reach."""
    return np.maximum(0.0, (axis.unit_high - mean) * (mean - axis.unit_low))


def _positive(value: Floats) -> Floats:
    return np.where(value > 0, value, np.nan)


_VALUES: Mapping[str, Callable[[_Moments], Floats]] = {
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
