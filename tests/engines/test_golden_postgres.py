"""Every golden question gives the same exact integers in Postgres as in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.depth import whole
from tests.engines.golden import Both, check_same
from tests.engines.tables import moved, schema_of
from tests.golden.cases import Case
from tests.golden.catalog import clinic
from tests.golden.test_golden import CASES, IDS
from tests.servers.postgres import Postgres

from jali.catalog.tables import Source
from jali.engines.postgres import PostgresEngine


@pytest.fixture(scope="module")
def both(postgres: Postgres) -> Iterator[Both]:
    engine = PostgresEngine()
    with clinic() as opened, schema_of(postgres.url) as schema:
        tables = opened.db.tables.catalog
        place = {t.name: Source("postgres", postgres.url, f"{schema}.{t.name}") for t in tables.tables}
        yield Both((opened.db._engine, tables), (engine, moved(tables, engine, place)))
    engine.close()


@whole
@pytest.mark.parametrize("case", [case for _, case in CASES], ids=IDS)
def test_a_question_has_the_same_integers_in_both(case: Case, both: Both) -> None:
    check_same(case, both)
