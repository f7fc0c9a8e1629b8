"""Strategies for running sums: against their matrices written out, and against many draws of the noise."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.depth import DEPTH, thinned
from tests.seeded import SeededBits

from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.workloads.cell_strategies import CellStrategy, RootOfCells, RunningSumsLaw, TreeOfCells
from jali.sampling import DiscreteGaussian, DiscreteLaplace

TREES = [TreeOfCells(7, (2, 4), True), TreeOfCells(9, (3, 3), False), TreeOfCells(5, (5,), True)]
ROOTS = [RootOfCells(n, 1 << 12, 1 << 8) for n in (1, 2, 9, 40)]
STRATEGIES: list[CellStrategy] = [*TREES, *ROOTS]
DRAWS = 4000 * DEPTH


def matrix(strategy: CellStrategy) -> NDArray[Any]:
    """The matrix, from what is measured of each cell alone."""
    return np.stack([strategy.measure(unit) for unit in np.eye(strategy.cells, dtype=np.int64)], axis=1)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_what_is_measured_is_linear_and_exact_in_integers_of_any_size(strategy: CellStrategy) -> None:
    cells = np.array([(1 << 70) + 3 * i for i in range(strategy.cells)], dtype=object)
    found = strategy.measure(cells)
    assert len(found) == strategy.measurements
    assert found.tolist() == (matrix(strategy).astype(object) @ cells).tolist()
    assert not strategy.measure(np.zeros(strategy.cells, dtype=object)).any()


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_the_norms_of_columns_are_those_of_the_matrix(strategy: CellStrategy) -> None:
    columns = matrix(strategy).T.astype(object)
    assert strategy.column == (max(abs(c).sum() for c in columns), max((c * c).sum() for c in columns))
    apart = [a - b for a in columns for b in columns]
    largest = max(abs(c).sum() for c in apart), max((c * c).sum() for c in apart)
    assert strategy.pair[0] >= largest[0]
    assert strategy.pair[1] >= largest[1]
    assert min(column.min() for column in columns) >= 0


@pytest.mark.parametrize("strategy", TREES, ids=str)
def test_two_columns_of_a_tree_are_as_far_apart_as_it_says(strategy: TreeOfCells) -> None:
    columns = matrix(strategy).T.astype(object)
    assert strategy.pair[0] == max(abs(a - b).sum() for a in columns for b in columns)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_running_sums_are_those_of_least_squares(strategy: CellStrategy) -> None:
    made = matrix(strategy).astype(float)
    noisy = np.random.default_rng(5).integers(-1000, 100_000, strategy.measurements)
    # Padding of a tree is measured too, and is not known to be empty.
    cells = np.linalg.lstsq(padded(strategy, made), noisy.astype(float), rcond=None)[0]
    expected = np.cumsum(cells)[: strategy.cells]
    assert strategy.running(noisy.astype(object)) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def padded(strategy: CellStrategy, made: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(strategy, TreeOfCells):
        return made
    units = np.eye(strategy.tree.leaves)
    return np.stack([strategy.tree.counts(unit) for unit in units], axis=1)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_variances_are_those_of_the_linear_forms(strategy: CellStrategy) -> None:
    whole = padded(strategy, matrix(strategy).astype(float))
    sums = np.tri(strategy.cells, whole.shape[1])
    expected = np.diagonal(sums @ np.linalg.inv(whole.T @ whole) @ sums.T)
    assert strategy.variances() == pytest.approx(expected, rel=1e-9)


def test_the_square_root_errs_nearly_as_little_as_the_optimum() -> None:
    """The optima are those of the matrix mechanism for running sums, at columns of length 1."""
    for cells, optimum in {8: 1.4944137, 16: 1.6894037, 256: 2.5244144}.items():
        strategy = RootOfCells(cells, 1 << 12, 1 << 8)
        rms = float(np.sqrt(strategy.variances().mean() * strategy.column[1]))
        assert optimum <= rms <= 1.02 * optimum


def drawn(strategy: CellStrategy, law: Any) -> NDArray[Any]:
    """The errors of the running sums in many releases."""
    laplace = isinstance(law, DiscreteLaplaceLaw)
    sampler = DiscreteLaplace(law.scale) if laplace else DiscreteGaussian(law.variance)
    noise = sampler.sample(DRAWS * strategy.measurements, bits=SeededBits(11)).reshape(DRAWS, -1)
    return np.stack([strategy.running(row) for row in noise])


@thinned(4)
@pytest.mark.parametrize(
    ("strategy", "law"),
    [
        (TreeOfCells(32, (4, 8), False), DiscreteLaplaceLaw(Fraction(2))),
        (TreeOfCells(30, (2, 4, 4), True), DiscreteLaplaceLaw(Fraction(3 << 20))),
        (TreeOfCells(30, (2, 4, 4), True), DiscreteGaussianLaw(Fraction(9 << 40))),
        (RootOfCells(40, 1 << 12, 1 << 8), DiscreteGaussianLaw(Fraction(1 << 40))),
    ],
    ids=str,
)
def test_measured_errors_are_as_forecast_and_widths_hold(strategy: CellStrategy, law: Any) -> None:
    """Shares of 4,000 draws below 93.2 % where 95 % hold have a chance below 1e-6; the bits are seeded besides."""
    errors, made = drawn(strategy, law), RunningSumsLaw(strategy, law)
    assert np.sqrt((errors**2).mean()) == pytest.approx(np.sqrt((made.stddevs**2).mean()), rel=0.02)
    assert np.sqrt((errors**2).mean(axis=0)) == pytest.approx(made.stddevs, rel=0.05)
    widths = made.widths(0.95)
    assert ((np.abs(errors) <= widths).mean(axis=0) >= 0.932).all()
    assert (widths <= 1.06 * np.quantile(np.abs(errors), 0.95, axis=0) + 1).all()
