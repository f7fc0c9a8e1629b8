"""Plan a survey in the local model: choose the randomizer with the least variance, and simulate its answers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError, MechanismError
from jali.local.frequency_estimates import Estimate, read_people
from jali.local.frequency_oracles import HadamardResponse, SubsetSelection, UnaryEncoding
from jali.local.randomized_response import KaryResponse, Warner
from jali.local.randomizer import Randomizer
from jali.mechanisms.base import read_natural
from jali.privacy.rationals import Number, share
from jali.sampling import BitSource, system_bits
from jali.sampling.uniform import uniform_below

# Variances that differ by rounding only are equal; of equals, the first is taken: its reports are the shortest.
_EQUAL = 1e-12


def local_candidates(categories: int, epsilon: Number) -> tuple[Randomizer, ...]:
    """Return all randomizers for this many categories at a loss, from the least variance of a rare category up.

    Example:
        >>> [type(mechanism).__name__ for mechanism in local_candidates(8, 1)]
        ['SubsetSelection', 'KaryResponse', 'UnaryEncoding', 'HadamardResponse']
    """
    several = (KaryResponse, SubsetSelection, UnaryEncoding, HadamardResponse)
    made: list[Randomizer] = [kind(categories=categories, epsilon=epsilon) for kind in several]
    if read_natural(categories, "categories", least=2) == 2:
        made[0] = Warner(epsilon=epsilon)
    least = min(mechanism.variance() for mechanism in made)
    return tuple(sorted(made, key=lambda mechanism: _rank(mechanism.variance(), least)))


def best_local(categories: int, epsilon: Number) -> Randomizer:
    """Return the randomizer with the least variance of a rare category's frequency.

    Subset selection is never worse than `KaryResponse`, which it is when it names a single category; then the
    plainer one is returned, and `Warner` for yes/no questions.

    Args:
        categories: How many there are.
        epsilon: The loss of one person's report.

    Example:
        >>> best_local(8, 1)
        SubsetSelection(categories=8, epsilon=1)
        >>> best_local(3, 2)
        KaryResponse(categories=3, epsilon=2)
        >>> best_local(2, 1)
        Warner(epsilon=1)
    """
    return local_candidates(categories, epsilon)[0]


def _rank(variance: float, least: float) -> float:
    return least if variance <= least * (1 + _EQUAL) else variance


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
    exact, count = read_shares(shares, mechanism.answers), read_people(people)
    source = system_bits() if bits is None else bits
    truth = supports = np.zeros(mechanism.answers, np.int64)
    for start in range(0, count, _BATCH):
        values = draw_categories(exact, min(_BATCH, count - start), bits=source)
        truth = truth + np.bincount(values, minlength=mechanism.answers)
        supports = supports + mechanism.supports(mechanism.randomize(values, bits=source))
    return SimulatedSurvey(exact, tuple(truth.tolist()), mechanism.estimate_supports(supports, count))


def draw_categories(shares: Sequence[Fraction], size: int, *, bits: BitSource) -> NDArray[np.int64]:
    """Draw categories with exactly these probabilities, which are rationals that sum to 1."""
    whole = math.lcm(*(part.denominator for part in shares))
    ends = np.cumsum([int(part * whole) for part in shares])
    return np.searchsorted(ends, uniform_below(whole, size, bits=bits), side="right").astype(np.int64)


def read_shares(shares: Sequence[Number], categories: int) -> tuple[Fraction, ...]:
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
