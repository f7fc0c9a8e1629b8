"""In Spark, too, one person moves the exact vector by no more than declared: 200 trials in each query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.depth import deep, whole
from tests.engines.movement import COLUMNS, QUESTIONS, TABLES, check_question, worlds
from tests.engines.tables import moved
from tests.servers.spark import hasten, written

import jali
from jali.catalog.tables import Catalog
from jali.engines.spark import SparkEngine
from jali.planner import make_plan
from jali.planner.plan import Plan
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql

_SHARE = "least(1048576, 3145728 div count(*) OVER (PARTITION BY owner))"


@pytest.fixture(scope="module")
def home(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SparkEngine, Catalog]]:
    engine, rows = SparkEngine(), worlds(1)
    engine.use(spark)
    hasten(engine._session("session"))
    with jali.connect() as db:
        for name in TABLES:
            db.protect(name, rows[name], unit="owner", max_rows=3, budget=jali.Budget(10**6), columns=COLUMNS)
        place = written(tmp_path_factory.mktemp("worlds"), rows)
        yield engine, moved(db.tables.catalog, engine, place)
    engine.close()


def plans(question: str, catalog: Catalog) -> tuple[Plan, Plan]:
    before, after = (make_plan(read_sql(question.format(n)), catalog, read_terms(epsilon=1)) for n in TABLES)
    return before, after


@whole
@pytest.mark.parametrize("question", QUESTIONS)
def test_nobody_moves_a_question_further_than_declared(question: str, home: tuple[SparkEngine, Catalog]) -> None:
    found = check_question(*plans(question, home[1]), home[0])
    # A bound that nobody comes near would let every query pass.
    assert any(one.furthest >= one.declared / 3 for one in found)


@deep
def test_a_query_without_its_bound_is_noticed(home: tuple[SparkEngine, Catalog]) -> None:
    class Broken:
        def emit(self, aggregation: Any) -> str:
            emitted = home[0].emit(aggregation)
            assert _SHARE in emitted
            return emitted.replace(_SHARE, "1048576")

        def run(self, *given: Any) -> Any:
            return home[0].run(*given)

    with pytest.raises(AssertionError):
        check_question(*plans(QUESTIONS[0], home[1]), Broken())  # type: ignore[arg-type]
