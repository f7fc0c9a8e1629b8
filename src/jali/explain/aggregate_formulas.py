"""Explain how each aggregate is made from the releases, and how wide its interval will be.

Moments have formulas of their own, and are forecast for typical data.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from jali.explain.labelled_facts import show_forecast
from jali.explain.measure_notes import show_center
from jali.explain.notes import AggregateNote
from jali.explain.planned_releases import note_of, release
from jali.explain.vocabulary import CONFIDENCE, set_label
from jali.ir.aggregates import CountRows, Marks, SumValues
from jali.ir.estimators import AnyEstimate, Cells, LinearCombination, Moment, Picked, RatioEstimate
from jali.ir.expressions import Aggregate
from jali.planner.forecast import (
    AggregateForecast,
    forecast_estimate,
    forecast_work,
    guess_rows,
    half_width_at,
    prepare_forecasts,
)
from jali.planner.plan import Plan
from jali.privacy import decimal
from jali.sql.printer import show_aggregate

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


def describe_letters(plan: Plan, moment: Moment) -> str:
    """Say what the letters of a formula stand for: sums of centred values, and what is added back to them."""
    parts = [f"{LETTERS[name]} = {write_combination(plan, form)}" for name, form in moment.sums]
    centres = _centres(moment)
    return ", ".join(parts) + (f"; sums are of {' and '.join(centres)}" if centres else "")


def _centres(moment: Moment) -> list[str]:
    used = "".join(name.removeprefix("s") for name, _ in moment.sums)
    spans = (("x", moment.x), ("y", moment.y))
    centred = [(name, span.center) for name, span in spans if span is not None and name in used]
    return [f"{name} - {show_center(center)}" for name, center in centred if center]


def write_combination(plan: Plan, form: LinearCombination) -> str:
    """Write a form as a sum of multiples of releases."""
    shown = []
    for place, coefficient in form.terms:
        factor = coefficient / plan.levels[0].worth(place)
        number = f"[{note_of(plan, place) + 1}]"
        shown.append(number if factor == 1 else f"{decimal(Fraction(factor))} {number}")
    return " + ".join(reversed(shown))


def describe_typical_data(moment: Moment) -> str:
    """Say for what data the forecast is made."""
    if moment.kind == "regr_count":
        return ""
    spread = "values around the middle of the range with a standard deviation of a quarter of it"
    return spread if moment.y is None else f"{spread} and a correlation of 1/2"


# About how many milliseconds the forecasts of a question may take. Most take a few; of dozens of moments the first
# ones are forecast.
_MOST_WORK = 50.0


def aggregate_notes(plan: Plan) -> tuple[AggregateNote, ...]:
    """Explain each aggregate, with its forecast for every grouping set."""
    prepare_forecasts(plan)
    notes, work = list[AggregateNote](), 0.0
    for aggregate, estimate in plan.estimates:
        work += forecast_work(plan, estimate)
        if notes and work > _MOST_WORK:
            notes.append(replace(_formula(plan, estimate), name=show_aggregate(aggregate), left_out=True))
        else:
            notes.append(_note(plan, aggregate, estimate))
    return tuple(notes)


def _note(plan: Plan, aggregate: Aggregate, estimate: AnyEstimate) -> AggregateNote:
    first = replace(_of(plan, 0, estimate), name=show_aggregate(aggregate))
    if len(plan.levels) == 1:
        return first
    found = ((set_label(plan, i), show_forecast(_of(plan, i, estimate))) for i in range(len(plan.levels)))
    return replace(first, sets=tuple(found))


def _of(plan: Plan, level: int, estimate: AnyEstimate) -> AggregateNote:
    made = _forecast(_formula(plan, estimate), forecast_estimate(plan, level, estimate))
    if isinstance(estimate, Moment):
        made = _typical(plan, level, estimate, made)
    if isinstance(estimate, Picked):
        made = replace(made, one_sided=_one_sided(estimate))
    stated = plan.aim is not None and plan.aim.group_rows is not None
    groups = plan.levels[level].aggregation.groups
    return replace(made, groups=groups, guess=guess_rows(plan, level), stated=stated)


def _forecast(note: AggregateNote, found: AggregateForecast) -> AggregateNote:
    return replace(
        note,
        rms=found.rms,
        half_width=found.half_width,
        sure=found.sure,
        least_half_width=found.first,
        least_per_row=found.least_per_row,
        most_per_row=found.most_per_row,
        doubtful_below=found.doubtful_below,
        rank_error=found.rank_error,
        rank_reach=found.rank_reach,
        weight_error=found.weight_error,
    )


def _typical(plan: Plan, level: int, moment: Moment, note: AggregateNote) -> AggregateNote:
    rows = guess_rows(plan, level)
    known = note.half_width is not None or rows is None
    about = None if known else half_width_at(plan, level, moment, rows, CONFIDENCE)
    return replace(
        note, letters=describe_letters(plan, moment), typical=describe_typical_data(moment), about=about
    )


def _one_sided(picked: Picked) -> bool:
    ends = [end for pick in picked.picks for end in (pick.low, pick.high) if end is not None]
    return isinstance(picked.axis, Marks) and len(ends) < 2 * len(picked.picks)


# How each is made.


def _formula(plan: Plan, estimate: AnyEstimate) -> AggregateNote:
    if isinstance(estimate, Moment):
        places = [place for _, form in estimate.sums for place, _ in form.terms]
        return AggregateNote("", FORMULAS[estimate.kind], _name_notes(plan, *places)[1])
    if isinstance(estimate, Picked):
        return AggregateNote("", *_name_notes(plan, *(pick.value for pick in estimate.picks)))
    if isinstance(estimate, Cells):
        formula, notes = _name_notes(plan, estimate.release)
        return AggregateNote("", f"running sums of {formula}" if estimate.cumulative else formula, notes)
    if estimate.denominator is None:
        return _linear(plan, estimate.numerator)
    return _mean(plan, estimate, estimate.denominator)


def _name_notes(plan: Plan, *places: int) -> tuple[str, tuple[int, ...]]:
    notes = tuple(sorted({note_of(plan, place) for place in places}))
    return ", ".join(f"[{note + 1}]" for note in notes), notes


def _linear(plan: Plan, form: LinearCombination) -> AggregateNote:
    """A measure, or a sum that is made of a centred one and a count."""
    formula, notes = _name_notes(plan, *(place for place, _ in form.terms))
    if len(form.terms) > 1:
        return AggregateNote("", write_combination(plan, form), notes)
    adds_up = isinstance(release(plan, 0, form.terms[0][0]).measure, CountRows | SumValues)
    return AggregateNote("", f"{formula}, averaged" if adds_up and len(plan.levels) > 1 else formula, notes)


def _mean(plan: Plan, estimate: RatioEstimate, below: LinearCombination) -> AggregateNote:
    """A mean is the middle plus a centred sum over a count: error about (sum's - (mean - middle) count's) / n."""
    count = below.terms[0][0]
    top = next((i for i, _ in estimate.numerator.terms if i != count), count)
    measure = release(plan, 0, top).measure
    assert isinstance(measure, SumValues)
    center = f"{decimal(measure.center)} + " if measure.center else ""
    formula = f"{center}[{note_of(plan, top) + 1}] / [{note_of(plan, count) + 1}]"
    return AggregateNote("", formula, _name_notes(plan, top, count)[1])
