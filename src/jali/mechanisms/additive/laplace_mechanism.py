"""The Laplace mechanism on integers and lattices."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.additive.additive_noise import IndependentNoise
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.base import PureMechanism, Specimen, read_natural, read_parameter
from jali.mechanisms.global_sensitivity import Sensitivity, read_l1_distance
from jali.mechanisms.lattice import read_step, refuse_below_one_step
from jali.mechanisms.measurement import (
    AlternativeMeasurement,
    Description,
    MeasurementSensitivity,
    NoiseMeasurement,
)
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.laplace_loss import DiscreteLaplaceLoss
from jali.privacy.rationals import Number
from jali.sampling import DiscreteLaplace

LAPLACE_PAGE = "docs/proofs/laplace.md (Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1)"
# A fine Laplace law is followed by a coarser one that loses a little more: so many atoms are enough
# (docs/proofs/batches.md, Theorem 3).
_ATOMS = 1024


@dataclass(frozen=True, repr=False)
class Laplace(PureMechanism, IndependentNoise, NoiseMeasurement):
    """Add integer noise with mass proportional to exp(-|x| epsilon / sensitivity).

    Args:
        sensitivity: How far the values of neighbouring tables are apart in L1 norm, under the adjacency in
            which the loss is meant; at least 1 for integers.
        epsilon: The loss.
        step: The lattice for real values; without it the values must be integers.
        dimension: The number of real values released together (only with `step`).

    Guarantee:
        The release is epsilon-DP for inputs at L1 distance at most `sensitivity`.
    Proof:
        docs/proofs/laplace.md, after Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1.

    Error:
        With q = exp(-epsilon/sensitivity), Pr[|x| > t] = 2 q**(t+1) / (1+q) for each coordinate.

    Example:
        >>> from jali.mechanisms import Laplace
        >>> mechanism = Laplace(sensitivity=1, epsilon=0.1)
        >>> mechanism.error(0.95)
        30
        >>> isinstance(mechanism.release(1000), int)
        True
    """

    sensitivity: Fraction
    epsilon: Fraction
    step: Fraction | None
    dimension: int

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        step: Number | None = None,
        dimension: int = 1,
    ) -> None:
        self._fill(sensitivity=read_l1_distance(sensitivity), epsilon=read_parameter(epsilon, "epsilon"))
        self._fill(step=read_step(step), dimension=read_natural(dimension, "dimension"))
        refuse_below_one_step(self.sensitivity, self.step)
        self.sampler  # noqa: B018 - refuses, before anything is released, a scale that cannot be sampled

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in steps of the lattice."""
        return self.lattice.steps(self.sensitivity) / self.epsilon

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The exact law of the noise, in steps of the lattice."""
        return DiscreteLaplaceLaw(self.scale)

    @property
    def sampler(self) -> DiscreteLaplace:
        """The exact sampler of that law."""
        return DiscreteLaplace(self.scale)

    @property
    def _smooth(self) -> DiscreteLaplaceLaw:
        return self.law

    @classmethod
    def calibrate(cls, sensitivity: MeasurementSensitivity, loss: Loss) -> Laplace | None:
        """Return the noise for a pure loss."""
        epsilon = loss.event.epsilon
        return None if epsilon is None else cls(sensitivity=sensitivity.l1, epsilon=epsilon)

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return the epsilon of a move by so much in L1."""
        epsilon = sensitivity.l1 / self.scale
        return Event(epsilon, epsilon**2 / 2)

    def derive_loss(self, event: Event) -> Loss:
        """Return the loss of the noise itself, which is sharper than its epsilon."""
        if not event.epsilon:
            return super().derive_loss(event)
        steps = int(event.epsilon * self.scale)
        while steps > _ATOMS and steps % 2 == 0:
            steps //= 2
        return DiscreteLaplaceLoss(steps / event.epsilon, steps)

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("discrete Laplace", "L1", "scale", float(self.scale), (LAPLACE_PAGE,))

    def list_alternatives(self, sensitivity: MeasurementSensitivity) -> tuple[AlternativeMeasurement, ...]:
        """Return Gaussian noise at the rho that epsilon comes to."""
        rho = self.epsilon**2 / 2
        law = DiscreteGaussianLaw(sensitivity.l2_squared / (2 * rho))
        return (AlternativeMeasurement("discrete Gaussian", law, Concentrated(rho)),)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return single integers at several losses, a pair of integers, and a real number on a lattice."""
        return (
            *(_build_specimen(epsilon, distance) for epsilon in ("1/10", "7/10", "3") for distance in (1, 5)),
            Specimen(cls(sensitivity=2, epsilon=8), Adjacency.REPLACE_ONE, (((0, 1), (1, 0)), ((3, 3), (4, 4)))),
            Specimen(cls(sensitivity="1/2", epsilon=1, step="1/4"), Adjacency.ADD_REMOVE, ((0.12, 0.62),)),
        )


def _build_specimen(epsilon: str, distance: int) -> Specimen:
    pairs = ((0, distance), (distance, 0), (-distance, 0))
    return Specimen(Laplace(sensitivity=distance, epsilon=epsilon), Adjacency.ADD_REMOVE, pairs)
