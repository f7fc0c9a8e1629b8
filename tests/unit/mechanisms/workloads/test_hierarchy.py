"""Trees of counts: consistency and variances against dense least squares, distances against all neighbours."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.depth import thinned
from tests.seeded import SeededBits
from tests.unit.mechanisms.workloads import dense

from jali.errors import JaliError
from jali.mechanisms.workloads.count_tree import CountTree, list_shapes
from jali.mechanisms.workloads.hierarchy import Hierarchy
from jali.mechanisms.workloads.noisy_cells import NoisyCells
from jali.mechanisms.workloads.workload import Histogram, IntervalWorkload, Marginals, Ranges, Thresholds

FANOUTS = ((2, 2, 2), (3, 4), (2, 5, 3), (8,), (2, 1, 3), (1,), (7, 2))
TREES = [CountTree(f, root=root, pinned=pinned) for f in FANOUTS for root, pinned in ((0, 0), (1, 0), (0, 1))]  # type: ignore[arg-type]
trees = pytest.mark.parametrize("tree", TREES, ids=str)
WORKLOADS = (Histogram(13), Thresholds(13), Ranges(13))


def strategy(tree: CountTree) -> np.ndarray[Any, Any]:
    return np.stack([tree.counts(unit) for unit in np.eye(tree.leaves)], axis=1)


def test_a_binary_tree_of_four_cells_is_the_textbook_matrix() -> None:
    rows = strategy(CountTree((2, 2), root=True))
    assert rows.tolist() == [
        [1, 1, 1, 1],
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
        [0, 0, 0, 1],
    ]


@trees
def test_the_two_passes_are_the_least_squares_fit(tree: CountTree) -> None:
    noisy = np.random.default_rng(7).normal(10, 5, tree.counts(np.zeros(tree.leaves)).size)
    total = 42.0 if tree.pinned else None
    assert tree.fit_leaves(tree.split(noisy), total) == pytest.approx(dense.estimate(strategy(tree), noisy, total))


@trees
def test_variances_of_all_ranges_are_those_of_dense_least_squares(tree: CountTree) -> None:
    workload = Ranges(tree.leaves)
    spread = dense.covariance(strategy(tree), pinned=tree.pinned)
    wanted = dense.variances(workload.matrix(), spread)
    assert tree.variances(*workload.bounds) == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    for kind in (Ranges, Histogram, Thresholds):
        asked: IntervalWorkload = kind(tree.leaves)
        total = dense.variances(asked.matrix(), spread).sum()
        assert tree.total_variance(asked) == pytest.approx(total, rel=1e-9, abs=1e-12)


@trees
def test_influence_is_how_the_noises_enter_an_answer(tree: CountTree) -> None:
    rows = strategy(tree)
    weights = np.random.default_rng(3).normal(size=tree.leaves)
    wanted = rows @ dense.covariance(rows, pinned=tree.pinned) @ weights
    assert tree.influence(weights) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("fanout", [(2, 2, 2), (3, 3), (8,), (2, 4)])
@pytest.mark.parametrize("total", [None, 5])
def test_the_distance_is_reached_by_some_neighbours_and_exceeded_by_none(
    adjacency: str, fanout: tuple[int, ...], total: int | None
) -> None:
    if total is not None and adjacency == "add-remove":
        pytest.skip("a total is not public under add-remove")
    mechanism = Hierarchy(workload=Thresholds(8), epsilon=1, adjacency=adjacency, fanout=fanout, total=total)
    columns = [mechanism.measure(unit) for unit in np.eye(8, dtype=np.int64)]
    pairs = columns if adjacency == "add-remove" else [a - b for a, b in itertools.permutations(columns, 2)]
    assert max(np.abs(move).sum() for move in pairs) == mechanism.distance[0]
    assert max((move**2).sum() for move in pairs) == mechanism.distance[1]


@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "1/2"}], ids=str)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("kind", [Thresholds, Ranges, Histogram])
def test_the_best_fanout_is_the_best_of_all_trees_with_few_levels(
    loss: dict[str, Any], adjacency: str, kind: type[Any]
) -> None:
    workload = kind(64)
    best = Hierarchy(workload=workload, adjacency=adjacency, **loss)
    for depth in (1, 2, 3):
        for fanout in itertools.product((2, 3, 4, 5, 8, 16, 32, 64), repeat=depth):
            if 64 <= math.prod(fanout) <= 80:
                other = Hierarchy(workload=workload, adjacency=adjacency, fanout=fanout, **loss)
                assert best.rms <= other.rms * 1.02


def test_large_domains_prefer_a_fanout_near_sixteen_under_pure_loss() -> None:
    for adjacency in ("add-remove", "replace-one"):
        chosen = Hierarchy(workload=Ranges(1 << 20), epsilon=1, adjacency=adjacency)
        assert all(12 <= fanout <= 32 for fanout in chosen.fanout)
        sixteen = Hierarchy(workload=Ranges(1 << 20), epsilon=1, adjacency=adjacency, fanout=16)
        assert 0.97 * sixteen.rms <= chosen.rms <= sixteen.rms
    assert Hierarchy(workload=Thresholds(1 << 16), rho=1, adjacency="add-remove").fanout == (2,) * 16


def test_shapes_have_enough_leaves_and_few_too_many() -> None:
    for cells in (1, 2, 7, 64, 1000, 1025, 1 << 20):
        found = list(list_shapes(cells))
        assert found[0] == (cells,)
        assert all(math.prod(shape) >= cells for shape in found)
        assert all(math.prod(shape) <= 2 * cells for shape in found)


def test_a_flat_tree_is_noise_on_the_cells() -> None:
    for adjacency, total in (("add-remove", None), ("replace-one", 9)):
        tree = Hierarchy(workload=Thresholds(8), epsilon=1, adjacency=adjacency, fanout=(8,), total=total)
        cells = NoisyCells(workload=Thresholds(8), epsilon=1, adjacency=adjacency, total=total)
        assert tree.variances() == pytest.approx(cells.variances())


def test_a_noisy_total_is_free_under_replace_one() -> None:
    measured = Hierarchy(workload=Thresholds(8), epsilon=1, adjacency="replace-one", fanout=(8,))
    assert measured.tree.root
    assert measured.distance[0] == 2
    plain = NoisyCells(workload=Thresholds(8), epsilon=1, adjacency="replace-one")
    pinned = NoisyCells(workload=Thresholds(8), epsilon=1, adjacency="replace-one", total=9)
    # In units of the noise's variance: the sum of j - j^2/8 is 10.5 and that of j^2/8 is 25.5, seen 8 + 1 times.
    assert pinned.total_variance < measured.total_variance < plain.total_variance
    assert measured.total_variance / measured.law.stddev**2 == pytest.approx(10.5 + 25.5 / 9)


def test_the_hierarchy_beats_the_numbers_for_trees_without_consistency() -> None:
    """n = 1024, epsilon = 1: a plain binary tree has a largest deviation of 49.2, sums of noisy cells 45.3."""
    levels = 11
    assert math.sqrt(2 * levels**2 * (levels - 1)) == pytest.approx(49.2, abs=0.05)
    assert math.sqrt(2 * 1024) == pytest.approx(45.3, abs=0.05)
    cells = NoisyCells(workload=Thresholds(1024), epsilon="1/100", adjacency="add-remove")
    assert cells.largest / 100 == pytest.approx(45.25, abs=0.05)
    binary = Hierarchy(workload=Thresholds(1024), epsilon="1/100", adjacency="add-remove", fanout=2)
    best = Hierarchy(workload=Thresholds(1024), epsilon="1/100", adjacency="add-remove")
    assert best.largest < binary.largest < cells.largest
    # Below 18.0 and 13.06 as well, the numbers of balanced 13-ary digits without consistency.
    assert best.largest / 100 == pytest.approx(13.8, abs=0.1)
    assert best.rms / 100 == pytest.approx(10.9, abs=0.1)


@thinned(4)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": "1/8"}], ids=str)
@pytest.mark.parametrize(
    ("adjacency", "total"), [("add-remove", None), ("replace-one", None), ("replace-one", 130)]
)
def test_answers_are_unbiased_with_the_stated_variances(
    loss: dict[str, Any], adjacency: str, total: int | None
) -> None:
    """4,000 releases: means within 6 and variances within 7 standard errors, for 13 answers: below 1e-6."""
    mechanism = Hierarchy(workload=Thresholds(13), adjacency=adjacency, total=total, fanout=(3, 5), **loss)
    histogram, bits, count = np.arange(13) + 4, SeededBits(11), 4000
    exact = np.cumsum(histogram)
    assert exact[-1] == 130
    rows = mechanism.sample(histogram, count, bits=bits)
    errors = np.array([mechanism.answer(np.array(row)).answers for row in rows]) - exact
    spread = np.sqrt(mechanism.variances())
    assert (np.abs(errors.mean(axis=0)) <= 6 * spread / math.sqrt(count) + 1e-9).all()
    # The kurtosis of one Laplace noise is 6; of a mixture of several it is less.
    assert (np.abs(errors.var(axis=0) - spread**2) <= 7 * spread**2 * math.sqrt(5 / count) + 1e-9).all()


@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_measured_tails_are_below_the_stated_error(confidence: float) -> None:
    """20,000 releases; the count beyond is binomial and stays below its mean by more than 6 deviations' slack."""
    mechanism = Hierarchy(workload=Thresholds(16), epsilon=1, adjacency="add-remove", fanout=4)
    rows = np.array(mechanism.sample(np.zeros(16, np.int64), 20_000, bits=SeededBits(2)))
    weights = mechanism.influence(mechanism.worst_answer)
    beyond = (np.abs(rows @ weights) > mechanism.error(confidence)).sum()
    expected = 20_000 * (1 - confidence)
    assert beyond <= expected + 6 * math.sqrt(expected)
    assert mechanism.error(confidence) < 4 * mechanism.largest


