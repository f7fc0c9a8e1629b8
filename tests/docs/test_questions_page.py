"""docs/questions.md is true: every example runs, and those of refusals are refused."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import jali
from jali.sql.reader.read_select import read_sql

PAGE = (Path(__file__).parents[2] / "docs" / "questions.md").read_text()
BLOCKS = re.findall(r"^```(\w+)( refused)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ANSWERED = [text for kind, refused, text in BLOCKS if kind == "sql" and not refused]
REFUSED = [text for kind, refused, text in BLOCKS if kind == "sql" and refused]
PYTHON = [text for kind, _, text in BLOCKS if kind == "python"]
VISITS = pa.table(
    {
        "patient_id": [1, 1, 2],
        "ward": ["A", "B", "A"],
        "level": [1, 2, 3],
        "age": [30, 65, 80],
        "cost": [10.0, 20.0, 30.0],
        "weight": [70.0, None, 80.0],
        "paid": [True, False, None],
        "day": [datetime.date(2026, 1, 1)] * 3,
        "at": pa.array([0, 1, 2], pa.timestamp("us")),
        "note": ["", "test", None],
    }
)
PATIENTS = pa.table({"id": [1, 2], "sex": ["f", "m"]})
WARDS = pa.table({"ward": ["A", "B", "C"], "floor": [1, 1, 2]})


@pytest.fixture(scope="module")
def scope() -> Iterator[dict[str, Any]]:
    """The names that the page's Python examples define, one after the other."""
    names: dict[str, Any] = {"jali": jali, "visits": VISITS, "patients": PATIENTS, "wards": WARDS}
    for text in PYTHON:
        exec(compile(text, "docs/questions.md", "exec"), names)
    yield names
    names["db"].close()


def test_the_python_examples_run(scope: dict[str, Any]) -> None:
    assert len(PYTHON) >= 4
    assert scope["answer"].columns == ("ward", "n", "age", "cost")
    assert len(scope["people"].rows) == 1


@pytest.mark.parametrize("sql", ANSWERED)
def test_an_example_is_answered(sql: str, scope: dict[str, Any]) -> None:
    answer = scope["db"].ask(sql, epsilon=1)
    assert len(answer.columns) == len(read_sql(sql).outputs)


@pytest.mark.parametrize("sql", REFUSED)
def test_an_example_of_a_refusal_is_refused(sql: str, scope: dict[str, Any]) -> None:
    with pytest.raises(jali.errors.Unsupported) as refused:
        scope["db"].ask(sql, epsilon=1)
    assert refused.value.position is not None


def test_there_are_examples_of_both() -> None:
    assert len(ANSWERED) >= 7
    assert len(REFUSED) >= 3
    assert len(BLOCKS) == PAGE.count("```") / 2


@pytest.mark.parametrize(
    "word",
    [
        "COUNT(*)",
        "COUNT(a)",
        "COUNT(DISTINCT unit)",
        "SUM(a)",
        "AVG(a)",
        "HAVING",
        "ORDER BY",
        "LIMIT",
        "OFFSET",
        "NaN",
        "`inf`",
        "max_rows",
        "epsilon",
        "rho",
        "explain",
        "delta",
        "min_people",
        "max_groups",
        "group_sizes",
        "Via",
        "Range(auto=True)",
    ],
)
def test_the_page_speaks_of_everything_a_question_has(word: str) -> None:
    assert word in PAGE
