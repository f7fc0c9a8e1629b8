"""The Gaussian mechanism on integers and lattices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import IndependentNoise
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.base import Specimen, read_natural, read_parameter
from jali.mechanisms.global_sensitivity import Root, Sensitivity, read_l2_distance
from jali.mechanisms.lattice import read_step, refuse_below_one_step
from jali.mechanisms.measurement import (
    AlternativeMeasurement,
    Description,
    MeasurementSensitivity,
    NoiseMeasurement,
)
from jali.privacy.adjacency import Adjacency
from jali.privacy.conversions import largest_rho
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import DiscreteGaussian

GAUSSIAN_PAGE = "docs/proofs/gaussian.md (Canonne, Kamath and Steinke 2020, Theorem 14)"


@dataclass(frozen=True, repr=False)
class Gaussian(IndependentNoise, NoiseMeasurement):
    """Add integer noise with mass proportional to exp(-x^2 rho / sensitivity^2).

    Args:
        sensitivity: How far the values of neighbouring tables are apart in L2 norm, under the adjacency in
            which the loss is meant: a number, the root of one, or a `Sensitivity`; at least 1 for integers.
        rho: The loss, in zCDP.
        step: The lattice for real values; without it the values must be integers.
        dimension: The number of real values released together (only with `step`).

    Guarantee:
        The release is rho-zCDP for inputs at L2 distance at most `sensitivity`.
    Proof:
        docs/proofs/gaussian.md, after Canonne, Kamath and Steinke 2020, Theorem 14.

    Error:
        The exact tail of the discrete Gaussian with variance sensitivity^2 / (2 rho), for each coordinate.

    Example:
        >>> from jali.mechanisms import Gaussian
        >>> mechanism = Gaussian(sensitivity=1, rho=0.005)
        >>> mechanism.error(0.95)
        20
        >>> isinstance(mechanism.release(1000), int)
        True
    """

    loss_power: ClassVar[int | None] = 2
    loss_name: ClassVar[str] = "rho"

    sensitivity: Root
    rho: Fraction
    step: Fraction | None
    dimension: int

    def __init__(
        self,
        *,
        sensitivity: Number | Root | Sensitivity,
        rho: Number,
        step: Number | None = None,
        dimension: int = 1,
    ) -> None:
        self._fill(sensitivity=read_l2_distance(sensitivity), rho=read_parameter(rho, "rho"))
        self._fill(step=read_step(step), dimension=read_natural(dimension, "dimension"))
        refuse_below_one_step(self.sensitivity.squared, self.step)
        self.sampler  # noqa: B018 - refuses, before anything is released, what cannot be sampled

    @classmethod
    def squared(cls, *, squared_sensitivity: Fraction, rho: Fraction) -> Gaussian:
        """Make the mechanism for integers from the square of a sensitivity that may be irrational."""
        return cls(sensitivity=Root(read_parameter(squared_sensitivity, "squared_sensitivity")), rho=rho)

    @classmethod
    def for_loss(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        sensitivity: Number | Root | Sensitivity,
        step: Number | None = None,
        dimension: int = 1,
    ) -> Gaussian:
        """Return the mechanism of the largest rho that implies (epsilon, delta)-DP: for those who think in these.

        For a single release, noise calibrated to (epsilon, delta) itself (Balle and Wang 2018) is a little
        narrower. Rho is what this mechanism charges: it adds up over many releases without loss, and its bound
        holds for discrete noise in any number of coordinates.

        Args:
            epsilon: The loss, except with probability delta.
            delta: That probability.
            sensitivity: As in the constructor, and so are `step` and `dimension`.
            step: The lattice for real values.
            dimension: The number of real values released together.

        Example:
            >>> from jali.mechanisms import Gaussian
            >>> mechanism = Gaussian.for_loss(epsilon=1, delta=1e-6, sensitivity=1)
            >>> round(float(mechanism.rho), 6), mechanism.error(0.95)
            (0.024356, 9)
        """
        failing = read_parameter(delta, "delta")
        if failing >= 1:
            raise MechanismError("parameter-not-below-one", value=delta, name="delta")
        rho = largest_rho(read_parameter(epsilon, "epsilon"), failing)
        return cls(sensitivity=sensitivity, rho=rho, step=step, dimension=dimension)

    @property
    def loss(self) -> Concentrated:
        """Rho, in zCDP."""
        return Concentrated(self.rho)

    @property
    def squared_sensitivity(self) -> Fraction:
        """The square of the sensitivity, in squared steps of the lattice."""
        return self.lattice.steps_squared(self.sensitivity)

    @property
    def variance(self) -> Fraction:
        """The variance parameter of the noise, in squared steps of the lattice."""
        return self.squared_sensitivity / (2 * self.rho)

    @property
    def law(self) -> DiscreteGaussianLaw:
        """The exact law of the noise, in steps of the lattice."""
        return DiscreteGaussianLaw(self.variance)

    @property
    def sampler(self) -> DiscreteGaussian:
        """The exact sampler of that law."""
        return DiscreteGaussian(self.variance)

    @property
    def _smooth(self) -> DiscreteGaussianLaw:
        return self.law

    @classmethod
    def calibrate(cls, sensitivity: MeasurementSensitivity, loss: Loss) -> Gaussian | None:
        """Return the noise for a loss in zCDP."""
        event = loss.event
        if event.epsilon is not None:
            return None
        return cls.squared(squared_sensitivity=sensitivity.l2_squared, rho=event.rho)

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return the rho of a move by so much in L2."""
        return Event(None, sensitivity.l2_squared / (2 * self.variance))

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("discrete Gaussian", "L2", "sigma", math.sqrt(self.variance), (GAUSSIAN_PAGE,))

    def list_alternatives(self, sensitivity: MeasurementSensitivity) -> tuple[AlternativeMeasurement, ...]:
        """Return Laplace noise of the same rho."""
        epsilon = math.sqrt(2 * self.rho)
        law = DiscreteLaplaceLaw(sensitivity.by_number.l1 / Fraction(epsilon))
        return (AlternativeMeasurement("discrete Laplace", law, Pure(Fraction(epsilon))),)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return single integers at several losses, a pair of integers, and a real number on a lattice."""
        return (
            *(_build_specimen(rho, distance) for rho in ("1/200", "1/8", "2") for distance in (1, 5)),
            Specimen(cls(sensitivity=Root(2), rho=4), Adjacency.REPLACE_ONE, (((0, 1), (1, 0)), ((3, 3), (4, 4)))),
            Specimen(cls(sensitivity="1/2", rho="1/2", step="1/4"), Adjacency.ADD_REMOVE, ((0.12, 0.62),)),
        )


def _build_specimen(rho: str, distance: int) -> Specimen:
    pairs = ((0, distance), (distance, 0))
    return Specimen(Gaussian(sensitivity=distance, rho=rho), Adjacency.ADD_REMOVE, pairs)
