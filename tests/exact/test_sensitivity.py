"""The declared sensitivity is met: a bound that nobody comes near would be noise for nothing.

That nobody moves the exact integers further than declared is checked for all questions in `tests/fuzz`.
"""

from __future__ import annotations

import pytest
from tests.exact.strategies import table_of
from tests.exact.test_plain_sql import database
from tests.harness import in_measures, noise_off

from jali.ir.ownership import changes
from jali.planner.query_sensitivity import l1_sensitivity

EXTREME = "SELECT g, COUNT(*), SUM(x), AVG(x), SUM(n), COUNT(DISTINCT uid) FROM t GROUP BY g"


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_declared_sensitivity_is_reached(adjacency: str) -> None:
    """The worst person meets it in L1."""
    filler = [(0, "B", 1, 1.0, 1, 1, "1", True)]
    one = table_of(filler + [(9, "A", 1, 1e308, 2**63 - 1, 1, "1", True)] * 3)
    moved = [(8, "B", 1, 1e308, 2**63 - 1, 1, "1", True)] * 3
    neighbour = table_of(filler if adjacency == "add-remove" else filler + moved)
    with database(one, "uid", 2, adjacency) as db, noise_off():
        plan = db.explain(EXTREME, epsilon=1)
        before = in_measures(plan, db.ask(EXTREME, epsilon=1).release.noisy)
        db.tables.attach("t", neighbour)
        db.refresh("t")
        after = in_measures(plan, db.ask(EXTREME, epsilon=1).release.noisy)
    for i, measure in enumerate(plan.aggregation.measures[:4]):
        moved_by = sum(abs(x - y) for x, y in zip(before[i], after[i], strict=True))
        declared = l1_sensitivity(plan.aggregation, measure, changes(plan.source, plan.table))
        # Weights are rounded down to 2^-20: three rows of 2/3 lose less than three units of it each.
        assert declared * (1 - 2e-6) <= moved_by <= declared
