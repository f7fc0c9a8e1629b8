"""An explanation tells the value of a quantile from the ends of its interval, which lie further out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.frames import tagged

import jali
from jali.explain import explain_plan
from jali.explain.labelled_facts import show_remark
from jali.ir.estimators import Picked
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.planner.plan import Plan


@pytest.fixture(scope="module")
def db() -> jali.Database:
    database = jali.connect()
    columns: dict[str, Any] = {"age": jali.Range(0, 120), "ward": jali.Keys(["A", "B"])}
    for name, rows in (("visits", None), ("guessed", 40_000)):
        frame = pa.table({"uid": [1], "age": [30], "ward": ["A"]})
        budget = jali.Budget(epsilon=10)
        database.protect(
            name, tagged(frame, name), unit="uid", max_rows=4, columns=columns, budget=budget, rows=rows
        )
    return database


def aimed(plan: Plan) -> float:
    """How many rows from the median the ends of its interval are aimed at, as the mechanisms have it."""
    ((_, picked),) = plan.estimates
    assert isinstance(picked, Picked)
    part, place = plan.levels[0].releases[picked.picks[0].low or 0]
    end = part.mechanisms[place]
    assert isinstance(end, WeightedQuantile)
    assert part.aggregation.weights is not None
    return abs(float(end.offset)) / part.aggregation.weights.resolution


def test_the_ends_of_the_interval_are_forecast_beside_the_value(db: jali.Database) -> None:
    plan = db.explain("SELECT MEDIAN(age) FROM visits", epsilon=0.5)
    (note,) = explain_plan(plan).aggregates
    assert note.rank_error is not None
    assert note.rank_reach is not None
    assert note.rank_reach == pytest.approx(aimed(plan))
    assert note.rank_reach > 3 * note.rank_error
    assert f"about {note.rank_reach:,.0f} rows to each side" in show_remark(note)
    assert f"{note.rank_reach:,.0f} rows to each side" in " ".join(str(plan).split())


def test_a_public_guess_makes_it_a_share_of_the_rows(db: jali.Database) -> None:
    (note,) = explain_plan(db.explain("SELECT MEDIAN(age) FROM guessed", epsilon=0.5)).aggregates
    assert note.rank_reach is not None
    assert f"{100 * note.rank_reach / 40_000:.2g} % of n" in show_remark(note)


def test_an_extreme_has_one_end_and_a_list_has_two_for_each(db: jali.Database) -> None:
    least, several = explain_plan(
        db.explain("SELECT MIN(age), QUANTILE_CONT(age, [0.1, 0.9]) FROM visits", epsilon=1)
    ).aggregates
    assert show_remark(least).endswith("to one side")
    assert show_remark(several).endswith("to each side")


def test_with_totals_the_reader_is_sent_to_the_measure(db: jali.Database) -> None:
    sql = "SELECT ward, MEDIAN(age) FROM visits GROUP BY ROLLUP (ward)"
    (note,) = explain_plan(db.explain(sql, epsilon=1)).aggregates
    assert show_remark(note).endswith("lie further out (see [1])")
