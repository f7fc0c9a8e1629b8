"""A simulated survey: made-up people answer through a randomizer, and the estimate is held against the truth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError, MechanismError
from jali.local.estimate import Estimate, crowd
from jali.local.randomizer import Randomizer
from jali.noise import BitSource, system_bits
from jali.noise.uniform import uniform_below
from jali.privacy.rationals import Number, share

# People are made and asked in batches, so that a survey needs little memory.
_BATCH = 1 << 16
_LARGEST = 1 << 62


@dataclass(frozen=True)
class SimulatedSurvey:
    """What came out of one simulated survey.

    Attributes:
        shares: The shares in the population that people were drawn from.
        truth: How many of the people asked are in each category.
        estimate: What their randomized reports say.
    """

    shares: tuple[Fraction, ...]
    truth: tuple[int, ...]
    estimate: Estimate

    @property
    def true_shares(self) -> tuple[float, ...]:
        """The share of each category among the people asked."""
        return tuple(count / self.estimate.people for count in self.truth)


def simulate_survey(
    mechanism: Randomizer, shares: Sequence[Number], people: int, *, bits: BitSource | None = None
) -> SimulatedSurvey:
    """Draw people at random, each in a category by the given shares, and ask all of them through a randomizer.

    Args:
        mechanism: What each person runs.
        shares: The share of each category in the population; they sum to 1.
        people: How many are asked.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.local import Warner, simulate_survey
        >>> survey = simulate_survey(Warner(epsilon=1), (0.7, 0.3), 1000)
        >>> sum(survey.truth), survey.estimate.people
        (1000, 1000)
    """
    if not isinstance(mechanism, Randomizer):
        raise MechanismError("randomizer-wrong", mechanism=mechanism)
    exact, count = shares_of(shares, mechanism.answers), crowd(people)
    source = system_bits() if bits is None else bits
    truth = supports = np.zeros(mechanism.answers, np.int64)
    for start in range(0, count, _BATCH):
        values = drawn_values(exact, min(_BATCH, count - start), bits=source)
        truth = truth + np.bincount(values, minlength=mechanism.answers)
        supports = supports + mechanism.supports(mechanism.randomize(values, bits=source))
    return SimulatedSurvey(exact, tuple(truth.tolist()), mechanism.estimate_supports(supports, count))


def drawn_values(shares: Sequence[Fraction], size: int, *, bits: BitSource) -> NDArray[np.int64]:
    """Draw categories with exactly these probabilities, which are rationals that sum to 1."""
    whole = math.lcm(*(part.denominator for part in shares))
    ends = np.cumsum([int(part * whole) for part in shares])
    return np.searchsorted(ends, uniform_below(whole, size, bits=bits), side="right").astype(np.int64)


def shares_of(shares: Sequence[Number], categories: int) -> tuple[Fraction, ...]:
    """Return shares as rationals that sum to 1, one for each category, or refuse them by name."""
    if not isinstance(shares, Iterable):
        raise MechanismError("shares-malformed", shares=shares, name="shares")
    try:
        exact = tuple(share(part, "shares") for part in shares)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if len(exact) != categories:
        raise MechanismError("shares-count-wrong", categories=categories, count=len(exact), name="shares")
    if sum(exact) != 1:
        raise MechanismError("shares-sum-wrong", total=float(sum(exact)), name="shares")
    if math.lcm(*(part.denominator for part in exact)) > _LARGEST:
        raise MechanismError("shares-too-long", name="shares")
    return exact
