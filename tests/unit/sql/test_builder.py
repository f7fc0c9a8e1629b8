"""The builder makes the same questions as SQL, and each step leaves the one before it as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import jali
from jali.errors import QueryError
from jali.sql.builder import TableQuestion, median, quantile, stddev
from jali.sql.reader.read_select import read_sql


def asked(question: Any, **loss: Any) -> Any:
    return "asked", question, loss


def explained(question: Any, **loss: Any) -> Any:
    return "explained", question, loss


START = TableQuestion("visits", asked, explained)
PAIRS = [
    (START.agg(n=jali.count()), "SELECT COUNT(*) AS n FROM visits"),
    (START.agg(n=jali.count("age")), "SELECT COUNT(age) AS n FROM visits"),
    (START.agg(n=jali.count_people("uid")), "SELECT COUNT(DISTINCT uid) AS n FROM visits"),
    (START.agg(s=jali.sum("cost * 2")), "SELECT SUM(cost * 2) AS s FROM visits"),
    (START.agg(a=jali.mean("age")), "SELECT AVG(age) AS a FROM visits"),
    (START.agg(n=jali.count()).agg(a=jali.mean("age")), "SELECT COUNT(*) AS n, AVG(age) AS a FROM visits"),
    (START.where("age > 60").agg(n=jali.count()), "SELECT COUNT(*) AS n FROM visits WHERE age > 60"),
    (
        START.where("age > 60 OR paid").where("ward <> 'A'").agg(n=jali.count()),
        "SELECT COUNT(*) AS n FROM visits WHERE (age > 60 OR paid) AND ward <> 'A'",
    ),
    (
        START.group_by("ward").where("paid").agg(n=jali.count()),
        "SELECT ward, COUNT(*) AS n FROM visits WHERE paid GROUP BY ward",
    ),
    (
        START.group_by("ward", "day").agg(n=jali.count()),
        "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY ward, day",
    ),
    (
        START.group_by("ward").group_by("day").agg(n=jali.count()),
        "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY ward, day",
    ),
    (
        START.agg(m=median("age"), s=stddev("age"), q=quantile("age", 0.25, "1/2", 1)),
        "SELECT MEDIAN(age) AS m, STDDEV(age) AS s, QUANTILE_CONT(age, [0.25, 0.5, 1]) AS q FROM visits",
    ),
    (
        START.agg(n=jali.count(where="paid"), a=jali.mean("age", where="ward = 'A'")),
        "SELECT COUNT(*) FILTER (WHERE paid) AS n, AVG(age) FILTER (WHERE ward = 'A') AS a FROM visits",
    ),
    (
        START.agg(spread="MAX(age) - MIN(age)", top="APPROX_TOP_K(ward, 3)"),
        "SELECT MAX(age) - MIN(age) AS spread, APPROX_TOP_K(ward, 3) AS top FROM visits",
    ),
    (
        START.group_by("visits.ward", decade="FLOOR(age / 10)").agg(n=jali.count()),
        "SELECT visits.ward, FLOOR(age / 10) AS decade, COUNT(*) AS n FROM visits GROUP BY visits.ward, 2",
    ),
    (
        START.group_by("FLOOR(age / 10)").agg(n=jali.count()),
        'SELECT FLOOR(age / 10) AS "FLOOR(age / 10)", COUNT(*) AS n FROM visits GROUP BY 1',
    ),
    (
        START.rollup("ward", "day").agg(n=jali.count()),
        "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, day)",
    ),
    (
        START.cube("ward", "day").agg(n=jali.count()),
        "SELECT ward, day, COUNT(*) AS n FROM visits GROUP BY CUBE (ward, day)",
    ),
    (
        START.group_by("paid").rollup("ward", "day").agg(n=jali.count()),
        "SELECT paid, ward, day, COUNT(*) AS n FROM visits "
        "GROUP BY GROUPING SETS ((paid, ward, day), (paid, ward), (paid))",
    ),
    (
        START.group_by("ward").agg(n=jali.count()).having("n > 10 AND AVG(age) < 60").having("ward <> 'B'"),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING (n > 10 AND AVG(age) < 60) AND ward <> 'B'",
    ),
    (
        START.group_by("ward")
        .agg(n=jali.count())
        .order_by("n", descending=True)
        .order_by("ward")
        .limit(3, offset=1),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC, ward LIMIT 3 OFFSET 1",
    ),
    (
        START.join("patients", on="visits.uid = patients.id")
        .join("wards", using=["ward"], kind="left")
        .agg(n="COUNT(*)"),
        "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.uid = patients.id LEFT JOIN wards USING (ward)",
    ),
]


@pytest.mark.parametrize(("built", "sql"), PAIRS, ids=[sql for _, sql in PAIRS])
def test_a_built_question_equals_the_question_in_sql(built: TableQuestion, sql: str) -> None:
    assert built.question == read_sql(sql)


def test_each_step_returns_a_new_question() -> None:
    first = START.where("paid")
    first.where("age > 1").group_by("ward").agg(n=jali.count())
    assert (first.groups, first.outputs, len(first.conditions)) == ((), (), 1)
    assert START.conditions == ()


def test_asking_and_explaining_pass_on_the_question_and_the_loss() -> None:
    built = START.agg(n=jali.count())
    assert built.ask(epsilon=0.5) == ("asked", built.question, {"epsilon": 0.5})
    assert built.explain(rho="1/8") == ("explained", built.question, {"rho": "1/8"})


def test_a_question_for_nothing_is_refused_with_a_remedy() -> None:
    with pytest.raises(QueryError, match="The question has no output") as refused:
        START.where("paid").ask(epsilon=1)
    assert "agg" in (refused.value.remedy or "")


def test_grouping_twice_by_a_column_is_grouping_once() -> None:
    once = START.group_by("ward").agg(n=jali.count()).question
    assert START.group_by("ward", "ward").agg(n=jali.count()).question == once


@pytest.mark.parametrize("wrong", ["count", None, 3, jali.count])
def test_what_is_no_aggregate_is_refused_when_it_is_given(wrong: Any) -> None:
    with pytest.raises(QueryError, match="n"):
        START.agg(n=wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: START.join("patients", on="a = b", kind="cross"),
        lambda: START.limit(-1),
        lambda: START.limit(3, offset=True),
        lambda: START.group_by(3),  # type: ignore[arg-type]
        lambda: START.rollup(ward=3),  # type: ignore[arg-type]
        lambda: quantile("age", "half"),
        lambda: START.agg(n="age + 1"),
        lambda: START.having("n > 1; DROP TABLE visits"),
        lambda: START.order_by("n DESC"),
    ],
)
def test_what_is_written_wrongly_is_refused_at_its_step_with_a_remedy(wrong: Callable[[], Any]) -> None:
    with pytest.raises(QueryError) as refused:
        wrong()
    assert refused.value.remedy


def test_terms_reach_the_session_as_they_are_given() -> None:
    terms = {"rho": "1/8", "delta": 1e-9, "max_rows": 2, "max_groups": 3, "min_people": 10}
    built = START.agg(n=jali.count())
    assert built.ask(**terms) == ("asked", built.question, terms)
    assert built.explain(**terms) == ("explained", built.question, terms)


def test_two_outputs_of_one_name_are_refused_or_named_apart() -> None:
    try:
        question = START.group_by("ward").agg(ward=jali.count()).question
    except QueryError:
        return
    names = [output.name for output in question.outputs]
    assert len(set(names)) == len(names)
