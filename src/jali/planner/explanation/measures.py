"""What is released with noise: counts and sums for each group, and the cells of histograms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from jali.display.numbers import show_amount
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.laws.law import Law
from jali.mechanisms.measurement import Measurement, Rival
from jali.mechanisms.planned import least_noise
from jali.planner.explanation import pages
from jali.planner.explanation.notes import Alternative, InSet, MeasureNote
from jali.planner.explanation.releases import Release, amount, note_of, release, shown
from jali.planner.explanation.words import (
    CONFIDENCE,
    listed,
    moved,
    one_row_each,
    one_table,
    person,
    plural,
    set_label,
)
from jali.planner.joint import block_of
from jali.planner.plan import Plan
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.tell import keys_alone
from jali.planner.write_expression import condition_of, factors, guard, written
from jali.privacy import Concentrated, Pure, decimal
from jali.query.aggregation import (
    Axis,
    Categories,
    CountPeople,
    CountRows,
    CountValues,
    Measure,
    SumValues,
    Weights,
)
from jali.query.nodes import Aggregate, Call, Column, Expression, Literal
from jali.query.ownership import most_changes


def measure_note(plan: Plan, place: int, width: Callable[[Release], float] | None = None) -> MeasureNote:
    """Explain one release with noise.

    Args:
        plan: The plan.
        place: Which release.
        width: What its noise stays within in each grouping set, where that is not one number's half-width.
    """
    one = release(plan, 0, place)
    measure, noise = one.measure, one.mechanism
    described = noise.describe()
    return MeasureNote(
        name=_name(plan, one),
        meaning=_meaning(plan, one),
        sensitivity=_sensitivity(one, squared=described.norm == "L2"),
        norm=described.norm,
        because=_because(plan, measure),
        mechanism=_mechanism(plan, noise),
        scale=described.scale * worth(one),
        stddev=noise.noise_law.stddev * worth(one),
        loss=_loss(plan, one),
        exact_loss=str(amount(plan, one.event)),
        share=one.share,
        half_width=half_width(one),
        where="in each group" if one.draw is None else "in each cell",
        alternatives=tuple(_alternatives(plan, one)),
        theorems=_theorems(plan, noise),
        sets=in_sets(plan, place, width or half_width),
        told=place == plan.told,
    )


def worth(one: Release) -> float:
    """Return what one integer unit of what is released is worth."""
    return float(_unit(one) / one.mechanism.multiplier)


def _unit(one: Release) -> Fraction:
    """Return what one integer unit of a measure is worth."""
    return one.part.aggregation.unit(one.measure)


def half_width(one: Release) -> float:
    """Return what the noise of a release stays within."""
    return float(one.mechanism.noise_law.quantile(CONFIDENCE)) * worth(one)


def _mechanism(plan: Plan, noise: Measurement) -> str:
    noun = noise.describe().noun
    if noise.shared is not None:
        return f"{noun} of {plural(noise.shared.dimension, 'measure')}, {_together(plan)},"
    return noun


def _together(plan: Plan) -> str:
    """Name the measures that leave together; every grouping set has the same."""
    return _listed(tuple(note_of(plan, place) + 1 for place in block_of(plan.levels[0].parts[0])))


@lru_cache(maxsize=16)
def _listed(numbers: tuple[int, ...]) -> str:
    return listed([f"[{number}]" for number in numbers])


def _loss(plan: Plan, one: Release) -> str:
    """Write the loss of a release; measures that leave together are paid for with the first of them."""
    if one.mechanism.shared is None:
        return shown(plan, one.event)
    first = min(block_of(one.part))
    if one.index == first:
        return f"{shown(plan, one.event)} for {_together(plan)} together"
    return f"nothing more, paid with [{note_of(plan, first) + 1}]"


def _theorems(plan: Plan, noise: Measurement) -> tuple[str, ...]:
    found = [*noise.describe().theorems, *pages.of_bound(plan.aggregation.weights)]
    return (*found, *([] if one_table(plan) else [pages.OWNERSHIP]))


def in_sets(plan: Plan, place: int, width: Callable[[Release], float]) -> tuple[InSet, ...]:
    """Return how one release leaves for each grouping set, where there are several."""
    if len(plan.levels) == 1:
        return ()
    return tuple(_in_set(plan, level, release(plan, level, place), width) for level in range(len(plan.levels)))


def _in_set(plan: Plan, level: int, one: Release, width: Callable[[Release], float]) -> InSet:
    groups = plan.levels[level].aggregation.groups
    return InSet(set_label(plan, level), groups, shown(plan, one.event), one.share, width(one))


# What it is.


def _name(plan: Plan, one: Release) -> str:
    return measure_name(plan, one.measure) if one.draw is None else f"COUNT(*) by {axis_name(one.draw.axis)}"


def measure_name(plan: Plan, measure: Measure) -> str:
    """Write a measure as the aggregate it is."""
    if isinstance(measure, CountPeople):
        return _filtered(Column(person(plan)), measure.present, distinct=True)
    if isinstance(measure, CountValues):
        return written(Aggregate("count", measure.value, distinct=True))
    if isinstance(measure, SumValues):
        value, condition = condition_of(measure.value)
        center = f" - {show_center(measure.center)}" if measure.center else ""
        where = "" if condition is None else f" FILTER (WHERE {written(condition)})"
        return f"SUM({written(value)}{center}){where}{_guarded(measure.value)}"
    both = () if measure.present is None else factors(measure.present)
    return f"COUNT({', '.join(both)})" if both else written(Aggregate("count", measure.present))


def _guarded(value: Expression) -> str:
    other = guard(value)
    return "" if other is None else f" where {written(other)} is not NULL"


def _filtered(value: Expression, present: Expression | None, *, distinct: bool) -> str:
    condition = None if present is None else condition_of(present)[1]
    return written(Aggregate("count", value, distinct, filter=condition))


def axis_name(axis: Axis) -> str:
    """Write what an axis is about; bins that a question writes are about their column."""
    expression = axis.keys.expression if isinstance(axis, Categories) else axis.value
    columns = _binned(expression)
    return written(expression) if columns is None else f"bins of {written(columns)}"


def _binned(expression: Expression) -> Expression | None:
    """Return the value that CASE WHEN x <= 1 THEN 0 WHEN x <= 2 THEN 1 ... puts in bins."""
    if not isinstance(expression, Call) or expression.function != "case":
        return None
    first, place = expression.arguments[0], expression.arguments[1]
    at_most = isinstance(first, Call) and first.function == "<=" and place == Literal(0)
    return first.arguments[0] if at_most and isinstance(first, Call) else None


def show_center(center: Fraction) -> str:
    """Write the middle of a range, in brackets where it is negative."""
    return decimal(center) if center >= 0 else f"({decimal(center)})"


def _meaning(plan: Plan, one: Release) -> str:
    if one.draw is not None:
        each = " of each group" if plan.keys else ""
        return f"{_weighted(plan)}number of rows in each of the {plural(one.draw.axis.cells, 'cell')}{each}"
    measure = one.measure
    if isinstance(measure, CountPeople):
        return _people(plan, measure)
    if isinstance(measure, CountValues):
        return f"number of different values of {written(measure.value)}{_kept(plan)}"
    if isinstance(measure, SumValues):
        return f"{_weighted(plan)}{_sum(measure)}"
    return f"{_weighted(plan)}number of rows{_present(measure)}"


def _kept(plan: Plan) -> str:
    weights = plan.aggregation.weights
    if weights is None:
        return ""
    return f"; each {person(plan)} keeps at most {weights.max_rows:,} of theirs, by a fixed hash, not weighed"


def _weighted(plan: Plan) -> str:
    weights = plan.aggregation.weights
    return "" if weights is None or weights.ranked else "weighted "


def _people(plan: Plan, measure: CountPeople) -> str:
    if plan.selection is not None and measure.present is None:
        return f"how many different {person(plan)} keep the group"
    spread = "" if plan.aggregation.one_group else ", spread over the groups they appear in"
    return f"how many different {person(plan)} have a row{_present(measure)}{spread}"


def _present(measure: CountRows | CountPeople) -> str:
    if measure.present is None:
        return ""
    both = factors(measure.present)
    if both:
        return f" where {' and '.join(both)} are not NULL"
    value, condition = condition_of(measure.present)
    where = [] if condition is None else [written(condition)]
    there = [] if value == Literal(1) else [f"{written(value)} is not NULL"]
    return f" where {' and '.join(where + there)}"


def _sum(measure: SumValues) -> str:
    low, high = decimal(measure.low), decimal(measure.high)
    value, condition = condition_of(measure.value)
    where = _guarded(measure.value) if condition is None else f" where {written(condition)}"
    center = f", less {decimal(measure.center)} (the middle)" if measure.center else ""
    step = "whole numbers" if measure.steps == 1 else f"multiples of 1/{measure.steps}"
    absent = "NULL and NaN count 0" + (", before the middle is taken off" if measure.missing is not None else "")
    return f"sum of {written(value)}{where} clamped to [{low}, {high}]{center}, in {step}; {absent}"


# How far a person can move it.


def _sensitivity(one: Release, *, squared: bool) -> float:
    aggregation, changes = one.part.aggregation, most_changes(one.plan.source)
    if squared:
        return math.sqrt(squared_l2_sensitivity(aggregation, one.measure, changes)) * float(_unit(one))
    return float(l1_sensitivity(aggregation, one.measure, changes) * _unit(one))


def _because(plan: Plan, measure: Measure) -> str:
    weights, who = plan.aggregation.weights, person(plan)
    if isinstance(measure, CountPeople):
        groups = 1 if weights is None or plan.aggregation.one_group else weights.max_groups
        return f"one {who} counts in at most {plural(groups, 'group')}{moved(plan)}"
    if isinstance(measure, CountValues):
        kept = 1 if weights is None else weights.max_rows
        return f"one {who} keeps at most {plural(kept, 'value')}{moved(plan)}"
    each = f" of at most {show_amount(largest(measure))} each" if isinstance(measure, SumValues) else ""
    rows = plural(1 if weights is None else weights.max_rows, "row")
    return (f"{rows}{each}" if weights is None else f"one {who}: {rows}{each}") + moved(plan)


def largest(measure: SumValues) -> float:
    """Return the largest value that a row adds, from the middle."""
    return float(max(abs(measure.least), abs(measure.most)) / measure.steps)


# What else there was.


def _alternatives(plan: Plan, one: Release) -> list[Alternative]:
    noise, measure = one.mechanism, one.measure
    counts = None if plan.selection is None else plan.selection.counts
    if noise.prepaid and counts is not None:
        return [_apart(plan, one, counts)]
    found = [_rival(one, rival) for rival in noise.rivals(one.reach)]
    weights = plan.aggregation.weights
    if weights is not None and not one_row_each(plan) and isinstance(measure, CountRows | SumValues):
        found.append(_bounded_otherwise(one, weights))
    if weights is not None and weights.norm == "l2":
        found.append(_by_number(one, noise, weights))
    if isinstance(measure, SumValues) and measure.center and measure.missing is None and largest(measure):
        found.append(_without_centre(one, measure))
    return found


def _bounded_otherwise(one: Release, weights: Weights) -> Alternative:
    """Return what weights in place of ranks would have given, or a sample in place of weights."""
    if weights.ranked:
        outcome = "the same noise and no error from the sample, for some ten times the work"
        return Alternative("weights over the copy", outcome, half_width(one), _rms(one, one.mechanism.noise_law))
    outcome = "the same noise, plus an error of its own from the draw, and a sort of the table"
    name = f"sampling {plural(weights.max_rows, 'row')} a person"
    return Alternative(name, outcome, half_width(one), _rms(one, one.mechanism.noise_law))


def _by_number(one: Release, noise: Measurement, weights: Weights) -> Alternative:
    """Return what weights by the number of all rows would have given: the noise, and what they keep."""
    groups = one.part.aggregation.groups
    law = least_noise(one.reach.by_number, noise.loss).law
    width = law.quantile(CONFIDENCE) * worth(one)
    kept = [min(float(groups), weights.max_rows * times) for times in (1.0, math.sqrt(groups))]
    outcome = f"± {show_amount(width)}; of one row in each of {groups:,} groups they keep {show_amount(kept[0])}"
    return Alternative(
        "weights by the number of rows", f"{outcome}, not {show_amount(kept[1])}", width, _rms(one, law)
    )


def _apart(plan: Plan, one: Release, counts: NoisyCounts) -> Alternative:
    """Return what half of the loss for the groups and half for the count would have given."""
    weights, changes = plan.aggregation.weights, most_changes(plan.source)
    event = counts.loss_of_counts.event
    half = Concentrated(event.rho / 2) if event.epsilon is None else Pure(event.epsilon / 2)
    likely = keys_alone(half, counts.delta, weights, changes, counts.least_people).error(CONFIDENCE)
    law = least_noise(one.reach, half).law
    width = law.quantile(CONFIDENCE) * worth(one)
    outcome = f"± {show_amount(width)}, and a group of {likely:,} people"
    name = "groups chosen apart, half for each"
    return Alternative(name, f"{outcome} appears with 95 %", width, _rms(one, law))


def _rival(one: Release, rival: Rival) -> Alternative:
    """Say what another noise would have given, in units of the measure, and on which terms."""
    unit, parts = float(_unit(one)), rival.parts
    width, event = rival.law.quantile(CONFIDENCE) * unit, rival.loss.event
    stddev, outcome = rival.law.stddev * unit, f"± {show_amount(width)}"
    if event.epsilon is None:
        rho, ask = (
            f"rho = epsilon²/2 = {decimal(event.rho)}",
            "but no pure epsilon: ask with rho for it, on a budget",
        )
        if parts > 1:
            outcome += f", {ask} with a delta"
            return Alternative(f"{rival.noun}, 1/{parts} of {rho} each", outcome, width, stddev)
        return Alternative(rival.noun, f"{outcome} at {rho}, {ask} with a delta", width, stddev)
    if parts > 1:
        return Alternative(f"{rival.noun}, 1/{parts} of the loss each", outcome, width, stddev)
    outcome += f" at epsilon = sqrt(2 rho) = {show_amount(float(event.epsilon))}, the same rho"
    return Alternative(rival.noun, outcome, width, stddev)


def _without_centre(one: Release, measure: SumValues) -> Alternative:
    factor = float(max(abs(measure.low), abs(measure.high))) / largest(measure)
    width = half_width(one) * factor
    outcome = f"± {show_amount(width)}, {factor:.2g} times the noise"
    return Alternative("values not centred", outcome, width, factor * _rms(one, one.mechanism.noise_law))


def _rms(one: Release, law: Law) -> float:
    """Return the standard deviation of a noise, in units of the measure."""
    return law.stddev * worth(one)
