"""One person moves the exact integers by no more than the plan declares, in L1 and in L2."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH
from tests.exact.strategies import Asked, questions, row, table_of
from tests.exact.test_plain_sql import database
from tests.harness import noise_off

import jali
from jali.planner import Plan
from jali.planner.sensitivity import l1_sensitivity, squared_l2_sensitivity

rows = st.lists(row, max_size=12)
mine = st.lists(row, max_size=6)


def exact(table: pa.Table, asked: str, unit: str | None, most: int | None, adjacency: str) -> tuple[Plan, Any]:
    with database(table, unit, most, adjacency) as db, noise_off():
        plan = db.explain(asked, epsilon=1)
        return plan, db.ask(asked, epsilon=1).release.noisy


def owned(rows: list[tuple[Any, ...]], owner: int) -> list[tuple[Any, ...]]:
    return [(owner, *row[1:]) for row in rows]


def check(before: Any, after: Any, plan: Plan) -> None:
    for measure, a, b in zip(plan.aggregation.measures, before, after, strict=True):
        moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
        assert sum(moved) <= l1_sensitivity(plan.aggregation, measure)
        assert sum(m * m for m in moved) <= squared_l2_sensitivity(plan.aggregation, measure)


@settings(max_examples=200 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(others=rows, one=mine, other=mine, asked=questions(person_level=True), most=st.integers(1, 3))
def test_one_person_stays_within_the_declared_sensitivity(
    others: list[Any], one: list[Any], other: list[Any], asked: Asked, most: int
) -> None:
    rest = [row for row in others if row[0] != 3]
    with_one = table_of(rest + owned(one, 3))
    for adjacency, neighbour in (
        ("add-remove", table_of(rest)),
        ("replace-one", table_of(rest + owned(other, 4))),
    ):
        plan, before = exact(with_one, asked.sql, "uid", most, adjacency)
        _, after = exact(neighbour, asked.sql, "uid", most, adjacency)
        check(before, after, plan)


@settings(max_examples=100 * DEPTH, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(others=rows, one=row, other=row, asked=questions(person_level=False))
def test_one_row_stays_within_the_declared_sensitivity(others: Any, one: Any, other: Any, asked: Asked) -> None:
    for adjacency, neighbour in (("add-remove", others), ("replace-one", [*others, other])):
        plan, before = exact(table_of([*others, one]), asked.sql, None, None, adjacency)
        _, after = exact(table_of(neighbour), asked.sql, None, None, adjacency)
        check(before, after, plan)


EXTREME = "SELECT g, COUNT(*), SUM(x), AVG(x), SUM(n), COUNT(DISTINCT uid) FROM t GROUP BY g"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_declared_sensitivity_is_reached(adjacency: str) -> None:
    """A bound that is never met would be noise for nothing: the worst person meets it in L1."""
    filler = [(0, "B", 1, 1.0, 1, 1, "1", True)]
    one = table_of(filler + [(9, "A", 1, 1e308, 2**63 - 1, 1, "1", True)] * 3)
    moved = [(8, "B", 1, 1e308, 2**63 - 1, 1, "1", True)] * 3
    neighbour = table_of(filler if adjacency == "add-remove" else filler + moved)
    plan, before = exact(one, EXTREME, "uid", 2, adjacency)
    _, after = exact(neighbour, EXTREME, "uid", 2, adjacency)
    for i in range(4):
        moved_by = sum(abs(x - y) for x, y in zip(before[i], after[i], strict=True))
        # Weights are rounded down to 2^-20: three rows of 2/3 lose less than three units of it each.
        assert moved_by >= l1_sensitivity(plan.aggregation, plan.aggregation.measures[i]) * (1 - 2e-6)


def test_a_wrong_sensitivity_would_be_noticed() -> None:
    plan, before = exact(table_of([(9, "A", 1, 1.0, 1, 1, "1", True)] * 3), EXTREME, "uid", 2, "add-remove")
    doubled = tuple(tuple(3 * value for value in values) for values in before)
    nothing = tuple(tuple(0 for _ in values) for values in before)
    with pytest.raises(AssertionError):
        check(doubled, nothing, plan)
    assert isinstance(plan, jali.Plan)
