"""Drawing: exact integers in, released ones out. The only code that sees both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.keys.noisy_counts import NoisyCounts
from jali.mechanisms.keys.optimal_keys import OptimalKeys
from jali.mechanisms.keys.tables import in_public_order
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.planner import Plan
from jali.planner.part import Choice, Draw, Level, Mechanism, Noise, Part
from jali.query.catalog import Kind

Rows: TypeAlias = list[tuple[Any, ...]]
Run: TypeAlias = Callable[[Part], Rows]
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
            by_group = _by_group(rows, 1)
            found += _draws(part, [by_group.get((place,), []) for place in range(groups)])
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
        found += _draws(part, [by_group.get(group, []) for group in groups])
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


def _measures(part: Part, rows: Rows, first: int) -> list[tuple[int, ...]]:
    """Add noise to each measure, over all groups at once; a count that is told has its own already."""
    return [
        tuple(_noisy(mechanism, [int(row[first + i]) for row in rows]))
        for i, mechanism in enumerate(part.mechanisms)
        if isinstance(mechanism, Laplace | Gaussian)
    ]


def _noisy(mechanism: Noise, exact: list[int]) -> list[int]:
    if not exact:
        return []
    return [int(value) for value in mechanism.release_integers(np.array(exact, dtype=object))]


def _draws(part: Part, cells: list[list[tuple[int, int]]]) -> list[tuple[Any, ...]]:
    """Release each draw of an axis, for all groups."""
    pairs = zip(part.draws, part.mechanisms, strict=True)
    return [_drawn(part, draw, mechanism, cells) for draw, mechanism in pairs]


def _drawn(part: Part, draw: Draw, mechanism: Mechanism, cells: list[list[tuple[int, int]]]) -> tuple[Any, ...]:
    assert part.aggregation.along is not None
    assert not isinstance(mechanism, NoisyCounts)
    width = part.aggregation.along.cells
    if isinstance(mechanism, WeightedQuantile):
        return tuple(_mark(mechanism, group) for group in cells)
    dense = [_dense(group, width) for group in cells]
    if isinstance(mechanism, Laplace | Gaussian):
        noisy = _noisy(mechanism, [weight for group in dense for weight in group])
        return tuple(tuple(noisy[i * width : (i + 1) * width]) for i in range(len(cells)))
    return tuple(_picks(mechanism, group, draw.picks) for group in dense)


def _mark(mechanism: WeightedQuantile, group: list[tuple[int, int]]) -> int:
    marks = np.array([mark for mark, _ in group], dtype=np.int64)
    weights = np.array([weight for _, weight in group], dtype=np.int64)
    return int(mechanism.release((marks, weights)))


def _dense(group: list[tuple[int, int]], width: int) -> list[int]:
    found = [0] * width
    for cell, weight in group:
        found[cell] = weight
    return found


def _picks(mechanism: Choice, weights: list[int], count: int) -> tuple[int, ...]:
    """Pick cells one after the other, each from those that are left."""
    left, found = list(range(len(weights))), []
    for _ in range(count):
        place = int(mechanism.release([weights[cell] for cell in left]))
        found.append(left.pop(place))
    return tuple(found)
