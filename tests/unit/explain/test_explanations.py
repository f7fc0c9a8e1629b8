"""Explanations of joins, subqueries, chosen groups, grouping sets, quantiles, moments and histograms."""

from __future__ import annotations

import datetime
import json
import math
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.depth import thinned
from tests.frames import tagged

import jali
from jali.display.numbers import show_amount
from jali.explain import AggregateNote, ChoiceNote, Explanation, MeasureNote, explain_plan, proof_pages
from jali.explain.plan_text import render_plan, render_plan_html

ROOT = Path(__file__).parents[3]
ROWS = 400
BUDGET = jali.Budget(epsilon=1000, delta=1e-3)


@pytest.fixture(scope="module")
def clinic() -> jali.Database:
    visits = pa.table(
        {
            "uid": [i % 100 for i in range(ROWS)],
            "ward": ["ABC"[i % 3] for i in range(ROWS)],
            "cost": [25.0 if i % 2 else 75.0 for i in range(ROWS)],
            "age": [45 if i % 4 < 2 else 75 for i in range(ROWS)],
            "day": [datetime.date(2025, 1, 1) for _ in range(ROWS)],
            "code": [f"x{i % 5}" for i in range(ROWS)],
        }
    )
    columns: dict[str, Any] = {
        "ward": jali.Keys(["A", "B", "C"]),
        "cost": jali.Range(0, 100),
        "age": jali.Range(0, 120),
        "day": jali.Range(datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)),
    }
    database = jali.connect()
    database.protect("visits", visits, unit="uid", max_rows=8, columns=columns, budget=BUDGET)
    database.protect("rows", tagged(visits, "rows"), unit=None, columns=columns, budget=BUDGET, rows=ROWS)
    database.protect(
        "patients",
        pa.table({"pid": list(range(100)), "sex": ["mf"[i % 2] for i in range(100)]}),
        unit="pid",
        max_rows=1,
        columns={"sex": jali.Keys(["m", "f"])},
        budget=BUDGET,
    )
    database.protect("orders", pa.table({"key": [1, 2], "cust": [1, 1]}), unit="cust", max_rows=3, budget=BUDGET)
    database.protect(
        "lines",
        pa.table({"order": [1, 2], "price": [1.0, 2.0]}),
        unit=jali.Via("orders", on="order = key", unit="cust"),
        max_rows=9,
        columns={"price": jali.Range(0, 10)},
        budget=BUDGET,
    )
    database.publish("wards", pa.table({"w": ["A", "B", "C"], "floor": [1, 1, 2]}))
    return database


QUESTIONS = {
    "a join": "SELECT ward, COUNT(*) FROM visits JOIN patients ON uid = pid GROUP BY ward",
    "a left join": "SELECT ward, SUM(cost) FROM visits v LEFT JOIN patients p ON v.uid = p.pid GROUP BY ward",
    "a full join": "SELECT COUNT(*) FROM visits v FULL JOIN patients p ON v.uid = p.pid",
    "a comma join": "SELECT COUNT(*) FROM visits, patients WHERE uid = pid AND sex = 'f'",
    "a public table": "SELECT floor, COUNT(*) FROM visits JOIN wards ON ward = w GROUP BY floor",
    "a row-level table and a public one": "SELECT floor, COUNT(*) FROM rows JOIN wards ON ward = w GROUP BY floor",
    "a reached unit": "SELECT COUNT(*), SUM(price) FROM lines",
    "per person": "SELECT AVG(n) FROM (SELECT uid, COUNT(*) AS n FROM visits GROUP BY uid HAVING COUNT(*) > 2) p",
    "per person and key": "SELECT SUM(c) FROM (SELECT uid, ward, SUM(cost) AS c FROM visits GROUP BY uid, ward)",
    "distinct": "SELECT COUNT(*) FROM (SELECT DISTINCT uid, ward FROM visits)",
    "union": "SELECT COUNT(*) FROM (SELECT uid FROM visits UNION ALL SELECT pid FROM patients) u",
    "in": "SELECT COUNT(*) FROM visits WHERE uid IN (SELECT pid FROM patients WHERE sex = 'm')",
    "not exists": "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM patients p WHERE p.pid = v.uid)",
    "with": "WITH old AS (SELECT * FROM visits WHERE age > 60) SELECT ward, AVG(cost) FROM old GROUP BY ward",
    "filter": "SELECT COUNT(*) FILTER (WHERE age > 60), COUNT(DISTINCT uid) FILTER (WHERE age > 60) FROM visits",
    "different values": "SELECT ward, COUNT(DISTINCT code) FROM visits GROUP BY ward",
    "quantiles": "SELECT ward, MEDIAN(cost), QUANTILE_CONT(age, [0.1, 0.9]), MIN(day) FROM visits GROUP BY ward",
    "extremes": "SELECT MIN(cost), MAX(cost) FROM rows",
    "modes": "SELECT MODE(ward), APPROX_TOP_K(ward, 2) FROM visits",
    "histograms": "SELECT HISTOGRAM(FLOOR(age / 20)), CDF(cost, [10, 50, 90]) FROM visits",
    "a spread": "SELECT ward, STDDEV(cost), VAR_POP(cost) FROM visits GROUP BY ward",
    "two variables": "SELECT CORR(cost, age), REGR_SLOPE(cost, age), REGR_SXX(cost, age) FROM rows",
    "bins": "SELECT FLOOR(age / 10) AS decade, age > 60, COUNT(*) FROM visits GROUP BY decade, age > 60",
    "months": "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) FROM visits GROUP BY m",
    "rollup": "SELECT ward, sex, COUNT(*), AVG(cost), MEDIAN(age) FROM visits JOIN patients ON uid = pid "
    "GROUP BY ROLLUP (ward, sex)",
    "cube": "SELECT ward, age > 60 AS old, SUM(cost), VAR_POP(cost), MODE(ward) FROM rows "
    "GROUP BY CUBE (ward, old)",
}
CHOSEN = {
    "unknown keys": "SELECT code, COUNT(*), COUNT(DISTINCT uid), MEDIAN(cost) FROM visits GROUP BY code",
    "people alone": "SELECT code, COUNT(DISTINCT uid) FROM visits GROUP BY code",
    "rows": "SELECT code, AVG(cost) FROM rows GROUP BY code",
}


