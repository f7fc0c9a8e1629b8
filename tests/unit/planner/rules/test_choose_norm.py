"""Which norm bounds a person's rows, and how far the measures move then."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest
from tests.declared import TABLES, VISITS

from jali.catalog.columns import Kind
from jali.catalog.tables import Catalog
from jali.errors import JaliError
from jali.ir.aggregates import Aggregation, CountPeople, CountRows, KeySet, Measure, SumValues, Weights
from jali.ir.expressions import Column
from jali.ir.relations import Scan
from jali.planner import Plan, make_plan
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity
from jali.planner.terms import read_terms
from jali.sql.reader.read_select import read_sql

RESOLUTION = 12
Vector = tuple[int, int]


def aggregation(measure: Measure, max_rows: int, resolution: int = RESOLUTION) -> Aggregation:
    keys = (KeySet(Column("ward"), Kind.TEXT, ("A", "B")),)
    return Aggregation(Scan(VISITS), keys, (measure,), Weights(max_rows, 2, resolution, "l2"))


def whole(low: int, high: int) -> SumValues:
    return SumValues(Column("x"), Kind.INTEGER, Fraction(low), Fraction(high), Fraction(0), Fraction(1))


def people(measure: Measure, max_rows: int) -> set[Vector]:
    """Every vector that one person can add, by any rows up to four more than count in full."""
    points = range(measure.least, measure.most + 1) if isinstance(measure, SumValues) else range(2)
    kinds = list(product(range(2), {0, *points}))
    found = {(0, 0)}
    for count in range(1, max_rows + 5):
        for rows in combinations_with_replacement(kinds, count):
            squared = sum(sum(g == group for g, _ in rows) ** 2 for group in range(2))
            w = min(RESOLUTION, math.isqrt((RESOLUTION * max_rows) ** 2 // squared))
            found.add((w * sum(v for g, v in rows if g == 0), w * sum(v for g, v in rows if g == 1)))
    return found


@pytest.mark.parametrize(
    "measure", [CountRows(), whole(0, 1), whole(-1, 1), whole(-1, 2), whole(1, 2), whole(-2, 0)]
)
@pytest.mark.parametrize("max_rows", [1, 2])
def test_nobody_moves_a_measure_further_and_somebody_as_far(measure: Measure, max_rows: int) -> None:
    asked, vectors = aggregation(measure, max_rows), people(measure, max_rows)
    longest = max(a * a + b * b for a, b in vectors)
    assert longest == squared_l2_sensitivity(asked, measure, 1)
    apart = max((a - c) ** 2 + (b - d) ** 2 for a, b in vectors for c, d in vectors)
    bound = squared_l2_sensitivity(asked, measure, 2)
    assert Fraction(9, 10) * bound <= apart <= bound
    assert squared_l2_sensitivity(asked, measure, 4) == 4 * bound


def test_two_people_of_mixed_signs_are_as_far_apart_as_the_theorem_says() -> None:
    """Values in [-3, 4], 5 rows: (4 rows of 4, 3 of -3) against (3 of -3, 4 of 4) are sqrt(2 (9 + 16)) 5 apart."""
    one, other = (4 * 4, 3 * -3), (3 * -3, 4 * 4)
    apart = sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
    assert apart == squared_l2_sensitivity(aggregation(whole(-3, 4), 5, 1), whole(-3, 4), 2) == 1250


@pytest.mark.parametrize("changes", [1, 2, 4])
def test_there_is_no_l1_bound(changes: int) -> None:
    for measure in (CountRows(), whole(0, 1)):
        with pytest.raises(JaliError, match="no L1 bound"):
            l1_sensitivity(aggregation(measure, 2), measure, changes)
    assert l1_sensitivity(aggregation(CountPeople(), 2), CountPeople(), 1) == 2 * RESOLUTION


def planned(sql: str, **loss: Any) -> Plan:
    return make_plan(read_sql(sql), Catalog(tuple(TABLES.values())), read_terms(**loss))


@pytest.mark.parametrize(
    ("sql", "norm"),
    [
        ("SELECT ward, COUNT(*) FROM visits GROUP BY ward", "l2"),
        ("SELECT ward, AVG(cost), SUM(age) FROM visits GROUP BY ward", "l2"),
        ("SELECT ward, COUNT(*) FROM stays GROUP BY ward", "l2"),
        ("SELECT COUNT(*) FROM visits", "l1"),
        ("SELECT ward, COUNT(*), COUNT(DISTINCT patient_id) FROM visits GROUP BY ward", "l1"),
        ("SELECT ward, COUNT(*), MEDIAN(age) FROM visits GROUP BY ward", "l1"),
        ("SELECT ward, paid, COUNT(*) FROM visits GROUP BY ROLLUP (ward, paid)", "l1"),
        ("SELECT note, COUNT(*) FROM visits GROUP BY note", "l1"),
        ("SELECT w, COUNT(*) FROM (SELECT patient_id, ward AS w FROM visits GROUP BY ALL) GROUP BY w", "l2"),
        (
            "SELECT a > 60, COUNT(*) FROM (SELECT patient_id, MAX(age) AS a FROM visits GROUP BY 1) GROUP BY 1",
            "l1",
        ),
    ],
)
def test_rows_are_weighed_by_length_only_where_gaussian_noise_hides_sums_over_known_groups(
    sql: str, norm: str
) -> None:
    for loss, expected in (({"rho": 1, "delta": "1e-7"}, norm), ({"epsilon": 1, "delta": "1e-7"}, "l1")):
        weights = planned(sql, **loss).aggregation.weights
        assert weights is not None
        assert weights.norm == expected


def test_explain_says_what_the_norm_keeps() -> None:
    text = " ".join(str(planned("SELECT ward, level, COUNT(*) FROM visits GROUP BY ward, level", rho=1)).split())
    assert "at most 5 rows per patient_id in the L2 norm over the groups" in text
    assert "weights by the number of rows" in text
    assert "of one row in each of 12 groups, they keep 5 instead of 12" in text
