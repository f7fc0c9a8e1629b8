"""A measurement that Jali does not know: the test registers it, and a question is answered through it.

It is all that is needed of a new one, but for its proof page: docs/proofs/laplace.md proves this one, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.measurement import Description, MeasurementSensitivity, NoiseMeasurement
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.losses.pure_loss import Pure
from jali.sampling import DiscreteLaplace


@dataclass(frozen=True)
class TwoSidedGeometric(NoiseMeasurement):
    """The difference of two geometric numbers of the same law."""

    tag: ClassVar[str] = "TwoSidedGeometric"
    stored_parts: ClassVar[str] = "sensitivity epsilon"

    sensitivity: Fraction
    epsilon: Fraction

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.sensitivity / self.epsilon

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def law(self) -> DiscreteLaplaceLaw:
        """The exact law of the noise."""
        return DiscreteLaplaceLaw(self.scale)

    @classmethod
    def calibrate(cls, sensitivity: MeasurementSensitivity, loss: Loss) -> TwoSidedGeometric | None:
        """Return the noise for a pure loss."""
        return None if loss.event.epsilon is None else cls(sensitivity.l1, loss.event.epsilon)

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return the epsilon of a move by so much."""
        epsilon = sensitivity.l1 / self.scale
        return Event(epsilon, epsilon**2 / 2)

    def describe(self) -> Description:
        """Name the noise."""
        page = "docs/proofs/laplace.md (Ghosh, Roughgarden and Sundararajan 2012, Theorem 1.1)"
        return Description("two-sided geometric", "L1", "scale", float(self.scale), (page,))

    def release_integers(self, values: np.ndarray) -> np.ndarray[Any, Any]:
        """Add noise to integers."""
        noise = DiscreteLaplace(self.scale).sample(values.size).astype(object)
        return np.asarray(values + noise.reshape(values.shape), dtype=object)
