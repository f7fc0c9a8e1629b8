"""One of the measures of a group that leave together, hidden by one noise of the largest-coordinate norm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from jali.mechanisms.l_infinity import LInfinity
from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.laws.coordinate import CoordinateLaw
from jali.mechanisms.measurement import Description, Measurement, Reach, Rival
from jali.privacy.event import NOTHING, Event
from jali.privacy.losses.concentrated import Concentrated
from jali.privacy.losses.pure import Pure

JOINT_PAGE = "docs/proofs/joint_noise.md (Hardt and Talwar 2010, Theorem 4.1)"


@dataclass(frozen=True)
class Coordinate(Measurement):
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
    def shared(self) -> LInfinity:
        """The noise of all of them."""
        return self.joint

    def completes(self, block: Sequence[Measurement]) -> bool:
        """Say whether these measures are the coordinates of one noise, each once, in order."""
        coordinates = [m for m in block if isinstance(m, Coordinate)]
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

    def spent(self, reach: Reach) -> Event:
        """Return the loss of all that leave together, for the first of them; the others cost nothing more."""
        if self.place:
            return NOTHING
        epsilon = reach.shared / self.joint.scale
        return Event(epsilon, epsilon**2 / 2)

    def charged(self) -> tuple[Event, ...]:
        """Return the loss of all of them once."""
        return () if self.place else (self.loss.event,)

    def describe(self) -> Description:
        """Name the noise, its scale and its theorem."""
        return Description("joint (K-norm)", "L1", "scale", float(self.joint.scale), (JOINT_PAGE,))

    def rivals(self, reach: Reach) -> tuple[Rival, ...]:
        """Return what each would have had apart: at a part of the same epsilon, or of the rho it comes to."""
        epsilon, count = self.joint.epsilon, self.joint.dimension
        rho = epsilon**2 / 2
        laplace = DiscreteLaplaceLaw(reach.l1 / (epsilon / count))
        gaussian = DiscreteGaussianLaw(reach.squared_l2 * count / (2 * rho))
        return (
            Rival("discrete Laplace", laplace, Pure(epsilon), count),
            Rival("discrete Gaussian", gaussian, Concentrated(rho), count),
        )
