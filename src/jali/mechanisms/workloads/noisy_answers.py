"""Noise on the answers themselves: the plain way to answer a workload."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.workloads.linear import Answered, PlainRelease, asked, filled
from jali.mechanisms.workloads.workload import Floats, Thresholds
from jali.privacy.adjacency import Adjacency


@dataclass(frozen=True, repr=False, init=False)
class NoisyAnswers(PlainRelease):
    """Add independent noise to every answer of a workload, calibrated to how many of them one person moves.

    Args:
        workload: What is asked.
        epsilon: The loss, for discrete Laplace noise; or else
        rho: The loss in zCDP, for discrete Gaussian noise.
        adjacency: When two histograms are neighbours.
        total: The number of people, where it is public (replace-one): answers that are the total need no noise.

    Guarantee:
        The release is epsilon-DP or rho-zCDP: one person moves m answers by 1, so that they are m apart in L1 norm
        and sqrt(m) in L2 norm.
    Proof:
        docs/proofs/hierarchy.md, Theorem 1, after Dwork, McSherry, Nissim and Smith 2006, Proposition 1.

    Error:
        The exact quantile of the discrete Laplace or Gaussian law, the same for every answer.

    Example:
        >>> from jali.mechanisms import NoisyAnswers
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = NoisyAnswers(workload=Thresholds(8), epsilon=1, adjacency="replace-one", total=100)
        >>> round(mechanism.total_variance), mechanism.error(0.95)
        (685, 21.0)
    """

    @property
    def distance(self) -> tuple[Fraction, Fraction]:
        """The number of answers that one person moves by 1."""
        sensitivity = self.workload.sensitivity(self.adjacency)
        return sensitivity.l1, sensitivity.l2.squared

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Which answers are measured."""
        return asked(self.workload, self.total)

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the answers that are not public."""
        return np.asarray(self.workload.answers(histogram)[self.asked])

    def answer(self, measurements: NDArray[Any]) -> Answered:
        """Return the noisy answers as they are, and the total where it is public."""
        direct = filled(measurements, self.asked, self.total)
        return Answered(self.workload, measurements, direct=direct)

    def influence(self, answer: int) -> Floats:
        """Return the one coefficient 1; 0 for the public total."""
        return np.ones(1) * float(self.asked[answer])

    def variances(self) -> Floats:
        """Return the variance of the noise for every answer."""
        return np.asarray(self.asked * self.law.stddev**2)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two thresholds in both adjacencies and noises."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        joined, moved = (((3, 1), (4, 1)),), (((2, 1), (1, 2)),)
        return (
            Specimen(cls(workload=two, epsilon=3, adjacency=add), add, joined),
            Specimen(cls(workload=two, epsilon=2, adjacency=replace), replace, moved),
            Specimen(cls(workload=two, epsilon=2, adjacency=replace, total=3), replace, moved),
            Specimen(cls(workload=two, rho=2, adjacency=add), add, joined),
        )
