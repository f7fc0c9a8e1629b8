"""Rule: integers get discrete noise, picks an exact selection; the kind of loss chooses which."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from jali.errors import MechanismError, QueryError
from jali.mechanisms.joint_measure import Coordinate
from jali.mechanisms.keys.group_selection import GroupSelection
from jali.mechanisms.measurement import Measurement, Noise, Pick
from jali.mechanisms.planned import HEAVIEST, QUANTILES, least_noise
from jali.mechanisms.quantiles.rank_ends import end_offset
from jali.planner.aim import CONFIDENCE
from jali.planner.cells import measured, ways
from jali.planner.draft import Draft
from jali.planner.joint import coordinates, multipliers
from jali.planner.part import Draw, Level, Part
from jali.planner.reach import CellFacts, QueryReach
from jali.planner.sensitivity import l1_sensitivity
from jali.planner.tell import keys_alone, threshold
from jali.privacy import Concentrated, Loss, Pure
from jali.query.aggregation import Aggregation, Axis, CountRows, Marks, Measure
from jali.query.estimates import BOUGHT, Cells


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


def _level(draft: Draft, places: tuple[int, ...], set_share: Fraction) -> Level:
    total = set_share * (1 - draft.selection_share)
    losses = [_part_of(draft.terms.loss, total * share) for share in draft.shares]
    base = draft.aggregation(places)
    parts = [Part(base, _measured(draft, base, losses))]
    axes = dict.fromkeys(draw.axis for draw in draft.draws)
    parts += [_axis_part(draft, base, axis, losses[len(draft.measures) :], draft.changes) for axis in axes]
    # A level without measures still tells which groups there are, where they are selected.
    return Level(places, tuple(part for part in parts if part.mechanisms or draft.selecting))


def _measured(draft: Draft, base: Aggregation, losses: list[Loss]) -> tuple[Measurement, ...]:
    """Return the noise of each measure; that of a count which is told with its group is the selection's."""
    found: dict[int, Measurement] = {**_joint(draft, base, losses)}
    counts = None if draft.selection is None else draft.selection.counts
    if draft.told is not None and counts is not None:
        found[draft.told] = counts
    return tuple(
        found[i] if i in found else noise_for(base, measure, losses[i], draft.changes)
        for i, measure in enumerate(draft.measures)
    )


def _joint(draft: Draft, base: Aggregation, losses: list[Loss]) -> dict[int, Coordinate]:
    """Return the noise of the measures that leave together, for the sum of their losses."""
    if not draft.together:
        return {}
    epsilon = sum((losses[place].event.epsilon or Fraction(0) for place in draft.together), Fraction(0))
    reaches = [l1_sensitivity(base, base.measures[place], draft.changes) for place in draft.together]
    times = dict(zip(draft.together, multipliers(reaches, epsilon), strict=True))
    return coordinates(base, times, epsilon, draft.changes)


def _axis_part(draft: Draft, base: Aggregation, axis: Axis, losses: list[Loss], changes: int) -> Part:
    aggregation = replace(base, measures=(CountRows(),), along=axis)
    pairs = zip(draft.draws, losses, strict=True)
    mine = [(_running(draft, draw), loss) for draw, loss in pairs if draw.axis == axis]
    mechanisms = tuple(_drawn(aggregation, draw, loss, changes) for draw, loss in mine)
    return Part(aggregation, mechanisms, tuple(draw for draw, _ in mine))


def _running(draft: Draft, draw: Draw) -> Draw:
    """Say that cells are only added up, where no histogram shows them."""
    place = len(draft.measures) + draft.draws.index(draw)
    shown = [e for _, e in draft.estimates if isinstance(e, Cells) and e.release == place]
    return replace(draw, kind="running") if shown and all(cells.cumulative for cells in shown) else draw


def _drawn(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Measurement:
    if draw.kind == "cells":
        return noise_for(aggregation, CountRows(), loss, changes)
    if draw.kind == "running":
        return _summed(aggregation, loss, changes)
    return (_quantile if draw.kind == "quantile" else _top)(aggregation, draw, loss, changes)


def _summed(aggregation: Aggregation, loss: Loss, changes: int) -> Measurement:
    """The running sums of cells, by the strategy of the least forecast error."""
    for way in ways(CellFacts.of(aggregation, changes, pure=loss.event.epsilon is not None)):
        if way.strategy is None:
            break
        # For very many rows the noise of a strategy may be wider than there is.
        with suppress(MechanismError):
            return measured(aggregation, way.strategy, loss, changes)
    return noise_for(aggregation, CountRows(), loss, changes)


def noise_for(aggregation: Aggregation, measure: Measure, loss: Loss, changes: int) -> Noise:
    """Return the noise for one measure at one loss."""
    return least_noise(QueryReach(aggregation, changes, measure), loss)


def _quantile(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Pick:
    """Permute-and-flip at a pure loss; at a loss in zCDP the exponential mechanism, whose range is bounded."""
    assert isinstance(draw.axis, Marks)
    top = draw.axis.top
    resolution = 1 if aggregation.weights is None else aggregation.weights.resolution
    reach, window = QueryReach(aggregation, changes, at=draw.at), 1 if draw.steps else resolution
    made = [
        one
        for kind in QUANTILES
        if (one := kind.calibrate(reach, loss, at=draw.at, top=top, window=window)) is not None
    ]
    mechanism = min(made, key=lambda one: one.off_by(CONFIDENCE, top + 1)) if len(made) > 1 else made[0]
    if draw.end:
        # Where the other end is that of the range, all of the chance to miss is for this one.
        confidence = BOUGHT if 0 < draw.at < 1 else 2 * BOUGHT - 1
        return mechanism.aimed(Fraction(draw.end * end_offset(mechanism, confidence)))
    return mechanism


def _top(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Pick:
    """The heaviest cell; several are picked one after the other, each with its part of the loss."""
    each, reach = _part_of(loss, Fraction(1, draw.picks)), QueryReach(aggregation, changes)
    made = [one for kind in HEAVIEST if (one := kind.calibrate(reach, each)) is not None]
    return min(made, key=lambda one: one.off_by(CONFIDENCE, draw.axis.cells)) if len(made) > 1 else made[0]


def _selection(draft: Draft) -> GroupSelection:
    """Tell the groups with the count of their people, for the losses of both; or else alone."""
    whole, share, place = draft.terms.loss, draft.selection_share, draft.told
    given = draft.terms.delta, draft.weights, draft.changes, draft.min_people
    if place is not None:
        return threshold(_part_of(whole, share + (1 - share) * draft.shares[place]), *given)
    return keys_alone(_part_of(whole, share), *given)


def _part_of(loss: Loss, share: Fraction) -> Loss:
    event = loss.event
    return Concentrated(event.rho * share) if event.epsilon is None else Pure(event.epsilon * share)
