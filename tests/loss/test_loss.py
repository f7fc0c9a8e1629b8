"""No neighbour of any table tells two runs of a question apart better than the ledger charged that table for."""

from __future__ import annotations

import pytest
from tests.depth import DEPTH
from tests.loss.triples import run

# Twenty thousand triples (question, table, neighbour) from depth 10 on.
WANTED = 400 if DEPTH == 1 else 2000 * min(DEPTH, 10)
EACH = 6
# What the deep run must have seen of questions, of terms, and of noise.
FAMILIES = {
    *("table visits", "table people", "table items", "table readings"),
    *(
        "join",
        "outer join",
        "semi or anti join",
        "cross join",
        "subquery",
        "common table",
        "IN or EXISTS",
        "union",
    ),
    *("select distinct", "summary of a person", "grouping sets", "filter", "having"),
    *("quantile", "mode", "top k", "histogram", "distribution function", "moments", "mean", "count distinct"),
    *("within", "part", "several parts", "min_people", "max_rows", "max_groups", "delta"),
    *("batch", "batch with a total", "batch with a delta", "batch of own losses"),
    *("by laplace noise", "by gaussian noise", "by joint noise", "by coins"),
    *("by laplace threshold", "by gaussian threshold", "by flips quantile", "by nested quantile"),
    *("by flips pick", "by exponential pick"),
}


def test_neighbours_lose_no_more_than_the_ledger_charged(capsys: pytest.CaptureFixture[str]) -> None:
    report = run(WANTED, EACH)
    if DEPTH > 1:
        with capsys.disabled():
            print(f"\n{report}")  # what a deep run has seen
    assert report.tally["triples"] >= WANTED
    assert min(report.tally["add-remove"], report.tally["replace-one"]) > WANTED / 10
    assert min(report.tally["pairs refused"], report.tally["pairs in tables that pay nothing"]) > 0
    # Bounds that nobody comes near would let everything pass.
    assert max(report.ratios["epsilon"]) > 0.99
    assert max(report.ratios["rho"]) > 0.99
    if DEPTH >= 10:
        assert report.families.keys() >= FAMILIES, FAMILIES - report.families.keys()
        assert max(report.ratios["delta"]) > 0.5
