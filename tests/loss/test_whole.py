"""Batches that are charged as a whole, by a theorem that is sharper than adding losses: where it is worth it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.fuzz.world import ADJACENCIES, PROTECTED, House, World
from tests.loss.asks import Asked, Desk, Terms
from tests.loss.compared import ViolationError
from tests.loss.test_sabotage import half, of
from tests.loss.triples import Report, checker
from tests.loss.worlds import rich_world

import jali
import jali.planner.batch.batch_plan
from jali.engines.duckdb import DuckDBEngine
from jali.ledger import SqliteLedger
from jali.planner.batch.batch_terms import whole_cost

# Everybody's rows meet most of these conditions, so that what a person loses adds up.
MANY = tuple(f"SELECT COUNT(*) FROM visits WHERE vid > {-least}" for least in range(40))
SUMS = tuple(f"SELECT SUM(age), COUNT(*) FROM visits WHERE vid < {most}" for most in range(50, 70))
PICKS = tuple(f"SELECT MODE(ward), MEDIAN(age) FROM visits WHERE vid > {-least}" for least in range(15))
CHOSEN = tuple(f"SELECT code, COUNT(*) FROM visits WHERE vid > {-least} GROUP BY code" for least in range(3))
TOLD = tuple(
    f"SELECT code, COUNT(DISTINCT uid) FROM visits WHERE vid > {-least} GROUP BY code" for least in range(3)
)


def several(texts: tuple[str, ...], loss: str, **total: str) -> Asked:
    """A batch of questions at their own losses, whose groups are chosen at a delta of their own."""
    terms: list[Terms] = [{"epsilon": loss} | ({"delta": "1/100000"} if "GROUP" in sql else {}) for sql in texts]
    return Asked(tuple(zip(texts, terms, strict=True)), {"agree": False, "delta": "1/1000"} | total)


BATCHES: dict[str, Asked] = {
    "counts": several(MANY, "1/50"),
    "sums": several(SUMS, "1/20"),
    "picks": several(PICKS, "1/20"),
    "counts and picks": several((*MANY, *PICKS), "1/60"),
    "groups by coins": several((*MANY, *CHOSEN), "1/50"),
    "groups by noisy counts": several((*MANY, *TOLD), "1/50"),
    "a total, by Gaussian noise": Asked(tuple((sql, {}) for sql in MANY), {"epsilon": "1/2", "delta": "1/1000"}),
    "a total, by larger Laplace noise": Asked(
        tuple((sql, {}) for sql in (*SUMS, *PICKS)), {"epsilon": "1/2", "delta": "1/100000", "agree": False}
    ),
}


@contextmanager
def small_house(world: World) -> Iterator[House]:
    """A database with budgets that these batches take a large part of."""
    engine = DuckDBEngine()
    with SqliteLedger(None) as ledger, jali.Database(ledger, engine) as db:
        built = House(db, engine, ledger)
        for shape in PROTECTED:
            table = db.protect(
                shape.name,
                shape.frame(world[shape.name]),
                unit=shape.unit,
                max_rows=shape.max_rows,
                columns=shape.declared,
                budget=jali.Budget(epsilon=40, delta="1/10", delta_events="1/10"),
                adjacency=ADJACENCIES[0][shape.name],
            )
            built.places[shape.name] = table.source.location
        yield built


def checked(name: str) -> Report:
    report = Report()
    for seed in (1, 2):
        with checker(seed) as checking, small_house(rich_world(seed)) as home:
            assert checking.check(Desk(home, checking.watch), BATCHES[name], [rich_world(seed)], 5)
            report.tally += checking.report.tally
            report.ratios["delta"] += checking.report.ratios["delta"]
    return report


@pytest.mark.parametrize("name", BATCHES)
def test_a_batch_that_is_declared_together_loses_no_more_than_it_is_charged(name: str) -> None:
    report = checked(name)
    assert report.tally["triples"] >= 10
    # What adds up to more than is charged is private by the sharper theorem only.
    assert report.tally["private by whole"] > 0, str(report)


def test_half_of_the_whole_is_noticed() -> None:
    with (
        of(jali.planner.batch.batch_plan, "whole_cost", lambda *given: half(whole_cost(*given)))(),
        pytest.raises(ViolationError),
    ):
        checked("counts")
