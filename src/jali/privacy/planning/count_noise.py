"""Noise on k counting queries that are answered together: its law, quantiles and confidence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from jali.errors import CatalogError
from jali.numbers.rounding import float_above, float_below, round_up
from jali.privacy.rationals import Number, rational

if TYPE_CHECKING:
    from jali.privacy.budget import Budget


def confident(value: Number) -> Fraction:
    """Return a confidence strictly between 0 and 1, exactly."""
    number = rational(value, "confidence")
    if not 0 < number < 1:
        raise CatalogError("confidence-out-of-range", confidence=value, name="confidence")
    return number


def failure_probability(confidence: Fraction) -> float:
    """Return 1 - confidence, rounded down."""
    return float_below(1 - confidence)


def each_of(count: int, confidence: Fraction) -> float:
    """Return what each of k independent noises may miss with if all hold with a confidence: 1 - c^(1/k).

    Example:
        >>> round(each_of(2, Fraction("0.81")), 12)
        0.1
    """
    return -math.expm1(math.log1p(-failure_probability(confidence)) / count)


def any_of(count: int, probability: float) -> float:
    """Return the probability that some of k independent events happens: 1 - (1 - p)^k.

    Example:
        >>> any_of(2, 0.5)
        0.75
    """
    return -math.expm1(count * math.log1p(-probability)) if probability < 1 else 1.0


_STEPS = 200


def upper_quantile(
    tail: Callable[[float], float], density: Callable[[float], float], allowed: float, start: float
) -> float:
    """Return the least t with tail(t) <= allowed, rounded up.

    The logarithm of the tail is concave, so a tangent lies above it: each step of Newton's method after the
    first ends at or right of the quantile, and the steps go down to it.

    Example:
        >>> round(upper_quantile(lambda t: math.exp(-t), lambda t: math.exp(-t), 0.05, 1.0), 6)
        2.995732
    """
    at = start
    for turn in range(_STEPS):
        reached = tail(at)
        step = math.log(reached / allowed) * reached / density(at)
        # A step up that is not the first is the rounding of the tail.
        if abs(step) <= 1e-15 * at or (turn and step > 0):
            break
        at += step
    return round_up(at)


# How far an epsilon is raised beyond the one that just meets an accuracy: the way back rounds up as well.
MARGIN = 1e-11


@dataclass(frozen=True)
class Noise(ABC):
    """The noise on each of k counts, and on the worst of them.

    Attributes:
        queries: How many counts get noise together: k.
        scale: The scale of the noise, rounded up. Every error below is proportional to it.

    Guarantee:
        Errors round up. The laws are those of the real-valued noises; see each noise for how the integer noise
        that is released compares.
    """

    queries: int
    scale: float

    name: ClassVar[str]
    needs_delta: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def within(cls, budget: Budget, queries: int, sensitivity: Fraction) -> Self:
        """Return the least noise of this kind for k counts within a budget."""

    @classmethod
    @abstractmethod
    def epsilon_for(cls, scale: float, delta: Fraction, queries: int, sensitivity: Fraction) -> Fraction:
        """Return the least epsilon, rounded up, for which the noise `within` it has at most this scale."""

    @property
    @abstractmethod
    def law(self) -> str:
        """The law of the noise on one count, in words."""

    @property
    @abstractmethod
    def stddev(self) -> float:
        """The standard deviation of the noise on one count."""

    @property
    @abstractmethod
    def mean_worst(self) -> float:
        """The expected error of the worst count."""

    @abstractmethod
    def tail(self, error: float) -> float:
        """Return the probability that one count errs by more than `error`."""

    @abstractmethod
    def worst_tail(self, error: float) -> float:
        """Return the probability that some count errs by more than `error`."""

    @abstractmethod
    def error(self, confidence: Fraction) -> float:
        """Return what the error of one count stays within, with a confidence."""

    @abstractmethod
    def worst(self, confidence: Fraction) -> float:
        """Return what the errors of all counts stay within at once, with a confidence."""


def root(variance: Fraction) -> float:
    """Return the standard deviation of a variance, the same double for the same variance.

    Example:
        >>> root(Fraction(9, 4))
        1.5
    """
    return math.sqrt(float_above(variance))
