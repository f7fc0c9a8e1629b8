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
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.workloads.cell_strategies import CellStrategy, RootOfCells, TreeOfCells
from jali.planner.cells import Facts, MeasuredCells, Way, measured, spread, strategy_l1, strategy_squared_l2, ways
from jali.planner.choose_mechanisms import noise_for
from jali.planner.explanation import pages
from jali.planner.explanation.measures import axis_name, in_sets, measure_note
from jali.planner.explanation.notes import Alternative, MeasureNote
from jali.planner.explanation.releases import Release, amount, release, shown
from jali.planner.explanation.words import CONFIDENCE, moved, one_table, person, plural
from jali.planner.plan import Plan
from jali.privacy import Concentrated, Loss, Pure, decimal
from jali.query.aggregation import CountRows
from jali.query.ownership import most_changes


def cells_note(plan: Plan, place: int) -> MeasureNote:
    """Explain the cells of a histogram, or what is measured for a distribution function."""
    one = release(plan, 0, place)
    draw = one.draw
    assert draw is not None
    if isinstance(one.mechanism, MeasuredCells):
        return _strategy_note(plan, place, one.mechanism)
    running = draw.kind == "running"
    # Of several grouping sets some may be measured by a strategy, and others not: their groups are fewer.
    note = measure_note(plan, place, running_half_width if running else None)
    others = _other_ways(one) if running else _of_a_tree(one)
    return replace(note, alternatives=(*others, *note.alternatives))


def running_half_width(one: Release) -> float:
    """Return what the running sum with the largest error stays within, in rows."""
    assert isinstance(one.mechanism, Laplace | Gaussian | MeasuredCells)
    return _in_rows(one, spread(one.mechanism.law, _cells(one), CONFIDENCE).widest)


def _strategy_note(plan: Plan, place: int, mechanism: MeasuredCells) -> MeasureNote:
    one, noise, strategy = release(plan, 0, place), mechanism.noise, mechanism.strategy
    gaussian = isinstance(noise, Gaussian)
    scale = math.sqrt(noise.variance) if isinstance(noise, Gaussian) else float(noise.scale)
    each = " of each group" if plan.keys else ""
    return MeasureNote(
        name=f"running COUNT(*) by {axis_name(one.part.draws[one.index].axis)}",
        meaning=f"{_what(strategy)} over the {plural(strategy.cells, 'cell')}{each}; sums by least squares",
        sensitivity=_sensitivity(one, mechanism),
        norm="L2" if gaussian else "L1",
        because=f"{_rows(plan)}, {_columns(strategy)}{moved(plan)}",
        mechanism=f"discrete {'Gaussian' if gaussian else 'Laplace'}",
        scale=_in_rows(one, scale) / strategy.unit,
        stddev=_in_rows(one, noise.law.stddev) / strategy.unit,
        loss=shown(plan, one.event),
        exact_loss=str(amount(plan, one.event)),
        share=one.share,
        half_width=running_half_width(one),
        where="in the widest running sum",
        alternatives=tuple(_other_ways(one)),
        theorems=_theorems(plan, gaussian=gaussian),
        sets=in_sets(plan, place, running_half_width),
    )


def _what(strategy: CellStrategy) -> str:
    if isinstance(strategy, TreeOfCells):
        shape = " x ".join(str(fanout) for fanout in strategy.fanouts)
        return f"the counts of a tree, {shape}{', and its total' if strategy.root else ''},"
    assert isinstance(strategy, RootOfCells)
    return "the square root of summing, its columns made equally long,"


def _columns(strategy: CellStrategy) -> str:
    if isinstance(strategy, TreeOfCells):
        return f"in one node of each of {plural(strategy.column[0], 'level')}"
    return "in a column of length 1"


def _rows(plan: Plan) -> str:
    weights = plan.aggregation.weights
    return plural(1, "row") if weights is None else f"one {person(plan)}: {plural(weights.max_rows, 'row')}"


def _theorems(plan: Plan, *, gaussian: bool) -> tuple[str, ...]:
    found = [pages.RUNNING, pages.GAUSSIAN if gaussian else pages.LAPLACE]
    found += pages.of_bound(plan.aggregation.weights)
    return (*found, *([] if one_table(plan) else [pages.OWNERSHIP]))


def _sensitivity(one: Release, mechanism: MeasuredCells) -> float:
    facts = mechanism.strategy, one.part.aggregation, most_changes(one.plan.source)
    gaussian = isinstance(mechanism.noise, Gaussian)
    found = math.sqrt(strategy_squared_l2(*facts)) if gaussian else float(strategy_l1(*facts))
    return _in_rows(one, found) / mechanism.strategy.unit


def _cells(one: Release) -> int:
    axis = one.part.aggregation.along
    assert axis is not None
    return axis.cells


def _in_rows(one: Release, units: float) -> float:
    return units / one.resolution


# What else there was.


def _other_ways(one: Release) -> list[Alternative]:
    """Return the other ways at the same loss, and the best with the other kind of noise."""
    loss = _loss(one)
    taken = one.mechanism.strategy if isinstance(one.mechanism, MeasuredCells) else None
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


def _loss(one: Release) -> Pure | Concentrated:
    assert isinstance(one.mechanism, Laplace | Gaussian | MeasuredCells)
    return one.mechanism.loss


def _ways(one: Release, loss: Loss) -> tuple[Way, ...]:
    changes = most_changes(one.plan.source)
    return ways(Facts.of(one.part.aggregation, changes, pure=isinstance(loss, Pure)))


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
    loss = _loss(one)
    trees = [way.strategy for way in _ways(one, loss) if isinstance(way.strategy, TreeOfCells)]
    if not trees:
        return []
    mechanism = measured(one.part.aggregation, trees[0], loss, most_changes(one.plan.source))
    starts = np.arange(_cells(one))
    variance = float(trees[0].tree.variances(starts, starts + 1).mean())
    rms = _in_rows(one, math.sqrt(variance) * mechanism.noise.law.stddev)
    mine = _in_rows(one, one.mechanism.law.stddev) if isinstance(one.mechanism, Laplace | Gaussian) else math.nan
    outcome = f"rms {show_amount(rms)} in a cell, instead of {show_amount(mine)}; it is for running sums (CDF)"
    return [Alternative("noise on a tree of counts", outcome)]
