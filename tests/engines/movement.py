"""One person moves the exact vector by no more than declared: many trials in one query.

Two tables hold the worlds of all trials: one with, the other without a person of each. Everybody lives in one
trial only, so a question that groups by the trial as well gives the vectors of all of them at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa

import jali
from jali.engines import Engine
from jali.ir import ownership
from jali.ir.aggregates import Aggregation
from jali.planner import query_sensitivity
from jali.planner.plan import Plan

Rows: TypeAlias = list[tuple[Any, ...]]
TRIALS = 200
_WARDS = ("A", "B", "it's", None, "elsewhere")
_REALS = (0.0, -0.0, 0.5, 999.75, 1e308, -1e308, 1e-320, float("nan"), float("inf"), float("-inf"), None)
_WHOLES = (0, 1, -1, 59, 120, 2**63 - 1, -(2**63), None)
_CODES = ("x", "y", "", "é", "X", None)
KINDS = {
    "owner": pa.string(),
    "trial": pa.int64(),
    "ward": pa.string(),
    "cost": pa.float64(),
    "age": pa.int64(),
    "code": pa.string(),
}
COLUMNS: dict[str, Any] = {
    "trial": jali.Keys(list(range(TRIALS))),
    "ward": jali.Keys(["A", "B", "it's", None]),
    "cost": jali.Range(-10, 1000),
    "age": jali.Range(0, 120),
}
TABLES = ("before", "after")
QUESTIONS = (
    "SELECT trial, ward, COUNT(*), SUM(cost), AVG(age) FROM {} GROUP BY trial, ward",
    "SELECT trial, COUNT(*), COUNT(cost), SUM(age) FROM {} WHERE cost > 0 OR age < 60 GROUP BY trial",
    "SELECT trial, ward, COUNT(DISTINCT owner), COUNT(DISTINCT code) FROM {} GROUP BY trial, ward",
    "SELECT trial, SUM(cost * 2 + age / 3), SUM(ABS(cost)) FROM {} GROUP BY trial",
    "SELECT trial, ward, MEDIAN(age) FROM {} GROUP BY trial, ward",
    "SELECT trial, SUM(n), COUNT(*) FROM (SELECT trial, owner, COUNT(*) AS n, SUM(cost) AS c FROM {}"
    " GROUP BY trial, owner) GROUP BY trial",
)


def worlds(seed: int) -> dict[str, pa.Table]:
    """Return the rows of all trials, with everybody and with somebody gone."""
    chance = random.Random(seed)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for trial in range(TRIALS):
        people = [[_row(chance) for _ in range(chance.choice((0, 1, 2, 3, 5, 12)))] for _ in range(4)]
        gone = chance.randrange(4)
        for person, own in enumerate(people):
            named = [{"owner": f"{trial}:{person}", "trial": trial, **row} for row in own]
            rows["before"] += named
            rows["after"] += [] if person == gone else named
    return {name: pa.Table.from_pylist(some, schema=pa.schema(list(KINDS.items()))) for name, some in rows.items()}


def _row(chance: random.Random) -> dict[str, Any]:
    return {
        "ward": chance.choice(_WARDS),
        "cost": chance.choice(_REALS) if chance.random() < 0.5 else chance.uniform(-20, 1100),
        "age": chance.choice(_WHOLES),
        "code": chance.choice(_CODES),
    }


@dataclass(frozen=True)
class Moved:
    """How far the worst person moved a measure, and how far anybody may."""

    furthest: int
    declared: float


def check_question(before: Plan, after: Plan, engine: Engine) -> list[Moved]:
    """Run the queries of two plans, and fail if who is gone moved a trial further than declared."""
    found = []
    for one, other in zip(before.parts, after.parts, strict=True):
        pairs = ((before, one.aggregation), (after, other.aggregation))
        rows = [engine.run(engine.emit(aggregation), plan.read) for plan, aggregation in pairs]
        if one.aggregation.along is not None:
            found.append(_check_axis(one.aggregation, *rows))
        else:
            found += _check_measures(before, one.aggregation, *rows)
    return found


def _check_measures(plan: Plan, aggregation: Aggregation, before: Rows, after: Rows) -> list[Moved]:
    groups = aggregation.groups // TRIALS
    assert len(before) == len(after) == aggregation.groups
    changes, found = ownership.changes(plan.source, plan.table), []
    for i, measure in enumerate(aggregation.measures):
        each = [abs(int(a[i]) - int(b[i])) for a, b in zip(before, after, strict=True)]
        moved = [each[trial * groups : (trial + 1) * groups] for trial in range(TRIALS)]
        squared = query_sensitivity.squared_l2_sensitivity(aggregation, measure, changes)
        assert max(sum(m * m for m in some) for some in moved) <= squared
        most, furthest = query_sensitivity.l1_sensitivity(aggregation, measure, changes), max(map(sum, moved))
        assert furthest <= most or query_sensitivity.by_length(aggregation, measure)
        found.append(Moved(furthest, float(most)))
    return found


def _check_axis(aggregation: Aggregation, before: Rows, after: Rows) -> Moved:
    """All the weight that a person has lies in the cells of their own trial."""
    weights = [{(int(place), int(cell)): int(w) for place, cell, w in rows} for rows in (before, after)]
    moved = [0] * TRIALS
    for key in weights[0].keys() | weights[1].keys():
        trial = key[0] // (aggregation.groups // TRIALS)
        moved[trial] += abs(weights[0].get(key, 0) - weights[1].get(key, 0))
    assert aggregation.weights is not None
    most = aggregation.weights.resolution * aggregation.weights.max_rows
    assert max(moved) <= most
    return Moved(max(moved), most)
