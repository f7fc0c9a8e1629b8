"""Histograms and distribution functions: what is measured of their cells, and what else was considered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from jali.display.numbers import show_amount
from jali.errors import MechanismError
from jali.mechanisms.workloads.cell_strategies import CellStrategy
from jali.planner.cells import Way, measured, spread, ways
from jali.planner.choose_mechanisms import noise_for
from jali.planner.explanation import pages
from jali.planner.explanation.measures import axis_name, in_sets, measure_note
from jali.planner.explanation.notes import Alternative, MeasureNote
from jali.planner.explanation.releases import Release, amount, release, shown
from jali.planner.explanation.words import CONFIDENCE, moved, one_table, person, plural
from jali.planner.plan import Plan
from jali.planner.reach import CellFacts
from jali.privacy import Concentrated, Loss, decimal
from jali.query.aggregation import CountRows
from jali.query.ownership import most_changes


def cells_note(plan: Plan, place: int) -> MeasureNote:
    """Explain the cells of a histogram, or what is measured for a distribution function."""
    one = release(plan, 0, place)
    draw = one.draw
    assert draw is not None
    strategy = one.mechanism.cell_strategy
    if strategy is not None:
        return _strategy_note(plan, one, strategy)
    running = draw.kind == "running"
    # Of several grouping sets some may be measured by a strategy, and others not: their groups are fewer.
    note = measure_note(plan, place, running_half_width if running else None)
    others = _other_ways(one) if running else _of_a_tree(one)
    return replace(note, alternatives=(*others, *note.alternatives))


def running_half_width(one: Release) -> float:
    """Return what the running sum with the largest error stays within, in rows."""
    return _in_rows(one, spread(one.mechanism.noise_law, _cells(one), CONFIDENCE).widest)


def _strategy_note(plan: Plan, one: Release, strategy: CellStrategy) -> MeasureNote:
    noise = one.mechanism.describe()
    each = " of each group" if plan.keys else ""
    return MeasureNote(
        name=f"running COUNT(*) by {axis_name(one.part.draws[one.index].axis)}",
        meaning=f"{strategy.meaning} over the {plural(strategy.cells, 'cell')}{each}; sums by least squares",
        sensitivity=_sensitivity(one, strategy, squared=noise.norm == "L2"),
        norm=noise.norm,
        because=f"{_rows(plan)}, {strategy.reach_of_cell}{moved(plan)}",
        mechanism=noise.noun,
        scale=_in_rows(one, noise.scale) / strategy.unit,
        stddev=_in_rows(one, one.mechanism.each_law.stddev) / strategy.unit,
        loss=shown(plan, one.event),
        exact_loss=str(amount(plan, one.event)),
        share=one.share,
        half_width=running_half_width(one),
        where="in the widest running sum",
        alternatives=tuple(_other_ways(one)),
        theorems=_theorems(plan, noise.theorems),
        sets=in_sets(plan, one.place, running_half_width),
    )


def _rows(plan: Plan) -> str:
    weights = plan.aggregation.weights
    return plural(1, "row") if weights is None else f"one {person(plan)}: {plural(weights.max_rows, 'row')}"


def _theorems(plan: Plan, own: tuple[str, ...]) -> tuple[str, ...]:
    found = [*own, *pages.of_bound(plan.aggregation.weights)]
    return (*found, *([] if one_table(plan) else [pages.OWNERSHIP]))


def _sensitivity(one: Release, strategy: CellStrategy, *, squared: bool) -> float:
    reach = one.reach.measured_by(strategy)
    found = math.sqrt(reach.squared_l2) if squared else float(reach.l1)
    return _in_rows(one, found) / strategy.unit


def _cells(one: Release) -> int:
    axis = one.part.aggregation.along
    assert axis is not None
    return axis.cells


def _in_rows(one: Release, units: float) -> float:
    return units / one.resolution


# What else there was.


def _other_ways(one: Release) -> list[Alternative]:
    """Return the other ways at the same loss, and the best with the other kind of noise."""
    loss = one.mechanism.loss
    taken = one.mechanism.cell_strategy
    same = _drawable(one, [way for way in _ways(one, loss) if way.strategy != taken], loss)
    if loss.event.epsilon is None:
        return same
    rho = loss.event.epsilon**2 / 2
    gaussian = _drawable(one, _ways(one, Concentrated(rho)), Concentrated(rho))
    if not gaussian:
        return same
    best = gaussian[0]
    remark = f"{best.outcome}, at rho = epsilon²/2 = {decimal(rho)}, but no pure epsilon: ask with rho for it"
    return [*same, replace(best, name=f"Gaussian {best.name}", outcome=remark)]


def _drawable(one: Release, found: Sequence[Way], loss: Loss) -> list[Alternative]:
    """Forecast what can be drawn: noise for very many rows may be wider than there is."""
    drawn = []
    for way in found:
        with suppress(MechanismError):
            drawn.append(_way(one, way, loss))
    return drawn


def _ways(one: Release, loss: Loss) -> tuple[Way, ...]:
    changes = most_changes(one.plan.source)
    return ways(CellFacts.of(one.part.aggregation, changes, pure=loss.event.epsilon is not None))


def _way(one: Release, way: Way, loss: Loss) -> Alternative:
    aggregation, changes = one.part.aggregation, most_changes(one.plan.source)
    law: Any = (
        noise_for(aggregation, CountRows(), loss, changes).law
        if way.strategy is None
        else measured(aggregation, way.strategy, loss, changes).law
    )
    found = spread(law, _cells(one), CONFIDENCE)
    rms, widest = _in_rows(one, found.rms), _in_rows(one, found.widest)
    outcome = f"rms {show_amount(rms)}, ± {show_amount(widest)} in the widest running sum"
    return Alternative(way.name, outcome, widest)


def _of_a_tree(one: Release) -> list[Alternative]:
    """Return what the tree that is best for running sums would give of single cells."""
    loss = one.mechanism.loss
    trees = [way.tree for way in _ways(one, loss) if way.tree is not None]
    if not trees:
        return []
    tree = trees[0]
    mechanism = measured(one.part.aggregation, tree, loss, most_changes(one.plan.source))
    starts = np.arange(_cells(one))
    variance = float(tree.tree.variances(starts, starts + 1).mean())
    rms = _in_rows(one, math.sqrt(variance) * mechanism.each_law.stddev)
    mine = math.nan if one.mechanism.cell_strategy is not None else _in_rows(one, one.mechanism.noise_law.stddev)
    outcome = f"rms {show_amount(rms)} in a cell, instead of {show_amount(mine)}; it is for running sums (CDF)"
    return [Alternative("noise on a tree of counts", outcome)]
