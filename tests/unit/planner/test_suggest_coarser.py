from __future__ import annotations

import pytest

from jali.ir.expressions import Question
from jali.planner.suggest_coarser import has_aggregates, suggest_coarser
from jali.sql.reader.read_select import read_sql


def found(sql: str) -> dict[str, Question]:
    return dict(suggest_coarser(read_sql(sql)))


@pytest.mark.parametrize(
    ("sql", "change", "coarse"),
    [
        (
            "SELECT ward, seen, COUNT(*) AS n FROM v GROUP BY ward, seen ORDER BY seen, n",
            "without seen",
            "SELECT ward, COUNT(*) AS n FROM v GROUP BY ward ORDER BY n",
        ),
        (
            "SELECT ward, seen, COUNT(*) AS n FROM v GROUP BY ward, seen",
            "by month of seen",
            "SELECT ward, DATE_TRUNC('month', seen) AS seen, COUNT(*) AS n FROM v"
            " GROUP BY ward, DATE_TRUNC('month', seen)",
        ),
        (
            "SELECT ward, seen, COUNT(*) AS n FROM v GROUP BY ROLLUP(ward, seen)",
            "without seen",
            "SELECT ward, COUNT(*) AS n FROM v GROUP BY ROLLUP(ward)",
        ),
        (
            "SELECT ward, seen, COUNT(*) AS n FROM v GROUP BY ROLLUP(ward, seen)",
            "without totals",
            "SELECT ward, seen, COUNT(*) AS n FROM v GROUP BY ward, seen",
        ),
        (
            "SELECT age, AVG(age) AS mean FROM v WHERE age > 3 GROUP BY age HAVING age > 5",
            "without age",
            "SELECT AVG(age) AS mean FROM v WHERE age > 3",
        ),
    ],
)
def test_a_coarser_question_is_the_one_that_would_be_written(sql: str, change: str, coarse: str) -> None:
    assert found(sql)[change] == read_sql(coarse)


def test_a_question_without_groups_has_no_coarser_one() -> None:
    assert found("SELECT COUNT(*) FROM v") == {}


def test_a_question_that_measures_nothing_is_told() -> None:
    only_keys = found("SELECT ward, seen FROM v GROUP BY ward, seen")
    assert not any(has_aggregates(question) for question in only_keys.values())
