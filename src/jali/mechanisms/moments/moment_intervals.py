"""Intervals for variance, covariance, correlation and regression from noisy sums.

Statement:
    The interval holds the exact statistic of the bounded data with at least the confidence.
Proof:
    Each statistic r solves N(t) = r D(t), N and D linear in the exact sums, where t are other facts of the same
    data: the means, for a correlation also the ratio of the standard deviations. For instance the variance:
    sum (x - t)^2 = r n at t = the mean. A small part of 1 - confidence buys intervals for t, the rest the test
    of r (moment_inversion.py); by the union bound all hold together. Every form is chosen so that its derivative
    in t is 0 at the truth: what is not known of t costs the square of its width only, so that for many rows the
    interval is as narrow as if t were known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.linear_forms import AffineForm, LinearFormLaw
from jali.mechanisms.moments import moment_equations
from jali.mechanisms.moments.moment_inversion import IntervalEnds, MomentFacts
from jali.mechanisms.moments.moment_sums import Axis, Floats, NoisySums
from jali.mechanisms.moments.moment_values import moment_value


def moment_interval(
    kind: str,
    forms: Mapping[str, AffineForm],
    laws: Sequence[LinearFormLaw],
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
        facts = MomentFacts(
            NoisySums.of(forms, laws, values, x, other), x, other, read_miss_probability(confidence)
        )
        low, high = _INTERVALS[kind](facts)
        # The value was kept within what is possible without the intervals on the way, and may lie beside them.
        value = moment_value(kind, sums, x, other)
        return np.fmin(_replace_nan(low, -np.inf), value), np.fmax(_replace_nan(high, np.inf), value)


def _replace_nan(end: Floats, otherwise: float) -> Floats:
    return np.where(np.isnan(end), otherwise, end)


def _take_roots(ends: IntervalEnds) -> IntervalEnds:
    return np.sqrt(ends[0]), np.sqrt(ends[1])


def _square_ends(ends: IntervalEnds) -> IntervalEnds:
    low, high = ends
    return np.maximum(np.maximum(low, -high), 0.0) ** 2, np.maximum(high, -low) ** 2


def _scale_ends(ends: IntervalEnds, unit: float, center: float = 0.0) -> IntervalEnds:
    return center + ends[0] * unit, center + ends[1] * unit


_INTERVALS: Mapping[str, Callable[[MomentFacts], IntervalEnds]] = {
    "var_pop": lambda f: _scale_ends(moment_equations.find_variance(f), f.x.square),
    "var_samp": lambda f: _scale_ends(moment_equations.find_sample_variance(f), f.x.square),
    "stddev_pop": lambda f: _scale_ends(_take_roots(moment_equations.find_variance(f)), f.x.reach),
    "stddev_samp": lambda f: _scale_ends(_take_roots(moment_equations.find_sample_variance(f)), f.x.reach),
    "covar_pop": lambda f: _scale_ends(moment_equations.find_covariance(f), f.x.reach * f.y.reach),
    "covar_samp": lambda f: _scale_ends(moment_equations.find_sample_covariance(f), f.x.reach * f.y.reach),
    "corr": moment_equations.find_correlation,
    "regr_slope": lambda f: _scale_ends(moment_equations.find_slope(f), f.y.reach / f.x.reach),
    "regr_intercept": lambda f: _scale_ends(moment_equations.find_intercept(f), f.y.reach, f.y.center),
    "regr_r2": lambda f: _square_ends(moment_equations.find_correlation(f)),
    "regr_count": lambda f: f.count(1.0),
    "regr_avgx": lambda f: _scale_ends(f.mean_x(1.0), f.x.reach, f.x.center),
    "regr_avgy": lambda f: _scale_ends(f.mean_y(1.0), f.y.reach, f.y.center),
    "regr_sxx": lambda f: _scale_ends(moment_equations.find_squares_x(f), f.x.square),
    "regr_syy": lambda f: _scale_ends(moment_equations.find_squares_y(f), f.y.square),
    "regr_sxy": lambda f: _scale_ends(moment_equations.find_products(f), f.x.reach * f.y.reach),
}