def noted(clinic: jali.Database, sql: str, **terms: Any) -> Explanation:
    return explain_plan(clinic.explain(sql, **({"epsilon": 1} | terms)))


def text_of(clinic: jali.Database, sql: str, **terms: Any) -> str:
    return " ".join(render_plan(clinic.explain(sql, **({"epsilon": 1} | terms))).split())


def cited(text: str) -> set[str]:
    return set(re.findall(r"docs/proofs/\w+\.md", text))


@pytest.mark.parametrize("page", [*proof_pages.PAGES])
def test_every_page_that_an_explanation_may_name_exists(page: str) -> None:
    (name,) = cited(page)
    assert (ROOT / name).is_file()


@thinned(4)
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("title", QUESTIONS)
def test_every_kind_of_question_is_explained(clinic: jali.Database, title: str, kind: str) -> None:
    terms: dict[str, Any] = {kind: 1}
    plan = clinic.explain(QUESTIONS[title], **terms)
    text, page, note = render_plan(plan, engine_query=False), render_plan_html(plan), explain_plan(plan)
    assert cited(text) <= cited(" ".join(proof_pages.PAGES))
    assert page.count("<div") == page.count("</div>")
    for name in ("found.", "person.", "select.", "CLAMP(", "ELSE NULL"):
        assert name not in text, (name, text)
    assert max(len(line) for line in text.splitlines()) <= 140
    json.dumps(note.to_json(), allow_nan=False)
    assert [query.sql for query in note.queries] == [part.sql for part in plan.parts]
    assert {place for query in note.queries for place in query.measures} == set(range(len(note.measures)))
    assert {place for a in note.aggregates for place in a.measures} == set(range(len(note.measures)))


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("title", CHOSEN)
def test_groups_that_are_chosen_say_how_large_they_must_be(clinic: jali.Database, title: str, kind: str) -> None:
    terms: dict[str, Any] = {kind: 1}
    plan = clinic.explain(CHOSEN[title], **terms, delta=1e-6)
    text, note = render_plan(plan), explain_plan(plan)
    assert "[groups] that are released" in text
    assert "Not declared: the keys that are released are selected privately" in " ".join(text.split())
    assert note.selection is not None
    told = [measure for measure in note.measures if isinstance(measure, MeasureNote) and measure.told]
    assert [measure.name for measure in told] == (
        ["COUNT(DISTINCT uid)"] if "DISTINCT uid" in CHOSEN[title] else []
    )
    assert [measure.share for measure in told] == [0.0] * len(told)
    alone, shares = title == "people alone", [measure.share for measure in note.measures]
    # The count that is told has its own share and that of the choice; ends of intervals have notes elsewhere.
    assert note.selection.share >= (1.0 if alone else 1 / 3) * (1 - 1e-6)
    assert note.selection.share + sum(shares) <= 1 + 1e-9
    assert f"a group of {note.selection.likely} people appears with 95 %" in " ".join(text.split())
    assert "docs/proofs/unknown_keys.md" in text
    assert note.groups is None


