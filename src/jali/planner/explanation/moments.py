"""Moments in an explanation: their formulas, and what their intervals would be for typical data."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from jali.mechanisms.combined import Form
from jali.mechanisms.moments import Axis, moment_interval
from jali.planner.explanation.measures import noise_of, show_center
from jali.planner.explanation.releases import note_of, release
from jali.planner.explanation.words import CONFIDENCE
from jali.planner.plan import Plan
from jali.planner.split_loss import axis_of
from jali.privacy import decimal
from jali.query.estimate import Linear
from jali.query.estimates import Moment

LETTERS = {"n": "n", "sx": "x", "sy": "y", "sxx": "p", "syy": "q", "sxy": "r"}
_VARIANCE = {"pop": "(p - x²/n) / n", "samp": "(p - x²/n) / (n - 1)"}
_SLOPE = "(r - x·y/n) / (p - x²/n)"
FORMULAS = {
    "var_pop": _VARIANCE["pop"],
    "var_samp": _VARIANCE["samp"],
    "stddev_pop": f"√({_VARIANCE['pop']})",
    "stddev_samp": f"√({_VARIANCE['samp']})",
    "covar_pop": "(r - x·y/n) / n",
    "covar_samp": "(r - x·y/n) / (n - 1)",
    "corr": "(r - x·y/n) / √((p - x²/n) (q - y²/n))",
    "regr_slope": _SLOPE,
    "regr_intercept": f"mean of y - slope · mean of x, slope = {_SLOPE}",
    "regr_r2": "(r - x·y/n)² / ((p - x²/n) (q - y²/n))",
    "regr_count": "n",
    "regr_avgx": "x/n",
    "regr_avgy": "y/n",
    "regr_sxx": "p - x²/n",
    "regr_syy": "q - y²/n",
    "regr_sxy": "r - x·y/n",
}
# What is as wide for any number of rows; the others are about c/n for n rows.
ABSOLUTE = ("regr_count", "regr_sxx", "regr_syy", "regr_sxy")
_DEVIATION, _CORRELATION = 0.5, 0.5
_MANY = 1e9


def letters(plan: Plan, moment: Moment) -> str:
    """Say what the letters of a formula stand for: sums of centred values, and what is added back to them."""
    parts = [f"{LETTERS[name]} = {_form(plan, form)}" for name, form in moment.sums]
    centres = _centres(moment)
    return ", ".join(parts) + (f"; sums are of {' and '.join(centres)}" if centres else "")


def _centres(moment: Moment) -> list[str]:
    used = "".join(name.removeprefix("s") for name, _ in moment.sums)
    spans = (("x", moment.x), ("y", moment.y))
    centred = [(name, span.center) for name, span in spans if span is not None and name in used]
    return [f"{name} - {show_center(center)}" for name, center in centred if center]


def _form(plan: Plan, form: Linear) -> str:
    shown = []
    for place, coefficient in form.terms:
        one = release(plan, 0, place)
        factor = coefficient / one.part.aggregation.unit(one.measure)
        number = f"[{note_of(plan, place) + 1}]"
        shown.append(number if factor == 1 else f"{decimal(Fraction(factor))} {number}")
    return " + ".join(reversed(shown))


def typical(moment: Moment) -> str:
    """Say for what data the forecast is made."""
    if moment.kind == "regr_count":
        return ""
    spread = "values about the middle with a standard deviation of a quarter of the range"
    return spread if moment.y is None else f"{spread} and a correlation of 1/2"


def typical_half_width(plan: Plan, level: int, moment: Moment, rows: float) -> float:
    """Return half the width of the interval that an answer over typical data would have.

    The interval is the one that `moment_interval` reads from the sums of such data, without noise in the sums but
    with its law: public facts only.
    """
    x, y = axis_of(moment.x), axis_of(moment.y or moment.x)
    places = sorted({place for _, form in moment.sums for place, _ in form.terms})
    forms = {
        name: Form([float(dict(form.terms).get(place, 0)) for place in places], _sum(name, x, y) * rows)
        for name, form in moment.sums
    }
    laws = [noise_of(release(plan, level, place)).law for place in places]
    low, high = moment_interval(
        moment.kind, forms, laws, [np.zeros(1)] * len(places), confidence=CONFIDENCE, x=x, y=y
    )
    return float(high[0] - low[0]) / 2


def per_row(plan: Plan, level: int, moment: Moment) -> float:
    """Return c where the half-width is about c/n for many rows."""
    law = noise_of(release(plan, level, dict(moment.sums)["n"].terms[0][0])).law
    unit = float(dict(moment.sums)["n"].terms[0][1])
    rows = max(1.0, law.stddev * unit) * _MANY
    width = typical_half_width(plan, level, moment, rows) * rows
    return width if math.isfinite(width) else math.inf


def _sum(name: str, x: Axis, y: Axis) -> float:
    """Return what a row of typical data adds to a sum, on average."""
    spread_x, spread_y = x.reach * _DEVIATION, y.reach * _DEVIATION
    known = {"n": 1.0, "sx": 0.0, "sy": 0.0, "sxx": spread_x**2, "syy": spread_y**2}
    return known.get(name, _CORRELATION * spread_x * spread_y)
