"""docs/questions.md is complete and true: every function is described, and every example runs."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import jali
from jali.query.functions import FUNCTIONS, Function
from jali.query.read_sql import read_sql

PAGE = (Path(__file__).parents[2] / "docs" / "questions.md").read_text()
BLOCKS = re.findall(r"^```(\w+)( refused)?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ANSWERED = [text for kind, refused, text in BLOCKS if kind == "sql" and not refused]
REFUSED = [text for kind, refused, text in BLOCKS if kind == "sql" and refused]
PYTHON = [text for kind, _, text in BLOCKS if kind == "python"]
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line[:1] == "|"]
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


@pytest.fixture(scope="module")
def scope() -> Iterator[dict[str, Any]]:
    """The names that the page's Python examples define, one after the other."""
    names: dict[str, Any] = {"jali": jali, "visits": VISITS}
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
    with pytest.raises(jali.Unsupported) as refused:
        scope["db"].ask(sql, epsilon=1)
    assert refused.value.position is not None


def test_there_are_examples_of_both() -> None:
    assert len(ANSWERED) >= 4
    assert len(REFUSED) >= 3
    assert len(BLOCKS) == PAGE.count("```") / 2


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_is_described_with_its_nulls_its_range_and_its_place(function: Function) -> None:
    rows = [row for row in ROWS if row[0] == f"`{function.shape}`" and len(row) == 4]
    assert len(rows) == 1
    _, nulls, result, after = rows[0]
    assert nulls == function.nulls
    assert result
    assert after == ("yes" if function.after else "no")


def test_no_function_is_described_that_is_not_there() -> None:
    header = ROWS.index(["Write", "NULL", "Range of the result", "After noise"])
    described = [row[0].strip("`") for row in ROWS[header + 2 :] if len(row) == 4]
    assert described == [function.shape for function in FUNCTIONS.values()]


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
    ],
)
def test_the_page_speaks_of_everything_a_question_has(word: str) -> None:
    assert word in PAGE


SHORTHAND = [
    "age != 3",
    "age == 3",
    "age BETWEEN 1 AND 2",
    "age NOT IN (1)",
    "note NOT LIKE 'x'",
    "note IS NOT NULL",
    "paid IS TRUE",
    "paid IS FALSE",
    "IFNULL(age, 1) = 1",
    "CASE level WHEN 1 THEN TRUE END",
    "note::DOUBLE = 1",
    "TRY_CAST(note AS DOUBLE) = 1",
    "CAST(note AS INTEGER) = 1",
    "CAST(note AS BIGINT) = 1",
]


@pytest.mark.parametrize("condition", SHORTHAND)
def test_the_shorthand_of_the_page_is_understood(condition: str, scope: dict[str, Any]) -> None:
    assert scope["db"].explain(f"SELECT COUNT(*) FROM visits WHERE {condition}", epsilon=1)
