"""Compute how much the noise of each sum matters to each statistic, from public facts only, to split a loss.

Statement:
    To first order the error of a statistic is a linear form in the noises of the sums, the form that is 0 at
    the truth (moment_intervals.py). A sum matters by the square of its coefficient times its sensitivity. The
    truth is not known before the noise, so these squares are averaged over a few distributions in the middle of
    the range, each scaled to a total of 1, so that none counts for more because its answer is a large number.

The squares of a variable are summed less a constant of half the squared reach, which halves how far one of them
can move the sum; the count carries the constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from jali.mechanisms.moments.moment_equations import sum_weighted
from jali.mechanisms.moments.moment_inversion import Corners, sum_products, sum_squares_x, sum_squares_y
from jali.mechanisms.moments.moment_sums import KINDS, SQUARE_CENTER, Axis, Floats, build_form, read_coefficient

# Means and standard deviations in reaches from the centre, and correlations, of distributions within a range.
_MEANS, _DEVIATIONS, _CORRELATIONS = (-0.4, 0.0, 0.4), (0.25, 0.5), (-0.5, 0.0, 0.5)
# To first order some sums hardly matter, but all of them must be clear of their noise before there is an order.
_LEAST = 0.05
_SQUARES = ("sxx", "syy")


class _Typical(NamedTuple):
    """Facts of the distributions that stand for those that are not known; zero is where x is 0."""

    a: Floats
    b: Floats
    dx: Floats
    dy: Floats
    r: Floats
    zero: Floats


def importance(kind: str, x: Axis) -> dict[str, float]:
    """Return the importance of each sum that the kind needs, the largest being 1.

    Args:
        kind: A name of `KINDS`.
        x: The explaining variable; only an intercept depends on where its zero is.

    Example:
        >>> {name: round(weight, 2) for name, weight in importance("covar_pop", Axis(0, 10, 5)).items()}
        {'n': 0.05, 'sx': 0.1, 'sy': 0.1, 'sxy': 1.0}
    """
    facts = [np.array(column) for column in zip(*_list_typical_facts(), strict=True)]
    wanted = _ERRORS[kind](_Typical._make([*facts, np.full_like(facts[0], -x.center / x.reach)]))
    squares = {
        name: np.broadcast_to(_scale_by_sensitivity(wanted, name) ** 2, facts[0].shape) for name in KINDS[kind]
    }
    total = sum(squares.values(), np.zeros_like(facts[0]))
    means = {name: float(np.mean(square / total)) for name, square in squares.items()}
    return {name: max(mean / max(means.values()), _LEAST) for name, mean in means.items()}


def _list_typical_facts() -> list[tuple[float, ...]]:
    return list(product(_MEANS, _MEANS, _DEVIATIONS, _DEVIATIONS, _CORRELATIONS))


def _scale_by_sensitivity(wanted: Floats, name: str) -> Floats:
    """Return the coefficient of what is measured times its sensitivity, in units of the reaches."""
    if name == "n":
        return read_coefficient(wanted, "n") + SQUARE_CENTER * (
            read_coefficient(wanted, "sxx") + read_coefficient(wanted, "syy")
        )
    return read_coefficient(wanted, name) * (SQUARE_CENTER if name in _SQUARES else 1.0)


def _build_point(mean: Floats) -> Corners:
    return Corners(mean, mean**2)


def _linearize_variance(t: _Typical) -> Floats:
    return sum_squares_x(_build_point(t.a)) - build_form(n=t.dx**2)


def _linearize_covariance(t: _Typical) -> Floats:
    return sum_products(_build_point(t.a), _build_point(t.b)) - build_form(n=t.r * t.dx * t.dy)


def _linearize_correlation(t: _Typical) -> Floats:
    half = (
        t.r / 2 * (t.dy / t.dx * sum_squares_x(_build_point(t.a)) + t.dx / t.dy * sum_squares_y(_build_point(t.b)))
    )
    return sum_products(_build_point(t.a), _build_point(t.b)) - half


def _linearize_slope(t: _Typical) -> Floats:
    return sum_products(_build_point(t.a), _build_point(t.b)) - t.r * t.dy / t.dx * sum_squares_x(
        _build_point(t.a)
    )


def _linearize_intercept(t: _Typical) -> Floats:
    slope, tilt = t.r * t.dy / t.dx, t.zero - t.a
    level, height = t.dx**2 - t.a * tilt, t.b + slope * tilt
    return sum_weighted(level, tilt, slope, t.zero) - height * build_form(n=level, sx=tilt)


_ERRORS: Mapping[str, Callable[[_Typical], Floats]] = {
    "var_pop": _linearize_variance,
    "var_samp": _linearize_variance,
    "stddev_pop": _linearize_variance,
    "stddev_samp": _linearize_variance,
    "covar_pop": _linearize_covariance,
    "covar_samp": _linearize_covariance,
    "corr": _linearize_correlation,
    "regr_slope": _linearize_slope,
    "regr_intercept": _linearize_intercept,
    "regr_r2": _linearize_correlation,
    "regr_count": lambda t: build_form(n=np.ones_like(t.a)),
    "regr_avgx": lambda t: build_form(sx=1.0, n=-t.a),
    "regr_avgy": lambda t: build_form(sy=1.0, n=-t.b),
    "regr_sxx": lambda t: sum_squares_x(_build_point(t.a)),
    "regr_syy": lambda t: sum_squares_y(_build_point(t.b)),
    "regr_sxy": lambda t: sum_products(_build_point(t.a), _build_point(t.b)),
}
