"""Factorizations: thresholds and other intervals from correlated measurements with Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.mechanism import Specimen, natural, parameter
from jali.mechanisms.workloads.linear import Answered, LinearRelease, doubles, public_total
from jali.mechanisms.workloads.strategies import Strategy, optimal, square_root
from jali.mechanisms.workloads.workload import Floats, Intervals, Thresholds, intervals_of
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

OPTIMAL = "optimal"
SQUARE_ROOT = "square-root"
# Up to so many cells the optimal strategy is found in about a second.
_FEW_CELLS = 128
_MOST_CELLS = 1024
_FINEST = 1 << 24


@dataclass(frozen=True, repr=False)
class Factorization(LinearRelease):
    """Measure integer combinations G x of the cells with Gaussian noise, and answer with W G^-1.

    Args:
        workload: What is asked: Thresholds; or, with the optimal strategy, a Histogram or Ranges.
        rho: The loss, in zCDP.
        adjacency: When two histograms are neighbours.
        strategy: "optimal" (least total variance under add-remove, up to 1024 cells) or "square-root" (thresholds
            of any number of cells); by default optimal for at most 128 cells or if it is the only one.
        grain: How many integer steps stand for 1 in the strategy, which is rounded to them. A fine grain
            costs nothing but longer integers.
        total: The number of people, where it is public (replace-one).

    Guarantee:
        The release is rho-zCDP: G x is computed in integers, and the noise is calibrated to the largest distance
        of two columns of G itself, in exact arithmetic.
    Proof:
        docs/proofs/factorization.md, after Denisov, McMahan, Rush, Smith and Thakurta 2022, Theorem 3.2.

    Error:
        The variance of every answer is the squared length of its row of W G^-1 times the noise's variance;
        `error` bounds the quantile of the answer with the largest variance, or of a given one.

    Example:
        >>> from jali.mechanisms import Factorization
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = Factorization(workload=Thresholds(16), rho="1/2", adjacency="add-remove")
        >>> round(mechanism.rms, 4)
        1.6894
        >>> len(mechanism.release([5] * 16).answers)
        16
    """

    workload: Intervals
    rho: Fraction
    adjacency: Adjacency
    strategy: str
    grain: int
    total: int | None

    epsilon = None

    def __init__(
        self,
        *,
        workload: Intervals,
        rho: Number,
        adjacency: str | Adjacency,
        strategy: str | None = None,
        grain: int = 1 << 20,
        total: int | None = None,
    ) -> None:
        self._fill(workload=intervals_of(workload), rho=parameter(rho, "rho"), adjacency=Adjacency.of(adjacency))
        self._fill(total=public_total(total, self.adjacency), grain=_grain(grain))
        self._fill(strategy=_strategy(strategy, workload))
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def measured(self) -> Strategy:
        """The integer matrix that is measured."""
        if self.strategy == OPTIMAL:
            return optimal(self.workload, self.grain)
        return square_root(self.workload.cells, self.grain)

    @cached_property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The squared L2 distance, exactly; the L1 distance is of no use here."""
        squared = Fraction(self.measured.squared_distance(self.adjacency))
        return squared, squared

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return G x, exactly."""
        return self.measured.apply(histogram)

    def answer(self, measurements: NDArray[Any]) -> Answered:
        """Solve for the cells; a public total corrects the measurements along u first."""
        noisy = doubles(measurements)
        if self.total is not None:
            u = self.measured.total
            noisy = noisy + u * ((self.total - u @ noisy) / (u @ u))
        return Answered(self.workload, measurements, self.measured.solve(noisy))

    def influence(self, answer: int) -> Floats:
        """Return the coefficients of the noises in an answer."""
        row = self.measured.rows(self.workload, answer)
        if self.total is None:
            return row
        u = self.measured.total
        return np.asarray(row - u * ((row @ u) / (u @ u)))

    def variances(self) -> Floats:
        """Return the variance of every answer."""
        return self.measured.variances(self.workload, self.total is not None) * self.law.stddev**2

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells on a coarse lattice, with both strategies and in both adjacencies."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        joined, moved = (((3, 1), (4, 1)),), (((2, 1), (1, 2)),)
        root = cls(workload=two, rho=1, adjacency=add, strategy=SQUARE_ROOT, grain=2)
        best = cls(workload=two, rho=2, adjacency=replace, strategy=OPTIMAL, grain=4, total=3)
        return Specimen(root, add, joined), Specimen(best, replace, moved)


def _grain(grain: int) -> int:
    if natural(grain, "grain") > _FINEST:
        raise MechanismError("parameter-too-large", most=_FINEST, value=grain, name="grain")
    return int(grain)


def _strategy(strategy: str | None, workload: Intervals) -> str:
    """Choose or check a strategy, from the workload alone."""
    toeplitz, small = isinstance(workload, Thresholds), workload.cells <= _MOST_CELLS
    if strategy is None:
        strategy = SQUARE_ROOT if toeplitz and workload.cells > _FEW_CELLS else OPTIMAL
    if strategy not in {OPTIMAL, SQUARE_ROOT}:
        raise MechanismError("strategy-unknown", strategy=strategy)
    if strategy == SQUARE_ROOT and not toeplitz:
        raise MechanismError("strategy-for-thresholds")
    if strategy == OPTIMAL and not small:
        raise MechanismError("strategy-too-many-cells", most=_MOST_CELLS)
    return strategy
