"""Declared sensitivities against an exhaustive search, and wrong ones found out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from tests.depth import deep, thinned
from tests.seeded import SeededBits

from jali.errors import JaliError
from jali.mechanisms import statistics
from jali.mechanisms.global_sensitivity import Root, Sensitivity
from jali.mechanisms.sensitivity_search import searched_sensitivity
from jali.privacy.adjacency import Adjacency

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
BITS = tuple(itertools.product((0, 1), repeat=3))
N = 3


def cells(table: tuple[Any, ...]) -> list[int]:
    return [table.count(x) for x in "abcd"]


def prefixes(table: tuple[Any, ...]) -> list[int]:
    return [sum(r <= x for r in table) for x in "abcd"]


def columns(table: tuple[Any, ...]) -> list[int]:
    return [sum(r[i] for r in table) for i in range(3)]


def share(function: Callable[[Any], list[int]]) -> Callable[[Any], list[Fraction]]:
    return lambda table: [Fraction(v, N) for v in function(table)]


def amount(table: tuple[Any, ...]) -> int:
    return sum(min(max(r, -2), 5) for r in table)


CASES: list[tuple[str, Sensitivity, Any, Any]] = [
    *((f"count {a}", statistics.count(adjacency=a), lambda t: t.count("a"), "abcd") for a in (ADD, REPLACE)),
    *((f"histogram {a}", statistics.histogram(adjacency=a), cells, "abcd") for a in (ADD, REPLACE)),
    *((f"thresholds {a}", statistics.thresholds(4, adjacency=a), prefixes, "abcd") for a in (ADD, REPLACE)),
    *((f"queries {a}", statistics.statistical_queries(3, adjacency=a), columns, BITS) for a in (ADD, REPLACE)),
    *(
        (f"total {a}", statistics.total(low=-2, high=5, adjacency=a), amount, (-9, -2, 0, 3, 5, 8))
        for a in (ADD, REPLACE)
    ),
    (
        "proportion",
        statistics.proportion(people=N, adjacency=REPLACE),
        lambda t: Fraction(t.count("a"), N),
        "abcd",
    ),
    (
        "mean",
        statistics.mean(low=-2, high=5, people=N, adjacency=REPLACE),
        lambda t: Fraction(amount(t), N),
        (-9, -2, 0, 3, 5, 8),
    ),
    ("points", statistics.point_functions(people=N, adjacency=REPLACE), share(cells), "abcd"),
    ("threshold shares", statistics.thresholds(4, people=N, adjacency=REPLACE), share(prefixes), "abcd"),
    ("attributes", statistics.attribute_means(3, people=N, adjacency=REPLACE), share(columns), BITS),
    ("query shares", statistics.statistical_queries(3, people=N, adjacency=REPLACE), share(columns), BITS),
]


@thinned(4)
@pytest.mark.parametrize(("declared", "function", "domain"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_every_declared_sensitivity_is_reached_and_never_exceeded(
    declared: Sensitivity, function: Any, domain: Any
) -> None:
    for norm in ("l1", "l2", "l_infinity"):
        found = searched_sensitivity(function, domain, N, declared.adjacency, norm)
        assert found.exhaustive
        assert found.distance == getattr(declared, norm)


@pytest.mark.parametrize(("declared", "function", "domain"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_counts_are_monotone_where_they_say_so(declared: Sensitivity, function: Any, domain: Any) -> None:
    if declared.monotone:
        assert declared.adjacency is ADD
        for table in itertools.product(domain, repeat=2):
            more, less = function((*table, table[0])), function(table)
            pairs = zip(more, less, strict=True) if isinstance(more, list) else [(more, less)]
            assert all(a >= b for a, b in pairs)


def test_the_sensitivities_of_the_lectures() -> None:
    """n public, replace-one: thresholds (|X|-1)/n, attribute means d/n, points 2/n, each with its L2 norm."""
    n = 1000
    steps = statistics.thresholds(9, people=n, adjacency=REPLACE)
    assert (steps.l1, steps.l2) == (Fraction(8, n), Root(Fraction(8, n**2)))
    means = statistics.attribute_means(5, people=n, adjacency=REPLACE)
    assert (means.l1, means.l2) == (Fraction(5, n), Root(Fraction(5, n**2)))
    points = statistics.point_functions(people=n, adjacency=REPLACE)
    assert (points.l1, points.l2) == (Fraction(2, n), Root(Fraction(2, n**2)))
    for single in (
        statistics.proportion(people=n, adjacency=REPLACE),
        statistics.mean(low=0, high=1, people=n, adjacency=REPLACE),
    ):
        assert single.l1 == single.l_infinity == Fraction(1, n)
    assert statistics.histogram(adjacency=REPLACE).l2 == Root(2)
    assert statistics.histogram(adjacency=ADD).l2 == Root(1)


def test_a_wrong_declaration_is_found_out_with_a_witness() -> None:
    """A histogram declared with 1 under replace-one: the search shows two tables at distance 2."""
    found = searched_sensitivity(cells, "abcd", 2, "replace-one")
    assert found.distance == 2
    one, other = found.neighbours
    assert sum(abs(a - b) for a, b in zip(cells(one), cells(other), strict=True)) == 2
    assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


def test_float_sums_are_found_out() -> None:
    """Naive float accumulation moves further than one clamped value can: sensitivity must be of integers."""

    def float_sum(table: tuple[float, ...]) -> float:
        total = 2.0**53
        for record in table:
            total += record
        return total

    found = searched_sensitivity(float_sum, (1.0, 1.0000000000000002), 4, "replace-one").distance
    assert isinstance(found, Fraction)
    assert found > Fraction(1, 2**40)


def test_a_large_domain_is_searched_at_random_up_to_a_limit() -> None:
    found = searched_sensitivity(sum, range(1000), 5, "replace-one", limit=2000, bits=SeededBits(1))
    assert not found.exhaustive
    assert found.tried == 2000
    assert isinstance(found.distance, Fraction)
    assert 800 < found.distance <= 999
    removed = searched_sensitivity(sum, range(1000), 5, "add-remove", limit=2000, bits=SeededBits(2))
    assert len(removed.neighbours[1]) == 4
    assert isinstance(removed.distance, Fraction)
    assert 900 < removed.distance <= 999


def test_a_constant_function_has_distance_zero_in_every_norm() -> None:
    for norm in ("l1", "l2", "l_infinity"):
        assert searched_sensitivity(len, "ab", 2, "replace-one", norm).distance == 0


def test_means_under_add_remove_are_refused_with_the_remedy() -> None:
    refused: list[Callable[[], Sensitivity]] = [
        lambda: statistics.mean(low=0, high=1, people=10, adjacency="add-remove"),
        lambda: statistics.proportion(people=10, adjacency="add-remove"),
        lambda: statistics.attribute_means(3, people=10, adjacency="add-remove"),
        lambda: statistics.point_functions(people=10, adjacency="add-remove"),
        lambda: statistics.thresholds(3, people=10, adjacency="add-remove"),
        lambda: statistics.statistical_queries(3, people=10, adjacency="add-remove"),
    ]
    for wrong in refused:
        with pytest.raises(JaliError, match="add-remove") as refusal:
            wrong()
        assert "Release the sum or count and the number of people and divide them, or declare replace-one" in (
            refusal.value.remedy or ""
        )


def test_bad_arguments_are_refused_by_name() -> None:
    with pytest.raises(JaliError, match="low"):
        statistics.total(low=1, high=1, adjacency="add-remove")
    with pytest.raises(JaliError, match="people"):
        statistics.proportion(people=0, adjacency="replace-one")
    with pytest.raises(JaliError, match="values"):
        statistics.thresholds(1, adjacency="replace-one")
    with pytest.raises(JaliError, match="adjacency"):
        statistics.count(adjacency="swap")
    with pytest.raises(JaliError, match="norm"):
        searched_sensitivity(len, "ab", 2, "replace-one", "l3")


def test_under_add_remove_all_sizes_are_tried() -> None:
    """The number of records that are alone moves most in the smallest tables."""

    def lonely(table: tuple[int, ...]) -> int:
        return 10 if len(table) == 1 else 0

    found = searched_sensitivity(lonely, range(2), 4, "add-remove")
    assert found.distance == 10
    assert found.exhaustive
    assert found.tried == sum(2**k * k for k in range(1, 5))
    assert searched_sensitivity(len, "a", 3, "replace-one").distance == 0


def test_records_need_not_be_hashable() -> None:
    found = searched_sensitivity(lambda table: sum(map(sum, table)), [[1], [2, 3]], 2, "replace-one")
    assert found.distance == 4
    assert [0] not in found.neighbours[0]


def _constant(result: Any, table: tuple[Any, ...]) -> Any:
    return result


def test_results_that_are_no_numbers_are_refused_clearly() -> None:
    domains: list[Any] = [[], 5]
    for domain in domains:
        with pytest.raises(JaliError, match="domain"):
            searched_sensitivity(sum, domain, 2, "add-remove")
    results: list[Any] = ["x", None, [], [None], {}, math.nan, [1.0, math.inf], Decimal("NaN")]
    for result in results:
        with pytest.raises(JaliError, match="function must return"):
            searched_sensitivity(partial(_constant, result), "ab", 2, "add-remove")
    with pytest.raises(JaliError, match="as many numbers"):
        searched_sensitivity(lambda table: [1] * (1 + len(table)), "ab", 2, "add-remove")


@deep
def test_a_random_search_stops_by_itself() -> None:
    found = searched_sensitivity(sum, range(50), 30, "add-remove", bits=SeededBits(4))
    assert found.tried == 20_000
    assert found.distance == 49
    with pytest.raises(JaliError, match="limit"):
        searched_sensitivity(sum, range(3), 2, "add-remove", limit=0)
