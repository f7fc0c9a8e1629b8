"""Selection charged for less than it loses, noisy max that prints the value, and wrong thresholds of unknown keys.

The index of noisy max is private, the value itself is not. Unknown keys are released by a threshold that is too
low, or with noise for one key of several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from jali.lab.audit.broken.definition import (
    BROKEN,
    CLAIM,
    HONEST,
    Sampled,
    all_above,
    define_subject,
    one_above,
    one_against_the_rest,
    opposite_halves,
)
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.permute_and_flip import PermuteAndFlip
from jali.privacy import Adjacency, Approximate, Pure
from jali.privacy.losses.bounded_range import BoundedRange
from jali.privacy.rationals import Number

VALUES = 5
Noise: TypeAlias = Callable[[np.random.Generator, float, tuple[int, int]], Outputs]

_MOVED = ((100, 99), (99, 100))


def _register_exact(name: str, mechanism: Exponential | PermuteAndFlip) -> Registration:
    claim, pairs = BoundedRange(CLAIM), (_MOVED, ((0, 9), (1, 8)))
    return Registration(name, type(mechanism), claim, Adjacency.REPLACE_ONE, pairs, mechanism.log_masses)


EXACT: tuple[Registration, ...] = (
    _register_exact(
        "exponential mechanism with the exponent of counts under replace-one",
        Exponential(sensitivity=1, epsilon=CLAIM, monotone=True, adjacency="add-remove"),
    ),
    _register_exact(
        "permute-and-flip charged as if it were of bounded range", PermuteAndFlip(sensitivity=1, epsilon=CLAIM)
    ),
)


def laplace_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw two-sided noise."""
    return random.laplace(scale=scale, size=shape)


def exponential_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw one-sided noise: noisy max with it is permute-and-flip (Ding et al. 2021)."""
    return random.exponential(scale=scale, size=shape)


def gumbel_noise(random: np.random.Generator, scale: float, shape: tuple[int, int]) -> Outputs:
    """Draw Gumbel noise: noisy max with it is the exponential mechanism."""
    return random.gumbel(scale=scale, size=shape)


def noisy_max(
    values: Sequence[float],
    count: int,
    random: np.random.Generator,
    *,
    noise: Noise,
    scale: float,
    tells: Callable[..., Outputs],
) -> Outputs:
    """Release which noisy value is the largest (np.argmax), or the largest itself (np.max)."""
    noisy = np.asarray(values, np.float64) + noise(random, scale, (count, len(values)))
    return np.asarray(tells(noisy, axis=1), np.float64)[:, None]


def _define_noisy_max(noise: Noise, epsilon: Number, tells: Callable[..., Outputs]) -> Sampled:
    index = (one_against_the_rest(VALUES), one_above(VALUES), opposite_halves(VALUES))
    pairs = index if tells is np.argmax else (all_above(VALUES), all_above(2 * VALUES))
    return Pure(epsilon), pairs, partial(noisy_max, noise=noise, scale=2 / float(Fraction(epsilon)), tells=tells)


@define_subject("noisy max with Laplace noise", Adjacency.REPLACE_ONE, HONEST)
def noisy_max_laplace(epsilon: Number = CLAIM) -> Sampled:
    """Honest: Laplace noise of scale 2/epsilon, the index alone (Dwork and Roth 2014, section 3.3)."""
    return _define_noisy_max(laplace_noise, epsilon, np.argmax)


@define_subject("noisy max with exponential noise", Adjacency.REPLACE_ONE, HONEST)
def noisy_max_exponential(epsilon: Number = CLAIM) -> Sampled:
    """Honest: exponential noise of scale 2/epsilon, the index alone (McKenna and Sheldon 2020)."""
    return _define_noisy_max(exponential_noise, epsilon, np.argmax)


@define_subject("noisy max with Gumbel noise", Adjacency.REPLACE_ONE, HONEST)
def noisy_max_gumbel(epsilon: Number = CLAIM) -> Sampled:
    """Honest: Gumbel noise of scale 2/epsilon, the index alone (McSherry and Talwar 2007)."""
    return _define_noisy_max(gumbel_noise, epsilon, np.argmax)


@define_subject("noisy max with Laplace noise that prints the value", Adjacency.REPLACE_ONE, BROKEN)
def value_of_noisy_max_laplace(epsilon: Number = CLAIM) -> Sampled:
    """Broken: releases the largest value; it is low with Pr = F(t)^5: loses 5/2 epsilon (Ding et al. 2018)."""
    return _define_noisy_max(laplace_noise, epsilon, np.max)


@define_subject("noisy max with exponential noise that prints the value", Adjacency.REPLACE_ONE, BROKEN)
def value_of_noisy_max_exponential(epsilon: Number = CLAIM) -> Sampled:
    """Broken: releases the largest value, of which some are impossible for a neighbour (Ding et al. 2018)."""
    return _define_noisy_max(exponential_noise, epsilon, np.max)


class _LowThreshold(LaplaceThreshold):
    """Counts a tie as below when it sets the threshold, and as above when it uses it."""

    @property
    def threshold(self) -> int:
        return super().threshold - 1


class _OneKey(LaplaceThreshold):
    """Forgets that a person may have several keys."""

    @property
    def scale(self) -> Fraction:
        return 1 / self.epsilon


def _register_keys(name: str, mechanism: LaplaceThreshold, neighbours: tuple[Any, Any]) -> Registration:
    claim = Approximate(mechanism.epsilon, mechanism.delta)
    return Registration(
        name, LaplaceThreshold, claim, mechanism.adjacency, (neighbours,), mechanism.log_masses, tight=False
    )


_LOW = _LowThreshold(epsilon=1, delta="1/100", adjacency="add-remove")
_ONE = _OneKey(epsilon=2, delta="1/10", max_keys=2, adjacency="add-remove")

EXACT_KEYS: tuple[Registration, ...] = (
    _register_keys("unknown keys with the threshold one too low", _LOW, ({}, {"a": 1})),
    _register_keys("unknown keys with noise for one key of two", _ONE, ({"a": 7, "b": 7}, {"a": 8, "b": 8})),
)


def discrete_tail(epsilon: float, least: int) -> float:
    """Return Pr[noise >= k] = q^k / (1+q) for k >= 1 and discrete Laplace noise with q = exp(-epsilon)."""
    return math.exp(-epsilon * least) / (1 + math.exp(-epsilon))


def release_above_threshold(
    people: int, count: int, random: np.random.Generator, epsilon: float, threshold: int
) -> Outputs:
    """Release the noisy number of people of a key if it reaches the threshold, else 0; empty keys never appear."""
    stop = -math.expm1(-epsilon)
    # The difference of two geometric numbers is discrete Laplace.
    noise = random.geometric(stop, size=(count, 1)) - random.geometric(stop, size=(count, 1))
    noisy = people + noise
    return np.where((people > 0) & (noisy >= threshold), noisy, 0).astype(np.float64)


@define_subject("thresholding with delta off by the tie", Adjacency.ADD_REMOVE, BROKEN)
def threshold_off_by_the_tie(epsilon: Number = CLAIM, delta: Number = Fraction(1, 20)) -> Sampled:
    """Broken: the threshold t has Pr[1 + noise > t] <= delta, and noisy counts of t itself are released too."""
    loss, failure = float(Fraction(epsilon)), float(Fraction(delta))
    threshold = 1
    while discrete_tail(loss, threshold) > failure:
        threshold += 1
    pairs = ((1, 0), (threshold, threshold + 1))
    return Approximate(epsilon, delta), pairs, partial(release_above_threshold, epsilon=loss, threshold=threshold)
