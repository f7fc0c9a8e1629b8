"""Rule: integers get discrete noise, picks an exact selection; the kind of loss chooses which."""

from __future__ import annotations

import math
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
from jali.planner.draft import Draft
from jali.planner.part import Choice, Draw, Level, Mechanism, Noise, Part
from jali.planner.reach import cell_reach, rank_sensitivity
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.tell import Selection, Threshold, keys_alone, root_below, threshold, told_place
from jali.privacy import Adjacency, Concentrated, Loss, Pure
from jali.query.aggregation import Aggregation, Axis, CountRows, KeySet, Marks, Measure, Weights
from jali.query.estimates import BOUGHT
from jali.query.ownership import most_changes


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
        raise QueryError(
            f"The loss of {draft.terms.loss.event} is too {'large' if large else 'small'} for the noise there is.",
            remedy=f"Ask with a {'smaller' if large else 'larger'} loss.",
        ) from None
    return replace(draft, levels=levels)


def _level(draft: Draft, places: tuple[int, ...], set_share: Fraction) -> Level:
    keys = tuple(draft.keys[place] for place in places)
    # Every set weighs the same rows, those with declared keys in all columns: only then do exact totals agree.
    required = () if draft.question.sets is None else draft.keys
    total = set_share * (1 - draft.selection_share)
    losses = [_part_of(draft.terms.loss, total * share) for share in draft.shares]
    changes = most_changes(draft.rows)
    base = Aggregation(
        draft.rows,
        keys,
        draft.measures,
        _weights(draft, keys),
        selecting=draft.selecting,
        required=required,
        one_of_several=draft.question.sets is not None,
    )
    parts = [Part(base, _measured(draft, base, losses, changes))]
    axes = dict.fromkeys(draw.axis for draw in draft.draws)
    parts += [_axis_part(draft, base, axis, losses[len(draft.measures) :], changes) for axis in axes]
    # A level without measures still tells which groups there are, where they are selected.
    return Level(places, tuple(part for part in parts if part.mechanisms or draft.selecting))


def _measured(draft: Draft, base: Aggregation, losses: list[Loss], changes: int) -> tuple[Noise | Threshold, ...]:
    """Return the noise of each measure; that of a count which is told with its group is the selection's."""
    place, chosen = _told(draft), draft.selection
    return tuple(
        chosen if i == place and isinstance(chosen, NoisyCounts) else noise_for(base, measure, losses[i], changes)
        for i, measure in enumerate(draft.measures)
    )


def _weights(draft: Draft, keys: tuple[KeySet, ...]) -> Weights | None:
    if draft.weights is None or draft.selecting:
        return draft.weights
    groups = math.prod(len(key.values or ()) for key in keys)
    most = draft.terms.max_groups or draft.weights.max_rows
    return replace(draft.weights, max_groups=min(most, groups))


def _axis_part(draft: Draft, base: Aggregation, axis: Axis, losses: list[Loss], changes: int) -> Part:
    aggregation = replace(base, measures=(CountRows(),), along=axis)
    mine = [(draw, loss) for draw, loss in zip(draft.draws, losses, strict=True) if draw.axis == axis]
    mechanisms = tuple(_drawn(aggregation, draw, loss, changes) for draw, loss in mine)
    return Part(aggregation, mechanisms, tuple(draw for draw, _ in mine))


def _drawn(aggregation: Aggregation, draw: Draw, loss: Loss, changes: int) -> Mechanism:
    if draw.kind == "cells":
        return noise_for(aggregation, CountRows(), loss, changes)
    return (_quantile if draw.kind == "quantile" else _top)(aggregation, draw, loss, changes)


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


def _told(draft: Draft) -> int | None:
    """Return which measure is told together with its group."""
    return told_place(draft.measures, draft.weights, most_changes(draft.rows)) if draft.selecting else None


def _selection(draft: Draft) -> Selection:
    """Tell the groups with the count of their people, for the losses of both; or else alone."""
    whole, share, place = draft.terms.loss, draft.selection_share, _told(draft)
    given = draft.terms.delta, draft.weights, most_changes(draft.rows), draft.min_people
    if place is not None:
        return threshold(_part_of(whole, share + (1 - share) * draft.shares[place]), *given)
    return keys_alone(_part_of(whole, share), *given)


def _part_of(loss: Loss, share: Fraction) -> Loss:
    event = loss.event
    return Concentrated(event.rho * share) if event.epsilon is None else Pure(event.epsilon * share)
