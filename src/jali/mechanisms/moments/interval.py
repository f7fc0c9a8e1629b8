"""Intervals for variance, covariance, correlation and regression from noisy sums.

Statement:
    The interval holds the exact statistic of the bounded data with at least the confidence.
Proof:
    Each statistic r solves N(t) = r D(t), N and D linear in the exact sums, where t are other facts of the same
    data: the means, for a correlation also the ratio of the standard deviations. For instance the variance:
    sum (x - t)^2 = r n at t = the mean. A small part of 1 - confidence buys intervals for t, the rest the test
    of r (inversion.py); by the union bound all hold together. Every form is chosen so that its derivative
    in t is 0 at the truth: what is not known of t costs the square of its width only, so that for many rows the
    interval is as narrow as if t were known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jali.mechanisms.combined import Form
from jali.mechanisms.mechanism import miss
from jali.mechanisms.moments import line, spread
from jali.mechanisms.moments.axis import Axis
from jali.mechanisms.moments.facts import Ends, Facts
from jali.mechanisms.moments.sums import Floats, Reading
from jali.mechanisms.moments.value import moment_value
from jali.mechanisms.noises import NoiseLaw


def moment_interval(
    kind: str,
    forms: Mapping[str, Form],
    laws: Sequence[NoiseLaw],
    values: Sequence[Floats],
    *,
    confidence: float,
    x: Axis,
    y: Axis | None = None,
) -> tuple[Floats, Floats]:
    """Return the ends of the interval per group; infinite where the noise leaves no bound.

    Args:
        kind: A name of `KINDS`.
        forms: Each sum that the kind needs, as a linear form in the noisy values.
        laws: The laws of the values' noises.
        values: The noisy values, an array over the groups for each.
        confidence: Strictly between 0 and 1.
        x: The variable of a variance; the explaining variable of a regression.
        y: The other variable.
    """
    other = y or x
    sums = {name: given.of(values) for name, given in forms.items()}
    with np.errstate(all="ignore"):
        facts = Facts(Reading.of(forms, laws, values, x, other), x, other, miss(confidence))
        low, high = _INTERVALS[kind](facts)
        # The value was kept within what is possible without the intervals on the way, and may lie beside them.
        value = moment_value(kind, sums, x, other)
        return np.fmin(_known(low, -np.inf), value), np.fmax(_known(high, np.inf), value)


def _known(end: Floats, otherwise: float) -> Floats:
    return np.where(np.isnan(end), otherwise, end)


def _roots(ends: Ends) -> Ends:
    return np.sqrt(ends[0]), np.sqrt(ends[1])


def _squares(ends: Ends) -> Ends:
    low, high = ends
    return np.maximum(np.maximum(low, -high), 0.0) ** 2, np.maximum(high, -low) ** 2


def _scaled(ends: Ends, unit: float, center: float = 0.0) -> Ends:
    return center + ends[0] * unit, center + ends[1] * unit


_INTERVALS: Mapping[str, Callable[[Facts], Ends]] = {
    "var_pop": lambda f: _scaled(spread.variance(f), f.x.square),
    "var_samp": lambda f: _scaled(spread.sample_variance(f), f.x.square),
    "stddev_pop": lambda f: _scaled(_roots(spread.variance(f)), f.x.reach),
    "stddev_samp": lambda f: _scaled(_roots(spread.sample_variance(f)), f.x.reach),
    "covar_pop": lambda f: _scaled(spread.covariance(f), f.x.reach * f.y.reach),
    "covar_samp": lambda f: _scaled(spread.sample_covariance(f), f.x.reach * f.y.reach),
    "corr": line.correlation,
    "regr_slope": lambda f: _scaled(line.slope(f), f.y.reach / f.x.reach),
    "regr_intercept": lambda f: _scaled(line.intercept(f), f.y.reach, f.y.center),
    "regr_r2": lambda f: _squares(line.correlation(f)),
    "regr_count": lambda f: f.count(1.0),
    "regr_avgx": lambda f: _scaled(f.mean_x(1.0), f.x.reach, f.x.center),
    "regr_avgy": lambda f: _scaled(f.mean_y(1.0), f.y.reach, f.y.center),
    "regr_sxx": lambda f: _scaled(spread.squares_x(f), f.x.square),
    "regr_syy": lambda f: _scaled(spread.squares_y(f), f.y.square),
    "regr_sxy": lambda f: _scaled(spread.products(f), f.x.reach * f.y.reach),
}
