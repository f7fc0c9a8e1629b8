"""Drawing: exact integers in, released ones out. The only code that sees both."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.keys.optimal_keys import OptimalKeys
from jali.mechanisms.keys.tables import in_public_order
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.planner import Plan
from jali.planner.cells import MeasuredCells
from jali.planner.joint import block_of
from jali.planner.part import Choice, Coordinate, Draw, Level, Mechanism, Noise, Part
from jali.query.catalog import Kind

Rows: TypeAlias = list[tuple[Any, ...]]
Run: TypeAlias = Callable[[Part], Rows]
# The cells of one group that hold rows, and what these weigh.
Cells: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]
# The groups, where they were chosen, and per level and release one entry for each group.
Drawn: TypeAlias = tuple[tuple[tuple[Any, ...], ...] | None, tuple[tuple[tuple[Any, ...], ...], ...]]


def draw(plan: Plan, run: Run) -> Drawn:
    """Draw everything that a plan releases. What `run` returns goes no further."""
    if plan.selection is None:
        return None, tuple(_level(level, run) for level in plan.levels)
    return _selected(plan, plan.levels[0], run)


def _level(level: Level, run: Run) -> tuple[tuple[Any, ...], ...]:
    groups = level.aggregation.groups
    found: list[tuple[Any, ...]] = []
    for part in level.parts:
        rows = run(part)
        if part.draws:
            found += _draws(part, _by_place(rows, groups))
        else:
            if len(rows) != groups:
                raise ValueError("the engine returned another number of groups")
            found += _measures(part, rows, 0)
    return tuple(found)


def _selected(plan: Plan, level: Level, run: Run) -> Drawn:
    """Choose the groups by their people first, then release what the question asks of those."""
    first, *others = level.parts
    width = len(plan.keys)
    rows = run(first)
    told = _told(plan, np.array([int(row[width]) for row in rows], dtype=np.int64))
    kept = {_keys(plan, rows[place]): (rows[place], count) for place, count in told}
    groups = tuple(in_public_order(list(kept))) if width else tuple(kept)
    found: list[tuple[Any, ...]] = list(_measures(first, [kept[group][0] for group in groups], width + 1))
    if plan.told is not None:
        found.insert(plan.told, tuple(kept[group][1] for group in groups))
    for part in others:
        by_group = _by_group(run(part), width, lambda row: _keys(plan, row))
        found += _draws(part, [_columns(by_group.get(group, [])) for group in groups])
    return groups, (tuple(found),)


def _told(plan: Plan, people: NDArray[np.int64]) -> list[tuple[int, int | None]]:
    """Return the places of the groups that are shown, each with its noisy count where that is told."""
    assert plan.selection is not None
    if isinstance(plan.selection, OptimalKeys):
        return [(place, None) for place in np.flatnonzero(plan.selection.choose(people)).tolist()]
    chosen, noisy = plan.selection.tell(people)
    return list(zip(np.flatnonzero(chosen).tolist(), (int(count) for count in noisy), strict=True))


def _keys(plan: Plan, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the keys of a row; whole numbers that were computed come as doubles."""
    pairs = zip(row, plan.keys, strict=False)
    return tuple(int(v) if v is not None and k.kind is Kind.INTEGER else v for v, k in pairs)


def _by_group(
    rows: Rows, width: int, keys: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None
) -> dict[tuple[Any, ...], list[tuple[int, int]]]:
    """Collect cells and weights by group."""
    found: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    for row in rows:
        group = row[:width] if keys is None else keys(row)
        found.setdefault(group, []).append((int(row[width]), int(row[width + 1])))
    return found


def _by_place(rows: Rows, groups: int) -> list[Cells]:
    """Collect cells and weights by the places of known groups. There may be millions."""
    table = np.fromiter(chain.from_iterable(rows), np.int64, 3 * len(rows)).reshape(-1, 3)
    # In the order of the cells too: what is drawn sorts them, each time, and finds them sorted.
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    ends = np.searchsorted(table[:, 0], np.arange(groups + 1)).tolist()
    return [(table[i:j, 1], table[i:j, 2]) for i, j in pairwise(ends)]


