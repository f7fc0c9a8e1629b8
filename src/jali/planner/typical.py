"""Typical data: what moments are forecast for, as their errors depend on the data.

Values lie about the middle of their range with a standard deviation of a quarter of it; two variables have a
correlation of 1/2. The interval is the one that `moment_interval` reads from the sums of such data, without noise
in the sums but with its law.
"""

from __future__ import annotations

import math

import numpy as np

from jali.mechanisms.combined import Form
from jali.mechanisms.moments import Axis, moment_interval
from jali.mechanisms.noises import NoiseLaw
from jali.planner.part import Level
from jali.planner.split_loss import axis_of
from jali.query.estimates import Moment

# What is as wide for any number of rows; the others are about c/n for n rows.
ABSOLUTE = ("regr_count", "regr_sxx", "regr_syy", "regr_sxy")
_DEVIATION, _CORRELATION = 0.5, 0.5
_MANY = 1e9


def typical_half_width(level: Level, moment: Moment, rows: float, confidence: float) -> float:
    """Return half the width of the interval that an answer over so many rows of typical data would have."""
    x, y = axis_of(moment.x), axis_of(moment.y or moment.x)
    places = sorted({place for _, form in moment.sums for place, _ in form.terms})
    forms = {
        name: Form([float(dict(form.terms).get(place, 0)) for place in places], _sum(name, x, y) * rows)
        for name, form in moment.sums
    }
    laws = [_law(level, place) for place in places]
    low, high = moment_interval(
        moment.kind, forms, laws, [np.zeros(1)] * len(places), confidence=confidence, x=x, y=y
    )
    width = float(high[0] - low[0]) / 2
    return math.inf if math.isnan(width) else width


def many_rows(level: Level, moment: Moment) -> float:
    """Return so many rows that the half-width is about c/n."""
    ((place, unit), *_) = dict(moment.sums)["n"].terms
    return max(1.0, float(_law(level, place).stddev) * float(unit)) * _MANY


def _law(level: Level, place: int) -> NoiseLaw:
    part, index = level.releases[place]
    law: NoiseLaw = part.mechanisms[index].noise_law
    return law


def _sum(name: str, x: Axis, y: Axis) -> float:
    """Return what a row of typical data adds to a sum, on average."""
    spread_x, spread_y = x.reach * _DEVIATION, y.reach * _DEVIATION
    known = {"n": 1.0, "sx": 0.0, "sy": 0.0, "sxx": spread_x**2, "syy": spread_y**2}
    return known.get(name, _CORRELATION * spread_x * spread_y)
