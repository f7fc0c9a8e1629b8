"""In Postgres, too, one person moves the exact vector by no more than declared: 200 trials in each query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.depth import whole
from tests.engines.movement import COLUMNS, QUESTIONS, TABLES, check_question, worlds
from tests.engines.tables import schema_of
from tests.servers.postgres import Postgres

import jali

_SHARE = "least(1048576, 3145728 / count(*) OVER (PARTITION BY owner))"


@pytest.fixture(scope="module")
def home(postgres: Postgres) -> Iterator[jali.Database]:
    with schema_of(postgres.url, worlds(1)) as schema, jali.connect() as db:
        for name in TABLES:
            place = f"{postgres.url}?schema={schema}"
            db.protect(name, place, unit="owner", max_rows=3, budget=jali.Budget(10**6), columns=COLUMNS)
        yield db


@whole
@pytest.mark.parametrize("question", QUESTIONS)
def test_nobody_moves_a_question_further_than_declared(question: str, home: jali.Database) -> None:
    before, after = (home.explain(question.format(name), epsilon=1) for name in TABLES)
    moved = check_question(before, after, home._engine)
    # A bound that nobody comes near would let every query pass.
    assert any(one.furthest >= one.declared / 3 for one in moved)


def test_a_query_without_its_bound_is_noticed(home: jali.Database) -> None:
    class Broken:
        def emit(self, aggregation: Any) -> str:
            written = home._engine.emit(aggregation)
            assert _SHARE in written
            return written.replace(_SHARE, "1048576")

        def run(self, *given: Any) -> Any:
            return home._engine.run(*given)

    before, after = (home.explain(QUESTIONS[0].format(name), epsilon=1) for name in TABLES)
    with pytest.raises(AssertionError):
        check_question(before, after, Broken())  # type: ignore[arg-type]