def test_a_million_leaves_are_answered_and_consistent() -> None:
    mechanism = Hierarchy(workload=Ranges(1 << 20), epsilon=1, adjacency="add-remove", fanout=2)
    released = mechanism.release(np.ones(1 << 20, np.int64), bits=SeededBits(1))
    assert released.between(0, 1 << 19) + released.between(1 << 19, 1 << 20) == pytest.approx(
        released.between(0, 1 << 20)
    )
    start, stop = 1000, 901_000
    before = sum((1 << 20) - first for first in range(start))
    answer = before + stop - start - 1
    assert mechanism.workload.interval(answer) == (start, stop)
    # Ten times the quantile at 0.999 999: impossible in practice.
    assert abs(released.between(start, stop) - (stop - start)) < 10 * mechanism.error(0.999999, answer=answer)


def test_huge_counts_do_not_wrap() -> None:
    mechanism = Hierarchy(workload=Thresholds(4), epsilon=3, adjacency="add-remove", fanout=2)
    exact = mechanism.measure(mechanism.read([2**62] * 4)).tolist()
    assert exact[-6:] == [2**63, 2**63, 2**62, 2**62, 2**62, 2**62]
    released = mechanism.release([2**62] * 4)
    assert max(abs(int(m) - e) for m, e in zip(released.measurements.tolist(), exact, strict=True)) < 1000
    assert released.answers[-1] == pytest.approx(4 * 2.0**62)


