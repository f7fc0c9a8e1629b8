"""How far the exact numbers of a plan move between neighbours, against what the plan declares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from tests.fuzz.neighbours import Neighbour
from tests.fuzz.world import House

from jali.catalog.tables import Table
from jali.engines.duckdb.dialect import DUCKDB, emit
from jali.engines.sql.relation_emitter import select
from jali.ir import ownership
from jali.ir.aggregates import CountPeople, CountRows
from jali.mechanisms import Gaussian, Laplace
from jali.mechanisms.additive.l_infinity import JointNoiseCoordinate
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.mechanisms.workloads.cell_strategies import MeasuredCells
from jali.planner import Plan, query_sensitivity
from jali.planner.measured_query import MeasuredQuery
from jali.planner.plan import compute_release_loss
from jali.planner.query_sensitivity import QuerySensitivity, strategy_l1, strategy_squared_l2

Rows: TypeAlias = list[tuple[Any, ...]]
# An integer for each place of a vector; places that are not there hold 0.
Vector: TypeAlias = dict[Any, int]


@dataclass(frozen=True)
class Exact:
    """Everything that is exact about a plan on one world.

    Attributes:
        parts: The rows of each part.
        every: The rows of each part as they were if nobody's groups were dropped.
        owned: How many rows each owner has, by their content.
    """

    parts: tuple[Rows, ...]
    every: tuple[Rows, ...]
    owned: Counter[str]


def exact(plan: Plan, house: House, *, with_owners: bool) -> Exact:
    """Run the queries of a plan, and those that look behind it."""

    def run(sql: str) -> Rows:
        return house.engine.run(sql, plan.read)

    parts = tuple(run(part.sql) for part in plan.parts)
    every = tuple(
        run(_unlimited(part)) if _hides(part) else rows for part, rows in zip(plan.parts, parts, strict=True)
    )
    return Exact(parts, every, Counter(map(repr, run(_owned(plan)) if with_owners else [])))


def _hides(part: MeasuredQuery) -> bool:
    return part.aggregation.selecting and not part.draws and part.aggregation.weights is not None


def _owned(plan: Plan) -> str:
    names = frozenset(field.name for field in plan.source.fields if field.kind.value != "other")
    return select(DUCKDB, plan.source, names)


@lru_cache(maxsize=64)
def _unlimited(part: MeasuredQuery) -> str:
    """The query without the bound on a person's groups.

    Which groups are shown is decided by their people, after the noise could have been added to all of them: a
    group that nobody keeps has its measures, too, though it is never shown.
    """
    weights = part.aggregation.weights
    assert weights is not None
    return emit(replace(part.aggregation, weights=replace(weights, max_groups=1 << 30)))


def check_equal(one: Exact, other: Exact) -> None:
    """Fail if anything moved at all; the order of rows means nothing."""
    for before, after in zip(one.parts, other.parts, strict=True):
        assert Counter(map(_group, before)) == Counter(map(_group, after)), "something moved"


def check_movement(plan: Plan, table: Table, before: Exact, after: Exact) -> None:
    """Fail if a neighbour in this table moved something further than the plan declares."""
    changes = ownership.changes(plan.source, table)
    pairs = zip(plan.parts, before.parts, after.parts, before.every, after.every, strict=True)
    for part, one, other, all_one, all_other in pairs:
        if part.draws:
            _check_axis(part, one, other, changes)
        elif part.aggregation.selecting:
            _check_selected(part, one, other, changes)
            _check_measures(part, all_one, all_other, changes)
            _check_together(part, all_one, all_other, changes)
        else:
            assert len(one) == len(other) == part.aggregation.groups
            _check_measures(part, one, other, changes)
            _check_together(part, one, other, changes)


def _moved(one: Vector, other: Vector) -> list[int]:
    return [abs(one.get(place, 0) - other.get(place, 0)) for place in one.keys() | other.keys()]


def _check_measures(part: MeasuredQuery, one: Rows, other: Rows, changes: int) -> None:
    aggregation = part.aggregation
    width = len(aggregation.keys) if aggregation.selecting else 0
    first = width + 1 if aggregation.selecting else 0
    for i, measure in enumerate(aggregation.measures):
        if aggregation.selecting and isinstance(measure, CountPeople) and measure.present is None:
            continue
        moved = _moved(*(_vector(rows, width, first + i) for rows in (one, other)))
        if not query_sensitivity.by_length(aggregation, measure):
            most = query_sensitivity.l1_sensitivity(aggregation, measure, changes)
            assert sum(moved) <= most, ("L1", measure, sum(moved), most)
        squared = query_sensitivity.squared_l2_sensitivity(aggregation, measure, changes)
        assert sum(m * m for m in moved) <= squared, ("L2", measure, moved, squared)


def _check_together(part: MeasuredQuery, one: Rows, other: Rows, changes: int) -> None:
    """Measures that leave together move by their largest multiple in each group, over all groups."""
    aggregation = part.aggregation
    width = len(aggregation.keys) if aggregation.selecting else 0
    first = width + 1 if aggregation.selecting else 0
    block = {i: m for i, m in enumerate(part.mechanisms) if isinstance(m, JointNoiseCoordinate)}
    if not block:
        return
    pairs = [(m.times, [_vector(rows, width, first + i) for rows in (one, other)]) for i, m in block.items()]
    groups = {group for _, vectors in pairs for vector in vectors for group in vector}
    moved = sum(max(times * abs(a.get(g, 0) - b.get(g, 0)) for times, (a, b) in pairs) for g in groups)
    most = QuerySensitivity(aggregation, changes, times={i: m.times for i, m in block.items()}).joint
    assert moved <= most, ("together", list(block), moved, most)
    # Nobody is charged less than that, at the scale that is drawn.
    charged = sum((compute_release_loss(part, i, changes).epsilon or Fraction(0)) for i in block)
    assert charged >= moved / next(iter(block.values())).joint.scale


def _vector(rows: Rows, width: int, column: int) -> Vector:
    """One measure by its groups: by their keys where there are any to tell, else by their order."""
    if width:
        return {_group(row[:width]): int(row[column]) for row in rows}
    return {place: int(row[column]) for place, row in enumerate(rows)}


def _group(keys: tuple[Any, ...]) -> str:
    """A name of a group; whole numbers come as doubles, of which two are zero."""
    return repr([key + 0.0 if isinstance(key, float) else key for key in keys])


def _check_selected(part: MeasuredQuery, one: Rows, other: Rows, changes: int) -> None:
    """One person keeps so many groups, and counts once in each."""
    aggregation = part.aggregation
    width = len(aggregation.keys)
    groups = 1 if aggregation.weights is None else aggregation.weights.max_groups
    moved = _moved(*(_vector(rows, width, width) for rows in (one, other)))
    assert sum(moved) <= groups * changes, ("people", moved, groups, changes)
    assert max(moved, default=0) <= max(1, changes // 2), ("people of a group", moved)
    for i, measure in enumerate(aggregation.measures):
        if isinstance(measure, CountPeople) and measure.present is None:
            most = query_sensitivity.l1_sensitivity(aggregation, measure, changes)
            squared = query_sensitivity.squared_l2_sensitivity(aggregation, measure, changes)
            shown = _moved(*(_vector(rows, width, width + 1 + i) for rows in (one, other)))
            assert sum(shown) <= most, (measure, shown, most)
            assert sum(m * m for m in shown) <= squared, (measure, shown, squared)


def _check_axis(part: MeasuredQuery, one: Rows, other: Rows, changes: int) -> None:
    """Weights of cells in L1 and L2, those of picks by their largest move, quantiles by their distances."""
    aggregation = part.aggregation
    width = len(aggregation.keys) if aggregation.selecting else 1
    sides = [_cells(rows, width) for rows in (one, other)]
    moved = _moved(*sides)
    assert sum(moved) <= query_sensitivity.bound_weight(aggregation) * changes, ("cells", sum(moved), changes)
    groups = [_by_group(vector) for vector in sides]
    for draw, mechanism in zip(part.draws, part.mechanisms, strict=True):
        if isinstance(mechanism, Laplace | Gaussian):
            assert sum(moved) <= query_sensitivity.l1_sensitivity(aggregation, CountRows(), changes)
            squared = query_sensitivity.squared_l2_sensitivity(aggregation, CountRows(), changes)
            assert sum(m * m for m in moved) <= squared
        elif isinstance(mechanism, MeasuredCells):
            _check_strategy(mechanism, part, groups[0], groups[1], changes)
        elif isinstance(mechanism, WeightedQuantile):
            most = query_sensitivity.rank_sensitivity(aggregation, draw.at, changes)
            assert _ranks_moved(mechanism, *groups) <= most, ("ranks", draw)
        else:
            assert isinstance(mechanism, PermuteAndFlip | Exponential)
            most = query_sensitivity.cell_sensitivity(aggregation, changes)
            assert _largest_moved(*groups) <= most, ("picks", draw)
            assert isinstance(mechanism, PermuteAndFlip | Exponential)
            assert not mechanism.monotone or changes > 1 or _one_way(*sides)


def _check_strategy(
    mechanism: MeasuredCells,
    part: MeasuredQuery,
    one: dict[str, dict[int, int]],
    other: dict[str, dict[int, int]],
    changes: int,
) -> None:
    """What a strategy measures of the cells, in L1 and L2 over all groups."""
    strategy, moved = mechanism.strategy, []
    for group in one.keys() | other.keys():
        sides = [[side.get(group, {}).get(i, 0) for i in range(strategy.cells)] for side in (one, other)]
        before, after = (strategy.measure(np.array(side, dtype=object)) for side in sides)
        moved += [abs(int(a) - int(b)) for a, b in zip(before, after, strict=True)]
    assert sum(moved) <= strategy_l1(strategy, part.aggregation, changes)
    assert sum(m * m for m in moved) <= strategy_squared_l2(strategy, part.aggregation, changes)


def _cells(rows: Rows, width: int) -> Vector:
    return {(_group(row[:width]), int(row[width])): int(row[width + 1]) for row in rows}


def _by_group(cells: Vector) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for (group, cell), weight in cells.items():
        found.setdefault(group, {})[cell] = weight
    return found


def _largest_moved(one: dict[str, dict[int, int]], other: dict[str, dict[int, int]]) -> int:
    """The largest move of a cell in each group, over all groups."""
    return sum(max(_moved(one.get(g, {}), other.get(g, {}))) for g in one.keys() | other.keys())


def _one_way(one: Vector, other: Vector) -> bool:
    signs = {
        (one.get(p, 0) > other.get(p, 0)) - (one.get(p, 0) < other.get(p, 0)) for p in one.keys() | other.keys()
    }
    return not {-1, 1} <= signs


def _ranks_moved(
    mechanism: WeightedQuantile, one: dict[str, dict[int, int]], other: dict[str, dict[int, int]]
) -> Fraction:
    """The largest move of a mark's distance in each group, over all groups."""
    total = Fraction(0)
    for group in one.keys() | other.keys():
        sides = [side.get(group, {}) for side in (one, other)]
        ranks = [mechanism.ranks((list(side), list(side.values()))) for side in sides]
        places = _telling(mechanism.top, [*sides[0], *sides[1]])
        total += max(abs(ranks[0].distance(place) - ranks[1].distance(place)) for place in places)
    return total


def _telling(top: int, marks: Iterable[int]) -> Sequence[int]:
    """Marks at, beside and between those that hold rows, and the ends."""
    near = {mark + step for mark in marks for step in (-1, 0, 1)} | {0, top, top // 2}
    return sorted(place for place in near if 0 <= place <= top)


def check_owners(plan: Plan, neighbour: Neighbour, before: Exact, after: Exact) -> None:
    """Fail if a row has no owner, if another person's rows moved, or if a needed table was not needed."""
    assert not any(row.startswith("(None,") for row in before.owned + after.owned), "a row without owner"
    if neighbour.table == "readings":
        return
    touched = {f"({person}," for person in (neighbour.gone, neighbour.new) if person is not None}
    moved = (before.owned - after.owned) + (after.owned - before.owned)
    others = [row for row in moved if not any(row.startswith(mine) for mine in touched)]
    assert not others, ("the rows of somebody else moved", others)
    if neighbour.table in ownership.own(plan.source).needed and neighbour.gone != neighbour.new:
        left = [row for row in after.owned if row.startswith(f"({neighbour.gone},")]
        early = [row for row in before.owned if row.startswith(f"({neighbour.new},")]
        assert not left + early, "there are rows without the table that they are said to need"
