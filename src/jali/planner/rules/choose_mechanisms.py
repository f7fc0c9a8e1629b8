"""Rule: choose a mechanism for each release: discrete noise for integers, exact selection for cells."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from jali.errors import MechanismError, QueryError
from jali.ir.aggregates import Aggregation, CellAxis, CountRows, Marks, Measure
from jali.ir.estimators import BOUGHT, Cells
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.measurement import Measurement, NoiseMeasurement, PickMeasurement
from jali.mechanisms.partition_selection.group_selection import GroupSelection
from jali.mechanisms.planner_registry import HEAVIEST, QUANTILES, choose_least_noise
from jali.mechanisms.quantiles.weighted_quantile import end_offset
from jali.planner.cdf_strategies import build_measured_cells, list_cdf_strategies
from jali.planner.draft import Draft
from jali.planner.joint_noise import build_coordinates, choose_multipliers
from jali.planner.measured_query import AxisRelease, GroupingSet, MeasuredQuery
from jali.planner.partition_selection import select_with_count, select_without_count
from jali.planner.query_sensitivity import CellFacts, QuerySensitivity, l1_sensitivity
from jali.planner.terms import CONFIDENCE, scale_loss
from jali.privacy import Loss


def choose_mechanisms(draft: Draft) -> Draft:
    """Calibrate one mechanism per release to its sensitivity and share of the loss."""
    try:
        selection = _selection(draft) if draft.selecting else None
        draft = replace(draft, selection=selection)
        levels = tuple(
            _level(draft, places, share) for places, share in zip(draft.sets, draft.set_shares, strict=True)
        )
    except MechanismError:
        large = (draft.terms.loss.event.epsilon or draft.terms.loss.event.rho) > 1
        raise QueryError("loss-beyond-noise", event=str(draft.terms.loss.event), large=bool(large)) from None
    return replace(draft, levels=levels)


def _level(draft: Draft, places: tuple[int, ...], set_share: Fraction) -> GroupingSet:
    total = set_share * (1 - draft.selection_share)
    losses = [scale_loss(draft.terms.loss, total * share) for share in draft.shares]
    base = draft.aggregation(places)
    parts = [MeasuredQuery(base, _choose_measure_noise(draft, base, losses))]
    axes = dict.fromkeys(draw.axis for draw in draft.draws)
    parts += [_axis_part(draft, base, axis, losses[len(draft.measures) :], draft.changes) for axis in axes]
    # A level without measures still tells which groups there are, where they are selected.
    return GroupingSet(places, tuple(part for part in parts if part.mechanisms or draft.selecting))


def _choose_measure_noise(draft: Draft, base: Aggregation, losses: list[Loss]) -> tuple[Measurement, ...]:
    """Return the noise of each measure; that of a count which is told with its group is the selection's."""
    found: dict[int, Measurement] = {**_choose_joint_noise(draft, base, losses)}
    counts = None if draft.selection is None else draft.selection.counts
    if draft.selection_count is not None and counts is not None:
        found[draft.selection_count] = counts
    return tuple(
        found[i] if i in found else choose_noise(base, measure, losses[i], draft.changes)
        for i, measure in enumerate(draft.measures)
    )


def _choose_joint_noise(draft: Draft, base: Aggregation, losses: list[Loss]) -> dict[int, JointNoiseCoordinate]:
    """Return the noise of the measures that leave together, for the sum of their losses."""
    if not draft.together:
        return {}
    epsilon = sum((losses[place].event.epsilon or Fraction(0) for place in draft.together), Fraction(0))
    reaches = [l1_sensitivity(base, base.measures[place], draft.changes) for place in draft.together]
    times = dict(zip(draft.together, choose_multipliers(reaches, epsilon), strict=True))
    return build_coordinates(base, times, epsilon, draft.changes)