def test_the_size_of_a_likely_group_is_that_of_the_optimal_coins(clinic: jali.Database) -> None:
    """The recursion of Desfontaines et al. 2022, Theorem 1, at half of the loss."""
    note = noted(clinic, "SELECT code, COUNT(cost) FROM rows GROUP BY code", epsilon=2, delta=1e-6)
    epsilon, delta, chance, people = 1.0, 1e-6, 0.0, 0
    sizes = []
    for wanted in (0.5, 0.95):
        while chance < wanted:
            people += 1
            grown = math.exp(epsilon) * chance + delta
            chance = min(grown, 1 - math.exp(-epsilon) * (1 - chance - delta), 1.0)
        sizes.append(people)
    assert note.selection is not None
    assert [note.selection.even, note.selection.likely] == sizes


def test_declared_groups_with_a_minimum_of_people_are_chosen_too(clinic: jali.Database) -> None:
    sql = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"
    note = noted(clinic, sql, delta=1e-6, min_people=10)
    assert note.selection is not None
    assert note.selection.least == 10
    assert note.keys[0].origin == "declared"
    assert "every key is released" not in note.keys[0].meaning
    assert "one of fewer than 10 never" in text_of(clinic, sql, delta=1e-6, min_people=10)


def test_each_table_says_what_one_person_changes_and_is_charged(clinic: jali.Database) -> None:
    plan = clinic.explain(QUESTIONS["a left join"], epsilon=1)
    visits, patients = explain_plan(plan).tables
    assert (visits.changes, patients.changes) == (1, 2)
    assert [(t.name, t.exact_loss) for t in (visits, patients)] == [("visits", "1/2"), ("patients", "1")]
    assert [(name, str(event.amount)) for name, event in plan.costs] == [("visits", "1/2"), ("patients", "1")]
    assert "every row needs a row of visits" in visits.because
    assert "a row can exist without patients" in patients.because
    assert "docs/proofs/ownership.md" in render_plan(plan)


def test_joins_name_the_equality_that_makes_rows_one_persons(clinic: jali.Database) -> None:
    assert "visits joined with patients on visits.uid = patients.pid, so both rows belong to one person" in (
        text_of(clinic, QUESTIONS["a join"])
    )
    assert "visits joined with patients on visits.uid = patients.pid, so both rows" in (
        text_of(clinic, QUESTIONS["a comma join"])
    )
    assert "left-joined" in text_of(clinic, QUESTIONS["a left join"])


def test_public_tables_are_named_and_never_charged(clinic: jali.Database) -> None:
    note = noted(clinic, QUESTIONS["a public table"])
    assert note.public == ("wards",)
    assert [table.name for table in note.tables] == ["visits"]
    assert note.keys[0].origin == "public"
    assert "From the public table wards" in note.keys[0].meaning
    assert "wards public: not protected, never charged." in text_of(clinic, QUESTIONS["a public table"])


def test_a_unit_that_is_reached_says_how(clinic: jali.Database) -> None:
    note = noted(clinic, QUESTIONS["a reached unit"])
    assert [(t.name, t.unit, t.via) for t in note.tables] == [
        ("lines", "cust", "order = key of orders, which is unique in orders"),
        ("orders", "cust", None),
    ]
    assert "at most 9 rows per cust" in note.contribution


def test_the_bound_says_where_it_comes_from(clinic: jali.Database) -> None:
    def bound(title: str, **terms: Any) -> str:
        return noted(clinic, QUESTIONS[title], **terms).contribution

    assert "at most 8 rows" in bound("a join")
    assert "The contribution bound is the larger of 8 (visits) and 1 (patients)" in bound("a join")
    assert "The contribution bound is 8 (visits) + 1 (patients)" in bound("union")
    assert "The question sets this contribution bound; 8 (visits) is declared" in bound(
        "different values", max_rows=3
    )
    assert bound("per person") == "each uid has at most one row, which counts once"
    assert "The contribution bound" not in bound("different values")


def test_what_is_computed_per_person_is_clamped_and_said_so(clinic: jali.Database) -> None:
    assert noted(clinic, QUESTIONS["per person"]).steps == (
        "one row for each uid: COUNT(*) clamped to [0, 8]",
        "those of them where COUNT(*) > 2",
    )
    (step,) = noted(clinic, QUESTIONS["per person and key"]).steps
    assert step == "one row for each uid and visits.ward: SUM(visits.cost) clamped to [0, 800]"


