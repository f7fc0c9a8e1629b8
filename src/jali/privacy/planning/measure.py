"""Measures: what is meant by the error of k noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError
from jali.privacy.planning.confidence import confident
from jali.privacy.planning.noise import Noise
from jali.privacy.planning.table import amount
from jali.privacy.rationals import Number


@dataclass(frozen=True)
class Measure:
    """By which number noises are compared and accuracies are meant.

    Args:
        confidence: What the error stays within, with this confidence; None: its standard deviation.
        simultaneous: Whether the confidence is for all counts at once, not for each of them.

    Example:
        >>> str(Measure(0.95)), str(Measure(0.95, simultaneous=True)), str(Measure(None))
        ('error of each count at 95 %', 'error of all counts at once at 95 %', 'standard deviation')
    """

    confidence: Fraction | None
    simultaneous: bool

    def __init__(self, confidence: Number | None, *, simultaneous: bool = False) -> None:
        if confidence is None and simultaneous:
            raise CatalogError("planned-stddev-simultaneous")
        object.__setattr__(self, "confidence", None if confidence is None else confident(confidence))
        object.__setattr__(self, "simultaneous", simultaneous)

    def __call__(self, noise: Noise) -> float:
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
            >>> Measure(0.95).sentence(50.68)
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
