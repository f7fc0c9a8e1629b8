"""L-infinity noise on the answers: for workloads in which one person can move every answer."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.l_infinity import LInfinity
from jali.mechanisms.mechanism import LogMasses, Specimen, parameter
from jali.mechanisms.workloads.linear import Answered, WorkloadMechanism, asked, filled, public_total
from jali.mechanisms.workloads.workload import Floats, Thresholds, Workload, workload_of
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class CubeAnswers(WorkloadMechanism):
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
        >>> from jali.mechanisms import CubeAnswers
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
        self._fill(workload=workload_of(workload), epsilon=parameter(epsilon, "epsilon"))
        self._fill(adjacency=Adjacency.of(adjacency))
        self._fill(total=public_total(total, self.adjacency))
        if not self.asked.any():
            raise MechanismError("workload-total-only")
        self.noise  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @cached_property
    def asked(self) -> NDArray[np.bool_]:
        """Which answers are measured."""
        return asked(self.workload, self.total)

    @property
    def dimension(self) -> int:
        """How many answers are measured."""
        return int(self.asked.sum())

    @cached_property
    def noise(self) -> LInfinity:
        """The mechanism that adds the noise."""
        return LInfinity(sensitivity=1, epsilon=self.epsilon, dimension=self.dimension)

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    def release(self, value: Any, *, bits: BitSource | None = None) -> Answered:
        """Return the answers with noise."""
        return self.answer(np.asarray(self.noise.release(self._exact(value), bits=bits)))

    def answer(self, measurements: NDArray[Any]) -> Answered:
        """Return the noisy answers as they are, and the total where it is public."""
        direct = filled(measurements, self.asked, self.total)
        return Answered(self.workload, measurements, direct=direct)

    def _exact(self, value: Any) -> NDArray[Any]:
        return np.asarray(self.workload.answers(self.read(value))[self.asked])

    def error(self, confidence: float) -> float:
        """Return the quantile of the noise on one answer."""
        return float(self.noise.error(confidence))

    def variances(self) -> Floats:
        """Return the variance of the noise for every answer."""
        return np.asarray(self.asked * self.noise.stddev**2)

    def log_masses(self, value: Any) -> LogMasses:
        """Return the joint law of the noisy answers."""
        return self.noise.log_masses(tuple(self._exact(value).tolist()))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy answers of many releases."""
        return self.noise.sample(tuple(self._exact(value).tolist()), size, bits=bits)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return two thresholds in both adjacencies."""
        two = Thresholds(2)
        add, replace = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
        return (
            Specimen(cls(workload=two, epsilon=2, adjacency=add), add, (((3, 1), (4, 1)),)),
            Specimen(cls(workload=two, epsilon=1, adjacency=replace), replace, (((2, 1), (1, 2)),)),
        )
