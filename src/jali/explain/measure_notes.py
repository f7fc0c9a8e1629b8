"""What is released with noise: counts and sums for each group, and the cells of histograms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from jali.display.numbers import show_amount
from jali.explain import proof_pages
from jali.explain.notes import AlternativeNote, InSet, MeasureNote
from jali.explain.planned_releases import PlannedRelease, amount, note_of, release, write_loss
from jali.explain.vocabulary import CONFIDENCE, name_unit, one_table, plural, set_label, show_changes
from jali.ir.aggregates import (
    Categories,
    CellAxis,
    CountPeople,
    CountRows,
    CountValues,
    Measure,
    SumValues,
    Weights,
)
from jali.ir.expressions import Aggregate, Call, Column, Expression, Literal
from jali.ir.ownership import most_changes
from jali.mechanisms.additive.noise_laws import NoiseLaw
from jali.mechanisms.measurement import AlternativeMeasurement, Measurement
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.planner_registry import choose_least_noise
from jali.planner.answer_notes import is_made_one_row
from jali.planner.joint_noise import find_block
from jali.planner.original_expression import factors, find_guard, join_words, split_filter, write_original
from jali.planner.partition_selection import select_without_count
from jali.planner.plan import Plan
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.terms import scale_loss
from jali.privacy import decimal


def measure_note(plan: Plan, place: int, width: Callable[[PlannedRelease], float] | None = None) -> MeasureNote:
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
        scale=described.scale * find_unit(one),
        stddev=noise.noise_law.stddev * find_unit(one),
        loss=_loss(plan, one),
        exact_loss=str(amount(plan, one.event)),
        share=one.share,
        half_width=half_width(one),
        where="in each group" if one.draw is None else "in each cell",
        alternatives=tuple(_alternatives(plan, one)),
        theorems=_theorems(plan, noise),
        sets=in_sets(plan, place, width or half_width),
        told=place == plan.selection_count,
    )


def find_unit(one: PlannedRelease) -> float:
    """Return what one integer unit of what is released is worth."""
    return float(_unit(one) / one.mechanism.multiplier)


def _unit(one: PlannedRelease) -> Fraction:
    """Return what one integer unit of a measure is worth."""
    return one.part.aggregation.unit(one.measure)


def half_width(one: PlannedRelease) -> float:
    """Return what the noise of a release stays within."""
    return float(one.mechanism.noise_law.quantile(CONFIDENCE)) * find_unit(one)


def _mechanism(plan: Plan, noise: Measurement) -> str:
    noun = noise.describe().noun
    if noise.joint_mechanism is not None:
        return f"{noun} of {plural(noise.joint_mechanism.dimension, 'measure')}, {_together(plan)},"
    return noun


def _together(plan: Plan) -> str:
    """Name the measures that leave together; every grouping set has the same."""
    return _write_numbers(tuple(note_of(plan, place) + 1 for place in find_block(plan.levels[0].parts[0])))


@lru_cache(maxsize=16)
def _write_numbers(numbers: tuple[int, ...]) -> str:
    return join_words([f"[{number}]" for number in numbers])


def _loss(plan: Plan, one: PlannedRelease) -> str:
    """Write the loss of a release; measures that leave together are paid for with the first of them."""
    if one.mechanism.joint_mechanism is None:
        return write_loss(plan, one.event)
    first = min(find_block(one.part))
    if one.index == first:
        return f"{write_loss(plan, one.event)} for {_together(plan)} together"
    return f"included in that of [{note_of(plan, first) + 1}]"


def _theorems(plan: Plan, noise: Measurement) -> tuple[str, ...]:
    found = [*noise.describe().theorems, *proof_pages.of_bound(plan.aggregation.weights)]
    return (*found, *([] if one_table(plan) else [proof_pages.OWNERSHIP]))


def in_sets(plan: Plan, place: int, width: Callable[[PlannedRelease], float]) -> tuple[InSet, ...]:
    """Return how one release leaves for each grouping set, where there are several."""
    if len(plan.levels) == 1:
        return ()
    return tuple(_in_set(plan, level, release(plan, level, place), width) for level in range(len(plan.levels)))


def _in_set(plan: Plan, level: int, one: PlannedRelease, width: Callable[[PlannedRelease], float]) -> InSet:
    groups = plan.levels[level].aggregation.groups
    return InSet(set_label(plan, level), groups, write_loss(plan, one.event), one.share, width(one))


# What it is.


def _name(plan: Plan, one: PlannedRelease) -> str:
    return measure_name(plan, one.measure) if one.draw is None else f"COUNT(*) by {axis_name(one.draw.axis)}"


def measure_name(plan: Plan, measure: Measure) -> str:
    """Write a measure as the aggregate it is."""
    if isinstance(measure, CountPeople):
        return _write_filtered_count(Column(name_unit(plan)), measure.present, distinct=True)
    if isinstance(measure, CountValues):
        return write_original(Aggregate("count", measure.value, distinct=True))
    if isinstance(measure, SumValues):
        value, condition = split_filter(measure.value)
        center = f" - {show_center(measure.center)}" if measure.center else ""
        where = "" if condition is None else f" FILTER (WHERE {write_original(condition)})"
        return f"SUM({write_original(value)}{center}){where}{_write_guard(measure.value)}"
    both = () if measure.present is None else factors(measure.present)
    return f"COUNT({', '.join(both)})" if both else write_original(Aggregate("count", measure.present))


def _write_guard(value: Expression) -> str:
    other = find_guard(value)
    return "" if other is None else f" where {write_original(other)} is not NULL"


def _write_filtered_count(value: Expression, present: Expression | None, *, distinct: bool) -> str:
    condition = None if present is None else split_filter(present)[1]
    return write_original(Aggregate("count", value, distinct, filter=condition))


def axis_name(axis: CellAxis) -> str:
    """Write what an axis is about; bins that a question writes are about their column."""
    expression = axis.keys.expression if isinstance(axis, Categories) else axis.value
    columns = _find_binned_value(expression)
    return write_original(expression) if columns is None else f"bins of {write_original(columns)}"


def _find_binned_value(expression: Expression) -> Expression | None:
    """Return the value that CASE WHEN x <= 1 THEN 0 WHEN x <= 2 THEN 1 ... puts in bins."""
    if not isinstance(expression, Call) or expression.function != "case":
        return None
    first, place = expression.arguments[0], expression.arguments[1]
    at_most = isinstance(first, Call) and first.function == "<=" and place == Literal(0)
    return first.arguments[0] if at_most and isinstance(first, Call) else None


def show_center(center: Fraction) -> str:
    """Write the middle of a range, in brackets where it is negative."""
    return decimal(center) if center >= 0 else f"({decimal(center)})"


def _meaning(plan: Plan, one: PlannedRelease) -> str:
    if one.draw is not None:
        each = " of each group" if plan.keys else ""
        return f"{_show_weights(plan)}number of rows in each of the {plural(one.draw.axis.cells, 'cell')}{each}"
    measure = one.measure
    if isinstance(measure, CountPeople):
        return _people(plan, measure)
    if isinstance(measure, CountValues):
        return f"number of distinct values of {write_original(measure.value)}{_describe_selection(plan)}"
    if isinstance(measure, SumValues):
        return f"{_show_weights(plan)}{_sum(measure)}"
    return f"{_show_weights(plan)}number of rows{_present(measure)}"


def _describe_selection(plan: Plan) -> str:
    weights = plan.aggregation.weights
    if weights is None:
        return ""
    return f"; each {name_unit(plan)} contributes at most {weights.max_rows:,}, selected by a fixed hash"


def _show_weights(plan: Plan) -> str:
    weights = plan.aggregation.weights
    return "" if weights is None or weights.by_rank else "weighted "


def _people(plan: Plan, measure: CountPeople) -> str:
    if plan.selection is not None and measure.present is None:
        return f"number of distinct {name_unit(plan)} that keep the group"
    spread = "" if plan.aggregation.one_group else ", each weighted over its groups"
    return f"number of distinct {name_unit(plan)} with a row{_present(measure)}{spread}"


def _present(measure: CountRows | CountPeople) -> str:
    if measure.present is None:
        return ""
    both = factors(measure.present)
    if both:
        return f" where {' and '.join(both)} are not NULL"
    value, condition = split_filter(measure.present)
    where = [] if condition is None else [write_original(condition)]
    there = [] if value == Literal(1) else [f"{write_original(value)} is not NULL"]
    return f" where {' and '.join(where + there)}"


def _sum(measure: SumValues) -> str:
    low, high = decimal(measure.low), decimal(measure.high)
    value, condition = split_filter(measure.value)
    where = _write_guard(measure.value) if condition is None else f" where {write_original(condition)}"
    center = f", minus {decimal(measure.center)} (the middle)" if measure.center else ""
    step = "whole numbers" if measure.steps == 1 else f"multiples of 1/{measure.steps}"
    absent = "NULL and NaN count as 0"
    absent += "" if measure.missing is None else ", before the middle is subtracted"
    return f"sum of {write_original(value)}{where} clamped to [{low}, {high}]{center}, in {step}; {absent}"


# How far a person can move it.


def _sensitivity(one: PlannedRelease, *, squared: bool) -> float:
    aggregation, changes = one.part.aggregation, most_changes(one.plan.source)
    if squared:
        return math.sqrt(squared_l2_sensitivity(aggregation, one.measure, changes)) * float(_unit(one))
    return float(l1_sensitivity(aggregation, one.measure, changes) * _unit(one))


def _because(plan: Plan, measure: Measure) -> str:
    weights, who = plan.aggregation.weights, name_unit(plan)
    if isinstance(measure, CountPeople):
        groups = 1 if weights is None or plan.aggregation.one_group else weights.max_groups
        return f"one {who} contributes to at most {plural(groups, 'group')}{show_changes(plan)}"
    if isinstance(measure, CountValues):
        kept = 1 if weights is None else weights.max_rows
        return f"one {who} contributes at most {plural(kept, 'value')}{show_changes(plan)}"
    each = f" of at most {show_amount(largest(measure))} each" if isinstance(measure, SumValues) else ""
    rows = plural(1 if weights is None else weights.max_rows, "row")
    return (f"{rows}{each}" if weights is None else f"one {who}: {rows}{each}") + show_changes(plan)


def largest(measure: SumValues) -> float:
    """Return the largest value that a row adds, from the middle."""
    return float(max(abs(measure.least), abs(measure.most)) / measure.steps)


# What else there was.


def _alternatives(plan: Plan, one: PlannedRelease) -> list[AlternativeNote]:
    noise, measure = one.mechanism, one.measure
    counts = None if plan.selection is None else plan.selection.counts
    if noise.prepaid and counts is not None:
        return [_apart(plan, one, counts)]
    found = [_rival(one, rival) for rival in noise.list_alternatives(one.reach)]
    weights = plan.aggregation.weights
    if weights is not None and not is_made_one_row(plan.source) and isinstance(measure, CountRows | SumValues):
        found.append(_compare_bounds(one, weights))
    if weights is not None and weights.norm == "l2":
        found.append(_by_number(one, noise, weights))
    if isinstance(measure, SumValues) and measure.center and measure.missing is None and largest(measure):
        found.append(_without_centre(one, measure))
    return found


def _compare_bounds(one: PlannedRelease, weights: Weights) -> AlternativeNote:
    """Return what weights in place of ranks would have given, or a sample in place of weights."""
    if weights.by_rank:
        outcome = "the same noise and no sampling error, at about ten times the work"
        return AlternativeNote(
            "weights over the copy", outcome, half_width(one), _rms(one, one.mechanism.noise_law)
        )
    outcome = "the same noise plus sampling error, and the table must be sorted"
    name = f"sampling {plural(weights.max_rows, 'row')} per person"
    return AlternativeNote(name, outcome, half_width(one), _rms(one, one.mechanism.noise_law))


def _by_number(one: PlannedRelease, noise: Measurement, weights: Weights) -> AlternativeNote:
    """Return what weights by the number of all rows would have given: the noise, and what they keep."""
    groups = one.part.aggregation.groups
    law = choose_least_noise(one.reach.by_number, noise.loss).law
    width = law.quantile(CONFIDENCE) * find_unit(one)
    kept = [min(float(groups), weights.max_rows * times) for times in (1.0, math.sqrt(groups))]
    outcome = f"± {show_amount(width)}; of one row in each of {groups:,} groups, they keep {show_amount(kept[0])}"
    return AlternativeNote(
        "weights by the number of rows", f"{outcome} instead of {show_amount(kept[1])}", width, _rms(one, law)
    )


def _apart(plan: Plan, one: PlannedRelease, counts: ThresholdedCounts) -> AlternativeNote:
    """Return what half of the loss for the groups and half for the count would have given."""
    weights, changes = plan.aggregation.weights, most_changes(plan.source)
    half = scale_loss(counts.loss_of_counts, Fraction(1, 2))
    likely = select_without_count(half, counts.delta, weights, changes, counts.least_people).error(CONFIDENCE)
    law = choose_least_noise(one.reach, half).law
    width = law.quantile(CONFIDENCE) * find_unit(one)
    outcome = f"± {show_amount(width)}, and a group of {likely:,} people"
    name = "groups selected separately, half of the loss each"
    return AlternativeNote(name, f"{outcome} is released with probability 95 %", width, _rms(one, law))


def _rival(one: PlannedRelease, rival: AlternativeMeasurement) -> AlternativeNote:
    """Say what another noise would have given, in units of the measure, and on which terms."""
    unit, parts = float(_unit(one)), rival.parts
    width, event = rival.law.quantile(CONFIDENCE) * unit, rival.loss.event
    stddev, outcome = rival.law.stddev * unit, f"± {show_amount(width)}"
    if event.epsilon is None:
        rho, ask = (
            f"rho = epsilon²/2 = {decimal(event.rho)}",
            "but not pure epsilon: ask with rho, on a budget",
        )
        if parts > 1:
            outcome += f", {ask} with a delta"
            return AlternativeNote(f"{rival.noun}, 1/{parts} of {rho} each", outcome, width, stddev)
        return AlternativeNote(rival.noun, f"{outcome} at {rho}, {ask} with a delta", width, stddev)
    if parts > 1:
        return AlternativeNote(f"{rival.noun}, 1/{parts} of the loss each", outcome, width, stddev)
    outcome += f" at epsilon = sqrt(2 rho) = {show_amount(float(event.epsilon))}, the same rho"
    return AlternativeNote(rival.noun, outcome, width, stddev)


def _without_centre(one: PlannedRelease, measure: SumValues) -> AlternativeNote:
    factor = float(max(abs(measure.low), abs(measure.high))) / largest(measure)
    width = half_width(one) * factor
    outcome = f"± {show_amount(width)}, {factor:.2g} times the noise"
    return AlternativeNote("values not centred", outcome, width, factor * _rms(one, one.mechanism.noise_law))


def _rms(one: PlannedRelease, law: NoiseLaw) -> float:
    """Return the standard deviation of a noise, in units of the measure."""
    return law.stddev * find_unit(one)