def test_keys_say_where_they_come_from(clinic: jali.Database) -> None:
    decade, old = noted(clinic, QUESTIONS["bins"]).keys
    assert (decade.origin, decade.count, old.origin, old.count) == ("enumerated", 13, "enumerated", 3)
    assert "declared range of age" in decade.meaning
    assert old.shown == ("TRUE", "FALSE", "NULL")
    (month,) = noted(clinic, QUESTIONS["months"]).keys
    assert month.count == 12


def test_filters_are_written_as_filters(clinic: jali.Database) -> None:
    names = [measure.name for measure in noted(clinic, QUESTIONS["filter"]).measures]
    assert names == ["COUNT(*) FILTER (WHERE age > 60)", "COUNT(DISTINCT uid) FILTER (WHERE age > 60)"]


@pytest.mark.parametrize("at", ["0.5", "0.9"])
def test_the_rank_error_of_a_quantile_is_that_of_the_exponential_mechanism(clinic: jali.Database, at: str) -> None:
    """Pr[distance >= t] <= (M-1) p / (1 + (M-1) p) at p = exp(-t epsilon / (2 sensitivity)), epsilon^2 = 8 rho."""
    (note,) = noted(clinic, f"SELECT QUANTILE_CONT(age, {at}) FROM visits", epsilon=None, rho=1).measures
    assert isinstance(note, ChoiceNote)
    reach = 8 * max(float(at), 1 - float(at))
    assert note.sensitivity == pytest.approx(reach)
    rate = math.sqrt(8 * note.share) / (2 * reach)
    marks = 121
    assert note.half_width == pytest.approx(math.log((marks - 1) * 0.95 / 0.05) / rate, rel=1e-6)


def test_the_shares_of_a_quantile_and_its_interval_make_the_whole(clinic: jali.Database) -> None:
    (note,) = noted(clinic, "SELECT MEDIAN(age) FROM visits").measures
    assert isinstance(note, ChoiceNote)
    assert note.share == pytest.approx(7 / 8, abs=1e-3)
    assert "2 further selections" in note.ends
    assert "(12 % in all)" in note.ends


def test_extremes_are_aimed_at_themselves_and_one_end_is_free(clinic: jali.Database) -> None:
    least, largest = noted(clinic, QUESTIONS["extremes"], epsilon=20).measures
    for note, side in ((least, "above"), (largest, "below")):
        assert isinstance(note, ChoiceNote)
        assert note.aim == ""
        assert f"rows {side}" in note.ends
        assert "the other end is that of the range, at no loss" in note.ends


def test_alternatives_of_a_choice_are_worse(clinic: jali.Database) -> None:
    for sql in ("SELECT MEDIAN(age) FROM visits", "SELECT MODE(ward) FROM visits"):
        for terms in ({"epsilon": 1}, {"epsilon": None, "rho": 1}):
            (note,) = noted(clinic, sql, **terms).measures
            (other,) = note.alternatives
            assert other.half_width is not None
            assert other.half_width > note.half_width


def test_forecasts_of_histograms_are_the_error_bars_of_the_answer(clinic: jali.Database) -> None:
    sql = "SELECT HISTOGRAM(FLOOR(age / 20)) AS h, CDF(cost, [10, 50, 90]) AS c FROM rows"
    bars, curve = noted(clinic, sql, epsilon=2).aggregates
    spans = clinic.ask(sql, epsilon=2).interval()[0]
    widths = [[(high - low) / 2 for low, high in span.values()] for span in spans]
    assert widths[0] == pytest.approx([bars.half_width] * len(widths[0]))
    assert (widths[1][0], widths[1][-1]) == pytest.approx((curve.least_half_width, curve.half_width))


def test_forecasts_of_grouping_sets_are_the_error_bars_of_the_answer(clinic: jali.Database) -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM rows GROUP BY ROLLUP (ward)"
    (note,) = noted(clinic, sql, epsilon=2).aggregates
    spans = [row[1] for row in clinic.ask(sql, epsilon=2).interval()]
    widths = [(span[1] - span[0]) / 2 for span in spans if span is not None]
    assert note.half_width == pytest.approx(widths[0])
    assert [name for name, _ in note.sets] == ["(ward)", "()"]
    assert note.sets[1][1] == f"± {show_amount(widths[-1])}, whatever the data"


