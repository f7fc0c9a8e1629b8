"""Rule: integers get discrete noise, picks an exact selection; the kind of loss chooses which."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from jali.errors import MechanismError, QueryError
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.quantiles.permuted_weighted_quantile import PermutedWeightedQuantile
from jali.mechanisms.quantiles.rank_ends import end_offset
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.selection.exponential import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.planner.cells import Facts, measured, ways
from jali.planner.draft import Draft
from jali.planner.joint import coordinates, multipliers
from jali.planner.part import Choice, Coordinate, Draw, Level, Mechanism, Noise, Part
from jali.planner.reach import cell_reach, rank_sensitivity
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.tell import Selection, keys_alone, root_below, threshold
from jali.privacy import Adjacency, Concentrated, Loss, Pure
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


def _measured(draft: Draft, base: Aggregation, losses: list[Loss]) -> tuple[Mechanism, ...]:
    """Return the noise of each measure; that of a count which is told with its group is the selection's."""
    found: dict[int, Mechanism] = {**_joint(draft, base, losses)}
    if draft.told is not None and isinstance(draft.selection, NoisyCounts):
        found[draft.told] = draft.selection
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


def _drawn(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Mechanism:
    if draw.kind == "cells":
        return noise_for(aggregation, CountRows(), loss, changes)
    if draw.kind == "running":
        return _summed(aggregation, loss, changes)
    return (_quantile if draw.kind == "quantile" else _top)(aggregation, draw, loss, changes)


def _summed(aggregation: Aggregation, loss: Loss, changes: int) -> Mechanism:
    """The running sums of cells, by the strategy of the least forecast error."""
    for way in ways(Facts.of(aggregation, changes, pure=loss.event.epsilon is not None)):
        if way.strategy is None:
            break
        # For very many rows the noise of a strategy may be wider than there is.
        with suppress(MechanismError):
            return measured(aggregation, way.strategy, loss, changes)
    return noise_for(aggregation, CountRows(), loss, changes)


def noise_for(aggregation: Aggregation, measure: Measure, loss: Loss, changes: int) -> Noise:
    """Return the noise for one measure at one loss."""
    event = loss.event
    if event.epsilon is None:
        squared = squared_l2_sensitivity(aggregation, measure, changes)
        return Gaussian.squared(squared_sensitivity=squared, rho=event.rho)
    return Laplace(sensitivity=l1_sensitivity(aggregation, measure, changes), epsilon=event.epsilon)


def _quantile(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Choice:
    """Permute-and-flip at a pure loss; at a loss in zCDP the exponential mechanism, whose range is bounded."""
    axis, event = draw.axis, loss.event
    assert isinstance(axis, Marks)
    kind = WeightedQuantile if event.epsilon is None else PermutedWeightedQuantile
    resolution = 1 if aggregation.weights is None else aggregation.weights.resolution
    mechanism = kind(
        at=draw.at,
        low=0,
        high=axis.top,
        step=1,
        sensitivity=rank_sensitivity(aggregation, draw.at, changes),
        epsilon=_bounded_range(loss),
        window=1 if draw.steps else resolution,
    )
    if draw.end:
        # Where the other end is that of the range, all of the chance to miss is for this one.
        confidence = BOUGHT if 0 < draw.at < 1 else 2 * BOUGHT - 1
        return replace(mechanism, offset=Fraction(draw.end * end_offset(mechanism, confidence)))
    return mechanism


def _top(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Choice:
    """The heaviest cell; several are picked one after the other, each with its part of the loss."""
    kind = Exponential if loss.event.epsilon is None else PermuteAndFlip
    each = _part_of(loss, Fraction(1, draw.picks))
    monotone = changes == 1
    return kind(
        sensitivity=cell_reach(aggregation, changes),
        epsilon=_bounded_range(each),
        monotone=monotone,
        adjacency=Adjacency.ADD_REMOVE if monotone else None,
    )


def _bounded_range(loss: Loss) -> Fraction:
    """Return the epsilon of a choice: the loss itself, or the bounded range whose square is 8 rho at most."""
    event = loss.event
    return event.epsilon if event.epsilon is not None else root_below(8 * event.rho)


def _selection(draft: Draft) -> Selection:
    """Tell the groups with the count of their people, for the losses of both; or else alone."""
    whole, share, place = draft.terms.loss, draft.selection_share, draft.told
    given = draft.terms.delta, draft.weights, draft.changes, draft.min_people
    if place is not None:
        return threshold(_part_of(whole, share + (1 - share) * draft.shares[place]), *given)
    return keys_alone(_part_of(whole, share), *given)


def _part_of(loss: Loss, share: Fraction) -> Loss:
    event = loss.event
    return Concentrated(event.rho * share) if event.epsilon is None else Pure(event.epsilon * share)
