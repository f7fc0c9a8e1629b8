"""Refusals point at the beginning of a word, and call things by the names that the question uses."""

from __future__ import annotations

import pytest

import jali
from jali.errors import QueryError
from jali.sql.builder import TableQuestion, median
from jali.sql.reader.read_select import read_sql

# The token that the parser stumbles over, once in each text.
STUMBLES = [
    ("SELECT COUNT(*) FORM visits", "visits"),
    ("SELECT COUNT(*) FROM visits WHER age > 3", "age"),
    ("SELECT COUNT(* FROM visits", "FROM"),
    ("SELECT\n  COUNT(*)\nFROM visits GRUOP BY ward", "BY"),
    ("SELECT COUNT(*)\nFROM visits\nGROUP ward", "ward"),
    ("SELECT COUNT(*) FROM visits WHERE note = 'ein\nZeilenumbruch' 'y' GROUP", "GROUP"),
    ('SELECT COUNT(*) FROM visits WHERE "größer als" 17', "17"),
]


@pytest.mark.parametrize(("sql", "token"), STUMBLES)
def test_a_syntax_error_points_at_the_first_letter(sql: str, token: str) -> None:
    with pytest.raises(QueryError) as refused:
        read_sql(sql)
    lines = sql[: sql.rindex(token)].split("\n")
    assert refused.value.position == (len(lines), len(lines[-1]) + 1)
    assert "token" not in str(refused.value)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("STRING_AGG(note, ',')", "STRING_AGG"),
        ("string_agg(DISTINCT note, ',')", "STRING_AGG"),
        ("STRING_AGG(CAST(age AS VARCHAR), ',')", "STRING_AGG"),
        ("GROUP_CONCAT(note)", "GROUP_CONCAT"),
        ("LISTAGG(note, ',')", "LISTAGG"),
        ("MAX_BY(age, cost)", "MAX_BY"),
        ("ARG_MAX(age, cost)", "ARG_MAX"),
        ("VAR_SAMP(DISTINCT age)", "VAR_SAMP"),
        ("QUANTILE_DISC(DISTINCT age, 0.5)", "QUANTILE_DISC"),
    ],
)
def test_a_refusal_names_the_function_as_it_is_written(call: str, name: str) -> None:
    with pytest.raises(QueryError) as refused:
        read_sql(f"SELECT {call} FROM visits")
    assert refused.value.message.startswith(f"{name} ")


START = TableQuestion("visits", lambda *_, **__: None, lambda *_, **__: None)


def test_aggregates_of_the_builder_are_named_as_sql_names_them() -> None:
    built = START.agg(jali.count(), jali.mean("age"), median("age"), jali.count_people("uid"), "SUM(cost)")
    written = read_sql("SELECT COUNT(*), AVG(age), MEDIAN(age), COUNT(DISTINCT uid), SUM(cost) FROM visits")
    assert [o.name for o in built.question.outputs] == [o.name for o in written.outputs]
    assert [o.name for o in written.outputs] == ["count", "avg_age", "median_age", "distinct_uid", "sum_cost"]
    assert [o.name for o in START.agg(jali.count(), n=jali.count("age")).question.outputs] == ["count", "n"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("SUM(age) * 2", "This aggregate has no name"),
        ("SUM(age * 2)", "This aggregate has no name"),
        ("age", "'age' is not an aggr"),
    ],
)
def test_an_aggregate_without_a_name_of_its_own_asks_for_one(given: str, said: str) -> None:
    with pytest.raises(QueryError, match=said) as refused:
        START.agg(given)
    assert "=jali." in str(refused.value.remedy)


def test_two_unnamed_aggregates_of_one_name_are_refused() -> None:
    with pytest.raises(QueryError, match="same name"):
        START.agg(jali.count(), jali.count(where="paid")).question.outputs  # noqa: B018 - the access is the test


def test_a_question_that_is_being_built_is_one_short_line() -> None:
    built = START.join("patients", on="uid = id").where("age > 60").group_by("ward").agg(n=jali.count())
    assert repr(START) == "TableQuestion(nothing yet of visits)"
    assert repr(built) == "TableQuestion(n of visits, patients, 1 condition, by ward)"
