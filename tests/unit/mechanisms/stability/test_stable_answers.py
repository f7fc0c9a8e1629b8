"""Exact answers of plain data: distances against searches over all small tables, under both adjacencies."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.divergences import hockey_stick

from jali.errors import JaliError, MechanismError
from jali.mechanisms.selection.scores import read_scores
from jali.mechanisms.stability.acceptance import DECLINED
from jali.mechanisms.stability.stable_answers import (
    _search,
    best_of,
    count_categories,
    most_frequent,
    stable_answer,
    stable_best,
    stable_mode,
)
from jali.mechanisms.stability.stable_value import Stable, StableValue
from jali.privacy.adjacency import Adjacency

Sizes = tuple[int, ...]
ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
both = pytest.mark.parametrize("adjacency", [ADD, REPLACE])
SURE: dict[str, Any] = {"epsilon": 20, "delta": "1/2"}


def near(sizes: Sizes, adjacency: Adjacency) -> Iterator[Sizes]:
    """Yield the numbers of people per category one change away."""
    for i, j in itertools.product(range(len(sizes)), repeat=2):
        if adjacency is REPLACE and i != j:
            yield tuple(size - (k == i) + (k == j) for k, size in enumerate(sizes)) if sizes[i] else sizes
        elif adjacency is ADD and i == j:
            yield tuple(size + (k == i) for k, size in enumerate(sizes))
            yield tuple(size - (k == i and size > 0) for k, size in enumerate(sizes))


def unchanged(sizes: Sizes, adjacency: Adjacency, answer: Callable[[Sizes], Any], most: int) -> int:
    """Return how many changes leave the answer the same, by going through all of them."""
    ball = {sizes}
    for distance in range(most):
        ball |= {other for table in ball for other in near(table, adjacency)}
        if any(answer(table) != answer(sizes) for table in ball):
            return distance
    return most


def leader(sizes: Sizes) -> int | None:
    """Return the only largest place."""
    return sizes.index(max(sizes)) if sizes.count(max(sizes)) == 1 else None


@both
def test_the_distance_of_the_mode_equals_a_search_over_all_tables(adjacency: Adjacency) -> None:
    """The last category stands for all that nobody has."""
    for sizes in itertools.product(range(6), repeat=3):
        if sum(sizes) == 0:
            continue
        table = {key: size for key, size in enumerate(sizes) if size}
        found = most_frequent(table, adjacency)
        assert found.answer == leader((*sizes, 0))
        assert found.distance == unchanged((*sizes, 0), adjacency, leader, 8)


@both
def test_categories_with_nobody_make_no_difference(adjacency: Adjacency) -> None:
    assert most_frequent({"a": 5, "b": 0}, adjacency) == most_frequent({"a": 5}, adjacency)
    assert most_frequent({}, adjacency) == most_frequent({"a": 0}, adjacency) == (None, 0)


@both
def test_neighbouring_tables_of_the_mode_are_as_close_as_claimed(adjacency: Adjacency) -> None:
    mechanism = StableValue(epsilon=1, delta="1/20")
    for sizes in itertools.product(range(5), repeat=3):
        law = mechanism.log_masses(most_frequent(dict(enumerate(sizes)), adjacency))
        for other in near(sizes, adjacency):
            moved = mechanism.log_masses(most_frequent(dict(enumerate(other)), adjacency))
            assert hockey_stick(law, moved, 1) <= 0.05 + 1e-12


def test_the_mode_is_told_from_a_column_as_from_counts() -> None:
    column = ["b"] * 60 + ["a"] * 5
    given: dict[str, Any] = {"epsilon": 2, "delta": 1e-6, "adjacency": "replace-one"}
    assert stable_mode(column, **given).answer == "b"
    assert stable_mode({"a": 5, "b": 60}, **given).answer == "b"
    assert stable_mode(np.array(column), **given).answer == "b"


ONE_ODD: list[tuple[Any, Any]] = [
    (np.array([0.0] * 60), np.array([-0.0] + [0.0] * 59)),
    ([1] * 60, [1.0] + [1] * 59),
    ([1] * 60, [True] + [1] * 59),
    ([Decimal("1.0")] * 60, [Decimal("1.00")] + [Decimal("1.0")] * 59),
    ([(1, 0.0)] * 60, [(1, -0.0)] + [(1, 0.0)] * 59),
]


@pytest.mark.parametrize(("one", "other"), ONE_ODD)
def test_one_row_cannot_change_how_a_sure_answer_is_printed(one: Any, other: Any) -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}
    told = [stable_mode(table, **given).answer for table in (one, other, other[::-1])]
    assert len({(type(answer), repr(answer)) for answer in told}) == 1
    assert sorted(count_categories(other).values()) == [1, 59]


def test_rows_of_one_form_count_as_one_category() -> None:
    column = [float("nan") for _ in range(60)]  # no two of them are equal
    told = stable_mode(column, epsilon=1, delta=1e-6, adjacency="add-remove")
    assert math.isnan(told.answer)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int64, np.uint64])
@both
def test_distances_of_neighbours_differ_by_at_most_one_for_every_integer_type(
    kind: Any, adjacency: Adjacency
) -> None:
    top, moved = int(np.iinfo(kind).max), int(adjacency is REPLACE)
    tables = ({"a": kind(top), "b": kind(0)}, {"a": kind(top - 1), "b": kind(moved)})
    near_ones = [most_frequent(counts, adjacency).distance for counts in map(count_categories, tables)]
    assert near_ones == [most_frequent({"a": top}, adjacency).distance, near_ones[0] - 1]
    assert [most_frequent(table, adjacency).distance for table in tables] == near_ones


def test_counts_of_two_integer_types_are_read() -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}
    assert stable_mode({"a": np.uint64(90), "b": np.int64(3)}, **given).answer == "a"


def test_nothing_in_a_column_is_refused_for_its_value() -> None:
    class Awkward:
        __hash__ = object.__hash__

        def __eq__(self, other: object) -> bool:
            raise ValueError("a secret")

    column: list[Any] = ["a"] * 40 + [[], {}, Awkward(), Awkward(), math.nan, None]
    assert stable_mode(column, epsilon=20, delta="1/2", adjacency="add-remove").answer == "a"


def test_a_tie_is_declined_or_has_no_answer() -> None:
    told = [stable_mode(["ab", "a", "ab", "a"], adjacency="add-remove", **SURE) for _ in range(50)]
    assert {item.answer for item in told} <= {DECLINED, None}
    ties = [stable_mode(["a", "b"], adjacency="add-remove", epsilon=1, delta=1e-9) for _ in range(50)]
    assert all(tie.declined for tie in ties)


@pytest.mark.parametrize(
    "table", ["abc", 3, None, {"a": 1.5}, {"a": "x"}, np.zeros((2, 2)), {"a": np.timedelta64(5, "s")}]
)
def test_tables_of_another_kind_are_refused(table: Any) -> None:
    with pytest.raises(MechanismError):
        stable_mode(table, epsilon=1, delta="1/2", adjacency="add-remove")


@pytest.mark.parametrize("bad", [{"epsilon": 0}, {"delta": 2}, {"adjacency": "x"}])
def test_parameters_are_refused_before_the_table_is_read(bad: dict[str, Any]) -> None:
    given: dict[str, Any] = {"epsilon": 1, "delta": "1/2", "adjacency": "add-remove", **bad}
    with pytest.raises(JaliError, match=next(iter(bad))):
        stable_mode(iter(lambda: pytest.fail("the table was read"), 1), **given)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_distance_of_the_best_is_the_largest_that_is_safe_for_all_scores(monotone: bool) -> None:
    """Scores of sensitivity 2 that move in the worst way: all of them are tried, in steps of 1."""
    moves = [move for move in itertools.product(range(-2, 3), repeat=2) if not monotone or _same_way(move)]
    moved = Fraction(2 if monotone else 4)
    for lead in range(1, 18):
        ball, changes = {(lead, 0)}, 0
        while all(a > b for a, b in ball):
            changes += 1
            ball = {(a + x, b + y) for a, b in ball for x, y in moves}
        assert best_of(["a", "b"], read_scores([lead, 0]), moved) == ("a", changes - 1)


def _same_way(move: tuple[int, ...]) -> bool:
    return min(move) >= 0 or max(move) <= 0


@pytest.mark.parametrize("monotone", [False, True])
def test_neighbouring_scores_are_as_close_as_claimed(monotone: bool) -> None:
    mechanism, moved = StableValue(epsilon=1, delta="1/20"), Fraction(1 if monotone else 2)
    steps = [step for step in itertools.product((-1, 0, 1), repeat=3) if not monotone or _same_way(step)]
    for scores in itertools.product(range(4), repeat=3):
        law = mechanism.log_masses(best_of(list("abc"), read_scores(list(scores)), moved))
        for step in steps:
            other = [score + by for score, by in zip(scores, step, strict=True)]
            assert (
                hockey_stick(law, mechanism.log_masses(best_of(list("abc"), read_scores(other), moved)), 1)
                <= 0.05 + 1e-12
            )


def test_the_best_of_real_scores_is_found_on_a_lattice() -> None:
    given: dict[str, Any] = {"sensitivity": 0.1, "epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}
    told = stable_best({"a": 3.25, "b": 30.5, "c": math.nan}, step="1/100", **given)
    assert (told.answer, told.declined) == ("b", False)
    with pytest.raises(MechanismError, match="step"):
        stable_best([3.25, 30.5], **given)


def test_the_only_candidate_is_always_told() -> None:
    assert stable_best([7], sensitivity=1, epsilon=1, delta=1e-6, adjacency="add-remove").answer == 0


def test_monotone_scores_under_replace_one_are_refused() -> None:
    with pytest.raises(MechanismError, match="monotone"):
        stable_best([7, 1], sensitivity=1, epsilon=1, delta=1e-6, adjacency="replace-one", monotone=True)


def test_best_scores_that_tie_have_no_answer() -> None:
    assert best_of([0, 1, 2], read_scores([5, 5, 1]), Fraction(2)) == (None, 0)


@both
def test_a_search_finds_the_distance_of_any_function(adjacency: Adjacency) -> None:
    def parity_of_leader(sizes: Sizes) -> Any:
        return None if leader(sizes) is None else max(sizes) // 3

    for sizes in itertools.product(range(4), repeat=3):
        found = _search(parity_of_leader, sizes, adjacency, 4)
        assert found == Stable(parity_of_leader(sizes), unchanged(sizes, adjacency, parity_of_leader, 4))


def test_a_constant_function_is_as_stable_as_was_searched() -> None:
    told = stable_answer(lambda table: "x", [1, 2], rows=[1, 2, 3], most=3, adjacency="add-remove", **SURE)
    assert told.answer == "x"


def test_rows_beyond_the_public_ones_count_as_the_first() -> None:
    seen: list[tuple[Any, ...]] = []

    def first_table(table: tuple[Any, ...]) -> int:
        seen.append(table)
        return 1

    stable_answer(first_table, [2, 9, [], "x"], rows=[1, 2], most=1, adjacency="replace-one", **SURE)
    assert seen[0] == (1, 1, 1, 2)


def test_a_function_that_fails_has_no_answer_there() -> None:
    def fails_when_empty(table: tuple[Any, ...]) -> Any:
        return 1 / len(table) > 0

    given: dict[str, Any] = {"rows": ["a"], "most": 2, "adjacency": "add-remove"}
    told = [stable_answer(fails_when_empty, ["a"], epsilon=1, delta=1e-9, **given) for _ in range(20)]
    assert all(item.declined for item in told)


def test_answers_that_cannot_be_compared_differ() -> None:
    def arrays(table: tuple[Any, ...]) -> Any:
        return np.zeros(3)

    told = stable_answer(arrays, ["a"], rows=["a"], most=2, adjacency="add-remove", epsilon=1, delta=1e-9)
    assert told.declined


def test_answers_that_are_equal_but_look_different_differ() -> None:
    given: dict[str, Any] = {"rows": ["a"], "most": 9, "adjacency": "add-remove", "epsilon": 1, "delta": 1e-9}
    forms: list[tuple[Any, Any]] = [
        (0.0, -0.0),
        (1, True),
        (1, 1.0),
        (Decimal("1.0"), Decimal("1.00")),
        ([0.0], [-0.0]),
    ]
    for one, other in forms:
        for count in (4, 5):
            told = stable_answer(lambda table: (one, other)[len(table) % 2], ["a"] * count, **given)  # noqa: B023
            assert told.declined


def test_warnings_of_the_function_are_not_shown() -> None:
    def mean_of_nobody(table: tuple[Any, ...]) -> bool:
        warnings.warn("a secret", stacklevel=1)
        return bool(np.mean(table) > -1) or bool(np.log(np.zeros(1))[0] > 0)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        stable_answer(mean_of_nobody, [1], rows=[1, 2], most=3, adjacency="add-remove", **SURE)
    assert not seen


@pytest.mark.parametrize(("function", "table"), [("text", [1]), (None, [1]), (len, "11"), (len, b"1"), (len, 5)])
def test_what_is_no_function_or_table_is_refused_for_its_type(function: Any, table: Any) -> None:
    with pytest.raises(MechanismError, match=r"function|table"):
        stable_answer(function, table, rows=[1], most=1, adjacency="add-remove", **SURE)


@pytest.mark.parametrize("rows", [[], [1, 1], [[]], 3, iter([1]), "ab"])
def test_bad_rows_are_refused(rows: Any) -> None:
    with pytest.raises(MechanismError, match="rows"):
        stable_answer(len, [1], rows=rows, most=1, epsilon=1, delta="1/2", adjacency="add-remove")


def test_what_is_told_holds_no_distance() -> None:
    told = stable_mode(["a"] * 50, epsilon=1, delta=1e-6, adjacency="add-remove")
    assert repr(told) == "Told('a', epsilon 1, delta 1e-06)"
    assert not any("49" in str(value) for value in vars(told).values())
