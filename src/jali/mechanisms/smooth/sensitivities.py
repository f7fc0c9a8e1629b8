"""Local and smooth sensitivity of a statistic on a table: to look at, not to publish."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import parameter
from jali.mechanisms.smooth.statistic import Statistic
from jali.privacy.rationals import Number


def local_sensitivity(statistic: Statistic, table: Any) -> Fraction:
    """Return how far one person can move a statistic of this table. NOT private.

    It depends on the table, so that noise scaled to it, and the number itself, tell of the people in the table.

    Example:
        >>> from jali.mechanisms.smooth.statistics.quantile import Median
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> local_sensitivity(middle, range(10, 100, 10))
        Fraction(10, 1)
    """
    return statistic.local(statistic.read(table))


def smooth_sensitivity(statistic: Statistic, table: Any, beta: Number) -> float:
    """Return the smooth sensitivity of a statistic at this table, rounded to the nearest double. NOT private.

    A release that scales admissible noise to it is private; the number itself is not.

    Example:
        >>> from jali.mechanisms.smooth.statistics.quantile import Median
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> round(smooth_sensitivity(middle, range(10, 100, 10), 0.1), 7)
        40.656966
    """
    return float(statistic.smooth(statistic.read(table), parameter(beta, "beta")))
