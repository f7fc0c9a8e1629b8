"""Release of unknown keys by a threshold that is too low, or with noise for one key of several."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from jali.lab.audit.broken.definition import BROKEN, CLAIM, Sampled, define_subject
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms.partition_selection.laplace_threshold import LaplaceThreshold
from jali.privacy import Adjacency, Approximate
from jali.privacy.rationals import Number


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


def _register_exact(name: str, mechanism: LaplaceThreshold, neighbours: tuple[Any, Any]) -> Registration:
    claim = Approximate(mechanism.epsilon, mechanism.delta)
    return Registration(
        name, LaplaceThreshold, claim, mechanism.adjacency, (neighbours,), mechanism.log_masses, tight=False
    )


_LOW = _LowThreshold(epsilon=1, delta="1/100", adjacency="add-remove")
_ONE = _OneKey(epsilon=2, delta="1/10", max_keys=2, adjacency="add-remove")

EXACT: tuple[Registration, ...] = (
    _register_exact("unknown keys with the threshold one too low", _LOW, ({}, {"a": 1})),
    _register_exact("unknown keys with noise for one key of two", _ONE, ({"a": 7, "b": 7}, {"a": 8, "b": 8})),
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
