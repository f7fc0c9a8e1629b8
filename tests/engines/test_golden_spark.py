"""Every golden question gives the same exact integers in Spark as in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.depth import thinned, whole
from tests.engines.golden import Both, check_same
from tests.engines.tables import TABLES, moved
from tests.golden.cases import Case
from tests.golden.catalog import clinic
from tests.golden.test_golden import CASES, IDS
from tests.servers.spark import hasten, written

from jali.engines.spark import SparkEngine


@pytest.fixture(scope="module")
def both(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    engine, folder = SparkEngine(), Path(tmp_path_factory.mktemp("golden"))
    engine.use(spark)
    hasten(engine._session("session"))
    with clinic() as opened:
        tables = opened.db.tables.catalog
        place = written(folder, TABLES)
        yield Both((opened.db._engine, tables), (engine, moved(tables, engine, place)))
    engine.close()


@whole
@thinned(16)
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_same_integers_in_both(case: Case, both: Both) -> None:
    check_same(case, both)
