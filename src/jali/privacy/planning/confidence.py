"""Confidence, and the probability of an error that it leaves."""

from __future__ import annotations

import math
from fractions import Fraction

from jali.errors import CatalogError
from jali.privacy.rationals import Number, rational
from jali.privacy.rounding import float_below


def confident(value: Number) -> Fraction:
    """Return a confidence strictly between 0 and 1, exactly."""
    number = rational(value, "confidence")
    if not 0 < number < 1:
        raise CatalogError("confidence-out-of-range", confidence=value, name="confidence")
    return number


def missed(confidence: Fraction) -> float:
    """Return 1 - confidence, rounded down."""
    return float_below(1 - confidence)


def each_of(count: int, confidence: Fraction) -> float:
    """Return what each of k independent noises may miss with if all hold with a confidence: 1 - c^(1/k).

    Example:
        >>> round(each_of(2, Fraction("0.81")), 12)
        0.1
    """
    return -math.expm1(math.log1p(-missed(confidence)) / count)


def any_of(count: int, probability: float) -> float:
    """Return the probability that some of k independent events happens: 1 - (1 - p)^k.

    Example:
        >>> any_of(2, 0.5)
        0.75
    """
    return -math.expm1(count * math.log1p(-probability)) if probability < 1 else 1.0
