"""The l-infinity mechanism: joint noise for numbers that can all move by the same amount, and its coordinates.

A question measures each number of a group as one coordinate of the joint noise (the K-norm mechanism).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive.additive_noise import LEFT_OUT, JointNoise
from jali.mechanisms.additive.cube_laws import CoordinateLaw, CubeLaw
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.base import LogMasses, PureMechanism, Specimen, read_natural, read_parameter
from jali.mechanisms.exact_values import narrow
from jali.mechanisms.global_sensitivity import Sensitivity, read_l_infinity_distance
from jali.mechanisms.lattice import read_step, refuse_below_one_step
from jali.mechanisms.measurement import AlternativeMeasurement, Description, Measurement, MeasurementSensitivity
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import NOTHING, Event
from jali.privacy.losses.concentrated_loss import Concentrated
from jali.privacy.losses.pure_loss import Pure
from jali.privacy.rationals import Number
from jali.sampling import BitSource
from jali.sampling.cube_radius import CubeRadius
from jali.sampling.uniform import uniform_below_each

_NARROW = 1 << 60  # twice a radius below this, and one more, is a machine integer


@dataclass(frozen=True, repr=False)
class LInfinity(PureMechanism, JointNoise):
    """Add integer noise z with mass proportional to exp(-max|z_i| epsilon / sensitivity) to all numbers together.

    For counts of overlapping groups, each of which one person can change by 1, its variance is about a sixth of
    Laplace noise's, and up to a few dozen counts it is below that of Gaussian noise too.

    Args:
        sensitivity: How far each coordinate can differ between neighbouring tables, under the adjacency in which
            the loss is meant; at least 1 for integers.
        epsilon: The loss.
        dimension: The number of values released together.
        step: The lattice for real values; without it the values must be integers.

    Guarantee:
        The release is epsilon-DP for inputs of which every coordinate differs by at most `sensitivity`.
    Proof:
        docs/proofs/l_infinity.md, after Hardt and Talwar 2010, Theorem 4.1.

    Error:
        The largest |z_i| is r > 0 with probability proportional to ((2r+1)^d - (2r-1)^d) exp(-r/scale), where d is
        the dimension and the scale is sensitivity/epsilon. In the limit of a fine lattice a coordinate has the
        variance (d+1)(d+2)/3 scale^2, and the expected largest error is d times the scale.

    Example:
        >>> from jali.mechanisms import LInfinity
        >>> mechanism = LInfinity(sensitivity=1, epsilon=1, dimension=3)
        >>> round(mechanism.stddev ** 2, 3), round(mechanism.expected_worst(), 3)
        (6.59, 2.921)
        >>> mechanism.release([10, 20, 30]).shape
        (3,)
    """

    sensitivity: Fraction
    epsilon: Fraction
    dimension: int
    step: Fraction | None

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        dimension: int,
        step: Number | None = None,
    ) -> None:
        self._fill(sensitivity=read_l_infinity_distance(sensitivity), epsilon=read_parameter(epsilon, "epsilon"))
        self._fill(dimension=read_natural(dimension, "dimension"), step=read_step(step))
        refuse_below_one_step(self.sensitivity, self.step)
        if self.scale > 1 << 60:
            raise MechanismError("l-infinity-scale-too-large")

    @property
    def scale(self) -> Fraction:
        """The sensitivity over epsilon, in steps of the lattice."""
        steps = self.sensitivity if self.step is None else self.lattice.whole_steps(self.sensitivity)
        return steps / self.epsilon

    @property
    def cube(self) -> CubeLaw:
        """The exact law of the noise of all coordinates, in steps of the lattice."""
        return CubeLaw(self.dimension, 1 / self.scale)

    @property
    def law(self) -> CoordinateLaw:
        """The law of the noise of one coordinate, in steps of the lattice."""
        return CoordinateLaw(self.cube, 0)

    def noise(self, rows: int, columns: int, *, bits: BitSource | None = None) -> NDArray[Any]:
        """Draw the noise of `rows` releases: a radius for each, then points that are uniform in its cube."""
        radii = CubeRadius(self.dimension, 1 / self.scale).draw(rows, bits=bits)
        radii = np.repeat(radii.astype(object) if radii.max(initial=0) > _NARROW else radii, columns)
        return narrow((uniform_below_each(2 * radii + 1, bits=bits) - radii).reshape(rows, columns))

    def log_masses(self, value: Any) -> LogMasses:
        """Return the law of the output on a cube that holds all but 1e-13 of it: for two or three coordinates."""
        places = self._place_on_lattice(value)
        reach = self.cube.largest(self.dimension).threshold(LEFT_OUT)
        rate, normaliser = float(1 / self.scale), self.cube.log_normaliser
        logs = [-rate * size - normaliser for size in range(reach + 1)]
        noises = np.array(list(itertools.product(range(-reach, reach + 1), repeat=self.dimension)))
        outputs = self.lattice.real(noises + places).tolist()
        sizes = np.abs(noises).max(axis=1).tolist()
        return {tuple(output): logs[size] for output, size in zip(outputs, sizes, strict=True)}

    def _find_worst_threshold(self, allowed: float, count: int) -> int:
        return self.cube.largest(count).threshold(allowed)

    def _compute_expected_worst(self, count: int) -> float:
        return self.cube.largest(count).mean_magnitude

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return one, two and three integers, and two real numbers on a lattice."""
        return (
            _build_specimen("1", 1, ((0,), (1,))),
            _build_specimen("2", 1, ((0, 0), (1, 1))),
            _build_specimen("3", 2, ((5, -1), (7, -3))),
            _build_specimen("8", 1, ((0, 0, 0), (1, -1, 1))),
            Specimen(
                cls(sensitivity="1/2", epsilon=4, dimension=2, step="1/4"),
                Adjacency.REPLACE_ONE,
                (((0.12, 3.0), (0.62, 2.5)),),
            ),
        )


