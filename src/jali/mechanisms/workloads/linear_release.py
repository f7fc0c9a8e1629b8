"""Base classes of mechanisms that answer a workload from noisy integer measurements.

The noise of all measurements has one law, calibrated to their distance: Laplace for epsilon, Gaussian for rho.
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import JointNoise
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.base import LogMasses, Mechanism, PureMechanism, read_natural, read_parameter
from jali.mechanisms.exact_values import narrow, read_integers
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.mechanisms.intervals.weighted_sums import bound_sum_quantile
from jali.mechanisms.lattice import add
from jali.mechanisms.workloads.workload import Floats, Workload, read_workload
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import BitSource, DiscreteGaussian, DiscreteLaplace


class CalibratedRelease(Mechanism):
    """Integer measurements, each with independent noise of one law: that of the loss and the distance."""

    epsilon: Fraction | None
    rho: Fraction | None

    @property
    @abstractmethod
    def distance(self) -> tuple[Fraction, Fraction]:
        """How far the measurements of neighbours are apart: in L1 norm, and squared in L2 norm."""

    @property
    def loss(self) -> Pure | Concentrated:
        """Epsilon, pure, or rho in zCDP: of everything that is released together."""
        return Pure(self.epsilon) if self.epsilon is not None else Concentrated(self.rho or 0)

    @cached_property
    def law(self) -> IndependentLaw:
        """The exact law of each noise."""
        if self.epsilon is not None:
            return DiscreteLaplaceLaw(self.distance[0] / self.epsilon)
        return DiscreteGaussianLaw(self.distance[1] / (2 * (self.rho or Fraction(1))))

    @cached_property
    def sampler(self) -> DiscreteLaplace | DiscreteGaussian:
        """The exact sampler of that law."""
        law = self.law
        return (
            DiscreteLaplace(law.scale) if isinstance(law, DiscreteLaplaceLaw) else DiscreteGaussian(law.variance)
        )

    def _read_loss(self, epsilon: Number | None, rho: Number | None) -> None:
        self._fill(epsilon=None, rho=None)
        if (epsilon is None) == (rho is None):
            raise MechanismError("epsilon-or-rho")
        if epsilon is not None:
            self._fill(epsilon=read_parameter(epsilon, "epsilon"))
        else:
            self._fill(rho=read_parameter(rho, "rho"))  # type: ignore[arg-type]


_LEFT_OUT = 1e-13
_HUGE = 1 << 900


@dataclass(frozen=True, eq=False)
class WorkloadAnswers:
    """What a workload mechanism releases.

    Attributes:
        workload: What was asked.
        measurements: The noisy integers. All else is computed from them.
        cells: An estimate of the histogram, with which the answers agree; None where there is none.
        direct: The answers, where they were measured themselves.
    """

    workload: Workload
    measurements: NDArray[Any]
    cells: Floats | None = None
    direct: Floats | None = None

    @cached_property
    def answers(self) -> Floats:
        """The noisy answers, in the order of the workload."""
        if self.direct is not None:
            return self.direct
        return np.asarray(self.workload.answers(self.estimate))

    def between(self, start: int, stop: int) -> float:
        """Return the estimated number of people in cells start .. stop-1, for any of the many ranges."""
        return float(self.estimate[start:stop].sum())

    @property
    def estimate(self) -> Floats:
        """The estimate of the histogram; refused where the answers alone were measured."""
        if self.cells is None:
            raise MechanismError("workload-measures-answers")
        return self.cells


class WorkloadMechanism(Mechanism):
    """Answers a workload from a histogram: the sensitivity follows from the workload and the adjacency."""

    loss_power: ClassVar[int | None] = None
    error_is_exact: ClassVar[bool] = False

    workload: Workload
    adjacency: Adjacency

    @abstractmethod
    def variances(self) -> Floats:
        """Return the variance of every answer."""

    @abstractmethod
    def answer(self, measurements: NDArray[Any]) -> WorkloadAnswers:
        """Compute the answers from noisy measurements: post-processing, in doubles."""

    @property
    def total_variance(self) -> float:
        """The sum of the variances of all answers."""
        return float(self.variances().sum())

    @property
    def rms(self) -> float:
        """The root of the mean squared error of an answer."""
        return math.sqrt(self.total_variance / self.workload.size)

    @property
    def largest(self) -> float:
        """The largest standard deviation of an answer."""
        return math.sqrt(float(self.variances().max()))

    @cached_property
    def worst_answer(self) -> int:
        """The number of the answer with the largest variance: the one that `error` is about by default."""
        return int(np.argmax(self.variances()))

    def deviation(self, value: Any, output: Any) -> float:
        """Return the error of the answer with the largest variance."""
        truth = self.workload.answers(self.read(value))[self.worst_answer]
        return abs(float(self.answer(np.array(output)).answers[self.worst_answer] - truth))

    def outcome(self, released: WorkloadAnswers) -> Hashable:
        """Return the noisy measurements: the answers are post-processing."""
        return tuple(released.measurements.tolist())

    def read(self, histogram: Any) -> NDArray[Any]:
        """Return a histogram as an array of integers; other types and lengths are refused."""
        try:
            array = read_integers(histogram)
        except MechanismError:
            array = np.zeros(0)
        if array.size != self.workload.cells:
            raise MechanismError("histogram-wrong", cells=self.workload.cells)
        return narrow(array.ravel())

    def numbered(self, answer: int | None) -> int:
        """Return the number of an answer, from 0; by default of the one with the largest variance."""
        if answer is None:
            return self.worst_answer
        if read_natural(answer, "answer", least=0) >= self.workload.size:
            raise MechanismError("workload-answer-out-of-range", size=self.workload.size, answer=answer)
        return int(answer)


class JointWorkloadNoise(PureMechanism, WorkloadMechanism):
    """Integer measurements of the histogram that get the noise of one draw together."""

    @property
    @abstractmethod
    def noise(self) -> JointNoise:
        """The mechanism that adds the noise."""

    @abstractmethod
    def _exact(self, value: Any) -> NDArray[Any]:
        """Return the exact measurements of a histogram."""

    def release(self, value: Any, *, bits: BitSource | None = None) -> WorkloadAnswers:
        """Add noise to the measurements, and compute the answers from them alone."""
        return self.answer(np.asarray(self.noise.release(self._exact(value), bits=bits)))

    def log_masses(self, value: Any) -> LogMasses:
        """Return the joint law of the noisy measurements."""
        return self.noise.log_masses(tuple(self._exact(value).tolist()))

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy measurements of many releases."""
        return self.noise.sample(tuple(self._exact(value).tolist()), size, bits=bits)


