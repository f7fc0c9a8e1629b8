"""Ends of a quantile's interval are bought where they can tell something, by the declared number of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.declared import VISITS

from jali.catalog.tables import Catalog
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.planner import Plan, make_plan
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql


def planned(sql: str, rows: int | None, **terms: Any) -> Plan:
    catalog = Catalog((replace(VISITS, rows=rows),))
    return make_plan(read_sql(sql), catalog, read_terms(**terms))


def ends(plan: Plan) -> list[WeightedQuantile]:
    return [m for part in plan.parts for m in part.mechanisms if isinstance(m, WeightedQuantile) and m.offset]


@pytest.mark.parametrize("terms", [{"epsilon": 1}, {"rho": "1/8"}], ids=str)
def test_a_large_group_gets_ends_and_a_small_one_the_whole_loss(terms: dict[str, Any]) -> None:
    sql = "SELECT MEDIAN(age) FROM visits"
    assert len(ends(planned(sql, 10**6, **terms))) == 2
    small = planned(sql, 100, **terms)
    assert ends(small) == []
    # Only the value is left, with nothing of the loss lost.
    assert len(small.parts[0].mechanisms) == 1
    assert float(small.cost.amount) == pytest.approx(float(read_terms(**terms).loss.event.amount))


def test_without_a_declared_number_ends_are_bought() -> None:
    assert len(ends(planned("SELECT MEDIAN(age) FROM visits", None, epsilon=1))) == 2


def test_what_is_left_out_would_have_been_aimed_beyond_the_rows_of_the_group() -> None:
    """With 200 rows in each of the groups, the ends that are not bought lie beyond half of the rows on a side."""
    sql = "SELECT ward, MEDIAN(age) FROM visits GROUP BY ward"
    unknown = planned(sql, None, epsilon=1)
    groups = unknown.aggregation.groups
    bought = ends(unknown)
    weights = unknown.aggregation.weights
    assert weights is not None
    assert min(abs(float(end.offset)) for end in bought) / weights.resolution > 200 / 4
    assert ends(planned(sql, 200 * groups, epsilon=1)) == []


def test_explain_says_that_the_range_is_told() -> None:
    assert "no ends: by the declared number of rows" in " ".join(
        str(planned("SELECT MEDIAN(age) FROM visits", 100, epsilon=1)).split()
    )
