"""Workloads against their matrices, and declared sensitivities against all neighbours."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from jali.errors import MechanismError
from jali.mechanisms.workloads.workload import (
    Histogram,
    IntervalWorkload,
    Marginals,
    Ranges,
    Thresholds,
    Workload,
    compute_energies,
    compute_prefix_sums,
)
from jali.privacy import Adjacency

KINDS = (Histogram, Thresholds, Ranges)
WORKLOADS: tuple[Workload, ...] = (
    *(kind(cells) for kind in KINDS for cells in (1, 2, 3, 8, 13)),
    Marginals((2, 3), [(0,), (1,)]),
    Marginals((2, 3, 2), [(0, 1), (2,), ()]),
    Marginals((2, 2), [(0, 1)]),
)
workloads = pytest.mark.parametrize("workload", WORKLOADS, ids=str)


@workloads
def test_answers_are_the_matrix_times_the_histogram(workload: Workload) -> None:
    histogram = np.random.default_rng(1).integers(0, 100, workload.cells)
    matrix = workload.matrix()
    assert matrix.shape == (workload.size, workload.cells)
    assert (workload.answers(histogram) == matrix @ histogram).all()
    assert (workload.counted() == matrix.sum(axis=1)).all()
    for answer in range(workload.size):
        assert (workload.weights(answer) == matrix[answer]).all()


@pytest.mark.parametrize(
    ("workload", "rows"),
    [
        (Histogram(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (Thresholds(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        (Ranges(3), [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1]]),
        (Marginals((2, 2), [(0,), (1,)]), [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]),
    ],
)
def test_matrices_are_what_their_names_say(workload: Workload, rows: list[list[int]]) -> None:
    assert workload.matrix().tolist() == rows


@workloads
def test_the_sensitivity_is_reached_by_some_neighbours_and_exceeded_by_none(workload: Workload) -> None:
    columns = workload.matrix().T
    joined = [np.abs(column).sum() for column in columns]
    assert workload.moved(Adjacency.ADD_REMOVE) == max(joined)
    replaced = [one - other for one, other in itertools.permutations(columns, 2)]
    if replaced:
        assert workload.moved(Adjacency.REPLACE_ONE) == max(np.abs(move).sum() for move in replaced)
        assert all(np.abs(move).max() <= 1 for move in replaced)
        assert workload.sensitivity("replace-one").l2.squared == max((move**2).sum() for move in replaced)


def test_only_joining_moves_all_answers_the_same_way() -> None:
    assert Thresholds(4).sensitivity("add-remove").monotone
    assert not Thresholds(4).sensitivity("replace-one").monotone


def test_thresholds_of_the_theory_have_sensitivity_one_less_under_replace_one() -> None:
    assert Thresholds(8).sensitivity("replace-one").l1 == 7
    assert Histogram(8).sensitivity("replace-one").l1 == 2
    assert Histogram(8).sensitivity("add-remove").l1 == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cells", [1, 2, 5, 8, 13, 30])
@pytest.mark.parametrize("block", [1, 2, 3, 4, 8, 16, 50])
def test_energies_are_squared_lengths_of_block_averages(kind: type[Any], cells: int, block: int) -> None:
    workload: IntervalWorkload = kind(cells)
    padded = np.zeros((workload.size, -(-(cells + 1) // block) * block))
    padded[:, :cells] = workload.matrix()
    plain = (padded.reshape(workload.size, -1, block).sum(axis=2) ** 2 / block).sum(axis=1)
    assert compute_energies(*workload.bounds, block) == pytest.approx(plain)
    assert workload.energy(block) == pytest.approx(plain.sum())


def test_ranges_are_numbered_without_being_listed() -> None:
    workload = Ranges(9)
    starts, stops = workload.bounds
    found = [workload.interval(i) for i in range(workload.size)]
    assert found == list(zip(starts.tolist(), stops.tolist(), strict=True))
    huge = Ranges(1 << 20)
    assert huge.interval(huge.size - 1) == ((1 << 20) - 1, 1 << 20)
    assert huge.interval(0) == (0, 1)
    with pytest.raises(MechanismError, match="too large"):
        _ = huge.bounds


def test_sums_of_huge_counts_do_not_wrap() -> None:
    counts = np.array([2**62, 2**62, 2**62], dtype=np.int64)
    assert compute_prefix_sums(counts).tolist() == [0, 2**62, 2**63, 3 * 2**62]
    table = Marginals((3, 2), [(1,)]).answers(np.full(6, 2**62, dtype=np.int64))
    assert table.tolist() == [3 * 2**62] * 2


def test_the_closure_of_marginals_is_all_subsets_once() -> None:
    workload = Marginals((2, 3, 4), [(1, 0), (0, 1), (2,)])
    assert workload.sets == ((0, 1), (2,))
    assert workload.closure() == ((), (0,), (1,), (2,), (0, 1))


@pytest.mark.parametrize("bad", [0, -1, 1.5, "x", True, None])
def test_bad_numbers_of_cells_are_refused_by_name(bad: Any) -> None:
    for kind in KINDS:
        with pytest.raises(MechanismError, match="cells"):
            kind(bad)


def test_bad_marginals_are_refused_by_name() -> None:
    with pytest.raises(MechanismError, match="shape"):
        Marginals((1, 3), [(0,)])
    for sets in ([], [(2,)], [(-1,)]):
        with pytest.raises(MechanismError, match="sets"):
            Marginals((2, 2), sets)