def _build_specimen(epsilon: str, distance: int, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Specimen:
    mechanism = LInfinity(sensitivity=distance, epsilon=epsilon, dimension=len(pair[0]))
    return Specimen(mechanism, Adjacency.ADD_REMOVE, (pair, pair[::-1]))


JOINT_PAGE = "docs/proofs/joint_noise.md (Hardt and Talwar 2010, Theorem 4.1)"


@dataclass(frozen=True)
class JointNoiseCoordinate(Measurement):
    """One of the measures of a group that leave by one noise: multiplied by a whole number, then moved together.

    Attributes:
        joint: The noise of all of them.
        place: Which coordinate of it.
        times: What the measure is multiplied by; what is released is in units of one over this.
    """

    tag: ClassVar[str] = "Coordinate"
    stored_parts: ClassVar[str] = "joint place times"

    joint: LInfinity
    place: int
    times: int

    @classmethod
    def build_all(cls, joint: LInfinity, times: Mapping[int, int]) -> dict[int, JointNoiseCoordinate]:
        """Return the noise of the measures at some places, each multiplied by its whole number."""
        return {place: cls(joint, i, times[place]) for i, place in enumerate(sorted(times))}

    @property
    def law(self) -> CoordinateLaw:
        """The law of its noise, in units of what is released."""
        return CoordinateLaw(self.joint.cube, self.place)

    @property
    def loss(self) -> Pure:
        """The loss of all that leave together."""
        return self.joint.loss

    @property
    def noise_law(self) -> Any:
        """That of the noise."""
        return self.law

    @property
    def joint_mechanism(self) -> LInfinity:
        """The noise of all of them."""
        return self.joint

    def completes(self, block: Sequence[Measurement]) -> bool:
        """Say whether these measures are the coordinates of one noise, each once, in order."""
        coordinates = [m for m in block if isinstance(m, JointNoiseCoordinate)]
        places = [(m.joint, m.place) for m in coordinates]
        counted = all(type(m.times) is int and m.times >= 1 for m in coordinates)
        return (
            counted
            and len(coordinates) == len(block)
            and places == [(self.joint, place) for place in range(self.joint.dimension)]
        )

    @property
    def multiplier(self) -> int:
        """What the measure is multiplied by."""
        return self.times

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return the loss of all that leave together, for the first of them; the others cost nothing more."""
        if self.place:
            return NOTHING
        epsilon = sensitivity.joint / self.joint.scale
        return Event(epsilon, epsilon**2 / 2)

    def list_charges(self) -> tuple[Event, ...]:
        """Return the loss of all of them once."""
        return () if self.place else (self.loss.event,)

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("joint (K-norm)", "L1", "scale", float(self.joint.scale), (JOINT_PAGE,))

    def list_alternatives(self, sensitivity: MeasurementSensitivity) -> tuple[AlternativeMeasurement, ...]:
        """Return what each would have had apart: at a part of the same epsilon, or of the rho it comes to."""
        epsilon, count = self.joint.epsilon, self.joint.dimension
        rho = epsilon**2 / 2
        laplace = DiscreteLaplaceLaw(sensitivity.l1 / (epsilon / count))
        gaussian = DiscreteGaussianLaw(sensitivity.l2_squared * count / (2 * rho))
        return (
            AlternativeMeasurement("discrete Laplace", laplace, Pure(epsilon), count),
            AlternativeMeasurement("discrete Gaussian", gaussian, Concentrated(rho), count),
        )
