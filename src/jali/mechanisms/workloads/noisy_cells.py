"""Noise on the cells of the histogram: every answer is a sum of noisy cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.workloads.linear import Answered, PlainRelease, doubles
from jali.mechanisms.workloads.workload import Floats, Intervals, Thresholds
from jali.privacy.adjacency import Adjacency


@dataclass(frozen=True, repr=False, init=False)
class NoisyCells(PlainRelease):
    """Add independent noise to the cells of a histogram, and answer a workload with their sums.

    Args:
        workload: What is asked.
        epsilon: The loss, for discrete Laplace noise; or else
        rho: The loss in zCDP, for discrete Gaussian noise.
        adjacency: When two histograms are neighbours.
        total: The number of people, where it is public (replace-one): the noisy cells are corrected to it.

    Guarantee:
        The release is epsilon-DP or rho-zCDP: one person moves one cell by 1, or two under replace-one.
    Proof:
        docs/proofs/hierarchy.md, Theorem 1, after Dwork, McSherry, Nissim and Smith 2006, Example 3.

    Error:
        A sum of k of n cells has k times the variance of the noise, or k(n-k)/n times if the total is public;
        `error` bounds the quantile of the answer with the largest variance, or of a given one.

    Example:
        >>> from jali.mechanisms import NoisyCells
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = NoisyCells(workload=Thresholds(8), epsilon=1, adjacency="replace-one", total=100)
        >>> round(mechanism.total_variance, 1)
        82.3
    """

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """One cell, or two."""
        moved = Fraction(1 if self.adjacency is Adjacency.ADD_REMOVE else 2)
        return moved, moved

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the cells."""
        return histogram

    def answer(self, measurements: NDArray[Any]) -> Answered:
        """Correct the cells to a public total, equally."""
        cells = doubles(measurements)
        if self.total is not None:
            cells = cells + (self.total - cells.sum()) / cells.size
        return Answered(self.workload, measurements, cells)

    def influence(self, answer: int) -> Floats:
        """Return the query itself, less its mean if the total is public."""
        row = self.workload.weights(answer)
        return row if self.total is None else row - row.mean()

    def variances(self) -> Floats:
        """Return k or k(n-k)/n times the variance of the noise."""
        counted = self.workload.counted()
        lost = 0.0 if self.total is None else counted**2 / self.workload.cells
        return np.asarray((counted - lost) * self.law.stddev**2)

    @property
    def total_variance(self) -> float:
        """The sum of the variances of all answers, in closed form for intervals."""
        if not isinstance(self.workload, Intervals):
            return super().total_variance
        lost = 0.0 if self.total is None else self.workload.energy(self.workload.cells)
        return (self.workload.energy(1) - lost) * self.law.stddev**2

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells in both adjacencies and noises."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        joined, moved = (((3, 1), (4, 1)),), (((2, 1), (1, 2)),)
        return (
            Specimen(cls(workload=two, epsilon=2, adjacency=add), add, joined),
            Specimen(cls(workload=two, epsilon=3, adjacency=replace, total=3), replace, moved),
            Specimen(cls(workload=two, rho=1, adjacency=replace), replace, moved),
        )
