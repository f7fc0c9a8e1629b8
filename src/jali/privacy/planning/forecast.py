"""Forecasts: what one noise does to k counts at one loss."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.privacy.planning.measure import Measure
from jali.privacy.planning.noise import Noise


@dataclass(frozen=True)
class Forecast:
    """What one noise does to k counts at one loss.

    Attributes:
        noise: Its name: Laplace, l_inf or Gaussian.
        epsilon: The loss of all counts together.
        delta: The delta of all counts together; 0 for Laplace and l_inf noise.
        queries: How many counts; 0 where not even one fits, and then all that follows is None.
        law: The law of the noise on one count, in words.
        scale: The scale of that law.
        stddev: The standard deviation on one count.
        error: What the error of each count stays within, at the confidence of the plan.
        worst: What the errors of all counts stay within at once, at that confidence.
        mean_worst: The expected error of the worst count.
    """

    noise: str
    epsilon: Fraction
    delta: Fraction
    queries: int
    law: str | None = None
    scale: float | None = None
    stddev: float | None = None
    error: float | None = None
    worst: float | None = None
    mean_worst: float | None = None

    @classmethod
    def of(cls, noise: Noise, measure: Measure, epsilon: Fraction, delta: Fraction) -> Forecast:
        """Describe a noise."""
        confidence = measure.confidence
        return cls(
            noise.name,
            epsilon,
            delta if noise.needs_delta else Fraction(0),
            noise.queries,
            noise.law,
            noise.scale,
            noise.stddev,
            None if confidence is None else noise.error(confidence),
            None if confidence is None else noise.worst(confidence),
            noise.mean_worst,
        )

    def measured(self, measure: Measure) -> float | None:
        """Return the error in a measure."""
        if measure.confidence is None:
            return self.stddev
        return self.worst if measure.simultaneous else self.error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: exact rationals as text, errors as numbers."""
        losses = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        names = ("queries", "law", "scale", "stddev", "error", "worst", "mean_worst")
        return {"noise": self.noise, **losses, **{name: getattr(self, name) for name in names}}
