"""Add noise to the answers of a workload: independent noise, or l-infinity noise where one person moves all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.l_infinity import LInfinity
from jali.mechanisms.base import Specimen, read_parameter
from jali.mechanisms.workloads.linear_release import (
    JointWorkloadNoise,
    PlainRelease,
    WorkloadAnswers,
    WorkloadMechanism,
    fill_in_total,
    find_asked_answers,
    read_public_total,
)
from jali.mechanisms.workloads.workload import Floats, Thresholds, Workload, read_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


class DirectAnswers(WorkloadMechanism):
    """Noise on the answers themselves, but for those that are a public total."""

    total: int | None

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Which answers are measured."""
        return find_asked_answers(self.workload, self.total)

    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Return the noisy answers as they are, and the total where it is public."""
        direct = fill_in_total(measurements, self.asked, self.total)
        return WorkloadAnswers(self.workload, measurements, direct=direct)


@dataclass(frozen=True, repr=False, init=False)
class NoisyAnswers(DirectAnswers, PlainRelease):
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
        >>> from jali.mechanisms.workloads.noisy_answers import NoisyAnswers
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

    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the answers that are not public."""
        return np.asarray(self.workload.answers(histogram)[self.asked])

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


@dataclass(frozen=True, repr=False)
class CubeAnswers(DirectAnswers, JointWorkloadNoise):
    """Add noise with mass proportional to exp(-epsilon max|z|) to all answers of a workload together.

    Args:
        workload: What is asked.
        epsilon: The loss.
        adjacency: When two histograms are neighbours.
        total: The number of people, where it is public (replace-one): answers that are the total need no noise.

    Guarantee:
        The release is epsilon-DP: one person moves each answer by at most 1, under either adjacency.
    Proof:
        docs/proofs/hierarchy.md, Theorem 1, and for the noise docs/proofs/l_infinity.md, after Hardt and Talwar
        2010, Theorem 4.3.

    Error:
        The exact quantile of one coordinate of the noise.

    Example:
        >>> from jali.mechanisms.workloads.noisy_answers import CubeAnswers
        >>> from jali.mechanisms.workloads.workload import Thresholds
        >>> mechanism = CubeAnswers(workload=Thresholds(3), epsilon="1/10", adjacency="add-remove")
        >>> round(mechanism.rms**2 / 100, 2)
        6.67
    """

    workload: Workload
    epsilon: Fraction
    adjacency: Adjacency
    total: int | None

    def __init__(
        self, *, workload: Workload, epsilon: Number, adjacency: str | Adjacency, total: int | None = None
    ) -> None:
        self._fill(workload=read_workload(workload), epsilon=read_parameter(epsilon, "epsilon"))
        self._fill(adjacency=Adjacency.of(adjacency))
        self._fill(total=read_public_total(total, self.adjacency))
        if not self.asked.any():
            raise MechanismError("workload-total-only")
        self.noise  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @property
    def dimension(self) -> int:
        """How many answers are measured."""
        return int(self.asked.sum())

    @cached_property
    def noise(self) -> LInfinity:
        """The mechanism that adds the noise."""
        return LInfinity(sensitivity=1, epsilon=self.epsilon, dimension=self.dimension)

    def _exact(self, value: Any) -> NDArray[Any]:
        return np.asarray(self.workload.answers(self.read(value))[self.asked])

    def error(self, confidence: float) -> float:
        """Return the quantile of the noise on one answer."""
        return float(self.noise.error(confidence))

    def variances(self) -> Floats:
        """Return the variance of the noise for every answer."""
        return np.asarray(self.asked * self.noise.stddev**2)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two thresholds in both adjacencies."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        return (
            Specimen(cls(workload=two, epsilon=2, adjacency=add), add, (((3, 1), (4, 1)),)),
            Specimen(cls(workload=two, epsilon=1, adjacency=replace), replace, (((2, 1), (1, 2)),)),
        )
