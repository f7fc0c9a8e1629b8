"""Explanations of plans: every fact for every aggregate, under every unit, adjacency and kind of loss."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.depth import thinned

import jali
from jali.display.text import Ink
from jali.explain import explain_plan
from jali.explain.notes import MeasureNote
from jali.explain.plan_text import FREE, render_plan, render_plan_html, sql_lines
from jali.planner import Plan
from jali.sql.printer import show_expression
from jali.sql.reader.read_select import read_condition, read_value

AGGREGATES = ("COUNT(*)", "COUNT(age)", "SUM(cost)", "AVG(age)", "AVG(cost * 2 - 5)")
SETTINGS = list(product(("patient_id", None), ("add-remove", "replace-one"), ("epsilon", "rho"), (True, False)))


def plan_of(
    visits: Path,
    sql: str,
    *,
    unit: str | None = "patient_id",
    adjacency: str = "add-remove",
    kind: str = "epsilon",
    **declared: Any,
) -> Plan:
    columns = {"age": jali.Range(0, 120), "cost": jali.Range(0, 1000), "ward": jali.Keys(["A", "B", "C"])}
    with jali.connect() as database:
        database.protect(
            "visits",
            visits,
            unit=unit,
            max_rows=5 if unit else None,
            columns=columns | declared.pop("columns", {}),
            adjacency=adjacency,
            budget=jali.Budget(epsilon=3, delta=1e-6),
            **declared,
        )
        return database.explain(sql, epsilon=0.1) if kind == "epsilon" else database.explain(sql, rho=0.005)


@thinned(3)
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_every_aggregate_is_explained_in_every_setting(visits: Path, aggregate: str) -> None:
    for unit, adjacency, kind, grouped in SETTINGS:
        keys = ("ward, ", " GROUP BY ward") if grouped else ("", "")
        sql = f"SELECT {keys[0]}{aggregate} AS x FROM visits{keys[1]}"
        plan = plan_of(visits, sql, unit=unit, adjacency=adjacency, kind=kind)
        text, noise = render_plan(plan), "discrete Laplace" if kind == "epsilon" else "discrete Gaussian"
        other, norm = ("Gaussian", "L1") if kind == "epsilon" else ("Laplace", "L2")
        page = noise.split()[1].lower()
        if kind == "epsilon" and "AVG" in aggregate:
            noise, other, page = (
                "joint (K-norm) of 2 measures, [1] and [2],",
                "Laplace, 1/2 of the loss",
                "joint_noise",
            )
        for fact in (
            "Privacy unit",
            unit or "each row is a privacy unit",
            f"Adjacency     {adjacency}",
            "at most 5 rows" if unit else "each row is a privacy unit of its own",
            aggregate,
            f"in {norm} norm",
            f"{noise} noise",
            f"instead of   discrete {other}",
            f"cost {kind} 0.",
            "± ",
            f"docs/proofs/{page}.md",
            FREE,
        ):
            assert fact in text, (fact, text)
        assert ("docs/proofs/weights.md" in text) == (unit is not None)
        assert ("every key is released" in text) == grouped
        assert max(len(line) for line in text.splitlines()) <= 130
        json.dumps(explain_plan(plan).to_json(), allow_nan=False)


def test_people_are_counted_and_explained(visits: Path) -> None:
    sql = "SELECT ward, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY ward"
    text = render_plan(plan_of(visits, sql))
    assert "COUNT(DISTINCT patient_id)" in text
    assert "contributes to at most 3 groups" in text


def test_forecasts_are_the_error_bars_of_the_answer(visits: Path) -> None:
    with jali.connect() as database:
        database.protect(
            "visits",
            visits,
            unit="patient_id",
            max_rows=5,
            columns={"cost": jali.Range(0, 1000)},
            budget=jali.Budget(epsilon=3),
        )
        sql = "SELECT COUNT(*) AS n, SUM(cost) AS c FROM visits"
        notes = explain_plan(database.explain(sql, epsilon=0.5)).aggregates
        answer = database.ask(sql, epsilon=0.5)
    for note, span in zip(notes, answer.interval()[0], strict=True):
        assert span is not None
        assert note.half_width == pytest.approx((span[1] - span[0]) / 2)


def test_the_forecast_of_a_mean_is_about_right_at_the_number_of_rows(visits: Path) -> None:
    """The interval of an answer lies near the forecast: the mean is 49.5, near the middle of [0, 99]."""
    with jali.connect() as database:
        database.protect(
            "visits",
            visits,
            unit=None,
            columns={"age": jali.Range(0, 99)},
            budget=jali.Budget(epsilon=30),
            rows=5000,
        )
        sql = "SELECT AVG(age) AS a FROM visits"
        (note,) = explain_plan(database.explain(sql, epsilon=5)).aggregates
        span = database.ask(sql, epsilon=5).interval()[0][0]
    assert span is not None
    assert note.least_per_row is not None
    assert note.guess == 5000
    assert (span[1] - span[0]) / 2 == pytest.approx(note.least_per_row / 5000, rel=0.2)


def test_a_mean_without_a_public_guess_is_forecast_as_a_function_of_n(visits: Path) -> None:
    sql = "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward"
    assert "/n in a group of n rows" in render_plan(plan_of(visits, sql))
    assert "if n = 2,000 rows" in render_plan(plan_of(visits, sql, rows=6000))
    assert "the noise of the count hides" in render_plan(plan_of(visits, sql, rows=60))


def test_alternatives_say_what_they_would_have_given(visits: Path) -> None:
    sql = "SELECT AVG(age) AS a FROM visits"
    pure = explain_plan(plan_of(visits, sql)).measures[0]
    names = [alternative.name for alternative in pure.alternatives]
    assert names == [
        "discrete Laplace, 1/2 of the loss each",
        "discrete Gaussian, 1/2 of rho = epsilon²/2 = 0.005 each",
        "sampling 5 rows per person",
        "values not centred",
    ]
    apart, gaussian, _, plain = (alternative.half_width for alternative in pure.alternatives)
    assert apart is not None
    assert gaussian is not None
    assert plain is not None
    assert gaussian < pure.half_width < apart < plain
    # Two together have a variance of 4, two halves of the loss 8, and the same rho has 2.
    assert isinstance(pure, MeasureNote)
    assert pure.stddev == pytest.approx(2 * pure.scale, rel=1e-3)
    concentrated = explain_plan(plan_of(visits, sql, kind="rho")).measures[0]
    laplace = concentrated.alternatives[0].half_width
    assert laplace is not None
    assert laplace > concentrated.half_width


def test_shares_are_explained_and_sum_to_one(visits: Path) -> None:
    plan = plan_of(visits, "SELECT COUNT(*) AS n, AVG(age) AS a, SUM(cost) AS c FROM visits")
    assert sum(measure.share for measure in explain_plan(plan).measures) == pytest.approx(1)
    assert "cube root" in render_plan(plan)
    assert "square root" in render_plan(plan_of(visits, "SELECT AVG(age) AS a FROM visits", kind="rho"))


def test_what_happens_after_the_noise_is_named_and_free(visits: Path) -> None:
    sql = (
        "SELECT ward, SUM(cost) / COUNT(*) AS each FROM visits GROUP BY ward "
        "HAVING COUNT(*) > 10 ORDER BY each DESC LIMIT 2 OFFSET 1"
    )
    text = " ".join(render_plan(plan_of(visits, sql)).split())
    assert "each = SUM(cost) / COUNT(*); HAVING COUNT(*) > 10" in text
    assert "LIMIT 2 OFFSET 1: computed from noisy values, free" in text


def test_a_range_of_one_point_and_negative_ranges_are_explained(visits: Path) -> None:
    for low, high in ((5, 5), (-10, -2), (-3, 3)):
        plan = plan_of(visits, "SELECT AVG(age) AS a FROM visits", columns={"age": jali.Range(low, high)})
        assert f"[{low}, {high}]" in render_plan(plan)


def test_numbers_beyond_all_doubles_are_null_in_json(visits: Path) -> None:
    with jali.connect() as database:
        columns = {"cost": jali.Range(-1e300, 1e300)}
        database.protect("visits", visits, unit=None, columns=columns, budget=jali.Budget(epsilon=3))
        plan = database.explain("SELECT SUM(cost) AS c FROM visits", epsilon=1e-9)
    json.dumps(explain_plan(plan).to_json(), allow_nan=False)
    assert "± inf" in render_plan(plan)


def test_keys_that_look_like_markup_or_codes_are_harmless(visits: Path) -> None:
    keys = jali.Keys(["<script>alert(1)</script>", "\x1b[2J", "it's & more"])
    plan = plan_of(visits, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", columns={"ward": keys})
    text, page = render_plan(plan), render_plan_html(plan)
    assert "\x1b" not in text
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<div") == page.count("</div>")


def test_the_plan_shows_itself(visits: Path) -> None:
    plan = plan_of(visits, "SELECT COUNT(*) AS n FROM visits")
    assert str(plan) == render_plan(plan)
    assert plan._repr_html_() == render_plan_html(plan)
    assert "\x1b[1m" in render_plan(plan, ink=Ink(colour=True))
    assert FREE in render_plan_html(plan)


def test_long_sql_is_broken_between_words_and_never_inside_quotes() -> None:
    text = sql_lines("SELECT " + ", ".join(["'Intensive   care unit'"] * 20), width=60)
    assert all(len(line) <= 62 for line in text.splitlines())
    assert text.count("'Intensive   care unit'") == 20


@pytest.mark.parametrize(
    "text",
    [
        "age > 60 AND ward IS NULL",
        "(a + 1) * b < 3 OR NOT c",
        "a - (b - 1) >= 2",
        "a - b - 1 >= 2",
        "a * 2 - 5 < -(b + 1)",
        "(a > 1) = (b > 1)",
        "NOT (a > 1 AND b > 1)",
        "a > 1 AND (b > 1 OR c > 1)",
        "ward IN ('A', 'it''s')",
        "ABS(x) < 0.5",
        "LOWER(name) LIKE 'a%'",
        "x = TRUE",
    ],
)
def test_conditions_are_shown_as_they_were_meant(text: str) -> None:
    condition = read_condition(text)
    assert read_condition(show_expression(condition)) == condition


@pytest.mark.parametrize(
    "text", ["CASE WHEN a > 1 THEN 2 ELSE 3 END", "CAST(a AS DOUBLE)", "-(a + b)", "a + b + c"]
)
def test_values_are_shown_as_they_were_meant(text: str) -> None:
    value = read_value(text)
    assert read_value(show_expression(value)) == value


def test_the_engine_query_can_be_left_out_and_lines_be_shorter(visits: Path) -> None:
    plan = plan_of(visits, "SELECT ward, AVG(age) AS a FROM visits GROUP BY ward")
    text = render_plan(plan, width=80, engine_query=False)
    assert "Engine query" not in text
    assert FREE in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "Engine query" in render_plan(plan)