def _columns(pairs: list[tuple[int, int]]) -> Cells:
    cells, weights = zip(*pairs, strict=True) if pairs else ((), ())
    return np.array(cells, dtype=np.int64), np.array(weights, dtype=np.int64)


def _measures(part: Part, rows: Rows, first: int) -> list[tuple[int, ...]]:
    """Add noise to each measure, over all groups at once; a count that is told has its own already."""
    joint = _together(part, rows, first)
    found = []
    for i, mechanism in enumerate(part.mechanisms):
        if isinstance(mechanism, Coordinate):
            found.append(joint[i])
        elif isinstance(mechanism, Laplace | Gaussian):
            found.append(tuple(_noisy(mechanism, [int(row[first + i]) for row in rows])))
    return found


def _together(part: Part, rows: Rows, first: int) -> dict[int, tuple[int, ...]]:
    """Add joint noise to the measures that leave together, independently in each group."""
    block = block_of(part)
    if not block or not rows:
        return dict.fromkeys(block, ())
    joint = next(iter(block.values())).joint
    noise = joint.noise(len(rows), joint.dimension).tolist()
    return {
        i: tuple(int(row[first + i]) * c.times + z[c.place] for row, z in zip(rows, noise, strict=True))
        for i, c in block.items()
    }


def _noisy(mechanism: Noise, exact: list[int]) -> list[int]:
    if not exact:
        return []
    return [int(value) for value in mechanism.release_integers(np.array(exact, dtype=object))]


def _draws(part: Part, cells: list[Cells]) -> list[tuple[Any, ...]]:
    """Release each draw of an axis, for all groups."""
    pairs = zip(part.draws, part.mechanisms, strict=True)
    return [_drawn(part, draw, mechanism, cells) for draw, mechanism in pairs]


def _drawn(part: Part, draw: Draw, mechanism: Mechanism, cells: list[Cells]) -> tuple[Any, ...]:
    assert part.aggregation.along is not None
    assert not isinstance(mechanism, NoisyCounts | Coordinate)
    width = part.aggregation.along.cells
    if isinstance(mechanism, WeightedQuantile):
        return tuple(int(mechanism.release(group)) for group in cells)
    dense = [_dense(group, width) for group in cells]
    if isinstance(mechanism, MeasuredCells):
        return _measured_cells(mechanism, dense)
    if isinstance(mechanism, Laplace | Gaussian):
        noisy = _noisy(mechanism, [weight for group in dense for weight in group])
        return tuple(tuple(noisy[i * width : (i + 1) * width]) for i in range(len(cells)))
    return tuple(_picks(mechanism, group, draw.picks) for group in dense)


def _measured_cells(mechanism: MeasuredCells, groups: list[list[int]]) -> tuple[tuple[int, ...], ...]:
    """Add noise to what a strategy measures of each group."""
    strategy = mechanism.strategy
    exact = [int(x) for group in groups for x in strategy.measure(np.array(group, dtype=object))]
    noisy, size = _noisy(mechanism.noise, exact), strategy.measurements
    return tuple(tuple(noisy[i * size : (i + 1) * size]) for i in range(len(groups)))


def _dense(group: Cells, width: int) -> list[int]:
    found = np.zeros(width, dtype=np.int64)
    found[group[0]] = group[1]
    return found.tolist()


def _picks(mechanism: Choice, weights: list[int], count: int) -> tuple[int, ...]:
    """Pick cells one after the other, each from those that are left."""
    left, found = list(range(len(weights))), []
    for _ in range(count):
        place = int(mechanism.release([weights[cell] for cell in left]))
        found.append(left.pop(place))
    return tuple(found)
