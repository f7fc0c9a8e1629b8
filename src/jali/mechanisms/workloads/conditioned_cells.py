"""Noise on the cells that leaves the public total as it is."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.conditioned_laplace import ConditionedLaplace
from jali.mechanisms.mechanism import LogMasses, Specimen, miss, parameter
from jali.mechanisms.workloads.linear import Answered, WorkloadMechanism, doubles
from jali.mechanisms.workloads.workload import Floats, Thresholds, Workload, workload_of
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

# Laws are tabulated up to about this length.
_LONGEST = 1 << 21


@dataclass(frozen=True, repr=False)
class ConditionedCells(WorkloadMechanism):
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
        >>> from jali.mechanisms import ConditionedCells
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
        self._fill(workload=workload_of(workload), epsilon=parameter(epsilon, "epsilon"))
        if self.workload.cells < 2:
            raise MechanismError("workload-too-few-cells")
        self.noise  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def noise(self) -> ConditionedLaplace:
        """The mechanism that adds the noise."""
        return ConditionedLaplace(epsilon=self.epsilon, dimension=self.workload.cells)

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Answered:
        """Return sums of the noisy cells."""
        return self.answer(np.asarray(self.noise.release(self.read(value), bits=bits)))

    def answer(self, measurements: NDArray[Any]) -> Answered:
        """Return sums of the noisy cells."""
        return Answered(self.workload, measurements, doubles(measurements))

    def variances(self) -> Floats:
        """Return k(n-k)/(n-1) times the variance of one cell, for a sum of k of n cells."""
        counted, n = self.workload.counted(), self.workload.cells
        return np.asarray(counted * (n - counted) / (n - 1) * self._cell_variance)

    def error(self, confidence: float, *, answer: int | None = None) -> float:
        """Return the quantile of one answer's error; by default of the answer with the largest variance."""
        allowed = miss(confidence)
        counted = int(self.workload.counted()[self.numbered(answer)])
        values, masses = self._sum_law(min(counted, self.workload.cells - counted))
        by_size = np.bincount(np.abs(values).astype(np.int64), weights=masses)
        beyond = np.append(np.cumsum(by_size[::-1])[::-1][1:], 0.0)
        # The transforms that made the masses err by less than 1e-13; the last size has nothing beyond it.
        found = float(np.flatnonzero(beyond <= max(allowed - 1e-13, 0.0))[0])
        return found if self._zoom == 1 else math.ceil((found + 1) * self._zoom)

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

    def log_masses(self, value: Any) -> LogMasses:
        """Return the joint law of the noisy cells."""
        return self.noise.log_masses(tuple(self.read(value).tolist()))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy cells of many releases."""
        return self.noise.sample(tuple(self.read(value).tolist()), size, bits=bits)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two cells and three."""
        replace = Adjacency.REPLACE_ONE
        return (
            Specimen(cls(workload=Thresholds(2), epsilon=2), replace, (((2, 1), (1, 2)),)),
            Specimen(cls(workload=Thresholds(3), epsilon=4), replace, (((2, 1, 1), (1, 2, 1)),)),
        )
