"""Sensitivities against brute force: every person that a small world allows, and every pair of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from tests.declared import PEOPLE, VISITS
from tests.depth import thinned

from jali.catalog.columns import Kind
from jali.ir.aggregates import Aggregation, CountPeople, CountRows, KeySet, Measure, SumValues, Weights
from jali.ir.expressions import Column
from jali.ir.relations import Scan
from jali.planner.query_sensitivity import l1_sensitivity, squared_l2_sensitivity

RESOLUTION = 12


def aggregation(groups: int, max_rows: int | None, measure: Measure) -> Aggregation:
    """A question with so many groups, at person level (max_rows) or at row level (None)."""
    table = VISITS if max_rows else PEOPLE
    keys = () if groups == 1 else (KeySet(Column("ward"), Kind.TEXT, tuple("ABCDEF"[:groups])),)
    weights = None if max_rows is None else Weights(max_rows, min(max_rows, groups), RESOLUTION)
    return Aggregation(Scan(table), keys, (measure,), weights)


def whole(low: int, high: int, center: int = 0) -> SumValues:
    ends = Fraction(low), Fraction(high)
    return SumValues(Column("x"), Kind.INTEGER, *ends, Fraction(center), Fraction(1))


Vector = tuple[int, ...]


def people(asked: Aggregation, measure: Measure) -> set[Vector]:
    """Every vector over the groups that one person can add: by any rows, up to three more than count in full."""
    most = 1 if asked.weights is None else asked.weights.max_rows + 3
    if isinstance(measure, CountPeople):
        points = [1]
    elif isinstance(measure, SumValues):
        points = [0, *range(measure.least, measure.most + 1)]  # 0: NULL
    else:
        points = [0, 1]
    kinds = list(product(range(asked.groups), points))
    return {
        _contribution(asked, measure, rows)
        for count in range(most + 1)
        for rows in combinations_with_replacement(kinds, count)
    } | {(0,) * asked.groups}


def _contribution(asked: Aggregation, measure: Measure, rows: tuple[tuple[int, int], ...]) -> Vector:
    total = [0] * asked.groups
    if isinstance(measure, CountPeople):
        there = {group for group, _ in rows}
        once = asked.weights is None or asked.one_group
        weight = 1 if once else _weight(asked, len(there), of_groups=True)
        for group in there:
            total[group] = weight
        return tuple(total)
    for group, point in rows:
        total[group] += point * _weight(asked, len(rows))
    return tuple(total)


def _weight(asked: Aggregation, count: int, *, of_groups: bool = False) -> int:
    if asked.weights is None:
        return 1
    most = asked.weights.max_groups if of_groups else asked.weights.max_rows
    return min(asked.weights.resolution, asked.weights.resolution * most // max(count, 1))


def reached(asked: Aggregation, measure: Measure, changes: int) -> tuple[int, int]:
    """Return the largest L1 and squared L2 distance between neighbours, by trying all of them."""
    vectors = people(asked, measure)
    others = [(0,) * asked.groups] if changes == 1 else vectors
    moves = {tuple(x - y for x, y in zip(a, b, strict=True)) for a in vectors for b in others}
    if changes == 4:
        moves = {tuple(x + y for x, y in zip(a, b, strict=True)) for a in moves for b in moves}
    return max(sum(map(abs, m)) for m in moves), max(sum(x * x for x in m) for m in moves)


MEASURES: dict[str, Measure] = {
    "rows": CountRows(),
    "rows with a value": CountRows(Column("x")),
    "sum of 0 to 2": whole(0, 2),
    "sum of -1 to 2": whole(-1, 2),
    "sum of -2 to -1": whole(-2, -1),
    "centred sum": whole(0, 3, 1),
    "sum of one point": whole(1, 1),
    "people": CountPeople(),
}


# Three groups show no more about sums of two rows than two groups do, in a hundred times the time.
WORLDS = [
    (name, groups, max_rows)
    for name, groups, max_rows in product(MEASURES, (1, 2, 3), (None, 1, 2))
    if not (name == "people" and max_rows is None) and not ("sum" in name and groups == 3 and max_rows == 2)
]


@pytest.mark.whole
@thinned(4)
@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.parametrize(("name", "groups", "max_rows"), WORLDS)
def test_no_person_moves_a_measure_further_than_its_sensitivity(
    name: str, groups: int, max_rows: int | None, changes: int
) -> None:
    measure = MEASURES[name]
    asked = aggregation(groups, max_rows, measure)
    l1, squared = reached(asked, measure, changes)
    assert l1 <= l1_sensitivity(asked, measure, changes)
    assert squared <= squared_l2_sensitivity(asked, measure, changes)


# Two groups of sums show no more than two groups of rows do, in a hundred times the time.
SMALL = [w for w in WORLDS if (w[2] or 1) == 1 and (w[1] == 1 or (w[1] == 2 and "sum" not in w[0]))]


@thinned(4)
@pytest.mark.parametrize(("name", "groups", "max_rows"), [*SMALL, ("sum of 0 to 2", 2, 1)])
def test_two_people_at_once_move_it_no_further_than_twice(name: str, groups: int, max_rows: int | None) -> None:
    measure = MEASURES[name]
    asked = aggregation(groups, max_rows, measure)
    l1, squared = reached(asked, measure, 4)
    assert l1 <= l1_sensitivity(asked, measure, 4)
    assert squared <= squared_l2_sensitivity(asked, measure, 4)


EXACT = ["rows", "rows with a value", "sum of 0 to 2", "sum of -1 to 2", "centred sum", "sum of one point"]


@pytest.mark.parametrize("changes", [1, 2])
@pytest.mark.parametrize("max_rows", [None, 1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", EXACT)
def test_the_l1_sensitivity_is_reached(name: str, groups: int, max_rows: int | None, changes: int) -> None:
    """More than the truth would be noise for nothing."""
    measure = MEASURES[name]
    asked = aggregation(groups, max_rows, measure)
    assert reached(asked, measure, changes)[0] == l1_sensitivity(asked, measure, changes)


@pytest.mark.parametrize(("groups", "l1", "squared"), [(1, 1, 1), (2, 2 * 12, 2 * 144), (4, 3 * 12, 3 * 144)])
def test_people_count_once_in_one_group_and_in_a_bounded_number_of_several(
    groups: int, l1: int, squared: int
) -> None:
    asked = aggregation(groups, 3, CountPeople())
    assert l1_sensitivity(asked, CountPeople(), 1) == l1
    assert squared_l2_sensitivity(asked, CountPeople(), 1) == squared


@pytest.mark.parametrize(
    ("changes", "groups", "l1", "squared"),
    [
        (1, 1, 600, 360_000),
        (1, 3, 600, 360_000),
        (2, 1, 800, 640_000),
        (2, 3, 1200, 720_000),
        (4, 1, 1600, 2_560_000),
        (4, 3, 2400, 2_880_000),
    ],
)
def test_a_worked_example_of_one_two_and_four_changes(changes: int, groups: int, l1: int, squared: int) -> None:
    """5 rows of values in [-40, 120]: m = 600, width = 800; replaced over groups, 2m in L1 and sqrt(2) m in L2."""
    measure = whole(-40, 120)
    asked = replace(aggregation(groups, 5, measure), weights=Weights(5, min(5, groups), 1))
    assert l1_sensitivity(asked, measure, changes) == l1
    assert squared_l2_sensitivity(asked, measure, changes) == squared


def test_the_width_rules_where_it_exceeds_the_diagonal() -> None:
    """Values in [-1, 1]: one person may move one group by 2m, further than sqrt(2) m."""
    measure = whole(-1, 1)
    asked = aggregation(2, 1, measure)
    assert squared_l2_sensitivity(asked, measure, 2) == (2 * RESOLUTION) ** 2 == reached(asked, measure, 2)[1]
