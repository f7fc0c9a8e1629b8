"""Optimal composition of equal pure losses, by the exact profile of k-fold randomized response."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.numbers.rounding import float_above, float_below, round_up
from jali.privacy.composition.compound import Parts, epsilons, events, lacks_epsilon
from jali.privacy.composition.theorem import Theorem
from jali.privacy.profiles import bisect_above

Array: TypeAlias = NDArray[np.float64]

# The arrays below hold one number for each loss composed.
_MOST = 1_000_000
_LARGEST_EPSILON = 1e9
# Masses below _TINY may have underflown on the way; what they have lost is less than _UNTRACKED for all of them.
_TINY, _UNTRACKED = 1e-290, 1e-280


def response_delta(epsilon: float, count: int, target: float) -> float:
    """Return delta at `target` of `count` independent randomized responses of `epsilon`, rounded up.

    Guarantee:
        With l lies among k answers the loss is (k-2l) epsilon, so that
        delta(e) = sum over (k-2l) epsilon > e of C(k,l) (e^((k-l) epsilon) - e^(e + l epsilon)) / (1+e^epsilon)^k
        (Kairouz, Oh and Viswanath 2015, Theorem 3.3, here at every e and not only at its corners).
        The relative error is at most (10 k + 100) 2^-53, and is added.

    Example:
        >>> round(response_delta(0.1, 10, 0.8), 12)
        0.000288233858
    """
    masses = _masses(epsilon, count)
    # Losses are raised by more than the rounding of the product and of the difference below.
    losses = epsilon * (count - 2.0 * np.arange(masses.size)) * (1 + 2.0**-51)
    above = losses > target
    delta = float(np.sum(masses[above] * -np.expm1(target - losses[above])))
    untracked = _UNTRACKED if masses.size and masses.min() < _TINY else 0.0
    return delta * (1 + (10 * count + 100) * 2.0**-53) + untracked


@lru_cache(maxsize=16)
def _masses(epsilon: float, count: int) -> Array:
    """Return the probabilities of 0, 1, ... lies, as long as lies are fewer than truths.

    They are products of ratios, from the most likely number outwards, divided by their sum: every step is one
    correctly rounded operation or two, so the error is known, as it is not for a library's gamma function.
    """
    lie = math.exp(-epsilon)
    mode = min(count, int((count + 1) * lie / (1 + lie)))
    up = np.arange(mode, count, dtype=float)
    down = np.arange(mode, 0, -1, dtype=float)
    outwards = np.cumprod((count - up) / (up + 1) * lie)
    inwards = np.cumprod(down / ((count - down + 1) * lie))
    weights = np.concatenate([inwards[::-1], [1.0], outwards])
    masses: Array = (weights / weights.sum())[: (count + 1) // 2]
    masses.setflags(write=False)
    return masses


def _obstacle(parts: Parts) -> str | None:
    if reason := lacks_epsilon(parts):
        return reason
    if len({epsilon for epsilon, _ in epsilons(parts)}) > 1:
        return "the losses differ in epsilon"
    return f"there are more than {_MOST:,} losses" if _count(parts) > _MOST else None


def _epsilon(parts: Parts, delta: Fraction) -> float:
    single, count, failure = epsilons(parts)[0][0], _count(parts), Fraction(_failure(parts))
    if delta < failure or failure >= 1:
        return math.inf
    rest = float_below((delta - failure) / (1 - failure))
    found = bisect_above(lambda e: response_delta(float_above(single), count, e) <= rest, _LARGEST_EPSILON)
    return min(found, float_above(count * single))


def _delta(parts: Parts, epsilon: Fraction) -> float:
    """Return 1 - (1 - delta of randomized response) times the product of all (1 - delta_i)."""
    single, count, failure = epsilons(parts)[0][0], _count(parts), _failure(parts)
    if epsilon >= count * single:
        return failure
    rest = response_delta(float_above(single), count, float_below(epsilon))
    return min(1.0, failure + round_up((1 - failure) * rest) if failure else rest)


def _count(parts: Parts) -> int:
    return sum(count for _, count in parts)


def _failure(parts: Parts) -> float:
    """Return 1 minus the product of all (1 - delta_i), rounded up."""
    logs = math.fsum(count * math.log1p(-float_above(event.delta)) for event, count in events(parts))
    return min(1.0, round_up(-math.expm1(logs)))


OPTIMAL = Theorem(
    name="optimal composition of equal losses (Kairouz, Oh and Viswanath)",
    citation="Kairouz, Oh and Viswanath 2015, Theorem 3.3; concurrent: Vadhan and Wang 2021, Lyu 2022",
    adaptive_parameters=False,
    concurrent=True,
    obstacle=_obstacle,
    solve_epsilon=_epsilon,
    solve_delta=_delta,
)
