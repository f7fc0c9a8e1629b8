"""Factorizations: the numbers of the theory, exact integers, and distances against all pairs of columns."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.depth import deep
from tests.seeded import SeededBits
from tests.unit.mechanisms.workloads import dense

from jali.errors import JaliError
from jali.mechanisms.workloads.factorization import (
    OPTIMAL,
    SQUARE_ROOT,
    DenseStrategy,
    Factorization,
    ToeplitzStrategy,
    compute_square_root,
    convolve,
    find_optimal_strategy,
    invert_series,
)
from jali.mechanisms.workloads.workload import Histogram, IntervalWorkload, Ranges, Thresholds
from jali.privacy import Adjacency

FINE = 1 << 24


def unit(cells: int, strategy: str) -> Factorization:
    """With rho = 1/2 the noise has standard deviation 1 for each unit of sensitivity."""
    return Factorization(
        workload=Thresholds(cells), rho="1/2", adjacency="add-remove", strategy=strategy, grain=FINE
    )


def matrix_of(mechanism: Factorization) -> np.ndarray[Any, Any]:
    cells = mechanism.workload.cells
    return np.stack([mechanism.measure(column) for column in np.eye(cells, dtype=np.int64)], axis=1)


@pytest.mark.parametrize(("cells", "wanted"), [(8, 1.4944137), (16, 1.6894037), (256, 2.5244144)])
def test_the_optimum_has_the_error_of_the_theory(cells: int, wanted: float) -> None:
    assert unit(cells, OPTIMAL).rms == pytest.approx(wanted, abs=1.5e-7)


@pytest.mark.parametrize(("cells", "wanted"), [(8, 1.5858575), (16, 1.7968144), (64, 2.2296765)])
def test_the_square_root_has_the_error_of_the_theory(cells: int, wanted: float) -> None:
    assert unit(cells, SQUARE_ROOT).rms == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize(("cells", "wanted"), [(8, 1.4383752), (16, 1.6284498), (64, 2.0401280), (256, 2.4714460)])
def test_no_factorization_is_below_the_bound_from_singular_values(cells: int, wanted: float) -> None:
    terms = (1 / (2 * math.sin((2 * i - 1) * math.pi / (4 * cells + 2))) for i in range(1, cells + 1))
    bound = sum(terms) / cells
    assert bound == pytest.approx(wanted, abs=1e-7)
    singular = np.linalg.svd(Thresholds(cells).matrix(), compute_uv=False)
    assert singular.sum() / cells == pytest.approx(bound)
    if cells <= 64:
        assert bound < unit(cells, OPTIMAL).rms < unit(cells, SQUARE_ROOT).rms


def test_long_square_roots_have_the_largest_and_mean_errors_of_the_theory() -> None:
    assert unit(1024, SQUARE_ROOT).largest == pytest.approx(3.272554, abs=1e-6)
    # The grain, though fine, rounds the last coefficients of a long series: the largest of 2^16 is 4.596444.
    large = unit(1 << 16, SQUARE_ROOT)
    asymptote = (math.log(1 << 16) + 0.57722 + 4 * math.log(2)) / math.pi
    assert large.largest == pytest.approx(asymptote, abs=1e-3)


@deep
def test_a_million_cells_have_the_errors_of_the_theory() -> None:
    huge = unit(1 << 20, SQUARE_ROOT)
    assert huge.largest == pytest.approx(5.478988, abs=2e-6)
    assert huge.rms == pytest.approx(5.317452, abs=2e-6)


def test_no_nearby_strategy_has_a_smaller_error_than_the_optimum() -> None:
    generator = np.random.default_rng(5)
    workload = Thresholds(8)
    best = find_optimal_strategy(workload, FINE).matrix / FINE
    gram = workload.matrix().T @ workload.matrix()

    def error(strategy: np.ndarray[Any, Any]) -> float:
        product = strategy.T @ strategy
        return float(np.trace(np.linalg.solve(product, gram)) * product.diagonal().max())

    least = error(best)
    for size in (1e-3, 1e-2, 1e-1):
        for _ in range(50):
            assert error(best + size * generator.normal(size=best.shape)) > least * (1 - 1e-9)


@pytest.mark.parametrize("kind", [Histogram, Ranges])
def test_the_optimum_of_other_workloads_has_unit_columns_and_beats_simple_strategies(kind: type[Any]) -> None:
    workload: IntervalWorkload = kind(16)
    mechanism = Factorization(workload=workload, rho="1/2", adjacency="add-remove", grain=FINE)
    assert mechanism.distance[1] / FINE**2 == pytest.approx(1, abs=1e-6)
    singular = np.linalg.svd(workload.matrix(), compute_uv=False).sum() / math.sqrt(workload.cells * workload.size)
    assert (
        singular * (1 - 1e-6) <= mechanism.rms <= math.sqrt((workload.matrix() ** 2).sum() / workload.size) + 1e-6
    )


@pytest.mark.parametrize("strategy", [OPTIMAL, SQUARE_ROOT])
@pytest.mark.parametrize("grain", [8, 1000, 1 << 20])
@pytest.mark.parametrize("cells", [2, 3, 7, 12])
def test_the_distance_is_the_largest_of_all_neighbours_exactly(strategy: str, grain: int, cells: int) -> None:
    for adjacency in ("add-remove", "replace-one"):
        mechanism = Factorization(
            workload=Thresholds(cells), rho=1, adjacency=adjacency, strategy=strategy, grain=grain
        )
        columns = matrix_of(mechanism).astype(object).T
        moves = columns if adjacency == "add-remove" else [a - b for a, b in itertools.combinations(columns, 2)]
        assert mechanism.distance[1] == max(sum(move**2) for move in moves)
        assert mechanism.law.variance == mechanism.distance[1] / 2  # type: ignore[union-attr]


@pytest.mark.parametrize("strategy", [OPTIMAL, SQUARE_ROOT])
@pytest.mark.parametrize("total", [None, 55])
def test_estimates_and_variances_are_those_of_dense_least_squares(strategy: str, total: int | None) -> None:
    mechanism = Factorization(
        workload=Thresholds(10), rho=1, adjacency="replace-one", strategy=strategy, grain=64, total=total
    )
    rows = matrix_of(mechanism).astype(float)
    noisy = np.random.default_rng(2).integers(-1000, 1000, 10)
    cells = dense.estimate(rows, noisy.astype(float), total)
    assert mechanism.answer(noisy).answers == pytest.approx(np.cumsum(cells), abs=1e-7)
    wanted = dense.variances(Thresholds(10).matrix(), dense.covariance(rows, pinned=total is not None))
    assert mechanism.variances() == pytest.approx(wanted * mechanism.law.stddev**2, rel=1e-7, abs=1e-7)
    for answer in range(10):
        weights = mechanism.influence(answer)
        assert weights @ weights == pytest.approx(wanted[answer], rel=1e-7, abs=1e-9)


def test_answers_are_unbiased_with_the_stated_variances() -> None:
    """6,000 releases: means within 6, variances within 7 standard errors for 6 answers: below 1e-6."""
    mechanism = Factorization(workload=Thresholds(6), rho="1/8", adjacency="replace-one", total=21)
    histogram, count = np.arange(1, 7), 6000
    rows = mechanism.sample(histogram, count, bits=SeededBits(9))
    errors = np.array([mechanism.answer(np.array(row)).answers for row in rows]) - np.cumsum(histogram)
    spread = np.sqrt(mechanism.variances())
    assert (np.abs(errors.mean(axis=0)) <= 6 * spread / math.sqrt(count) + 1e-6).all()
    assert (np.abs(errors.var(axis=0) - spread**2) <= 7 * spread**2 * math.sqrt(2 / count) + 1e-6).all()
    assert np.abs(errors[:, -1]).max() < 1e-6


@pytest.mark.parametrize("size", [1, 2, 17, 200])
def test_convolutions_are_exact_for_all_signs_and_sizes(size: int) -> None:
    generator = np.random.default_rng(size)
    for low, high in ((0, 2), (-5, 5), (-(10**17), 10**17), (0, 2**62)):
        one = generator.integers(low, high, size)
        other = generator.integers(-(2**20), 2**24, 13)
        wanted = np.convolve(one.astype(object), other.astype(object))
        assert (convolve(one, other) == wanted).all()
    assert convolve(np.zeros(3, np.int64), np.ones(2, np.int64)).tolist() == [0, 0, 0, 0]


def test_measurements_of_huge_counts_are_exact() -> None:
    for strategy in (OPTIMAL, SQUARE_ROOT):
        mechanism = Factorization(workload=Thresholds(4), rho=1, adjacency="add-remove", strategy=strategy)
        rows = matrix_of(mechanism).astype(object)
        counts = np.array([2**62, -(2**61), 3**60, 5**40], dtype=object)
        assert (mechanism.measure(counts) == rows @ counts).all()
        assert mechanism.measure(np.zeros(4, np.int64)).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("strategy", [OPTIMAL, SQUARE_ROOT])
def test_counts_beyond_all_doubles_are_answered_like_any_other(strategy: str) -> None:
    mechanism = Factorization(workload=Thresholds(4), rho=1, adjacency="add-remove", strategy=strategy)
    for huge in (10**400, 1 << 20_000):
        assert np.isfinite(mechanism.release([huge, -huge // 7, 0, 1]).answers).all()


def test_many_cells_are_measured_exactly() -> None:
    mechanism = Factorization(workload=Thresholds(1 << 12), rho=1, adjacency="add-remove")
    assert mechanism.strategy == SQUARE_ROOT
    counts = np.random.default_rng(4).integers(0, 1000, 1 << 12)
    first = mechanism.measured.apply(np.eye(1, 1 << 12, dtype=np.int64)[0])
    for place in (0, 1, 100, 4095):
        assert mechanism.measure(counts)[place] == sum(first[: place + 1][::-1].tolist() * counts[: place + 1])
    released = mechanism.release(counts, bits=SeededBits(1))
    assert np.abs(released.answers - np.cumsum(counts)).max() < 10 * mechanism.largest


def test_a_series_times_its_inverse_is_one() -> None:
    series = np.random.default_rng(0).uniform(0.5, 1, 33) / 3 ** np.arange(33)
    product = np.convolve(series, invert_series(series))[:33]
    assert product == pytest.approx(np.eye(1, 33)[0], abs=1e-12)


def test_the_square_root_squares_to_sums() -> None:
    first = compute_square_root(50, FINE).first / FINE
    assert np.convolve(first, first)[:50] == pytest.approx(np.ones(50), abs=1e-5)


def test_a_strategy_that_cannot_be_inverted_is_refused() -> None:
    with pytest.raises(JaliError, match="grain"):
        DenseStrategy(np.zeros((2, 2), np.int64)).solve(np.ones(2))


def test_only_the_first_column_and_one_more_matter_for_toeplitz_distances() -> None:
    strategy = ToeplitzStrategy(np.array([9, 5, 5, 1, 0]))
    columns = [np.concatenate([np.zeros(i), strategy.first[: 5 - i]]) for i in range(5)]
    wanted = max(((a - b) ** 2).sum() for a, b in itertools.combinations(columns, 2))
    assert strategy.distance_squared(Adjacency.REPLACE_ONE) == wanted


def test_bad_parameters_are_refused_by_name() -> None:
    given: Any = {"workload": Thresholds(8), "rho": 1, "adjacency": "add-remove"}
    wrong: Any = (0, -1, 1.5, True, "x", 1 << 25)
    for bad in wrong:
        with pytest.raises(JaliError, match="grain"):
            Factorization(**given, grain=bad)
    with pytest.raises(JaliError, match="strategy"):
        Factorization(**given, strategy="best")
    with pytest.raises(JaliError, match="square-root"):
        Factorization(**{**given, "workload": Ranges(8)}, strategy=SQUARE_ROOT)
    with pytest.raises(JaliError, match="at most 1024"):
        Factorization(**{**given, "workload": Ranges(2000)})


def test_the_least_int64_is_convolved_like_any_other() -> None:
    least = -(2**63)
    assert convolve(np.array([1, 2]), np.array([least, 0, 1])).tolist() == [least, 2 * least, 1, 2]
    mechanism = Factorization(workload=Thresholds(4), rho=1, adjacency="add-remove", strategy=SQUARE_ROOT, grain=4)
    first = [int(item) for item in mechanism.measured.apply(np.array([1, 0, 0, 0]))]
    assert mechanism.measure(np.array([least, 0, 0, 0])).tolist() == [item * least for item in first]
    best = Factorization(workload=Thresholds(4), rho=1, adjacency="add-remove", strategy=OPTIMAL, grain=4)
    column = [int(item) for item in best.measure(np.array([1, 0, 0, 0]))]
    assert best.measure(np.array([least, 0, 0, 0])).tolist() == [item * least for item in column]