class LinearRelease(CalibratedRelease, WorkloadMechanism):
    """Integer measurements of the histogram, each with independent noise of one law."""

    @abstractmethod
    def measure(self, histogram: NDArray[Any]) -> NDArray[Any]:
        """Return the exact measurements, as integers."""

    @abstractmethod
    def influence(self, answer: int) -> Floats:
        """Return the coefficients with which the noises of the measurements enter an answer."""

    def release(self, value: Any, *, bits: BitSource | None = None) -> WorkloadAnswers:
        """Measure, add noise, and compute the answers from the noisy measurements alone."""
        exact = self.measure(self.read(value))
        return self.answer(add(exact, self.sampler.sample(exact.size, bits=bits)))

    def error(self, confidence: float, *, answer: int | None = None) -> float:
        """Return what one answer's error stays within; by default of the answer with the largest variance."""
        return bound_sum_quantile(self.influence(self.numbered(answer)), self.law, confidence)

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the noisy measurements of many releases at once."""
        exact = self.measure(self.read(value))
        noise = self.sampler.sample(size * exact.size, bits=bits).reshape(size, exact.size)
        return [tuple(row) for row in add(np.broadcast_to(exact, noise.shape), noise).tolist()]

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the noisy measurements, on a window: a product of independent laws."""
        exact = self.measure(self.read(value)).tolist()
        return build_product_law(exact, self.law, math.isqrt(int(self.distance[1])) + 1)


@dataclass(frozen=True, repr=False, init=False)
class PlainRelease(LinearRelease):
    """A linear release that has no parameters but the workload, the loss and what is public."""

    workload: Workload
    epsilon: Fraction | None
    rho: Fraction | None
    adjacency: Adjacency
    total: int | None

    def __init__(
        self,
        *,
        workload: Workload,
        epsilon: Number | None = None,
        rho: Number | None = None,
        adjacency: str | Adjacency,
        total: int | None = None,
    ) -> None:
        self._fill(workload=read_workload(workload), adjacency=Adjacency.of(adjacency))
        self._fill(total=read_public_total(total, self.adjacency))
        self._read_loss(epsilon, rho)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled


def build_product_law(places: list[int], law: IndependentLaw, move: int) -> LogMasses:
    """Return the law of independent noises around places, on a window that holds what neighbours share.

    Args:
        places: The exact measurements.
        law: The law of each noise.
        move: How far a neighbour's measurements can be in one coordinate.
    """
    reach = law.bound_tail(_LEFT_OUT / max(1, len(places))) + move
    noises = [(z, law.log_mass(z)) for z in range(-reach, reach + 1)]
    rows = itertools.product(*([(place + z, log) for z, log in noises] for place in places))
    return {tuple(key for key, _ in row): sum(log for _, log in row) for row in rows}


def read_public_total(total: int | None, adjacency: Adjacency) -> int | None:
    """Read a public total: only under replace-one does nobody's presence hide in it."""
    if total is None:
        return None
    if adjacency is not Adjacency.REPLACE_ONE:
        raise MechanismError("total-not-public")
    return read_natural(total, "total")


def find_asked_answers(workload: Workload, total: int | None) -> NDArray[np.bool_]:
    """Return which answers need a measurement: all but those that are the total itself, where it is public."""
    if total is None:
        return np.ones(workload.size, dtype=np.bool_)
    return np.asarray(workload.counted() < workload.cells)


def fill_in_total(measurements: NDArray[Any], measured: NDArray[np.bool_], total: int | None) -> Floats:
    """Return noisy answers, with the public total where nothing was measured."""
    answers = np.full(measured.size, 0.0 if total is None else float(total))
    answers[measured] = convert_to_doubles(measurements)
    return answers


def convert_to_doubles(values: NDArray[Any]) -> Floats:
    """Return integers as doubles; what is beyond 2^900 is cut to it, so that no later step overflows."""
    if values.dtype != object:
        return np.asarray(values, dtype=np.float64)
    return np.array([float(max(-_HUGE, min(_HUGE, item))) for item in values.tolist()], dtype=np.float64)
