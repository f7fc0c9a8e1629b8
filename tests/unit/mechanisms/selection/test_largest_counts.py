"""Heavy hitter, mode and top k: privacy through the whole function, and the accuracy theorems of the lectures."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.depth import DEPTH
from tests.seeded import SeededBits

from jali.errors import JaliError, MechanismError
from jali.mechanisms.selection.largest_counts import (
    SelectionTask,
    build_count_task,
    build_mode_task,
    build_top_k_task,
    count_members,
    heavy_hitter,
    mode,
    top_k,
)

Table = tuple[Any, ...]


def neighbouring(tables: list[Table], adjacency: str) -> list[tuple[Table, Table]]:
    return [(a, b) for a, b in itertools.combinations(tables, 2) if _apart(a, b, adjacency)]


def _apart(one: Table, other: Table, adjacency: str) -> bool:
    gone, come = Counter(one) - Counter(other), Counter(other) - Counter(one)
    if adjacency == "replace-one":
        return gone.total() == come.total() == 1
    return gone.total() + come.total() == 1


def worst_loss(laws: dict[Table, Any], adjacency: str) -> float:
    pairs = neighbouring(list(laws), adjacency)
    assert pairs
    return float(max(abs(laws[a][answer] - laws[b][answer]) for a, b in pairs for answer in laws[a]))


def tables_of(records: list[Any], sizes: range) -> list[Table]:
    return [t for n in sizes for t in itertools.combinations_with_replacement(records, n)]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("method", ["permute-and-flip", "exponential"])
def test_a_heavy_hitter_keeps_its_promise_on_all_small_tables(adjacency: str, method: str) -> None:
    """Records are in any of three overlapping sets, or in none."""
    sets: dict[str, Any] = {"a": {1, 3, 5, 7}, "b": {2, 3, 6, 7}, "c": lambda record: record >= 4}
    tables = tables_of(list(range(8)), range(3))
    laws = {
        table: build_count_task(
            count_members(table, sets), epsilon=1, adjacency=adjacency, method=method
        ).log_masses()
        for table in tables
    }
    assert worst_loss(laws, adjacency) <= 1 + 1e-12


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_mode_keeps_its_promise_on_all_small_tables(adjacency: str) -> None:
    tables = tables_of(["x", "y", "z", "elsewhere"], range(5))
    laws = {t: build_mode_task(t, ["x", "y", "z"], epsilon=1, adjacency=adjacency).log_masses() for t in tables}
    worst = worst_loss(laws, adjacency)
    assert 0.6 < worst <= 1 + 1e-12


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("mechanism", ["joint", "gumbel"])
def test_a_top_two_keeps_its_promise_on_all_small_tables(adjacency: str, mechanism: Any) -> None:
    records = [frozenset(s) for n in range(4) for s in itertools.combinations("abc", n)]
    laws = {}
    for table in tables_of(records, range(3)):
        counts = {key: sum(key in record for record in table) for key in "abc"}
        laws[table] = build_top_k_task(counts, 2, epsilon=1, adjacency=adjacency, mechanism=mechanism).log_masses()
    worst = worst_loss(laws, adjacency)
    assert 0.2 < worst <= 1 + 1e-12


@pytest.mark.parametrize("size", [2, 8, 100, 10_000])
@pytest.mark.parametrize("epsilon", ["1/10", 1])
def test_the_error_of_a_heavy_hitter_is_within_the_lecture_bound(size: int, epsilon: str | int) -> None:
    """2 ln(100 d)/epsilon under replace-one and ln(100 d)/epsilon under add-remove, with probability 0.99."""
    counts = np.zeros(size, np.int64)
    for adjacency, factor in (("replace-one", 2), ("add-remove", 1)):
        for method in ("permute-and-flip", "exponential"):
            found = heavy_hitter(counts, epsilon=epsilon, adjacency=adjacency, method=method)
            assert found.error <= factor * math.log(100 * size) / float(Fraction(epsilon))


def test_the_measured_error_of_a_heavy_hitter_keeps_the_lecture_bound() -> None:
    """d = 20 sets, all but one at the bound below the largest; in 4,000 releases at most 1 % miss, plus chance."""
    bound = math.ceil(2 * math.log(100 * 20))
    task = build_count_task([bound, *[0] * 19], epsilon=1, adjacency="replace-one", method="exponential")
    missed = sum(answer != 0 for answer in task.mechanism.sample(task.value, 4000, bits=SeededBits(5)))
    assert missed / 4000 <= 0.01 + 6 * math.sqrt(0.01 / 4000)
    assert 1 - math.exp(task.log_masses()[0]) <= 0.01


def test_the_law_of_a_release_is_that_of_the_task() -> None:
    """Through the function itself: six standard errors."""
    counts, bits, times = {"a": 3, "b": 1, "c": 0}, SeededBits(6), 1000 * DEPTH
    law = build_count_task(counts, epsilon=1, adjacency="add-remove").log_masses()
    seen = Counter(heavy_hitter(counts, epsilon=1, adjacency="add-remove", bits=bits).choice for _ in range(times))
    for key, mass in law.items():
        assert seen[key] / times == pytest.approx(math.exp(mass), abs=6 * 0.5 / math.sqrt(times))


def test_answers_name_keys_losses_and_assumptions() -> None:
    found = heavy_hitter({"x": 500, "y": 2}, epsilon=2, adjacency="add-remove", bits=SeededBits(1))
    assert found.choice == "x"
    assert found.loss.event.epsilon == 2
    assert (found.adjacency.value, found.confidence) == ("add-remove", 0.99)
    assert any("public" in line for line in found.assumed)
    ranked = top_k([5, 900, 800, 1], 2, epsilon=3, adjacency="replace-one", bits=SeededBits(1))
    assert ranked.choice == (1, 2)
    assert ranked.loss.event.rho == Fraction(9, 8)
    peeled = top_k([5, 900, 800, 1], 2, epsilon=3, adjacency="add-remove", mechanism="gumbel", bits=SeededBits(1))
    assert peeled.choice == (1, 2)
    assert peeled.loss.event.rho == Fraction(9, 16)


def test_a_mode_ignores_values_outside_the_keys_and_reads_arrays() -> None:
    values = np.array([7] * 300 + [9] * 500 + [8])
    assert mode(values, [7, 8], epsilon=1, adjacency="add-remove", bits=SeededBits(1)).choice == 7
    assert mode([], [7, 8], epsilon=1, adjacency="add-remove", bits=SeededBits(1)).choice in (7, 8)


def test_a_task_does_not_show_its_data() -> None:
    shown = repr(build_count_task({"a": 123457}, epsilon=1, adjacency="add-remove"))
    assert "123457" not in shown


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: heavy_hitter([1], epsilon=0, adjacency="add-remove"), "epsilon"),
        (lambda: heavy_hitter([1], epsilon=1, adjacency="both"), "adjacency"),
        (lambda: heavy_hitter([1], epsilon=1, adjacency="add-remove", method="best"), "method"),
        (lambda: heavy_hitter([1], epsilon=1, adjacency="add-remove", confidence=1), "confidence"),
        (lambda: heavy_hitter([], epsilon=1, adjacency="add-remove"), "counts must not be empty"),
        (lambda: mode([1], [1, 1], epsilon=1, adjacency="add-remove"), "keys"),
        (lambda: top_k([1, 2], 3, epsilon=1, adjacency="add-remove"), "k is 3, but there are only 2 keys"),
        (lambda: top_k([1, 2], 0, epsilon=1, adjacency="add-remove"), "k"),
        (lambda: top_k([1, 2], 1, epsilon=1, adjacency="add-remove", mechanism="both"), "mechanism"),  # type: ignore[arg-type]
    ],
)
def test_bad_arguments_are_refused_by_name(make: Any, name: str) -> None:
    with pytest.raises(JaliError, match=name):
        make()


@pytest.mark.parametrize("odd", [Decimal("sNaN"), [1], {}, math.nan, None, np.array([1, 2])])
def test_a_value_that_cannot_be_compared_counts_for_no_key(odd: Any) -> None:
    """An error would tell that it is there."""
    task = build_mode_task([7, odd, 8, 7], [7, 8], epsilon=1, adjacency="add-remove")
    assert list(task.value) == [2, 1]
    sets: dict[str, Any] = {"set": {7}, "range": range(8), "text": "abc", "test": lambda record: record > 7}
    assert count_members([7, odd, 8], sets) == {"set": 1, "range": 1, "text": 0, "test": 1}


def test_a_predicate_that_fails_tells_nothing_of_the_record() -> None:
    def fails(record: int) -> bool:
        raise RuntimeError(f"record {record}")

    assert count_members([1, 2], {"never": fails, "even": lambda record: record % 2 == 0}) == {
        "never": 0,
        "even": 1,
    }


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda given: heavy_hitter(5, **given), "counts"),  # type: ignore[arg-type]
        (lambda given: heavy_hitter(None, **given), "counts"),  # type: ignore[arg-type]
        (lambda given: heavy_hitter(iter([1]), **given), "counts"),  # type: ignore[arg-type]
        (lambda given: heavy_hitter(np.array(5), **given), "counts"),
        (lambda given: top_k(5, 1, **given), "counts"),  # type: ignore[arg-type]
        (lambda given: heavy_hitter([1], method=["x"], **given), "method"),  # type: ignore[arg-type]
        (lambda given: mode([1], iter([1, 2]), **given), "keys"),  # type: ignore[arg-type]
        (lambda given: mode([1], None, **given), "keys"),  # type: ignore[arg-type]
        (lambda given: mode([1], "ab", **given), "keys"),
        (lambda given: mode([1], [], **given), "keys"),
        (lambda given: mode([1], [[1], [2]], **given), "keys"),
        (lambda given: mode(5, [1, 2], **given), "values"),  # type: ignore[arg-type]
        (lambda given: mode(np.zeros((2, 2)), [1, 2], **given), "values"),
        (lambda given: count_members(5, {}), "records"),  # type: ignore[arg-type]
        (lambda given: count_members([5], [1]), "sets"),  # type: ignore[arg-type]
        (lambda given: count_members([5], {"a": 3}), "sets"),  # type: ignore[dict-item]
    ],
)
def test_arguments_of_the_wrong_type_are_refused_by_name(make: Any, name: str) -> None:
    with pytest.raises(MechanismError, match=name):
        make({"epsilon": 1, "adjacency": "add-remove"})


def test_tasks_are_all_of_one_kind() -> None:
    assert isinstance(build_top_k_task([1, 2], 1, epsilon=1, adjacency="add-remove"), SelectionTask)


def test_a_series_of_counts_keeps_its_keys() -> None:
    pandas = pytest.importorskip("pandas")
    visits = pandas.Series(["a"] * 900 + ["b"] * 5).value_counts()
    assert heavy_hitter(visits, epsilon=1, adjacency="add-remove").choice == "a"
    assert top_k(visits, 1, epsilon=1, adjacency="add-remove").choice == ("a",)


def test_records_instead_of_counts_are_refused_with_the_way_to_count_them() -> None:
    for records in (list("aaab"), {"a": "many"}):
        with pytest.raises(JaliError, match="count_members"):
            heavy_hitter(records, epsilon=1, adjacency="add-remove")
