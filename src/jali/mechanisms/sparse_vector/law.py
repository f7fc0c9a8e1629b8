"""The exact law of a comparison with a noisy threshold: patterns of answers, and how far they can be off."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.mechanism import miss
from jali.numbers.search import bracket, least_integer

Floats: TypeAlias = NDArray[np.float64]
Pattern: TypeAlias = tuple[bool, ...]
# So many scales from 0 the threshold's noise has e^-100 of its mass left.
_FAR = 100
# For the error the mass of a block of a 512th of the scale is counted at its worse end, from so many scales on.
_BLOCKS, _ENOUGH = 512, 45


def at_least(scale: Fraction, points: Floats) -> Floats:
    """Return Pr[X >= x] for discrete Laplace noise and integers x: q^x / (1+q), or its complement below 1."""
    rate = float(1 / scale)
    tail = np.exp(-rate * np.where(points > 0, points, 1 - points)) / (1 + math.exp(-rate))
    return np.where(points > 0, tail, 1 - tail)


def log_at_least(scale: Fraction, points: Floats) -> Floats:
    """Return ln Pr[X >= x], also where the probability is below all doubles."""
    rate = float(1 / scale)
    far = -rate * points - math.log1p(math.exp(-rate))
    return np.where(points > 0, far, np.log1p(-at_least(scale, np.maximum(1 - points, 1))))


def log_mass(scale: Fraction, points: Floats) -> Floats:
    """Return ln Pr[X = x], where Pr[X = x] = tanh(1 / (2 scale)) exp(-|x| / scale)."""
    rate = float(1 / scale)
    return np.asarray(math.log(math.tanh(rate / 2)) - rate * np.abs(points))


def pattern_masses(
    values: Sequence[int], cutoff: int | None, threshold_scale: Fraction, query_scale: Fraction
) -> dict[Pattern, float]:
    """Return ln Pr[pattern] for every pattern of answers to `values` against the threshold 0.

    Given the threshold's noise z the answers are independent: Pr[above] = Pr[noise >= z - value]. The products
    are summed over z. A pattern ends with its `cutoff`-th True; None: it never ends.
    """
    reach = math.ceil(_FAR * threshold_scale) + max(map(abs, values), default=0)
    noises = np.arange(-reach, reach + 1, dtype=np.float64)
    above = [log_at_least(query_scale, noises - value) for value in values]
    below = [log_at_least(query_scale, 1 - noises + value) for value in values]
    pending: list[tuple[Pattern, Floats]] = [((), log_mass(threshold_scale, noises))]
    found: dict[Pattern, float] = {}
    while pending:
        pattern, logs = pending.pop()
        if len(pattern) == len(values) or (cutoff is not None and sum(pattern) >= cutoff):
            found[pattern] = _log_sum(logs)
        else:
            place = len(pattern)
            pending += [((*pattern, True), logs + above[place]), ((*pattern, False), logs + below[place])]
    return found


def _log_sum(logs: Floats) -> float:
    """Return ln of the sum of numbers that are given by their logarithms."""
    largest = float(logs.max())
    return largest + math.log(math.fsum(np.exp(logs - largest).tolist()))


@lru_cache(maxsize=256)
def misjudged_by(threshold_scale: Fraction, query_scale: Fraction, queries: int, confidence: float) -> int:
    """Return a t such that, with the given confidence, no value further than t from the threshold is misjudged.

    Guarantee:
        A value is misjudged by more than t only if its noise x leaves [z-t-1, z+t], where z is the threshold's.
        The noises are independent given z, so all of them stay inside with probability
        sum_z Pr[z] Pr[z-t-1 <= x <= z+t]^queries, however the values are chosen; t is the least with that sum
        at least the confidence. Where the scale is above 512 the sum is bounded from below by blocks.
    Proof:
        docs/proofs/sparse_vector.md, Lemma 3.
    """
    allowed = miss(confidence)
    starts, ends, masses = _blocks(threshold_scale)

    def holds(t: int) -> bool:
        worse = np.maximum(_outside(query_scale, starts, t), _outside(query_scale, ends, t))
        inside = np.exp(queries * np.log1p(-np.minimum(worse, 1 - 1e-16)))
        return float(1 - (masses * inside).sum()) <= allowed

    return _least(holds)


def _blocks(scale: Fraction) -> tuple[Floats, Floats, Floats]:
    width = max(1, math.floor(scale / _BLOCKS))
    count = math.ceil(_ENOUGH * scale / width)
    starts = np.arange(-count, count, dtype=np.float64) * width
    masses = at_least(scale, starts) - at_least(scale, starts + width)
    return starts, starts + (width - 1), masses


def _outside(scale: Fraction, noises: Floats, t: int) -> Floats:
    """Return Pr[x < z-t-1] + Pr[x > z+t]."""
    return np.asarray(at_least(scale, noises + (t + 1)) + at_least(scale, t + 2 - noises))


def _least(holds: Callable[[int], bool]) -> int:
    """Return the least t >= 0 that satisfies a monotone condition."""
    return least_integer(holds, -1, bracket(holds, -1, 1)[1])
