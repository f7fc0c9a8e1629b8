"""The l-infinity mechanism: noise for many numbers of which each can move by the same amount."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.mechanisms.additive import LEFT_OUT, Together
from jali.mechanisms.lattice import refuse_below_one_step, step_of
from jali.mechanisms.laws.coordinate import CoordinateLaw
from jali.mechanisms.laws.cube import CubeLaw
from jali.mechanisms.mechanism import LogMasses, Specimen, natural, parameter
from jali.mechanisms.sensitivity import Sensitivity, l_infinity_distance
from jali.mechanisms.values import narrow
from jali.noise import BitSource
from jali.noise.shells import CubeRadius
from jali.noise.uniform import uniform_below_each
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number

_NARROW = 1 << 60  # twice a radius below this, and one more, is a machine integer


@dataclass(frozen=True, repr=False)
class LInfinity(Together):
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
        self._fill(sensitivity=l_infinity_distance(sensitivity), epsilon=parameter(epsilon, "epsilon"))
        self._fill(dimension=natural(dimension, "dimension"), step=step_of(step))
        refuse_below_one_step(self.sensitivity, self.step)
        if self.scale > 1 << 60:
            raise MechanismError("l-infinity-scale-too-large")

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

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
        places = self._placed(value)
        reach = self.cube.largest(self.dimension).threshold(LEFT_OUT)
        rate, normaliser = float(1 / self.scale), self.cube.log_normaliser
        logs = [-rate * size - normaliser for size in range(reach + 1)]
        noises = np.array(list(itertools.product(range(-reach, reach + 1), repeat=self.dimension)))
        outputs = self.lattice.real(noises + places).tolist()
        sizes = np.abs(noises).max(axis=1).tolist()
        return {tuple(output): logs[size] for output, size in zip(outputs, sizes, strict=True)}

    def _worst_threshold(self, allowed: float, count: int) -> int:
        return self.cube.largest(count).threshold(allowed)

    def _expected_worst(self, count: int) -> float:
        return self.cube.largest(count).expected

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return one, two and three integers, and two real numbers on a lattice."""
        return (
            _some("1", 1, ((0,), (1,))),
            _some("2", 1, ((0, 0), (1, 1))),
            _some("3", 2, ((5, -1), (7, -3))),
            _some("8", 1, ((0, 0, 0), (1, -1, 1))),
            Specimen(
                cls(sensitivity="1/2", epsilon=4, dimension=2, step="1/4"),
                Adjacency.REPLACE_ONE,
                (((0.12, 3.0), (0.62, 2.5)),),
            ),
        )


def _some(epsilon: str, distance: int, pair: tuple[tuple[int, ...], tuple[int, ...]]) -> Specimen:
    mechanism = LInfinity(sensitivity=distance, epsilon=epsilon, dimension=len(pair[0]))
    return Specimen(mechanism, Adjacency.ADD_REMOVE, (pair, pair[::-1]))
