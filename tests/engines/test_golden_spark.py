"""Every golden question gives the same exact integers in Spark as in DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.depth import thinned
from tests.engines.tables import TABLES, moved
from tests.golden.cases import Case, plan_of
from tests.golden.catalog import clinic
from tests.golden.test_golden import CASES, IDS
from tests.servers.spark import hasten, written

from jali.engines.duckdb import DuckDBEngine
from jali.engines.spark import SparkEngine
from jali.query.catalog import Catalog

pytestmark = pytest.mark.xdist_group("spark")


@dataclass(frozen=True)
class Both:
    """The golden tables in both engines."""

    here: tuple[DuckDBEngine, Catalog]
    there: tuple[SparkEngine, Catalog]


@pytest.fixture(scope="module")
def both(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    engine, folder = SparkEngine(), Path(tmp_path_factory.mktemp("golden"))
    engine.use(spark)
    hasten(engine._session("session"))
    with clinic() as opened:
        tables = opened.db.catalog
        place = written(folder, TABLES)
        yield Both((opened.db._engine, tables), (engine, moved(tables, engine, place)))  # type: ignore[arg-type]
    engine.close()


@thinned(16)
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_same_integers_in_both(case: Case, both: Both) -> None:
    found = []
    for engine, catalog in (both.here, both.there):
        plan = plan_of(case, catalog)
        assert plan.parts
        found.append([(engine.run(engine.emit(p.aggregation), plan.read), p.aggregation) for p in plan.parts])
    for (one, aggregation), (other, _) in zip(*found, strict=True):
        if aggregation.selecting or aggregation.along is not None:
            assert Counter(one) == Counter(other)
        else:
            assert one == other
