"""Release of unknown keys by a threshold that forgets the tie."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.sampled.making import CLAIM, sampled
from jali.privacy import Adjacency, Approximate
from jali.privacy.rationals import Number


def discrete_tail(epsilon: float, least: int) -> float:
    """Return Pr[noise >= k] = q^k / (1+q) for k >= 1 and discrete Laplace noise with q = exp(-epsilon)."""
    return math.exp(-epsilon * least) / (1 + math.exp(-epsilon))


def thresholded(people: int, count: int, random: np.random.Generator, epsilon: float, threshold: int) -> Outputs:
    """Tell the noisy number of people of a key if it reaches the threshold, else 0; nobody's key never appears."""
    stop = -math.expm1(-epsilon)
    # The difference of two geometric numbers is discrete Laplace.
    noise = random.geometric(stop, size=(count, 1)) - random.geometric(stop, size=(count, 1))
    noisy = people + noise
    return np.where((people > 0) & (noisy >= threshold), noisy, 0).astype(np.float64)


def threshold_off_by_the_tie(epsilon: Number = CLAIM, delta: Number = Fraction(1, 20)) -> Subject:
    """Broken: the threshold t has Pr[1 + noise > t] <= delta, and noisy counts of t itself are told as well."""
    loss, failure = float(Fraction(epsilon)), float(Fraction(delta))
    threshold = 1
    while discrete_tail(loss, threshold) > failure:
        threshold += 1
    sampler = partial(thresholded, epsilon=loss, threshold=threshold)
    name, source = "thresholding with delta off by the tie", "keys:threshold_off_by_the_tie"
    claim = Approximate(epsilon, delta)
    return sampled(name, claim, Adjacency.ADD_REMOVE, ((1, 0), (threshold, threshold + 1)), sampler, source)
