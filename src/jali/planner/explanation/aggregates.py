"""The aggregates of a question: how each is made from the releases, and how wide its interval will be."""

from __future__ import annotations

from dataclasses import replace

from jali.planner.explanation import moments
from jali.planner.explanation.choices import aside, off_by
from jali.planner.explanation.forecasts import show_forecast
from jali.planner.explanation.measures import half_width, largest, noise_of, worth
from jali.planner.explanation.notes import AggregateNote
from jali.planner.explanation.releases import note_of, release
from jali.planner.explanation.words import CONFIDENCE, scanned, set_label
from jali.planner.plan import Plan
from jali.planner.show_expression import show_aggregate
from jali.privacy import decimal
from jali.query.aggregation import CountRows, Marks, SumValues
from jali.query.estimate import Estimate, Linear
from jali.query.estimates import AnyEstimate, Cells, Moment, Picked
from jali.query.nodes import Aggregate


def aggregate_notes(plan: Plan) -> tuple[AggregateNote, ...]:
    """Explain each aggregate, with its forecast for every grouping set."""
    return tuple(_note(plan, aggregate, estimate) for aggregate, estimate in plan.estimates)


def _note(plan: Plan, aggregate: Aggregate, estimate: AnyEstimate) -> AggregateNote:
    first = replace(_of(plan, 0, estimate), name=show_aggregate(aggregate))
    if len(plan.levels) == 1:
        return first
    found = ((set_label(plan, i), show_forecast(_of(plan, i, estimate))) for i in range(len(plan.levels)))
    return replace(first, sets=tuple(found))


def _of(plan: Plan, level: int, estimate: AnyEstimate) -> AggregateNote:
    if isinstance(estimate, Moment):
        made = _moment(plan, level, estimate)
    elif isinstance(estimate, Picked):
        made = _picked(plan, level, estimate)
    elif isinstance(estimate, Cells):
        made = _cells(plan, level, estimate)
    elif estimate.denominator is None:
        made = _linear(plan, level, estimate)
    else:
        made = _mean(plan, level, estimate, estimate.denominator)
    groups = plan.levels[level].aggregation.groups
    return replace(made, groups=groups, guess=_guess(plan, level))


def _guess(plan: Plan, level: int) -> float | None:
    """Return how many rows a group has by public facts, where there are any: rows of one table, known groups."""
    if not scanned(plan) or plan.selection is not None or plan.table.rows is None:
        return None
    return plan.table.rows / max(1, plan.levels[level].aggregation.groups)


def _named(plan: Plan, *places: int) -> tuple[str, tuple[int, ...]]:
    notes = tuple(sorted({note_of(plan, place) for place in places}))
    return ", ".join(f"[{note + 1}]" for note in notes), notes


def _linear(plan: Plan, level: int, estimate: Estimate) -> AggregateNote:
    place, factor = estimate.numerator.terms[0]
    formula, notes = _named(plan, place)
    if len(plan.levels) > 1 and isinstance(release(plan, level, place).measure, CountRows | SumValues):
        return AggregateNote("", f"{formula}, averaged", notes, _agreed(plan, level, place) * float(factor))
    law = noise_of(release(plan, level, place)).law
    return AggregateNote("", formula, notes, law.quantile(CONFIDENCE) * float(factor))


def _agreed(plan: Plan, level: int, place: int) -> float:
    """Return the half-width after the tables of all grouping sets were made to agree."""
    from jali.mechanisms.workloads.grouping_sets import widths

    sizes = [len(key.values or ()) for key in plan.keys]
    laws = [noise_of(release(plan, i, place)).law for i in range(len(plan.levels))]
    return widths(sizes, [one.places for one in plan.levels], laws, CONFIDENCE)[level]


def _mean(plan: Plan, level: int, estimate: Estimate, below: Linear) -> AggregateNote:
    """A mean is the middle plus a centred sum over a count: error about (sum's - (mean - middle) count's) / n."""
    count = below.terms[0][0]
    top = next((i for i, _ in estimate.numerator.terms if i != count), count)
    measure = release(plan, level, top).measure
    assert isinstance(measure, SumValues)
    center = f"{decimal(measure.center)} + " if measure.center else ""
    return AggregateNote(
        name="",
        formula=f"{center}[{note_of(plan, top) + 1}] / [{note_of(plan, count) + 1}]",
        measures=_named(plan, top, count)[1],
        least_per_row=_per_row(plan, level, (top, count), 0.0),
        most_per_row=_per_row(plan, level, (top, count), largest(measure)),
        doubtful_below=half_width(release(plan, level, count)),
    )


def _per_row(plan: Plan, level: int, places: tuple[int, int], distance: float) -> float:
    """Return the 95 % quantile of |sum's noise - distance * count's noise|: the half-width times n."""
    from jali.mechanisms.combined import linear_quantile

    top, count = (release(plan, level, place) for place in places)
    if distance == 0:
        return half_width(top)
    laws = [noise_of(top).law, noise_of(count).law]
    return float(linear_quantile([worth(top), -distance * worth(count)], laws, CONFIDENCE))


def _moment(plan: Plan, level: int, moment: Moment) -> AggregateNote:
    places = [place for _, form in moment.sums for place, _ in form.terms]
    made = AggregateNote(
        name="",
        formula=moments.FORMULAS[moment.kind],
        measures=_named(plan, *places)[1],
        letters=moments.letters(plan, moment),
        typical=moments.typical(moment),
    )
    count = half_width(release(plan, level, dict(moment.sums)["n"].terms[0][0]))
    guess = _guess(plan, level)
    if moment.kind == "regr_count":
        return replace(made, half_width=count)
    if moment.kind in moments.ABSOLUTE:
        return made if guess is None else replace(made, about=_about(plan, level, moment, guess))
    per_row = moments.per_row(plan, level, moment)
    about = None if guess is None else _about(plan, level, moment, guess)
    return replace(made, least_per_row=per_row, doubtful_below=count, about=about)


def _about(plan: Plan, level: int, moment: Moment, rows: float) -> float:
    return moments.typical_half_width(plan, level, moment, rows)


def _picked(plan: Plan, level: int, picked: Picked) -> AggregateNote:
    places = [pick.value for pick in picked.picks]
    formula, notes = _named(plan, *places)
    found = [release(plan, level, place) for place in places]
    error = max(off_by(one) + aside(one) for one in found)
    if isinstance(picked.axis, Marks):
        return AggregateNote("", formula, notes, rank_error=error)
    return AggregateNote("", formula, notes, weight_error=error)


def _cells(plan: Plan, level: int, cells: Cells) -> AggregateNote:
    from jali.mechanisms.workloads.weighted_sums import Term, weighted_quantile

    formula, notes = _named(plan, cells.release)
    one = release(plan, level, cells.release)
    first = half_width(one)
    if not cells.cumulative:
        return AggregateNote("", formula, notes, first)
    last = weighted_quantile([Term(1.0, cells.axis.cells, noise_of(one).law)], CONFIDENCE) * float(cells.worth)
    return AggregateNote("", f"running sums of {formula}", notes, max(first, last), least_half_width=first)