def test_bad_fanouts_totals_and_histograms_are_refused() -> None:
    given: Any = {"workload": Thresholds(8), "epsilon": 1, "adjacency": "replace-one"}
    fanouts: Any = (0, 1, -2, True, 2.5, "x", (), (2, 2), (0, 9), (2.5, 9))
    for bad in fanouts:
        with pytest.raises(JaliError, match="fanout"):
            Hierarchy(**given, fanout=bad)
    totals: Any = (0, -1, 1.5, True)
    for bad in totals:
        with pytest.raises(JaliError, match="total"):
            Hierarchy(**given, total=bad)
    with pytest.raises(JaliError, match="total"):
        Hierarchy(**{**given, "adjacency": "add-remove"}, total=5)
    for wrong in ([1] * 7, [1.0] * 8, ["1"] * 8):
        with pytest.raises(JaliError, match="8 integers"):
            Hierarchy(**given).release(wrong)
    with pytest.raises(JaliError, match="epsilon or rho"):
        Hierarchy(workload=Thresholds(8), adjacency="add-remove")
    with pytest.raises(JaliError, match="epsilon or rho"):
        Hierarchy(workload=Thresholds(8), adjacency="add-remove", epsilon=1, rho=1)
    with pytest.raises(JaliError, match="workload"):
        Hierarchy(workload=Marginals((2, 2), [(0,)]), adjacency="add-remove", epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(JaliError, match="2\\*\\*60"):
        Hierarchy(workload=Thresholds(8), adjacency="add-remove", epsilon="1e-30")
