"""Titled questions give the plans and the engine's queries that the golden files say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.golden.cases import FILES, Case, made, plan_of, read_cases, write_cases
from tests.golden.catalog import Clinic, clinic

from jali.ir.aggregates import Categories, Marks
from jali.ir.expressions import Call
from jali.ir.functions import FUNCTIONS
from jali.ir.functions.aggregate_functions import AGGREGATES
from jali.ir.relations import Relation
from jali.planner import Plan

REGENERATE = "JALI_REGENERATE_GOLDEN"
if os.environ.get(REGENERATE):
    with clinic() as opened:
        for file in FILES:
            write_cases(file, [made(case, opened.catalog) for case in read_cases(file)])
CASES = [(path, case) for path in FILES for case in read_cases(path)]
IDS = [f"{path.stem}: {case.title}" for path, case in CASES]


@pytest.fixture(scope="module")
def tables() -> Iterator[Clinic]:
    with clinic() as opened:
        yield opened


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_plan_and_the_queries_that_are_written_below_it(case: Case, tables: Clinic) -> None:
    found = made(case, tables.catalog)
    assert found.plan == case.plan
    assert found.engine == case.engine


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_holds_its_cases_and_nothing_else(path: Path) -> None:
    """Otherwise a case that the reader does not see would not be compared."""
    head = path.read_text().split("-- # ")[0]
    assert all(line.startswith("--") for line in head.splitlines() if line)
    assert path.read_text() == head + "\n\n".join(case.text() for case in read_cases(path))


def test_titles_and_questions_are_told_apart() -> None:
    assert len({case.title for _, case in CASES}) == len(CASES) >= 150
    assert len({(case.loss, case.question) for _, case in CASES}) == len(CASES)


@pytest.fixture(scope="module")
def plans(tables: Clinic) -> list[Plan]:
    return [plan_of(case, tables.catalog) for _, case in CASES]


def test_every_table_every_aggregate_and_every_kind_of_key_has_a_golden_question(
    plans: list[Plan], tables: Clinic
) -> None:
    assert {table.name for plan in plans for table in plan.read} == {t.name for t in tables.catalog.tables}
    assert {a.function for plan in plans for a, _ in plan.estimates} == set(AGGREGATES)
    assert {type(part.aggregation.along) for plan in plans for part in plan.parts} == {
        type(None),
        Marks,
        Categories,
    }
    assert {key.values is None for plan in plans for key in plan.keys} == {True, False}
    assert {type(node) for plan in plans for node in _inside(plan.source)} >= set(get_args(Relation))


def test_every_function_has_a_golden_question(plans: list[Plan]) -> None:
    """DATE_TRUNC, DATE_DIFF and DATE_SUB have one name for each part of a date: any of them will do."""
    called = {node.function for plan in plans for node in _inside(plan) if isinstance(node, Call)}
    assert {name.split()[0] for name in FUNCTIONS} - {name.split()[0] for name in called} == set()


def _inside(value: Any) -> Iterator[Any]:
    """Yield everything that a frozen value is made of."""
    yield value
    inner = [getattr(value, f.name) for f in fields(value)] if is_dataclass(value) else []
    for part in inner or (value if isinstance(value, tuple) else ()):
        yield from _inside(part)
