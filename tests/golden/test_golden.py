"""Titled questions give the plans and the engine's queries that the golden files say."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from tests.golden.cases import FILES, Case, made, plan_of, read_cases, write_cases
from tests.golden.catalog import TABLES

from jali.engines.duckdb import DuckDBEngine
from jali.engines.duckdb.types import type_name
from jali.query.functions import FUNCTIONS
from jali.query.nodes import Call, walk
from jali.query.read_sql import read_sql

REGENERATE = "JALI_REGENERATE_GOLDEN"
if os.environ.get(REGENERATE):
    for file in FILES:
        write_cases(file, [made(case) for case in read_cases(file)])
CASES = [(path, case) for path in FILES for case in read_cases(path)]
IDS = [f"{path.stem}: {case.title}" for path, case in CASES]


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_plan_that_is_written_below_it(case: Case) -> None:
    assert made(case).plan == case.plan


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_engine_query_that_is_written_below_it(case: Case) -> None:
    assert made(case).engine == case.engine


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_golden_file_holds_its_cases_and_nothing_else(path: Path) -> None:
    """Otherwise a case that the reader does not see would not be compared."""
    head = path.read_text().split("-- # ")[0]
    assert all(line.startswith("--") for line in head.splitlines() if line)
    assert path.read_text() == head + "\n\n".join(case.text() for case in read_cases(path))


def test_titles_and_questions_are_told_apart() -> None:
    assert len({case.title for _, case in CASES}) == len(CASES) >= 40
    assert len({(case.loss, case.question) for _, case in CASES}) == len(CASES)


def test_every_function_and_every_table_has_a_golden_question() -> None:
    questions = [read_sql(case.question) for _, case in CASES]
    roots = [q.where for q in questions if q.where] + [o.expression for q in questions for o in q.outputs]
    roots += [q.having for q in questions if q.having]
    assert {n.function for root in roots for n in walk(root) if isinstance(n, Call)} == set(FUNCTIONS)
    assert {q.table for q in questions} == set(TABLES)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DuckDBEngine, Path]]:
    """An engine over empty sources of the declared types: what binds on them binds on any rows."""
    folder = tmp_path_factory.mktemp("data")
    running = DuckDBEngine()
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        for table in TABLES.values():
            typed = ", ".join(f'"{f.name}" {type_name(f.kind)}' for f in table.fields)
            connection.execute(f"CREATE TABLE {table.name} ({typed})")
        connection.execute(f"COPY visits TO '{folder}/visits.parquet' (FORMAT parquet)")
        for name in ("people", "voters"):
            running.attach(name, connection.sql(f"FROM {name}").to_arrow_table())
    (folder / "orders.csv").write_text(",".join(field.name for field in TABLES["orders"].fields) + "\n")
    yield running, folder
    running.close()


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_the_engine_query_of_a_golden_file_runs(case: Case, engine: tuple[DuckDBEngine, Path]) -> None:
    plan, (running, folder) = plan_of(case), engine
    place = plan.table.source
    source = replace(place, location=place.location.replace("/data", str(folder)))
    sql = re.sub(r"/data(?=/)", str(folder), case.engine)
    rows = running.run(sql, replace(plan.table, source=source))
    assert rows == [(0,) * len(plan.mechanisms)] * plan.aggregation.groups
