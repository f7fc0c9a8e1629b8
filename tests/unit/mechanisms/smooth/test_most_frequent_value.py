"""The most frequent value against every neighbour of every small table."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.depth import DEPTH, thinned
from tests.unit.mechanisms.smooth.exhaustive_search import BOTH, Exhaustive, Table, discounted

from jali.errors import MechanismError
from jali.mechanisms.smooth.most_frequent_value import Winner


@cache
def exhaustive(marks: int, adjacency: str) -> Exhaustive:
    def of(table: Table) -> Fraction:
        return Fraction(max(range(marks), key=lambda mark: (table.count(mark), -mark)))

    return Exhaustive(of, marks, adjacency)


def winner(marks: int, adjacency: str) -> Winner:
    return Winner(low=0, high=marks - 1, step=1, adjacency=adjacency)


@thinned(4)
@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize(("marks", "most"), [(2, 7), (3, 6), (4, 5), (6, 3)])
def test_every_neighbour_of_every_small_table_agrees(marks: int, most: int, adjacency: str) -> None:
    statistic, truth = winner(marks, adjacency), exhaustive(marks, adjacency)
    for people in range(most + 1):
        far = people + 1 if adjacency == "replace-one" else 4
        for table in combinations_with_replacement(range(marks), people):
            column = statistic.read(table)
            assert statistic.value(column) == max(range(marks), key=lambda mark: (table.count(mark), -mark))
            assert [statistic.at_distance(column, k) for k in range(far + 1)] == truth.at_distances(table, far)


@settings(max_examples=20 * DEPTH, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=7), st.sampled_from(["0.05", "0.3", "2"]))
def test_seven_people_who_may_be_replaced(table: list[int], beta: str) -> None:
    statistic = winner(4, "replace-one")
    expected = exhaustive(4, "replace-one").at_distances(tuple(sorted(table)), 8)
    found = float(statistic.smooth(statistic.read(table), Fraction(beta)))
    assert found == pytest.approx(discounted(expected, float(beta)), rel=1e-13)


@settings(max_examples=10 * DEPTH, deadline=None)
@given(st.lists(st.integers(0, 2), max_size=7), st.sampled_from(["0.05", "0.3", "2"]))
def test_seven_people_who_may_join_or_leave(table: list[int], beta: str) -> None:
    statistic = winner(3, "add-remove")
    expected = exhaustive(3, "add-remove").at_distances(tuple(sorted(table)), 8)
    assert expected[-1] == 2  # the widest gap: further away there is nothing more
    found = float(statistic.smooth(statistic.read(table), Fraction(beta)))
    assert found == pytest.approx(discounted(expected, float(beta)), rel=1e-13)


def cost_by_all_heights(counts: list[int], a: int, b: int, adjacency: str) -> int:
    """The fewest changes to a table on the edge between a < b: over all heights, and all four kinds of edge."""
    marks, people, best = len(counts), sum(counts), 10**9
    kinds = (
        [(0, 0, a), (-1, 0, b), (0, -1, b), (-1, 1, a)] if adjacency == "replace-one" else [(0, 0, a), (-1, 0, b)]
    )
    for height in range(max(counts) + 3):
        for left, right, strict in kinds:
            limit = [height - (mark < strict) for mark in range(marks)]
            limit[a], limit[b] = height + left, height + right
            if min(limit) < 0:
                continue
            removed = sum(max(0, count - most) for count, most in zip(counts, limit, strict=True))
            added = max(0, limit[a] - counts[a]) + max(0, limit[b] - counts[b])
            if adjacency == "add-remove":
                best = min(best, removed + added)
            elif limit[a] + limit[b] <= people <= sum(limit):
                best = min(best, max(removed, added))
    return best


@pytest.mark.parametrize("adjacency", BOTH)
def test_large_counts_agree_with_all_heights(adjacency: str) -> None:
    generator = np.random.default_rng(4)
    for _ in range(60 * DEPTH):
        marks = int(generator.integers(2, 9))
        counts = generator.integers(0, int(generator.choice([2, 5, 40])), marks)
        if not counts.sum():
            continue
        statistic = winner(marks, adjacency)
        column = statistic.read(np.repeat(np.arange(marks), counts))
        costs: dict[int, int] = {}
        for a in range(marks):
            for b in range(a + 1, marks):
                cost = cost_by_all_heights(counts.tolist(), a, b, adjacency)
                costs[b - a] = min(cost, costs.get(b - a, cost))
        for k in range(max(costs.values()) + 1):
            expected = max((gap for gap, cost in costs.items() if cost <= k), default=0)
            assert statistic.at_distance(column, k) == expected


@pytest.mark.parametrize("adjacency", BOTH)
def test_the_smooth_sensitivity_is_smooth(adjacency: str) -> None:
    generator = np.random.default_rng(12)
    for _ in range(40 * DEPTH):
        marks, people = int(generator.integers(2, 30)), int(generator.integers(1, 1001))
        table = np.minimum(generator.poisson(marks / 3, people), marks - 1)
        swapped = np.append(table[1:], generator.integers(marks))
        other = swapped if adjacency == "replace-one" else table[1:]
        statistic, beta = winner(marks, adjacency), Fraction(str(generator.choice([0.01, 0.1, 1.0])))
        here, there = (float(statistic.smooth(statistic.read(rows), beta)) for rows in (table, other))
        assert here <= math.exp(beta) * there * (1 + 1e-14)
        assert there <= math.exp(beta) * here * (1 + 1e-14)
        assert here >= statistic.local(statistic.read(table))


def test_nobody_wins_an_empty_column() -> None:
    for adjacency, local in zip(BOTH, (0, 4), strict=True):
        statistic = Winner(low=1, high=5, step=1, adjacency=adjacency)
        column = statistic.read([])
        assert statistic.value(column) == 1
        assert statistic.local(column) == float(statistic.smooth(column, Fraction(1))) == local
        assert statistic.global_sensitivity(0) == local
        assert statistic.global_sensitivity() == 4
        assert statistic.outputs == (Fraction(1), Fraction(5))


def test_too_many_marks_are_refused() -> None:
    with pytest.raises(MechanismError, match="step"):
        Winner(low=0, high=256, step=1, adjacency="add-remove")
