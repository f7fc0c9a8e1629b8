"""Golden questions in two engines: the tables of both, and what it means that they find the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tests.golden.cases import Case, plan_of

from jali.catalog.tables import Catalog
from jali.engines import Engine


@dataclass(frozen=True)
class Both:
    """The golden tables in both engines."""

    here: tuple[Engine, Catalog]
    there: tuple[Engine, Catalog]


def check_same(case: Case, both: Both) -> None:
    """A question has the same exact integers in both; where groups are chosen from the data, in any order."""
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
