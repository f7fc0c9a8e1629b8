"""How hard an audit tries."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError
from jali.privacy.rationals import Number, positive_integer, probability


def _sure(confidence: Number) -> Fraction:
    """Return a confidence, or refuse one that is none."""
    try:
        return probability(confidence, "confidence")
    except CatalogError as error:
        raise CatalogError("audit-confidence-wrong", problem=error.phrase) from None


@dataclass(frozen=True)
class Effort:
    """Limits of one audit.

    Attributes:
        samples: How many outputs may be drawn, of both inputs and for all purposes together.
        confidence: The probability with which an honest mechanism is not accused.
        seed: Where the samples of functions come from that take a generator; new ones if it is None.
    """

    samples: int = 1_000_000
    confidence: Fraction = Fraction(99, 100)
    seed: int | None = None

    def __post_init__(self) -> None:
        positive_integer(self.samples, "samples")
        _sure(self.confidence)
