"""Forecast what one noise does to k counts at one privacy loss, in several measures of error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.errors import CatalogError
from jali.privacy.planning.count_noise import CountNoise, confident
from jali.privacy.planning.plan_table import amount
from jali.privacy.rationals import Number


@dataclass(frozen=True)
class ErrorMeasure:
    """By which number noises are compared and accuracies are meant.

    Args:
        confidence: What the error stays within, with this confidence; None: its standard deviation.
        simultaneous: Whether the confidence is for all counts at once, not for each of them.

    Example:
        >>> str(ErrorMeasure(0.95)), str(ErrorMeasure(0.95, simultaneous=True)), str(ErrorMeasure(None))
        ('error of each count at 95 %', 'error of all counts at once at 95 %', 'standard deviation')
    """

    confidence: Fraction | None
    simultaneous: bool

    def __init__(self, confidence: Number | None, *, simultaneous: bool = False) -> None:
        if confidence is None and simultaneous:
            raise CatalogError("planned-stddev-simultaneous")
        object.__setattr__(self, "confidence", None if confidence is None else confident(confidence))
        object.__setattr__(self, "simultaneous", simultaneous)

    def __call__(self, noise: CountNoise) -> float:
        """Return the error of a noise in this measure, rounded up."""
        if self.confidence is None:
            return noise.stddev
        return noise.worst(self.confidence) if self.simultaneous else noise.error(self.confidence)

    def __str__(self) -> str:
        if self.confidence is None:
            return "standard deviation"
        return f"error of {'all counts at once' if self.simultaneous else 'each count'} at {self.percent}"

    def sentence(self, error: float) -> str:
        """Say what an error in this measure means.

        Example:
            >>> ErrorMeasure(0.95).sentence(50.68)
            'each count is within 50.68 of the truth, with 95 % confidence'
        """
        if self.confidence is None:
            return f"the standard deviation on each count is {amount(error)}"
        who = "all counts are" if self.simultaneous else "each count is"
        once = " at once" if self.simultaneous else ""
        return f"{who} within {amount(error)} of the truth{once}, with {self.percent} confidence"

    @property
    def percent(self) -> str:
        """The confidence as a percentage; empty where there is none."""
        return "" if self.confidence is None else f"{float(100 * self.confidence):.10g} %"


@dataclass(frozen=True)
class CountForecast:
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
    def of(cls, noise: CountNoise, measure: ErrorMeasure, epsilon: Fraction, delta: Fraction) -> CountForecast:
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

    def error_in(self, measure: ErrorMeasure) -> float | None:
        """Return the error in a measure."""
        if measure.confidence is None:
            return self.stddev
        return self.worst if measure.simultaneous else self.error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: exact rationals as text, errors as numbers."""
        losses = {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        names = ("queries", "law", "scale", "stddev", "error", "worst", "mean_worst")
        return {"noise": self.noise, **losses, **{name: getattr(self, name) for name in names}}
