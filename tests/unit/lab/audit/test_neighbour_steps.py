"""How many neighbours apart inputs of a pattern are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jali.lab.audit.data_patterns import Pattern, count_neighbour_steps
from jali.lab.audit.neighbours import build_pairs
from jali.privacy import Adjacency

PATTERNS = (
    "scalar",
    "scalar by 0.1",
    "scalar in 0..100 by 2",
    "answers:5",
    "answers:5 by 3 as array",
    "monotone:5",
    "counts:4",
    "values:5 in 0..1",
    "values:5 in a|b",
    "values:5 in 0..1 with extremes",
    "table:4 of age 0..120, ward a|b",
    "table:4 of age 0..120, ward a|b with extremes",
    "stream:6",
    "stream:6 in -2..3",
    "either [1, 2] or [1]",
)


@pytest.mark.parametrize("text", PATTERNS)
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_all_pairs_of_a_pattern_are_neighbours(text: str, adjacency: Adjacency) -> None:
    pattern = Pattern.read(text)
    for one, other in build_pairs(pattern, adjacency):
        assert count_neighbour_steps(pattern, adjacency, one, other) == 1
        assert count_neighbour_steps(pattern, adjacency, other, one) == 1


@pytest.mark.parametrize(
    ("text", "one", "other", "steps"),
    [
        ("scalar", 0, 40, 40),
        ("scalar by 0.1", 0, 0.3, 3),
        ("scalar in 0..10", 0, 11, None),
        ("scalar", "a", 0, None),
        ("choice in a|b", "a", "c", None),
        ("answers:2", [0, 0], [3, -2], 3),
        ("answers:2", [0, 0], [0], None),
        ("monotone:2", [0, 0], [1, -1], 2),
        ("counts:2", [0, 0], [1, 1], 2),
        ("values:3 in 0..1", [0, 1, 1], [0], 2),
        ("values:3 in 0..1", [0, 40], [0], None),
        ("table:2 of age 0..9", [{"age": 4}], [{"age": 4, "more": 1}], None),
        ("stream:3", [1, 0, 1], [0, 0, 0], 2),
        ("either 1 or 2", 1, 3, None),
    ],
)
def test_steps_are_counted_and_other_inputs_are_none(text: str, one: Any, other: Any, steps: int | None) -> None:
    adjacency = Adjacency.REPLACE_ONE if text.startswith("choice") else Adjacency.ADD_REMOVE
    assert count_neighbour_steps(Pattern.read(text), adjacency, one, other) == steps


def test_replacing_keeps_the_size() -> None:
    counts, values = Pattern.read("counts:2"), Pattern.read("values:2 in 0..1")
    assert count_neighbour_steps(counts, Adjacency.REPLACE_ONE, np.array([1, 0]), np.array([0, 1])) == 1
    assert count_neighbour_steps(counts, Adjacency.REPLACE_ONE, [1, 0], [0, 0]) is None
    assert count_neighbour_steps(values, Adjacency.REPLACE_ONE, [0, 0], [0]) is None
