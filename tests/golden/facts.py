"""The facts of a plan that a reader who knows no Python should check, in the units of the question."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

from jali.catalog.tables import Public, Table
from jali.ir.aggregates import Aggregation, CellAxis, CountPeople, CountRows, CountValues, KeySet, Marks, Measure
from jali.ir.estimators import AnyEstimate, Cells, LinearCombination, Moment, Picked, PickedCell, RatioEstimate
from jali.ir.expressions import Column, Expression
from jali.ir.ownership import changes, most_changes, own
from jali.ir.relations import Belonging, Capped, Compute, Keep, Match, Pair, Relation, Scan, Stack, Summary
from jali.mechanisms import Gaussian, GaussianThreshold, Laplace, LaplaceThreshold
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.measurement import NoiseMeasurement
from jali.mechanisms.measurement import PickMeasurement as Choice
from jali.mechanisms.partition_selection.thresholded_counts import ThresholdedCounts
from jali.mechanisms.quantiles.weighted_quantile import PermutedWeightedQuantile, WeightedQuantile
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.workloads.cell_strategies import MeasuredCells, TreeOfCells
from jali.planner import Plan
from jali.planner.measured_query import AxisRelease, GroupingSet, MeasuredQuery
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.sql.printer import show_aggregate, show_expression, show_value

_SHOWN_KEYS = 12


def facts(plan: Plan) -> str:
    """Write whose rows are read, what is released of them, and what it costs."""
    lines = [_table(plan, table) for table in plan.read]
    lines += [f"rows     {line}" for line in _relation(plan.source)]
    lines.append(f"bound    {_bound(plan.aggregation)}")
    lines += [f"keys     {_keys(plan, key)}" for key in plan.keys]
    if plan.selection is not None:
        lines.append(f"choice   {_selection(plan)}")
    for level in plan.levels:
        lines += _level(plan, level)
    for number, (aggregate, estimate) in enumerate(plan.estimates, 1):
        lines.append(f"value {number}  {show_aggregate(aggregate)} = {_estimate(estimate)}")
    lines.append(f"cost     {plan.cost}")
    return "\n".join(lines)


# Whose rows.


def _table(plan: Plan, table: Table | Public) -> str:
    if isinstance(table, Public):
        return f"public   {table.name}"
    moved, cost = changes(plan.source, table), dict(plan.costs)[table.name]
    vectors = "1 vector" if moved == 1 else f"{moved} vectors"
    return f"table    {table.name}: {_owner(table)}; {table.adjacency.value}; a change moves {vectors}; {cost}"


def _owner(table: Table) -> str:
    if table.reach is not None:
        reach = table.reach
        return f"{table.owner} through {reach.table.name} ({reach.here} = {reach.there})"
    return "each row is a person" if table.unit is None else table.unit


def _bound(aggregation: Aggregation) -> str:
    weights = aggregation.weights
    if weights is None:
        return "every row counts 1"
    groups = "1 group" if weights.max_groups == 1 else f"{weights.max_groups} groups"
    rows = "1 row" if weights.max_rows == 1 else f"{weights.max_rows} rows"
    length = " by the L2 norm over the groups" if weights.norm == "l2" else ""
    return f"a person counts for at most {rows}{length}, and as a person in at most {groups}"


def _relation(relation: Relation, indent: str = "") -> Iterator[str]:
    """Write a relation as a tree; how owners are equated stands at each join."""
    yield indent + _node(relation)
    inner = indent + "  "
    if isinstance(relation, Pair):
        yield from _relation(relation.left, inner)
        yield from _relation(relation.right, inner)
    elif isinstance(relation, Match):
        yield from _relation(relation.source, inner)
        yield from _relation(relation.other, inner)
    elif isinstance(relation, Stack):
        for part in relation.parts:
            yield from _relation(part, inner)
    elif not isinstance(relation, Scan):
        yield from _relation(relation.source, inner)


def _node(relation: Relation) -> str:
    if isinstance(relation, Scan):
        return f"all of {relation.table.name}" + (f" as {relation.prefix[:-1]}" if relation.prefix else "")
    if isinstance(relation, Keep):
        return f"where {show_expression(relation.condition)}"
    if isinstance(relation, Pair):
        return f"{relation.kind} join, {_together(relation.left, relation.right)}{_on(relation.condition)}"
    if isinstance(relation, Match):
        flag = "rows that have" if relation.flag is None else f"{relation.flag.name} says whether there is"
        return f"{flag} a partner, {_together(relation.source, relation.other)}{_on(relation.condition)}"
    if isinstance(relation, Stack):
        return f"one below the other as {', '.join(field.name for field in relation.fields)}"
    if isinstance(relation, Compute):
        columns = (f"{c.field.name} = {show_expression(c.expression)}" for c in relation.columns)
        return f"columns {', '.join(columns)}"
    if isinstance(relation, Capped):
        return f"at most {relation.rows} rows of each owner"
    if isinstance(relation, Belonging):
        part = f"{show_expression(relation.expression)} = {relation.values[relation.place]}"
        return f"of the owners who belong to {part}, one of {len(relation.values)} parts"
    keys = ", ".join(f"{key.field.name} = {show_expression(key.expression)}" for key in relation.keys)
    each = "" if own(relation).public else "owner and "
    return f"one row per {each}{keys}" + "".join(f"; {_summary(summary)}" for summary in relation.summaries)


def _summary(summary: Summary) -> str:
    argument = "*" if summary.argument is None else show_expression(summary.argument)
    distinct = "DISTINCT " if summary.distinct else ""
    low, high = summary.field.bounds.low, summary.field.bounds.high
    ends = "" if low is None or high is None else f" in [{_number(low)}, {_number(high)}]"
    return f"{summary.field.name} = {summary.function.upper()}({distinct}{argument}){ends}"


def _together(left: Relation, right: Relation) -> str:
    return "with public rows" if own(left).public or own(right).public else "within each owner"


def _on(condition: Expression | None) -> str:
    return "" if condition is None else f", on {show_expression(condition)}"


# Groups.


def _keys(plan: Plan, key: KeySet) -> str:
    shown = show_expression(key.expression)
    if key.values is None:
        return f"{shown}: chosen"
    field = plan.source.field(key.expression.name) if isinstance(key.expression, Column) else None
    known = "declared" if field is not None and field.keys is not None else "enumerated"
    values = ", ".join(v if isinstance(v, str) else show_value(v).strip("'") for v in key.values[:_SHOWN_KEYS])
    more = ", ..." if len(key.values) > _SHOWN_KEYS else ""
    return f"{shown}: {len(key.values)} {known}: {values}{more}"


def _selection(plan: Plan) -> str:
    choice = plan.selection
    assert choice is not None
    least = f"; never below {choice.least_people} people" if choice.least_people > 1 else ""
    return (
        f"groups by their people, at most {choice.max_keys} for a person, {choice.adjacency.value}{least};"
        f" {choice.loss.event}; one of {choice.error(0.95)} people is shown with 95 %"
    )


def _level(plan: Plan, level: GroupingSet) -> Iterator[str]:
    names = ", ".join(show_expression(plan.keys[place].expression) for place in level.places)
    count = level.aggregation.groups
    groups = "1 group" if count == 1 else f"{count} groups"
    groups = "groups that are chosen" if plan.selection is not None else groups
    if plan.question.sets is not None or level.places:
        yield f"by       ({names}): {groups}"
    for number, (part, index) in enumerate(level.releases):
        yield f"[{number}]      {_release(plan, part, index)}"


# Releases.


def _coin(mechanism: ThresholdedCounts) -> str:
    return f", or {float(mechanism.coin):.4f} of those one below" if mechanism.coin else ""


def _release(plan: Plan, part: MeasuredQuery, index: int) -> str:
    mechanism = part.mechanisms[index]
    if isinstance(mechanism, Laplace | Gaussian):
        measure = CountRows() if part.draws else part.aggregation.measures[index]
        what = f"cells of {_axis(part.draws[index].axis)}" if part.draws else _described(measure)
        return f"{what}; {_noise(plan, part.aggregation, measure, mechanism)}"
    if isinstance(mechanism, JointNoiseCoordinate):
        return f"{_described(part.aggregation.measures[index])}; {_joint(plan, part, index, mechanism)}"
    if isinstance(mechanism, ThresholdedCounts):
        described = _described(part.aggregation.measures[index])
        least = f"{mechanism.threshold}{_coin(mechanism)}"
        return f"{described}; told with the groups, if at least {least}; {_law(mechanism)}"
    if isinstance(mechanism, MeasuredCells):
        return f"{_measured(part.draws[index], mechanism)}; {mechanism.loss.event}"
    assert isinstance(mechanism, Choice)
    return f"{_drawn(part.draws[index], mechanism)}; {mechanism.loss.event}"


def _law(mechanism: ThresholdedCounts) -> str:
    if isinstance(mechanism, LaplaceThreshold):
        return f"Laplace, scale {_number(mechanism.scale)}"
    assert isinstance(mechanism, GaussianThreshold)
    return f"Gaussian, sigma {_root(mechanism.variance)}"


def _joint(plan: Plan, part: MeasuredQuery, index: int, mechanism: JointNoiseCoordinate) -> str:
    measure = part.aggregation.measures[index]
    worth, joint = part.aggregation.unit(measure), mechanism.joint
    reach = _number(l1_sensitivity(part.aggregation, measure, most_changes(plan.source)) * worth)
    noise = f"joint noise of {joint.dimension}, scale {_number(joint.scale * worth / mechanism.times)}"
    return f"one integer is {worth}, {mechanism.times} times; moves by L1 {reach}; {noise}; {joint.loss.event}"


def _noise(plan: Plan, aggregation: Aggregation, measure: Measure, mechanism: NoiseMeasurement) -> str:
    worth, moved = aggregation.unit(measure), most_changes(plan.source)
    if isinstance(mechanism, Laplace):
        reach = f"L1 {_number(l1_sensitivity(aggregation, measure, moved) * worth)}"
        noise = f"Laplace, scale {_number(mechanism.scale * worth)}"
    else:
        assert isinstance(mechanism, Gaussian)
        reach = f"L2 {_root(squared_l2_sensitivity(aggregation, measure, moved) * worth**2)}"
        noise = f"Gaussian, sigma {_root(mechanism.variance * worth**2)}"
    return f"one integer is {worth}; moves by {reach}; {noise}; {mechanism.loss.event}"


def _described(measure: Measure) -> str:
    if isinstance(measure, CountPeople):
        return "people" if measure.present is None else f"people with {show_expression(measure.present)}"
    if isinstance(measure, CountValues):
        return f"different values of {show_expression(measure.value)}"
    if isinstance(measure, CountRows):
        return "rows" if measure.present is None else f"rows with {show_expression(measure.present)}"
    centre = f", less {_number(measure.center)}" if measure.center else ""
    ends = f"[{_number(measure.low)}, {_number(measure.high)}]"
    return f"sum of {show_expression(measure.value)} in {ends}{centre}"


def _axis(axis: CellAxis) -> str:
    if isinstance(axis, Marks):
        step, low = _number(axis.step), _number(axis.low)
        return f"{show_expression(axis.value)}, {axis.cells} marks from {low} by {step}"
    return f"{show_expression(axis.keys.expression)}, {axis.cells} values"


def _measured(draw: AxisRelease, mechanism: MeasuredCells) -> str:
    strategy, noise = mechanism.strategy, mechanism.noise
    assert isinstance(noise, Laplace | Gaussian)
    what = f"tree {strategy.fanouts}" if isinstance(strategy, TreeOfCells) else "square root of summing"
    size = noise.scale if isinstance(noise, Laplace) else noise.variance
    law = f"Laplace, scale {size}" if isinstance(noise, Laplace) else f"Gaussian, variance {size}"
    return f"{what} over {_axis(draw.axis)}; {law}"


def _drawn(draw: AxisRelease, mechanism: Choice) -> str:
    law = "permute-and-flip" if isinstance(mechanism, PermutedWeightedQuantile | PermuteAndFlip) else "exponential"
    if isinstance(mechanism, WeightedQuantile):
        end = {-1: "low end of the interval of ", 0: "", 1: "high end of the interval of "}[draw.end]
        ranks = f"ranks move by {_number(mechanism.sensitivity / mechanism.window)} rows"
        return f"{end}quantile {draw.at} of {_axis(draw.axis)}; {ranks}; {law}"
    picks = "the heaviest" if draw.picks == 1 else f"the {draw.picks} heaviest, one after the other,"
    each = "" if draw.picks == 1 else " for each pick"
    return f"{picks} of {_axis(draw.axis)}; weights move by {mechanism.sensitivity} units; {law}{each}"


# Values.


def _estimate(estimate: AnyEstimate) -> str:
    if isinstance(estimate, RatioEstimate):
        return _ratio(estimate)
    if isinstance(estimate, Moment):
        sums = "; ".join(f"{name} = {_linear(form)}" for name, form in estimate.sums)
        centre = f"x less {_number(estimate.x.center)}"
        return f"from {sums}, {centre}" + ("" if estimate.y is None else f", y less {_number(estimate.y.center)}")
    if isinstance(estimate, Picked):
        return ", ".join(_pick(pick) for pick in estimate.picks)
    assert isinstance(estimate, Cells)
    running = "running sums of " if estimate.cumulative else ""
    return f"{running}{estimate.worth} x [{estimate.release}] for {', '.join(_label(v) for v in estimate.labels)}"


def _label(value: object) -> str:
    return _number(value) if isinstance(value, Fraction) else str(value)


def _pick(pick: PickedCell) -> str:
    ends = ["the end of the range" if end is None else f"[{end}]" for end in (pick.low, pick.high)]
    return f"[{pick.value}]" + ("" if pick.low is pick.high is None else f" from {ends[0]} to {ends[1]}")


def _ratio(estimate: RatioEstimate) -> str:
    above = _linear(estimate.numerator)
    if estimate.denominator is None:
        return above
    low, high = estimate.bounds.low, estimate.bounds.high
    ends = "" if low is None or high is None else f", kept in [{_number(low)}, {_number(high)}]"
    return f"({above}) / ({_linear(estimate.denominator)}){ends}"


def _linear(form: LinearCombination) -> str:
    parts = [f"[{index}]" if c == 1 else f"{_number(c)} x [{index}]" for index, c in form.terms]
    return " + ".join(parts + ([str(form.constant)] if form.constant else []))


def _number(value: Fraction) -> str:
    short = value.denominator < 10**7 or value.numerator == 1
    return str(value) if short else f"about {float(value):.10g}"


def _root(squared: Fraction) -> str:
    above, below = isqrt(squared.numerator), isqrt(squared.denominator)
    exact = above**2 == squared.numerator and below**2 == squared.denominator
    return _number(Fraction(above, below)) if exact else f"sqrt({_number(squared)})"
