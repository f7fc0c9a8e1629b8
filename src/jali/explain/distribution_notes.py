"""Explain histograms and distribution functions: what is measured of their cells, and the alternatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from jali.display.numbers import show_amount
from jali.errors import MechanismError
from jali.explain import proof_pages
from jali.explain.measure_notes import axis_name, in_sets, measure_note
from jali.explain.notes import AlternativeNote, MeasureNote
from jali.explain.planned_releases import PlannedRelease, amount, release, write_loss
from jali.explain.vocabulary import CONFIDENCE, name_unit, one_table, plural, show_changes
from jali.ir.aggregates import CountRows
from jali.ir.ownership import most_changes
from jali.mechanisms.workloads.cell_strategies import CellStrategy
from jali.planner.cdf_strategies import (
    CdfStrategy,
    build_measured_cells,
    forecast_running_sums,
    list_cdf_strategies,
)
from jali.planner.plan import Plan
from jali.planner.query_sensitivity import CellFacts
from jali.planner.rules.choose_mechanisms import choose_noise
from jali.privacy import Concentrated, Loss, decimal


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


def running_half_width(one: PlannedRelease) -> float:
    """Return what the running sum with the largest error stays within, in rows."""
    return _in_rows(one, forecast_running_sums(one.mechanism.noise_law, _cells(one), CONFIDENCE).widest)


def _strategy_note(plan: Plan, one: PlannedRelease, strategy: CellStrategy) -> MeasureNote:
    noise = one.mechanism.describe()
    each = " of each group" if plan.keys else ""
    return MeasureNote(
        name=f"running COUNT(*) by {axis_name(one.part.draws[one.index].axis)}",
        meaning=f"{strategy.meaning} over the {plural(strategy.cells, 'cell')}{each}; sums by least squares",
        sensitivity=_sensitivity(one, strategy, squared=noise.norm == "L2"),
        norm=noise.norm,
        because=f"{_rows(plan)}, {strategy.reach_of_cell}{show_changes(plan)}",
        mechanism=noise.noun,
        scale=_in_rows(one, noise.scale) / strategy.unit,
        stddev=_in_rows(one, one.mechanism.each_law.stddev) / strategy.unit,
        loss=write_loss(plan, one.event),
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
    return plural(1, "row") if weights is None else f"one {name_unit(plan)}: {plural(weights.max_rows, 'row')}"


def _theorems(plan: Plan, own: tuple[str, ...]) -> tuple[str, ...]:
    found = [*own, *proof_pages.of_bound(plan.aggregation.weights)]
    return (*found, *([] if one_table(plan) else [proof_pages.OWNERSHIP]))


def _sensitivity(one: PlannedRelease, strategy: CellStrategy, *, squared: bool) -> float:
    reach = one.reach.measure_by(strategy)
    found = math.sqrt(reach.l2_squared) if squared else float(reach.l1)
    return _in_rows(one, found) / strategy.unit


def _cells(one: PlannedRelease) -> int:
    axis = one.part.aggregation.along
    assert axis is not None
    return axis.cells


def _in_rows(one: PlannedRelease, units: float) -> float:
    return units / one.resolution


# What else there was.


def _other_ways(one: PlannedRelease) -> list[AlternativeNote]:
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
    remark = f"{best.outcome}, at rho = epsilon²/2 = {decimal(rho)}, but not pure epsilon: ask with rho"
    return [*same, replace(best, name=f"Gaussian {best.name}", outcome=remark)]


def _drawable(one: PlannedRelease, found: Sequence[CdfStrategy], loss: Loss) -> list[AlternativeNote]:
    """Forecast what can be drawn: noise for very many rows may be wider than there is."""
    drawn = []
    for way in found:
        with suppress(MechanismError):
            drawn.append(_way(one, way, loss))
    return drawn


def _ways(one: PlannedRelease, loss: Loss) -> tuple[CdfStrategy, ...]:
    changes = most_changes(one.plan.source)
    return list_cdf_strategies(CellFacts.of(one.part.aggregation, changes, pure=loss.event.epsilon is not None))


def _way(one: PlannedRelease, way: CdfStrategy, loss: Loss) -> AlternativeNote:
    aggregation, changes = one.part.aggregation, most_changes(one.plan.source)
    law: Any = (
        choose_noise(aggregation, CountRows(), loss, changes).law
        if way.strategy is None
        else build_measured_cells(aggregation, way.strategy, loss, changes).law
    )
    found = forecast_running_sums(law, _cells(one), CONFIDENCE)
    rms, widest = _in_rows(one, found.rms), _in_rows(one, found.widest)
    outcome = f"rms {show_amount(rms)}, ± {show_amount(widest)} in the widest running sum"
    return AlternativeNote(way.name, outcome, widest)


def _of_a_tree(one: PlannedRelease) -> list[AlternativeNote]:
    """Return what the tree that is best for running sums would give of single cells."""
    loss = one.mechanism.loss
    trees = [way.tree for way in _ways(one, loss) if way.tree is not None]
    if not trees:
        return []
    tree = trees[0]
    mechanism = build_measured_cells(one.part.aggregation, tree, loss, most_changes(one.plan.source))
    starts = np.arange(_cells(one))
    variance = float(tree.tree.variances(starts, starts + 1).mean())
    rms = _in_rows(one, math.sqrt(variance) * mechanism.each_law.stddev)
    mine = math.nan if one.mechanism.cell_strategy is not None else _in_rows(one, one.mechanism.noise_law.stddev)
    outcome = f"rms {show_amount(rms)} in a cell, instead of {show_amount(mine)}; it is for running sums (CDF)"
    return [AlternativeNote("noise on a tree of counts", outcome)]
