"""Intervals cover the bounded truth as often as they say, and are not wider than they must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.depth import DEPTH
from tests.harness import noise_off

import jali

REPEATS = 2000 * DEPTH
GROUPS = 2
PEOPLE = 400


def visits() -> pa.Table:
    """A small clinic: 400 people, 1 to 6 visits each, costs in [0, 100], ages in [20, 80]."""
    owner = [p for p in range(PEOPLE) for _ in range(1 + p % 6)]
    return pa.table(
        {
            "uid": owner,
            "g": [["A", "B"][(7 * p + i) % 5 == 0] for i, p in enumerate(owner)],
            "cost": [float((37 * i) % 1000) / 10 for i in range(len(owner))],
            "age": [20 + (p * 13) % 61 for p in owner],
        }
    )


# How much wider than needed an interval may be, per aggregate.
ALLOWED = {
    "COUNT(*)": 1.3,
    "COUNT(age)": 1.3,
    "SUM(cost)": 1.3,
    "AVG(age)": 1.5,
    "AVG(cost)": 1.5,
    "SUM(cost) / COUNT(*)": 1.5,
    "COUNT(DISTINCT uid)": 1.3,
}
CASES = [("uid", {"epsilon": 6}), (None, {"epsilon": 1}), ("uid", {"rho": "1/2"}), (None, {"rho": "1/2"})]


def database(unit: str | None) -> jali.Database:
    db = jali.connect()
    columns: dict[str, jali.Range | jali.Keys] = {
        "g": jali.Keys(["A", "B"]),
        "cost": jali.Range(0, 100),
        "age": jali.Range(0, 120),
    }
    budget = jali.Budget(epsilon=10**6, delta=1e-6)
    db.protect("t", visits(), unit=unit, max_rows=4 if unit else None, columns=columns, budget=budget)
    return db


def repeat(db: jali.Database, sql: str, loss: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ask the same question many times; the data is declared new each time, so that noise is drawn anew."""
    with noise_off():
        truth = np.array([row[1:] for row in db.ask(sql, **loss).rows], dtype=float)
    values, spans = [], []
    for _ in range(REPEATS // GROUPS):
        db.refresh("t")
        answer = db.ask(sql, **loss)
        values.append([row[1:] for row in answer.rows])
        spans.append([row[1:] for row in answer.interval(0.95)])
    errors = np.abs(np.array(values, dtype=float) - truth)
    ends = np.array(spans, dtype=float)
    covered = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    return errors, covered, ends[..., 1] - ends[..., 0]


@pytest.mark.parametrize(
    ("unit", "loss"), CASES, ids=["person-laplace", "row-laplace", "person-gauss", "row-gauss"]
)
def test_intervals_of_every_aggregate_cover_and_are_tight(unit: str | None, loss: dict[str, Any]) -> None:
    """For an interval of 95 %, fewer than 92.5 % of 2,000 has probability below 1e-6 (binomial tail)."""
    aggregates = [a for a in ALLOWED if unit or "DISTINCT" not in a]
    shown = ", ".join(f"{aggregate} AS v{i}" for i, aggregate in enumerate(aggregates))
    with database(unit) as db:
        errors, covered, widths = repeat(db, f"SELECT g, {shown} FROM t GROUP BY g", loss)
    for column, aggregate in enumerate(aggregates):
        # The groups have independent noise: 1,000 answers with two groups are 2,000 intervals.
        assert covered[:, :, column].mean() >= 0.925, aggregate
        for group in range(GROUPS):
            needed = 2 * np.quantile(errors[:, group, column], 0.95)
            assert np.median(widths[:, group, column]) <= ALLOWED[aggregate] * needed, aggregate