def test_grouping_sets_name_their_groups_shares_and_totals(clinic: jali.Database) -> None:
    note = noted(clinic, QUESTIONS["rollup"])
    assert note.sets == (("(visits.ward, patients.sex)", 6), ("(visits.ward)", 3), ("()", 1))
    assert sum(one.share for measure in note.measures for one in measure.sets) < 1
    counted = note.measures[0]
    assert isinstance(counted, MeasureNote)
    assert [one.groups for one in counted.sets] == [6, 3, 1]
    assert counted.sets[0].share > counted.sets[2].share
    text = text_of(clinic, QUESTIONS["rollup"])
    assert "10 in 3 grouping sets" in text
    assert "totals agree" in text
    assert "docs/proofs/grouping_sets.md" in text


@pytest.mark.parametrize("function", ["VAR_POP(cost)", "STDDEV_POP(cost)", "VAR_SAMP(cost)"])
def test_the_forecast_of_a_spread_is_about_right_for_typical_data(clinic: jali.Database, function: str) -> None:
    """Half of the costs are 25, half 75: in the middle of [0, 100], with a standard deviation of a quarter."""
    sql = f"SELECT {function} AS v FROM rows"
    (note,) = noted(clinic, sql, epsilon=40).aggregates
    span = clinic.ask(sql, epsilon=40).interval()[0][0]
    assert span is not None
    assert note.guess == ROWS
    assert note.about == pytest.approx((span[1] - span[0]) / 2, rel=0.2)


def test_without_a_guess_a_moment_is_forecast_as_a_function_of_n(clinic: jali.Database) -> None:
    """With noise far below n, the forecast at the guess is the function of n."""
    (guessed,) = noted(clinic, "SELECT VAR_POP(cost) AS v FROM rows", epsilon=900).aggregates
    assert guessed.about is not None
    assert guessed.least_per_row is not None
    assert guessed.about == pytest.approx(guessed.least_per_row / ROWS, rel=0.05)
    (free,) = noted(clinic, "SELECT VAR_POP(cost) AS v FROM visits").aggregates
    assert (free.guess, free.about) == (None, None)
    assert "/n in a group of many rows n" in text_of(clinic, "SELECT VAR_POP(cost) AS v FROM visits")


def test_the_letters_of_a_formula_are_explained(clinic: jali.Database) -> None:
    (note,) = noted(clinic, "SELECT VAR_POP(cost) AS v FROM visits").aggregates
    assert note.formula == "(p - x²/n) / n"
    assert note.letters == "n = [1], x = [2], p = [3] + 1250 [1]; sums are of x - 50"


def test_a_guess_of_a_tables_rows_says_nothing_about_a_subquerys(clinic: jali.Database) -> None:
    def guess(sql: str) -> float | None:
        (note,) = noted(clinic, sql).aggregates
        assert isinstance(note, AggregateNote)
        return note.guess

    assert guess("SELECT AVG(cost) FROM rows") == ROWS
    assert guess("SELECT AVG(cost) FROM (SELECT * FROM rows WHERE age > 60)") is None


def test_many_measures_name_what_was_considered_once(clinic: jali.Database) -> None:
    text = text_of(clinic, "SELECT CORR(cost, age), STDDEV(cost) FROM visits")
    assert text.count("sampling 8 rows per person") == 1


def test_several_engine_queries_say_what_they_are_for(clinic: jali.Database) -> None:
    text = render_plan(clinic.explain("SELECT COUNT(*), MEDIAN(cost), MODE(ward) FROM visits", epsilon=1))
    for line in ("Engine queries", "-- for [1]", "-- for [2]", "-- for [3]"):
        assert line in text


@pytest.mark.parametrize("sets", ["ROLLUP (k)", "CUBE (k)", "GROUPING SETS ((k), ())"])
@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
def test_running_sums_are_explained_where_grouping_sets_are_measured_in_different_ways(
    sets: str, terms: dict[str, Any]
) -> None:
    """In one group a person moves the cells less far than over several: another strategy may be best."""
    rows = pa.table({"x": [1, 2], "k": ["a", "b"]})
    columns: dict[str, Any] = {"x": jali.Range(1, 5), "k": jali.Keys(["a", "b"])}
    with jali.connect() as db:
        db.protect("t", rows, unit=None, adjacency="replace-one", columns=columns, budget=BUDGET)
        plan = db.explain(f"SELECT CDF(x, [2, 3]) FROM t GROUP BY {sets}", **terms)
        assert [level.parts[-1].draws[0].kind for level in plan.levels] == ["running", "running"]
        (note,) = explain_plan(plan).measures
    assert isinstance(note, MeasureNote)
    assert len(note.sets) == 2
    assert all(one.half_width > 0 for one in note.sets)
    assert "CDF" in str(plan)
