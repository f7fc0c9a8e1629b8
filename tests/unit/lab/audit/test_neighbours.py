"""Neighbouring inputs: every pair is one, by the definition of its adjacency; the classical patterns are there."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from jali.errors import CatalogError
from jali.lab.audit.data_patterns import Pattern
from jali.lab.audit.neighbours import build_extremes, build_pairs
from jali.privacy import Adjacency

BOTH = tuple(Adjacency)
TABLES = [
    "values:10 in 0..1",
    "values:4 in -2.5..7.5",
    "values:6 in red|green|blue",
    "values:1 in 0..1",
    "table:5 of age 0..120, ward a|b|c",
]


def _bag(table: Any) -> Counter[str]:
    return Counter(map(repr, table))


def _is_neighbour(one: Any, other: Any, adjacency: Adjacency) -> bool:
    """Return whether tables differ by one record, by the definition."""
    gone, come = _bag(one) - _bag(other), _bag(other) - _bag(one)
    if adjacency is Adjacency.ADD_REMOVE:
        return gone.total() + come.total() == 1
    return gone.total() == come.total() == 1


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("pattern", TABLES)
def test_tables_differ_by_one_record(pattern: str, adjacency: Adjacency) -> None:
    pairs = build_pairs(pattern, adjacency)
    assert pairs
    assert all(_is_neighbour(one, other, adjacency) for one, other in pairs)
    assert all(len(one) == Pattern.read(pattern).size for one, _ in pairs)
    assert all(_is_neighbour(one, other, adjacency) for one, other in build_extremes(pattern, adjacency))


@pytest.mark.parametrize("adjacency", BOTH)
def test_records_stay_in_their_range_and_reach_both_ends(adjacency: Adjacency) -> None:
    records = [
        one for pair in build_pairs("table:5 of age 18..90, ward a|b|c", adjacency) for t in pair for one in t
    ]
    assert {min(r["age"] for r in records), max(r["age"] for r in records)} == {18, 90}
    assert {r["ward"] for r in records} == {"a", "b", "c"}
    assert all(isinstance(r["age"], int) for r in records)


@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("step", ["1", "0.25"])
def test_answers_move_by_at_most_one_step_each(size: int, step: str) -> None:
    for one, other in build_pairs(f"answers:{size} by {step}", "add-remove"):
        assert len(one) == len(other) == size
        assert max(abs(a - b) for a, b in zip(one, other, strict=True)) == pytest.approx(float(step))


def test_the_patterns_of_ding_and_others_are_all_there() -> None:
    # Ding, Wang, Wang, Zhang and Kifer 2018, Table 2.
    table = {
        "one above": ([1, 1, 1, 1, 1], [2, 1, 1, 1, 1]),
        "one below": ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1]),
        "one above rest below": ([1, 1, 1, 1, 1], [2, 0, 0, 0, 0]),
        "one below rest above": ([1, 1, 1, 1, 1], [0, 2, 2, 2, 2]),
        "half half": ([1, 1, 1, 1, 1], [0, 0, 2, 2, 2]),
        "all above": ([1, 1, 1, 1, 1], [2, 2, 2, 2, 2]),
        "all below": ([1, 1, 1, 1, 1], [0, 0, 0, 0, 0]),
        "x shape": ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]),
    }
    pairs = build_pairs("answers:5", "replace-one")
    assert [name for name, pair in table.items() if pair not in pairs] == []


def test_monotone_answers_all_move_the_same_way() -> None:
    for one, other in build_pairs("monotone:4", "add-remove"):
        moves = {b - a for a, b in zip(one, other, strict=True)}
        assert moves <= {0, 1}
        assert 1 in moves


@pytest.mark.parametrize(("adjacency", "cells"), [("add-remove", 1), ("replace-one", 2)])
def test_one_person_is_in_one_cell_of_a_histogram(adjacency: str, cells: int) -> None:
    for one, other in build_pairs("counts:4", adjacency):
        assert sum(abs(a - b) for a, b in zip(one, other, strict=True)) == cells
        assert sum(one) - sum(other) == (1 if cells == 1 else 0)


@pytest.mark.parametrize("adjacency", BOTH)
def test_streams_differ_in_one_increment(adjacency: Adjacency) -> None:
    pairs = build_pairs("stream:6", adjacency)
    places = [[i for i in range(6) if one[i] != other[i]] for one, other in pairs]
    assert all(len(place) == 1 for place in places)
    assert {0, 3, 5} == {place[0] for place in places}


def test_a_person_that_leaves_a_stream_adds_nothing() -> None:
    for one, other in build_pairs("stream:4 in 2..5", "add-remove"):
        assert 0 in other
        assert 0 not in one


def test_scalars_move_by_their_step_inside_their_range() -> None:
    assert build_pairs("scalar", "replace-one")[0] == (0, 1)
    assert all(abs(a - b) == 2 for a, b in build_pairs("scalar by 2", "replace-one"))
    inside = build_pairs("scalar in 0..1 by 0.25", "replace-one")
    assert all(math.isclose(abs(a - b), 0.25) and min(a, b) >= 0 and max(a, b) <= 1 for a, b in inside)


def test_a_choice_is_replaced_by_every_other() -> None:
    assert set(build_pairs("choice in a|b|c", "replace-one")) == {("a", "b"), ("a", "c"), ("b", "c")}
    with pytest.raises(CatalogError, match="replace-one"):
        build_pairs("choice in a|b", "add-remove")


def test_extremes_hold_what_nobody_expects() -> None:
    odd = [one[-1] for one, _ in build_extremes("values:3 in 0..1", "replace-one")]
    assert None in odd
    assert math.inf in odd
    assert any(isinstance(value, float) and math.isnan(value) for value in odd)
    assert any(isinstance(value, int) and value >= 2**63 for value in odd)
    assert ([0], []) in build_extremes("values:3 in 0..1", "add-remove")
    assert build_extremes("scalar", "add-remove") == ()
    usual, odd_too = (build_pairs(f"values:3 in 0..1{more}", "add-remove") for more in ("", " with extremes"))
    assert odd_too[: len(usual)] == usual
    assert ([0], []) in odd_too


def test_pairs_may_be_arrays_or_written_out() -> None:
    one, other = build_pairs("values:3 in 0.0..1.0 as array", "add-remove")[0]
    assert isinstance(one, np.ndarray)
    assert isinstance(other, np.ndarray)
    assert (one.tolist(), other.tolist()) == ([0.0, 0.0, 1.0], [0.0, 0.0])
    assert build_pairs('either [1, "or", 2] or {"a": null}', "add-remove") == (([1, "or", 2], {"a": None}),)


@pytest.mark.parametrize(
    "text",
    [
        "scalar",
        "scalar in 0..10 by 2",
        "choice in a|b",
        "answers:5",
        "monotone:3 by 0.5",
        "counts:7 as array",
        "values:10 in 0..1",
        "values:10 in -1.5..1e3 as array",
        "values:2 in a|b",
        "values:2 in 0..1 with extremes",
        "table:4 of age 0..120, ward a|b",
        "stream:8 in 0..1",
        "either [1] or [2]",
    ],
)
def test_a_pattern_reads_what_it_writes(text: str) -> None:
    pattern = Pattern.read(text)
    assert Pattern.read(str(pattern)) == pattern


def test_numbers_without_a_point_are_integers() -> None:
    assert [type(x) for x in Pattern.read("values in 0..1").values] == [int, int]
    assert [type(x) for x in Pattern.read("values in 0.0..1.0").values] == [float, float]
    assert Pattern.read("values in 0..1.5").values == (0, 1.5)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lists:3",
        "scalar:3",
        "scalar in a|b",
        "scalar by -1",
        "scalar by 0",
        "choice",
        "choice in 0..1",
        "answers:0",
        "answers:5 in 0..1",
        "values:3 in 1..0",
        "values:3 in what",
        "values:3 by 2",
        "values:9999999",
        "table:3",
        "table:3 of age",
        "counts:3 of age 0..1",
        "table:3 of age 0..1 as array",
        "either [1 or 2",
        "scalar with extremes",
        "values:3 in 0..1 as array with extremes",
    ],
)
def test_what_is_no_pattern_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(CatalogError) as refusal:
        Pattern.read(text)
    assert refusal.value.remedy
