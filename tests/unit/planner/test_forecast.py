"""Forecasts against closed forms, and against the intervals of answers that were never asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.forecasts import forecast_aggregates
from tests.frames import tagged
from tests.seeded import SeededBits

import jali
from jali.execution.intervals import GroupReader
from jali.execution.postprocess import Release, ReleasedGroups
from jali.explain import explain_plan
from jali.ir.estimators import RatioEstimate, build_estimate
from jali.planner import Plan
from jali.planner.forecast import (
    AggregateForecast,
    forecast_estimate,
    guess_rows,
    half_width_at,
    public_rows,
)

COLUMNS: dict[str, Any] = {
    "age": jali.Range(0, 120),
    "ward": jali.Keys(["A", "B"]),
    "sex": jali.Keys(["f", "m", "x"]),
}


@pytest.fixture(scope="module")
def db() -> Iterator[jali.Database]:
    rows = {"uid": [1], "age": [30], "ward": ["A"], "sex": ["f"], "drug": ["x"]}
    budget = jali.Budget(epsilon=10**6, delta="1e-3")
    with jali.connect() as database:
        database.protect(
            "visits", pa.table(rows), unit="uid", max_rows=4, columns=COLUMNS, budget=budget, rows=40_000
        )
        database.protect("people", tagged(pa.table(rows), "people"), unit=None, columns=COLUMNS, budget=budget)
        yield database


def only(plan: Plan) -> AggregateForecast:
    ((_, (found,)),) = forecast_aggregates(plan)
    return found


def test_a_count_has_the_law_of_its_noise(db: jali.Database) -> None:
    """Discrete Laplace noise of scale b = 1/epsilon: variance 2q/(1-q)^2, Pr[|x| > t] = 2 q^(t+1)/(1+q)."""
    found = only(db.explain("SELECT COUNT(*) FROM people", epsilon=0.1))
    q = math.exp(-0.1)
    assert found.rms == pytest.approx(math.sqrt(2 * q) / (1 - q))
    assert found.half_width == next(t for t in range(100) if 2 * q ** (t + 1) / (1 + q) <= 0.05)
    assert found.always


def test_a_gaussian_sum_has_the_normal_law(db: jali.Database) -> None:
    found = only(db.explain("SELECT SUM(age) FROM visits", rho=0.5))
    assert found.rms == pytest.approx(4 * 120, rel=1e-6)
    assert found.half_width == pytest.approx(1.959964 * 480, rel=1e-4)


def test_measures_that_leave_together_have_the_variance_of_a_cube(db: jali.Database) -> None:
    """Of d coordinates each has the variance (d+1)(d+2)/3 (reach/epsilon)^2."""
    plan = db.explain("SELECT COUNT(*), SUM(age), COUNT(age) FROM visits", epsilon=0.5)
    # The sum is made of a centred one and 60 times a count, of 240 each.
    wanted = [4.0, math.hypot(240, 240), 4.0]
    for (_, (found,)), reach in zip(forecast_aggregates(plan), wanted, strict=True):
        assert found.rms == pytest.approx(math.sqrt(20 / 3) * reach / 0.5, rel=2e-3)


def test_the_cells_of_a_histogram_and_of_a_distribution_function(db: jali.Database) -> None:
    histogram = only(db.explain("SELECT HISTOGRAM(age, [20, 40, 60]) FROM visits", rho=0.5))
    assert histogram.rms == pytest.approx(4, rel=1e-4)
    running = only(db.explain("SELECT CDF(age, 2) FROM visits", epsilon=1))
    assert running.first is not None
    assert running.half_width is not None
    assert running.first <= running.half_width


def test_a_mean_is_off_by_the_noise_of_its_sum_over_the_rows(db: jali.Database) -> None:
    """Noise is drawn: of the sum alone in the middle of the range, and of both at an end of it."""
    plan = db.explain("SELECT AVG(age) FROM visits", epsilon=1)
    ((_, (found,)),), ((_, estimate),) = forecast_aggregates(plan), plan.estimates
    joint = plan.levels[0].parts[0].mechanisms[0].joint_mechanism
    noise = joint.noise(200_000, 2, bits=SeededBits(8)).astype(np.float64)
    above, below = ({i: float(c) for i, c in form.terms} for form in (estimate.numerator, estimate.denominator))  # type: ignore[union-attr]
    for ratio, width in ((60, found.least_per_row), (0, found.most_per_row), (120, found.most_per_row)):
        errors = sum((above.get(i, 0.0) - ratio * below.get(i, 0.0)) * noise[:, i] for i in (0, 1))
        assert np.quantile(np.abs(errors), 0.95) == pytest.approx(width, rel=0.02)
    assert half_width_at(plan, 0, estimate, 1_000, 0.95) == pytest.approx((found.most_per_row or 0) / 1_000)
    assert half_width_at(plan, 0, estimate, 3, 0.95) == math.inf
    assert half_width_at(plan, 0, estimate, None, 0.95) is None


def test_a_quantile_is_as_far_off_as_its_rank_where_values_lie_evenly(db: jali.Database) -> None:
    plan = db.explain("SELECT MEDIAN(age) FROM visits", epsilon=1)
    ((_, (found,)),), ((_, estimate),) = forecast_aggregates(plan), plan.estimates
    assert found.rank_reach is not None
    wanted = found.rank_reach / 10_000 * 120
    assert half_width_at(plan, 0, estimate, 10_000, 0.95) == pytest.approx(wanted)
    # The ends of the interval were bought for 95 %: beyond that they are those of the range.
    assert half_width_at(plan, 0, estimate, 10_000, 0.96) == math.inf


def test_the_rows_of_a_group_are_known_by_public_facts_alone(db: jali.Database) -> None:
    grouped = "SELECT {}, AVG(age) AS a FROM {} GROUP BY {}"
    declared = db.explain(grouped.format("ward", "visits", "ward"), epsilon=1)
    assert guess_rows(declared, 0) == public_rows(declared, 0) == 20_000
    stated = db.explain(grouped.format("ward", "visits", "ward"), epsilon=1, group_rows=70)
    assert guess_rows(stated, 0) == 70
    unknown = db.explain(grouped.format("ward", "people", "ward"), epsilon=1)
    assert guess_rows(unknown, 0) is public_rows(unknown, 0) is None
    chosen = db.explain(grouped.format("drug", "visits", "drug"), epsilon=1, delta="1e-9", min_people=30)
    assert guess_rows(chosen, 0) is None
    assert public_rows(chosen, 0) == 30


@pytest.mark.parametrize("aggregate", ["COUNT(*)", "2 * COUNT(*) - SUM(age)", "COUNT(age) - COUNT(*)"])
def test_a_count_that_is_told_makes_the_interval_that_the_answer_will_have(
    db: jali.Database, aggregate: str
) -> None:
    """In a group of a million rows, which is certain to be released: a union bound over its count and the rest."""
    sql = f"SELECT drug, {aggregate} AS x, COUNT(*) AS n FROM people GROUP BY drug"
    plan = db.explain(sql, epsilon=1, delta="1e-9")
    assert plan.selection_count is not None
    rows, (output, *_) = 10**6, plan.question.outputs[1:]
    known: dict[Any, Any] = dict(plan.estimates)
    estimate = known.get(output.expression) or build_estimate(output.expression, known)
    assert isinstance(estimate, RatioEstimate)
    reading = _reading(plan, rows)
    ((low, high),) = reading.intervals(estimate, 0.95)
    found = forecast_estimate(plan, 0, estimate)
    assert not found.always
    assert found.sure
    assert (high - low) / 2 == pytest.approx(found.half_width, rel=1e-6)


def _reading(plan: Plan, rows: int) -> GroupReader:
    """Read a draw in which the told count is so many rows, and all other noisy sums are 0."""
    (level,) = plan.levels
    noisy = tuple((rows if place == plan.selection_count else 0,) for place in range(len(level.releases)))
    laws = tuple(getattr(part.mechanisms[i], "law", None) for part, i in level.releases)
    released = ReleasedGroups(level.places, (("x",),), laws, noisy)
    return Release(
        plan.question,
        plan.keys,
        plan.estimates,
        plan.aggregation.measures,
        (released,),
        plan.selection,
        plan.selection_count,
    ).readings[0]


def test_an_explanation_has_the_same_forecasts(db: jali.Database) -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m, STDDEV(age) AS s FROM visits GROUP BY ward"
    plan = db.explain(sql, epsilon=1)
    for note, (_, (found,)) in zip(explain_plan(plan).aggregates, forecast_aggregates(plan), strict=True):
        same = (note.rms, note.half_width, note.least_per_row, note.most_per_row, note.rank_error)
        assert same == (
            found.rms,
            found.half_width,
            found.least_per_row,
            found.most_per_row,
            found.rank_error,
        )
    assert "rms" in explain_plan(plan).to_json()["aggregates"][0]


def test_an_aggregate_that_is_longer_than_a_line_is_explained_too(db: jali.Database) -> None:
    long = " + ".join(["age"] * 60)
    text = str(db.explain(f"SELECT AVG({long}) AS a FROM visits", epsilon=1))
    assert "smallest for a mean in the middle of its range" in " ".join(text.split())
