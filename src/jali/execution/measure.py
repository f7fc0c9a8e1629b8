"""Add noise to the exact results of a plan: exact integers in, released values out.

This is the only code that sees both. What the engine returned goes no further.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np

from jali.catalog.columns import Kind
from jali.catalog.tables import Public, Table
from jali.mechanisms.measurement import SparseCells
from jali.mechanisms.partition_selection.key_tables import sort_keys
from jali.planner import Plan
from jali.planner.measured_query import GroupingSet, MeasuredQuery

Rows: TypeAlias = list[tuple[Any, ...]]
Run: TypeAlias = Callable[[MeasuredQuery], Rows]
# The groups, where they were chosen, and per level and release one entry for each group.
Drawn: TypeAlias = tuple[tuple[tuple[Any, ...], ...] | None, tuple[tuple[tuple[Any, ...], ...], ...]]


def list_queries(plans: Iterable[Plan]) -> dict[str, tuple[Table | Public, ...]]:
    """Return the engine's queries of plans, each with the tables that it reads; equal queries are run once."""
    queries: dict[str, tuple[Table | Public, ...]] = {}
    for plan in plans:
        for part in plan.parts:
            queries.setdefault(part.sql, plan.read)
    return queries


def measure(plan: Plan, run: Run) -> Drawn:
    """Measure everything that a plan releases. What `run` returns goes no further."""
    if plan.selection is None:
        return None, tuple(_draw_level(level, run) for level in plan.levels)
    return _draw_with_selection(plan, plan.levels[0], run)


def _draw_level(level: GroupingSet, run: Run) -> tuple[tuple[Any, ...], ...]:
    groups = level.aggregation.groups
    found: list[tuple[Any, ...]] = []
    for part in level.parts:
        rows = run(part)
        if part.draws:
            found += _draw_cells(part, _collect_by_place(rows, groups))
        else:
            if len(rows) != groups:
                raise ValueError("the engine returned another number of groups")
            found += _draw_measures(part, rows, 0)
    return tuple(found)


def _draw_with_selection(plan: Plan, level: GroupingSet, run: Run) -> Drawn:
    """Select the groups by their number of people, then release the aggregates of those."""
    first, *others = level.parts
    width = len(plan.keys)
    rows = run(first)
    assert plan.selection is not None
    told = plan.selection.choose_groups(np.array([int(row[width]) for row in rows], dtype=np.int64))
    kept = {_read_keys(plan, rows[place]): (rows[place], count) for place, count in told}
    groups = tuple(sort_keys(list(kept))) if width else tuple(kept)
    found: list[tuple[Any, ...]] = list(_draw_measures(first, [kept[group][0] for group in groups], width + 1))
    if plan.selection_count is not None:
        found.insert(plan.selection_count, tuple(kept[group][1] for group in groups))
    for part in others:
        by_group = _collect_by_group(run(part), width, lambda row: _read_keys(plan, row))
        found += _draw_cells(part, [_split_pairs(by_group.get(group, [])) for group in groups])
    return groups, (tuple(found),)


def _read_keys(plan: Plan, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the keys of a row; whole numbers that were computed come as doubles."""
    pairs = zip(row, plan.keys, strict=False)
    return tuple(int(v) if v is not None and k.kind is Kind.INTEGER else v for v, k in pairs)


def _collect_by_group(
    rows: Rows, width: int, keys: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """Collect cells and weights by group."""
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for row in rows:
        group = row[:width] if keys is None else keys(row)
        found.setdefault(group, []).append((int(row[width]), int(row[width + 1])))
    return found


def _collect_by_place(rows: Rows, groups: int) -> list[SparseCells]:
    """Collect cells and weights by the places of known groups. There may be millions."""
    table = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows)).reshape(-1, 3)
    # In the order of the cells too: what is drawn sorts them, each time, and finds them sorted.
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    ends = np.searchsorted(table[:, 0], np.arange(groups + 1)).tolist()
    return [(table[i:j, 1], table[i:j, 2]) for i, j in pairwise(ends)]


def _split_pairs(pairs: list[tuple[int, int]]) -> SparseCells:
    cells, weights = zip(*pairs, strict=True) if pairs else ((), ())
    return np.array(cells, dtype=np.int64), np.array(weights, dtype=np.int64)


def _draw_measures(part: MeasuredQuery, rows: Rows, first: int) -> list[tuple[int, ...]]:
    """Add noise to each measure, over all groups at once. One that selected the groups already has it."""
    joint = _together(part, rows, first)
    found = []
    for i, measurement in enumerate(part.mechanisms):
        if i in joint:
            found.append(joint[i])
        elif not measurement.prepaid:
            found.append(tuple(measurement.release_numbers([int(row[first + i]) for row in rows])))
    return found


def _together(part: MeasuredQuery, rows: Rows, first: int) -> dict[int, tuple[int, ...]]:
    """Add joint noise to the measures that share it, independently in each group."""
    block = part.block
    if not block or not rows:
        return dict.fromkeys(block, ())
    joint = next(iter(block.values())).joint_mechanism
    noise = joint.noise(len(rows), joint.dimension).tolist()
    return {
        i: tuple(int(row[first + i]) * times + z[place] for row, z in zip(rows, noise, strict=True))
        for place, (i, times) in enumerate(part.multipliers.items())
    }


def _draw_cells(part: MeasuredQuery, cells: list[SparseCells]) -> list[tuple[Any, ...]]:
    """Release what is drawn along an axis, for all groups."""
    assert part.aggregation.along is not None
    width = part.aggregation.along.cells
    pairs = zip(part.draws, part.mechanisms, strict=True)
    return [measurement.release_cells(cells, width, draw.picks) for draw, measurement in pairs]
