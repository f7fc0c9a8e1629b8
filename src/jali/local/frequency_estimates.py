"""Estimate the frequencies of categories from randomized reports: unbiased, with variances and exact intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError
from jali.local.binomial import clopper_pearson, longest_arm
from jali.mechanisms.base import read_miss_probability, read_natural

Interval: TypeAlias = tuple[float, float]
# Shares of more people than this cannot be distinguished in doubles.
_MOST_PEOPLE = 10**15


@dataclass(frozen=True)
class Chances:
    """How often a report supports a category: the whole of what an estimate needs to know about a randomizer.

    Attributes:
        own: The probability that a report supports the category of the person who made it.
        other: The probability that it supports a given other category.
        gap: own - other, computed without cancellation; not 0.
    """

    own: float
    other: float
    gap: float

    def variance(self, frequency: float, people: int) -> float:
        """Return the variance of an estimated frequency, over the coins of this many people."""
        own, other = self.own * (1 - self.own), self.other * (1 - self.other)
        return max(0.0, frequency * own + (1 - frequency) * other) / people / self.gap / self.gap

    def half_width(self, people: int, confidence: float) -> float:
        """Return what an estimated frequency errs by at most, with a confidence, whatever the frequency is.

        Guarantee:
            Within |estimate - frequency| <= half_width with at least the confidence: an interval of Clopper and
            Pearson that holds Pr[support] has it within its longer arm, and the longest arm is returned, over
            all counts whose interval meets the possible values of Pr[support].
        """
        low, high = sorted((self.own, self.other))
        return longest_arm(people, confidence, low, high) / abs(self.gap)


@dataclass(frozen=True)
class Estimate:
    """Estimated shares of a crowd's categories, from randomized reports.

    Attributes:
        people: How many reports there were.
        supports: How many of them support each category.
        chances: How often a report supports a category.

    Guarantee:
        Each frequency is unbiased: (supports/people - other) / (own - other). It is not clipped and may lie
        below 0 or above 1: clipping before estimates are added up or averaged would bias them. With categories
        that exclude each other the frequencies need not sum to 1 either.
    Proof:
        docs/proofs/local_frequencies.md, Theorems 2 to 4.

    Example:
        >>> made = Estimate(1000, (620, 380), Chances(0.75, 0.25, 0.5))
        >>> made.frequencies, made.counts
        ((0.74, 0.26), (740.0, 260.0))
        >>> [round(end, 4) for end in made.interval(0.95)[0]]
        [0.6782, 0.8004]
    """

    people: int
    supports: tuple[int, ...]
    chances: Chances

    def __post_init__(self) -> None:
        read_people(self.people)
        if not self.supports or not all(0 <= count <= self.people for count in self.supports):
            raise MechanismError("local-supports-wrong")

    @property
    def frequencies(self) -> tuple[float, ...]:
        """The unbiased share of each category, not clipped."""
        return tuple(self._frequency(count / self.people) for count in self.supports)

    @property
    def counts(self) -> tuple[float, ...]:
        """The unbiased number of people in each category, not clipped."""
        return tuple(self.people * frequency for frequency in self.frequencies)

    @property
    def variances(self) -> tuple[float, ...]:
        """An unbiased estimate of each frequency's variance over the coins, the people being given.

        The variance is linear in the frequency, so that the unbiased frequency may be put into it; it is always
        above 0.
        """
        return tuple(self.chances.variance(frequency, self.people) for frequency in self.frequencies)

    @property
    def stddevs(self) -> tuple[float, ...]:
        """The roots of the variances."""
        return tuple(math.sqrt(variance) for variance in self.variances)

    def interval(self, confidence: float = 0.95, *, simultaneous: bool = False) -> tuple[Interval, ...]:
        """Return an interval for each frequency, not clipped.

        Args:
            confidence: For each frequency by itself.
            simultaneous: Whether the confidence is for all frequencies at once (Bonferroni).

        Guarantee:
            It holds the share in the population from which people were drawn at random and independently with
            at least the confidence, whatever that share is: the support of a category is then binomial, and
            its exact interval (Clopper and Pearson 1934) is carried over. It also holds the share among the
            people asked (Hoeffding 1956, Theorem 4), for a confidence above 1/2 where people * Pr[support] and
            people * (1 - Pr[support]) are at least 1.
        """
        outside = read_miss_probability(confidence) / (len(self.supports) if simultaneous else 1)
        # A rational, for 1 - outside may be 1 in doubles.
        low, high = clopper_pearson(self.supports, self.people, 1 - Fraction(outside))
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return tuple(self._interval(first, last) for first, last in ends)

    def clipped(self) -> tuple[float, ...]:
        """Return the frequencies moved into [0, 1]: for showing. Biased near the ends."""
        return tuple(min(1.0, max(0.0, frequency)) for frequency in self.frequencies)

    def projected(self) -> tuple[float, ...]:
        """Return the nearest shares that are at least 0 and sum to 1: for showing and for drawing from. Biased."""
        return tuple(project_onto_simplex(np.array(self.frequencies)).tolist())

    def _frequency(self, share: float) -> float:
        return (share - self.chances.other) / self.chances.gap

    def _interval(self, low: float, high: float) -> Interval:
        first, last = sorted((self._frequency(low), self._frequency(high)))
        return first, last


def read_people(people: int) -> int:
    """Return a number of people, or refuse it by name."""
    number = read_natural(people, "people")
    if number > _MOST_PEOPLE:
        raise MechanismError("parameter-above-limit", most=_MOST_PEOPLE, value=people, name="people")
    return number


def project_onto_simplex(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the nearest point with coordinates of at least 0 that sum to 1 (Held, Wolfe and Crowder 1974).

    Example:
        >>> project_onto_simplex(np.array([0.9, 0.4, -0.1])).round(6).tolist()
        [0.75, 0.25, 0.0]
    """
    descending = np.sort(point)[::-1]
    excess = (np.cumsum(descending) - 1) / np.arange(1, len(point) + 1)
    kept = int(np.flatnonzero(descending > excess)[-1])
    return np.asarray(np.maximum(point - excess[kept], 0.0))