def _axis_part(draft: Draft, base: Aggregation, axis: CellAxis, losses: list[Loss], changes: int) -> MeasuredQuery:
    aggregation = replace(base, measures=(CountRows(),), along=axis)
    pairs = zip(draft.draws, losses, strict=True)
    mine = [(_running(draft, draw), loss) for draw, loss in pairs if draw.axis == axis]
    mechanisms = tuple(_choose_axis_measurement(aggregation, draw, loss, changes) for draw, loss in mine)
    return MeasuredQuery(aggregation, mechanisms, tuple(draw for draw, _ in mine))


def _running(draft: Draft, draw: AxisRelease) -> AxisRelease:
    """Say that cells are only added up, where no histogram shows them."""
    place = len(draft.measures) + draft.draws.index(draw)
    shown = [e for _, e in draft.estimates if isinstance(e, Cells) and e.release == place]
    return replace(draw, kind="running") if shown and all(cells.cumulative for cells in shown) else draw


def _choose_axis_measurement(aggregation: Aggregation, draw: AxisRelease, loss: Loss, changes: int) -> Measurement:
    if draw.kind == "cells":
        return choose_noise(aggregation, CountRows(), loss, changes)
    if draw.kind == "running":
        return _choose_running_sums(aggregation, loss, changes)
    return (_quantile if draw.kind == "quantile" else _top)(aggregation, draw, loss, changes)


def _choose_running_sums(aggregation: Aggregation, loss: Loss, changes: int) -> Measurement:
    """The running sums of cells, by the strategy of the least forecast error."""
    for way in list_cdf_strategies(CellFacts.of(aggregation, changes, pure=loss.event.epsilon is not None)):
        if way.strategy is None:
            break
        # For very many rows the noise of a strategy may be wider than there is.
        with suppress(MechanismError):
            return build_measured_cells(aggregation, way.strategy, loss, changes)
    return choose_noise(aggregation, CountRows(), loss, changes)


def choose_noise(aggregation: Aggregation, measure: Measure, loss: Loss, changes: int) -> NoiseMeasurement:
    """Return the noise for one measure at one loss."""
    return choose_least_noise(QuerySensitivity(aggregation, changes, measure), loss)


def _quantile(aggregation: Aggregation, draw: AxisRelease, loss: Loss, changes: int) -> PickMeasurement:
    """Permute-and-flip at a pure loss; at a loss in zCDP the exponential mechanism, whose range is bounded."""
    assert isinstance(draw.axis, Marks)
    top = draw.axis.top
    resolution = 1 if aggregation.weights is None else aggregation.weights.resolution
    reach, window = QuerySensitivity(aggregation, changes, at=draw.at), 1 if draw.steps else resolution
    made = [
        one
        for kind in QUANTILES
        if (one := kind.calibrate(reach, loss, at=draw.at, top=top, window=window)) is not None
    ]
    mechanism = min(made, key=lambda one: one.bound_error(CONFIDENCE, top + 1)) if len(made) > 1 else made[0]
    if draw.end:
        # Where the other end is that of the range, all of the chance to miss is for this one.
        confidence = BOUGHT if 0 < draw.at < 1 else 2 * BOUGHT - 1
        return mechanism.shift_target(Fraction(draw.end * end_offset(mechanism, confidence)))
    return mechanism


def _top(aggregation: Aggregation, draw: AxisRelease, loss: Loss, changes: int) -> PickMeasurement:
    """The heaviest cell; several are picked one after the other, each with its part of the loss."""
    each, reach = scale_loss(loss, Fraction(1, draw.picks)), QuerySensitivity(aggregation, changes)
    made = [one for kind in HEAVIEST if (one := kind.calibrate(reach, each)) is not None]
    return min(made, key=lambda one: one.bound_error(CONFIDENCE, draw.axis.cells)) if len(made) > 1 else made[0]


def _selection(draft: Draft) -> GroupSelection:
    """Tell the groups with the count of their people, for the losses of both; or else alone."""
    whole, share, place = draft.terms.loss, draft.selection_share, draft.selection_count
    given = draft.terms.delta, draft.weights, draft.changes, draft.min_people
    if place is not None:
        return select_with_count(scale_loss(whole, share + (1 - share) * draft.shares[place]), *given)
    return select_without_count(scale_loss(whole, share), *given)
