"""The planner is blind: no choice, cost, forecast, query or text of it changes when the data does.

Attack: learn something of the data for free, from `explain`, a refusal, or the loss that `within=` finds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, deep, thinned
from tests.forecasts import forecast_aggregates
from tests.fuzz.questions import Asked, questions
from tests.fuzz.world import ADJACENCIES, PROTECTED, World, house, random_world

import jali
from jali.explain import explain_plan
from jali.planner import PLANS

NOBODY: World = {shape.name: [] for shape in PROTECTED}
# A column of NULLs, and one value everywhere: what a planner that looks would stumble over.
ONE_ROW: World = {shape.name: [tuple(None for _ in shape.columns)] for shape in PROTECTED}
WORLDS = [NOBODY, ONE_ROW, *(random_world(seed) for seed in range(100, 120))]


def seen(db: jali.Database, sql: str, terms: dict[str, Any]) -> str:
    """Return all that somebody sees before paying: the plan with its queries and cost, forecasts, or a refusal."""
    try:
        plan = db.explain(sql, **{name: value for name, value in terms.items() if name != "analyst"})
    except jali.JaliError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    shown = (str(plan), explain_plan(plan).to_json(), forecast_aggregates(plan), plan.cost, plan.costs, plan.sql)
    return "\n".join([PLANS.encode(plan), *(repr(part) for part in shown)])


def test_a_random_question_is_planned_alike_over_all_data() -> None:
    tally: Counter[bool] = Counter()
    with house(ADJACENCIES[0]) as one:

        @settings(
            max_examples=15 * DEPTH,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(asked=questions, first=st.sampled_from(WORLDS), second=st.sampled_from(WORLDS))
        def plans(asked: Asked, first: World, second: World) -> None:
            one.show(first)
            found = seen(one.db, asked.sql, asked.terms)
            one.show(second)
            assert seen(one.db, asked.sql, asked.terms) == found
            tally["Error:" in found.partition("\n")[0]] += 1

        plans()
    assert tally[False] >= 4


@contextmanager
def clinic(rows: int, chance: Random) -> Iterator[jali.Database]:
    """Declare the same catalog over other data: other people, other values, other sizes, NULLs."""

    def column(*values: Any) -> list[Any]:
        return [chance.choice((*values, None)) for _ in range(rows)]

    frame = pa.table(
        {
            "uid": pa.array(column(*range(1 + rows // 3)), pa.int64()),
            "age": pa.array(column(-5, 0, 60, 2**40), pa.int64()),
            "cost": pa.array(column(0.0, 1e308, float("nan"), -3.25), pa.float64()),
            "ward": pa.array(column("A", "B", "C", ""), pa.string()),
            "drug": pa.array(column("x", "y" * 40), pa.string()),
        }
    )
    columns: dict[str, Any] = {
        "age": jali.Range(0, 120),
        "cost": jali.Range(0, 1000),
        "ward": jali.Keys(["A", "B", None]),
    }
    with jali.connect() as db:
        budget = jali.Budget(epsilon=100, delta="1e-3")
        db.protect("visits", frame, unit="uid", max_rows=3, columns=columns, budget=budget, rows=5_000)
        yield db


WITHIN: list[tuple[str, dict[str, Any]]] = [
    ("SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward", {"within": {"n": 10, "s": 4000}}),
    ("SELECT ward, AVG(age) AS a FROM visits GROUP BY ward", {"within": 1}),
    ("SELECT MEDIAN(age) AS a FROM visits", {"within": 5, "noise": "gaussian"}),
    ("SELECT STDDEV(age) AS a FROM visits", {"within": 3, "noise": "gaussian"}),
    ("SELECT CDF(age, 20) AS c FROM visits", {"within": 30, "confidence": 0.9}),
    ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", {"within": 12}),
    ("SELECT drug, COUNT(DISTINCT uid) AS n FROM visits GROUP BY drug", {"within": 9, "delta": "1e-9"}),
    ("SELECT drug, AVG(age) AS n FROM visits GROUP BY drug", {"within": 9, "delta": "1e-9"}),
    ("SELECT COUNT(*) AS n FROM visits", {"within": "1e-9"}),
    ("SELECT nothing FROM visits", {"within": 2}),
]


@deep
@thinned(2)
@pytest.mark.parametrize("size", [0, 300])
def test_the_loss_that_within_finds_is_the_same_over_all_data(size: int) -> None:
    def told(db: jali.Database) -> list[str]:
        return [seen(db, sql, terms) for sql, terms in WITHIN]

    with clinic(40, Random(1)) as one, clinic(size, Random(size)) as other:
        assert told(one) == told(other)


def test_a_batch_is_planned_alike_over_all_data() -> None:
    with clinic(40, Random(1)) as one, clinic(0, Random(2)) as other:
        assert _batch(one) == _batch(other)


def _batch(db: jali.Database) -> str:
    batch = db.batch(epsilon=1)
    batch.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward")
    batch.ask("SELECT CDF(age, 20) AS c FROM visits")
    return str(batch.explain())


def test_a_planner_that_looked_would_be_caught() -> None:
    """The comparison sees a catalog that differs in one public fact."""
    sql, terms = WITHIN[1]
    with clinic(40, Random(1)) as one, clinic(40, Random(1)) as other:
        other.protect(
            "visits",
            pa.table({"uid": [1], "age": [2], "cost": [1.0], "ward": ["A"], "drug": ["x"]}),
            unit="uid",
            max_rows=3,
            columns={"age": jali.Range(0, 120), "cost": jali.Range(0, 1000), "ward": jali.Keys(["A", "B", None])},
            budget=jali.Budget(epsilon=100, delta="1e-3"),
            rows=5_001,
        )
        assert seen(one, sql, terms) != seen(other, sql, terms)
