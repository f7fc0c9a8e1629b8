"""The aggregates of a question: how each is made from the releases, and how wide its interval will be."""

from __future__ import annotations

from dataclasses import replace

from jali.planner.explanation import moments
from jali.planner.explanation.forecasts import show_forecast
from jali.planner.explanation.notes import AggregateNote
from jali.planner.explanation.releases import note_of, release
from jali.planner.explanation.words import CONFIDENCE, set_label
from jali.planner.forecast import (
    Forecast,
    forecast_of,
    forecast_work,
    guessed_rows,
    half_width_at,
    prepare_forecasts,
)
from jali.planner.plan import Plan
from jali.planner.show_expression import show_aggregate
from jali.privacy import decimal
from jali.query.aggregation import CountRows, Marks, SumValues
from jali.query.estimate import Estimate, Linear
from jali.query.estimates import AnyEstimate, Cells, Moment, Picked
from jali.query.nodes import Aggregate

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
    made = _forecast(_formula(plan, estimate), forecast_of(plan, level, estimate))
    if isinstance(estimate, Moment):
        made = _typical(plan, level, estimate, made)
    if isinstance(estimate, Picked):
        made = replace(made, one_sided=_one_sided(estimate))
    stated = plan.aim is not None and plan.aim.group_rows is not None
    groups = plan.levels[level].aggregation.groups
    return replace(made, groups=groups, guess=guessed_rows(plan, level), stated=stated)


def _forecast(note: AggregateNote, found: Forecast) -> AggregateNote:
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
    rows = guessed_rows(plan, level)
    known = note.half_width is not None or rows is None
    about = None if known else half_width_at(plan, level, moment, rows, CONFIDENCE)
    return replace(note, letters=moments.letters(plan, moment), typical=moments.typical(moment), about=about)


def _one_sided(picked: Picked) -> bool:
    ends = [end for pick in picked.picks for end in (pick.low, pick.high) if end is not None]
    return isinstance(picked.axis, Marks) and len(ends) < 2 * len(picked.picks)


# How each is made.


def _formula(plan: Plan, estimate: AnyEstimate) -> AggregateNote:
    if isinstance(estimate, Moment):
        places = [place for _, form in estimate.sums for place, _ in form.terms]
        return AggregateNote("", moments.FORMULAS[estimate.kind], _named(plan, *places)[1])
    if isinstance(estimate, Picked):
        return AggregateNote("", *_named(plan, *(pick.value for pick in estimate.picks)))
    if isinstance(estimate, Cells):
        formula, notes = _named(plan, estimate.release)
        return AggregateNote("", f"running sums of {formula}" if estimate.cumulative else formula, notes)
    if estimate.denominator is None:
        return _linear(plan, estimate.numerator)
    return _mean(plan, estimate, estimate.denominator)


def _named(plan: Plan, *places: int) -> tuple[str, tuple[int, ...]]:
    notes = tuple(sorted({note_of(plan, place) for place in places}))
    return ", ".join(f"[{note + 1}]" for note in notes), notes


def _linear(plan: Plan, form: Linear) -> AggregateNote:
    """A measure, or a sum that is made of a centred one and a count."""
    formula, notes = _named(plan, *(place for place, _ in form.terms))
    if len(form.terms) > 1:
        return AggregateNote("", moments.combination(plan, form), notes)
    adds_up = isinstance(release(plan, 0, form.terms[0][0]).measure, CountRows | SumValues)
    return AggregateNote("", f"{formula}, averaged" if adds_up and len(plan.levels) > 1 else formula, notes)


def _mean(plan: Plan, estimate: Estimate, below: Linear) -> AggregateNote:
    """A mean is the middle plus a centred sum over a count: error about (sum's - (mean - middle) count's) / n."""
    count = below.terms[0][0]
    top = next((i for i, _ in estimate.numerator.terms if i != count), count)
    measure = release(plan, 0, top).measure
    assert isinstance(measure, SumValues)
    center = f"{decimal(measure.center)} + " if measure.center else ""
    formula = f"{center}[{note_of(plan, top) + 1}] / [{note_of(plan, count) + 1}]"
    return AggregateNote("", formula, _named(plan, top, count)[1])
