"""An independent computation of what a question means: plain SQL per row, then Python integers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import duckdb
import pyarrow as pa
from tests.frames import normalized

from jali.ir.aggregates import CountPeople, CountRows, CountValues, SumValues, Weights
from jali.ir.expressions import Column
from jali.planner import Plan


@dataclass(frozen=True)
class Written:
    """An expression as the analyst writes it, and the same in plain SQL that cannot overflow."""

    asked: str
    plain: str


def rows_of(table: pa.Table, where: str | None, values: list[str]) -> list[tuple[Any, ...]]:
    """Evaluate a condition and values row by row in a plain DuckDB."""
    condition = f"({where})" if where else "TRUE"
    columns = ", ".join(["uid", "g", "h", f"coalesce({condition}, FALSE)", *values])
    with duckdb.cursor() as connection:
        connection.register("t", normalized(table))
        return connection.execute(f"SELECT {columns} FROM t").fetchall()


def weights_of(owners: list[Any], most: int, resolution: int) -> dict[Any, int]:
    """Return the weight of each owner's rows: floor(resolution * min(1, most / rows))."""
    counts = Counter(owners)
    return {owner: min(resolution, resolution * most // count) for owner, count in counts.items()}


def lattice_point(value: Any, measure: SumValues) -> int | None:
    """Clamp, centre and round one value, in double arithmetic; None where there is no value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, int):
        clamped = min(max(Fraction(value), measure.low), measure.high)
        point: Fraction = (clamped - measure.center) * measure.steps
        return round(point)
    clamped_float: float = max(min(value, float(measure.high)), float(measure.low))
    return round((clamped_float - float(measure.center)) * float(measure.steps))


def groups_of(plan: Plan) -> list[tuple[Any, ...]]:
    """Return the declared groups, in their order."""
    return list(product(*(key.values or () for key in plan.aggregation.keys)))


def expected_integers(plan: Plan, rows: list[tuple[Any, ...]], person_level: bool) -> list[list[int]]:
    """Return, per measure, the exact integer of every group."""
    kept = [row for row in rows if row[3] and (not person_level or row[0] is not None)]
    weights = plan.aggregation.weights
    groups = groups_of(plan)
    names = [key.expression.name for key in plan.aggregation.keys if isinstance(key.expression, Column)]
    per_owner = {} if weights is None else _weights(weights, kept, set(groups), names)
    totals = []
    value_index = 4
    for measure in plan.aggregation.measures:
        assert not isinstance(measure, CountValues)
        total = dict.fromkeys(groups, 0)
        if isinstance(measure, CountPeople):
            totals.append(_people(plan, kept, groups, names))
            continue
        for row in kept:
            group = tuple({"g": row[1], "h": row[2]}[name] for name in names)
            weight = 1 if weights is None else per_owner[row[0]]
            added = (
                1
                if isinstance(measure, CountRows) and measure.present is None
                else _added(measure, row, value_index)
            )
            if group in total:
                total[group] += weight * added
        if isinstance(measure, SumValues) or measure.present is not None:
            value_index += 1
        totals.append([total[group] for group in groups])
    return totals


def _weights(
    weights: Weights, kept: list[tuple[Any, ...]], groups: set[Any], names: list[str]
) -> Mapping[Any, int]:
    """What each row of an owner weighs: by the number of rows, or by the length of the numbers in known groups."""
    if weights.norm == "l1":
        return weights_of([row[0] for row in kept], weights.max_rows, weights.resolution)
    pairs = Counter((row[0], tuple({"g": row[1], "h": row[2]}[name] for name in names)) for row in kept)
    squared: Counter[Any] = Counter()
    for (owner, group), count in pairs.items():
        squared[owner] += count**2 if group in groups else 0
    most = weights.max_rows * weights.resolution
    # The largest w with w^2 S <= most^2. Who has no row in a known group is in no sum.
    return {o: min(weights.resolution, math.isqrt(most**2 // s)) if s else 0 for o, s in squared.items()}


def _added(measure: CountRows | SumValues, row: tuple[Any, ...], index: int) -> int:
    value = row[index]
    if isinstance(measure, SumValues):
        # Where a missing value counts as 0, the centre is taken off each row.
        point = lattice_point(value, measure.own if measure.missing is not None else measure)
        return (point or 0) + (measure.missing or 0)
    return int(value is not None and not (isinstance(value, float) and math.isnan(value)))


def _people(plan: Plan, kept: list[tuple[Any, ...]], groups: list[Any], names: list[str]) -> list[int]:
    pairs = {(row[0], tuple({"g": row[1], "h": row[2]}[name] for name in names)) for row in kept}
    pairs = {(owner, group) for owner, group in pairs if group in groups}
    weights = plan.aggregation.weights
    assert weights is not None
    if len(groups) == 1:
        return [len(pairs)]
    per_owner = weights_of([owner for owner, _ in pairs], weights.max_groups, weights.resolution)
    return [sum(per_owner[o] for o, g in pairs if g == group) for group in groups]
