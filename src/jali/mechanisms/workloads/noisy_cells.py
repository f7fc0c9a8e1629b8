"""Add noise to the cells of a histogram, so that every answer is a sum of noisy cells.

Conditioned noise leaves the public total as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.conditioned_laplace import ConditionedLaplace
from jali.mechanisms.base import Specimen, read_miss_probability, read_parameter
from jali.mechanisms.workloads.linear_release import (
    JointWorkloadNoise,
    PlainRelease,
    WorkloadAnswers,
    convert_to_doubles,
)
from jali.mechanisms.workloads.workload import Floats, IntervalWorkload, Thresholds, Workload, read_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


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
        >>> from jali.mechanisms.workloads.noisy_cells import NoisyCells
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

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Correct the cells to a public total, equally."""
        cells = convert_to_doubles(measurements)
        if self.total is not None:
            cells = cells + (self.total - cells.sum()) / cells.size
        return WorkloadAnswers(self.workload, measurements, cells)

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
        if not isinstance(self.workload, IntervalWorkload):
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


# Laws are tabulated up to about this length.
_LONGEST = 1 << 21


@dataclass(frozen=True, repr=False)
class ConditionedCells(JointWorkloadNoise):
    """Add discrete Laplace noise of scale 2/epsilon, conditioned on sum 0, to the cells; answer with their sums.

    Args:
        workload: What is asked, of two cells or more.
        epsilon: The loss, under replace-one.

    Guarantee:
        The release is epsilon-DP under replace-one, where the total is public and every person is in one cell. The
        total of the noisy cells is the total of the histogram.
    Proof:
        docs/proofs/hierarchy.md, Theorem 1, and for the noise docs/proofs/conditioned_laplace.md, after Hardt and
        Talwar 2010, Theorem 4.3.

    Error:
        The noise of a sum of k of n cells has mass proportional to A_k(s) A_{n-k}(s), where A_k is the law of
        the sum of k independent noises; `error` is its quantile for the answer with the largest variance.

    Example:
        >>> from jali.mechanisms.workloads.noisy_cells import ConditionedCells
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = ConditionedCells(workload=Thresholds(8), epsilon="1/100")
        >>> round(mechanism.total_variance / 10**4, 3)
        70.0
    """

    workload: Workload
    epsilon: Fraction

    # A class constant: the total is public under this adjacency only.
    adjacency = Adjacency.REPLACE_ONE

    def __init__(self, *, workload: Workload, epsilon: Number) -> None:
        self._fill(workload=read_workload(workload), epsilon=read_parameter(epsilon, "epsilon"))
        if self.workload.cells < 2:
            raise MechanismError("workload-too-few-cells")
        self.noise  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def noise(self) -> ConditionedLaplace:
        """The mechanism that adds the noise."""
        return ConditionedLaplace(epsilon=self.epsilon, dimension=self.workload.cells)

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Return sums of the noisy cells."""
        return WorkloadAnswers(self.workload, measurements, convert_to_doubles(measurements))

    def variances(self) -> Floats:
        """Return k(n-k)/(n-1) times the variance of one cell, for a sum of k of n cells."""
        counted, n = self.workload.counted(), self.workload.cells
        return np.asarray(counted * (n - counted) / (n - 1) * self._cell_variance)

    def error(self, confidence: float, *, answer: int | None = None) -> float:
        """Return the quantile of one answer's error; by default of the answer with the largest variance."""
        allowed = read_miss_probability(confidence)
        counted = int(self.workload.counted()[self.numbered(answer)])
        values, masses = self._sum_law(min(counted, self.workload.cells - counted))
        by_size = np.bincount(np.abs(values).astype(np.int64), weights=masses)
        beyond = np.append(np.cumsum(by_size[::-1])[::-1][1:], 0.0)
        # The transforms that made the masses err by less than 1e-13; the last size has nothing beyond it.
        found = float(np.flatnonzero(beyond <= max(allowed - 1e-13, 0.0))[0])
        return found if self._zoom == 1 else math.ceil((found + 1) * self._zoom)

    def _exact(self, value: Any) -> NDArray[Any]:
        return self.read(value)

    @cached_property
    def _cell_variance(self) -> float:
        values, masses = self._sum_law(1)
        return float(masses @ values**2) * self._zoom**2

    @property
    def _zoom(self) -> float:
        """How much coarser the law is computed than it is: above a scale of hundreds all laws look alike."""
        return max(1.0, 2 / float(self.epsilon) * (80 + 30 * math.sqrt(self.workload.cells)) / _LONGEST)

    def _sum_law(self, count: int) -> tuple[Floats, Floats]:
        """Return the law of the noise of a sum of `count` cells, in units of the zoom."""
        n, scale = self.workload.cells, 2 / float(self.epsilon) / self._zoom
        if count == 0:
            return np.zeros(1), np.ones(1)
        # Ten standard deviations of the sum of all noises, and forty scales: what wraps around is below 1e-17.
        size = 1 << math.ceil(80 * scale + 30 * scale * math.sqrt(n) + 8).bit_length()
        values = np.fft.fftfreq(size, 1 / size)
        law = np.fft.rfft(math.tanh(1 / (2 * scale)) * np.exp(-np.abs(values) / scale))
        one, other = (np.maximum(np.fft.irfft(law.real**k, size), 0.0) for k in (count, n - count))
        product = one * other
        return np.asarray(values), np.asarray(product / product.sum())

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells and three."""
        replace = Adjacency.REPLACE_ONE
        return (
            Specimen(cls(workload=Thresholds(2), epsilon=2), replace, (((2, 1), (1, 2)),)),
            Specimen(cls(workload=Thresholds(3), epsilon=4), replace, (((2, 1, 1), (1, 2, 1)),)),
        )
