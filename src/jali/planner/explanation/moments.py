"""Moments in an explanation: their formulas, and for what data they are forecast."""

from __future__ import annotations

from fractions import Fraction

from jali.planner.explanation.measures import show_center
from jali.planner.explanation.releases import note_of
from jali.planner.plan import Plan
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


def letters(plan: Plan, moment: Moment) -> str:
    """Say what the letters of a formula stand for: sums of centred values, and what is added back to them."""
    parts = [f"{LETTERS[name]} = {combination(plan, form)}" for name, form in moment.sums]
    centres = _centres(moment)
    return ", ".join(parts) + (f"; sums are of {' and '.join(centres)}" if centres else "")


def _centres(moment: Moment) -> list[str]:
    used = "".join(name.removeprefix("s") for name, _ in moment.sums)
    spans = (("x", moment.x), ("y", moment.y))
    centred = [(name, span.center) for name, span in spans if span is not None and name in used]
    return [f"{name} - {show_center(center)}" for name, center in centred if center]


def combination(plan: Plan, form: Linear) -> str:
    """Write a form as a sum of multiples of releases."""
    shown = []
    for place, coefficient in form.terms:
        factor = coefficient / plan.levels[0].worth(place)
        number = f"[{note_of(plan, place) + 1}]"
        shown.append(number if factor == 1 else f"{decimal(Fraction(factor))} {number}")
    return " + ".join(reversed(shown))


def typical(moment: Moment) -> str:
    """Say for what data the forecast is made."""
    if moment.kind == "regr_count":
        return ""
    spread = "values about the middle with a standard deviation of a quarter of the range"
    return spread if moment.y is None else f"{spread} and a correlation of 1/2"
