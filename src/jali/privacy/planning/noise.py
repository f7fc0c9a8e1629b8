"""Noises for k counting queries that are answered together: what each of them adds, as a law.

One person moves each count by at most the sensitivity s, and all k counts at once: by k s in L1 norm, sqrt(k) s
in L2 norm and s in L_inf norm. That holds for both adjacencies, because a person adds between 0 and s to a count:
joining, leaving and being replaced move it by at most s.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from jali.privacy.rounding import float_above

if TYPE_CHECKING:
    from jali.privacy.budget import Budget

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
