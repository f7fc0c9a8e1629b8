from __future__ import annotations

import pytest

from jali.errors import CatalogError, QueryError
from jali.sql.question_limits import Limits, check_text, read_limits, usual_limits
from jali.sql.reader.read_select import read_sql

WITH_DOUBLED = ", ".join(f"a{i + 1} AS (SELECT * FROM a{i} UNION ALL SELECT * FROM a{i})" for i in range(3))

# Each limit: a text that is as large as it allows, and one that is larger.
EDGES: dict[str, tuple[Limits, str, str]] = {
    "characters": (Limits(characters=27), "SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits "),
    "tokens": (Limits(tokens=7), "SELECT COUNT(*) FROM visits", "SELECT COUNT(*) FROM visits v"),
    "depth": (Limits(depth=2), "SELECT SUM((age)) FROM visits", "SELECT SUM(((age))) FROM visits"),
    "terms": (Limits(terms=3), "SELECT SUM(a + b + c) FROM t", "SELECT SUM(a + b + c + d) FROM t"),
    "items": (
        Limits(items=3),
        "SELECT COUNT(*) FROM visits WHERE age IN (1, 2, 3)",
        "SELECT COUNT(*) FROM visits WHERE age IN (1, 2, 3, 4)",
    ),
    "tables": (Limits(tables=2), "SELECT COUNT(*) FROM a, b", "SELECT COUNT(*) FROM a JOIN b USING (x), c"),
    "selects": (
        Limits(selects=23),
        f"WITH a0 AS (SELECT * FROM visits), {WITH_DOUBLED} SELECT COUNT(*) FROM a3",
        f"WITH a0 AS (SELECT * FROM visits), {WITH_DOUBLED} SELECT COUNT(*) FROM a3 JOIN a0 USING (id)",
    ),
    "aggregates": (
        Limits(aggregates=2),
        "SELECT COUNT(*), AVG(x) FROM t",
        "SELECT COUNT(*), AVG(x), Sum (x) FROM t",
    ),
    "sets": (
        Limits(sets=4),
        "SELECT COUNT(*) FROM t GROUP BY CUBE (a, b)",
        "SELECT COUNT(*) FROM t GROUP BY GROUPING SETS (CUBE (a, b), ROLLUP (c))",
    ),
    "size": (
        Limits(size=11),
        "SELECT COUNT(a + b) AS n FROM t HAVING n > 1",
        "SELECT COUNT(a + b) AS n FROM t HAVING NOT n > 1",
    ),
}


@pytest.mark.parametrize("name", EDGES)
def test_a_question_at_a_limit_is_read(name: str) -> None:
    limits, inside, _ = EDGES[name]
    assert read_sql(inside, limits=limits)


@pytest.mark.parametrize("name", EDGES)
def test_a_question_beyond_a_limit_is_refused_by_its_name(name: str) -> None:
    limits, _, beyond = EDGES[name]
    with pytest.raises(QueryError, match=f"`{name}`") as refused:
        read_sql(beyond, limits=limits)
    assert refused.value.position is not None or name == "characters"


def test_grouping_sets_are_counted_before_they_are_listed() -> None:
    columns = ", ".join(f"a + {i}" for i in range(900))
    for clause in (
        f"CUBE ({columns})",
        f"GROUPING SETS (CUBE ({columns}))",
        f"ROLLUP ({columns}), ROLLUP ({columns})",
    ):
        with pytest.raises(QueryError):
            read_sql(f"SELECT COUNT(*) FROM t GROUP BY {clause}", limits=Limits(tokens=10_000, size=10_000))


def test_a_with_table_is_read_once_however_often_it_is_used() -> None:
    tables = ", ".join(f"a{i + 1} AS (SELECT * FROM a{i} UNION ALL SELECT * FROM a{i})" for i in range(60))
    with pytest.raises(QueryError, match="`selects`"):
        read_sql(
            f"WITH a0 AS (SELECT * FROM t), {tables} SELECT COUNT(*) FROM a60",
            limits=Limits(selects=200, tables=200),
        )


def test_a_case_without_its_end_closes_with_its_bracket() -> None:
    limits = Limits(depth=2)
    with pytest.raises(QueryError, match="Check"):
        read_sql("SELECT (CASE WHEN a), (CASE WHEN b), (CASE WHEN c) FROM t", limits=limits)


def test_long_chains_of_conditions_are_not_deep() -> None:
    many = " AND ".join(f"age <> {k}" for k in range(600))
    assert read_sql(f"SELECT COUNT(*) FROM visits WHERE {many}")
    with pytest.raises(QueryError, match="`terms`"):
        read_sql(f"SELECT SUM({' + '.join(['age'] * 600)}) FROM visits")
    assert read_sql(f"SELECT SUM({' + '.join(['age'] * 100)}) FROM visits")


@pytest.mark.parametrize("text", ["SELECT '\x00'", "SELECT '\ud800'"])
def test_what_no_file_could_hold_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="Unicode"):
        check_text(text)


def test_limits_are_written_as_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_limits(["tokens=9000", " depth = 20 "]) == Limits(tokens=9000, depth=20)
    monkeypatch.setenv("JALI_LIMITS", "items=7, cells=100")
    assert usual_limits() == Limits(items=7, cells=100)
    for wrong in ("tokens", "tokens=", "tokens=-1", "words=3", "tokens=1e9", "tokens=99999999999", "tokens=0"):
        with pytest.raises(CatalogError):
            read_limits([wrong])
    with pytest.raises(CatalogError, match="whole number"):
        Limits(tokens=True)
