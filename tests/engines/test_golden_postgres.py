"""Every golden question gives the same exact integers in Postgres as in DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.engines.tables import moved, schema_of
from tests.golden.cases import Case, plan_of
from tests.golden.catalog import clinic
from tests.golden.test_golden import CASES, IDS
from tests.servers.postgres import Postgres

from jali.engines.duckdb import DuckDBEngine
from jali.engines.postgres import PostgresEngine
from jali.query.catalog import Catalog, Source


@dataclass(frozen=True)
class Both:
    """The golden tables in both engines."""

    here: tuple[DuckDBEngine, Catalog]
    there: tuple[PostgresEngine, Catalog]


@pytest.fixture(scope="module")
def both(postgres: Postgres) -> Iterator[Both]:
    engine = PostgresEngine()
    with clinic() as opened, schema_of(postgres.url) as schema:
        tables = opened.db.catalog
        place = {t.name: Source("postgres", postgres.url, f"{schema}.{t.name}") for t in tables.tables}
        yield Both((opened.db._engine, tables), (engine, moved(tables, engine, place)))  # type: ignore[arg-type]
    engine.close()


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
