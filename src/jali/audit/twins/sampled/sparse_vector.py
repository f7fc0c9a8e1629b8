"""Sparse vector: the six algorithms that Lyu, Su and Li 2017 compare; the first two are private, the others not.

Values of sensitivity 1 are compared with a noisy threshold, one after the other, until so many were above it. An
output has a column for each value: 1 above, 0 below, -1 not asked; and where values are told, a second one each
with the value, NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.audit.subject import Outputs, Subject
from jali.audit.twins.sampled.making import CLAIM, crossed, half_and_half, last_against_the_rest, sampled
from jali.privacy import Adjacency, Pure
from jali.privacy.rationals import Number

Floats: TypeAlias = NDArray[np.float64]

VALUES = 10
NOT_ASKED = -1.0


@dataclass(frozen=True)
class SparseVector:
    """One of the algorithms.

    Attributes:
        threshold_scale: The Laplace noise on the threshold.
        value_scale: The Laplace noise on each value; 0: none.
        cutoff: How many values above the threshold end it; None: it never ends.
        threshold: The threshold.
        redraws: Whether the threshold's noise is drawn anew after each value above it.
        tells: Whether the noisy value that was compared is told.
    """

    threshold_scale: float
    value_scale: float
    cutoff: int | None = 1
    threshold: float = 1.0
    redraws: bool = False
    tells: bool = False

    def __call__(self, values: Sequence[float], count: int, random: np.random.Generator) -> Outputs:
        """Draw the outputs of many runs; only those that go on are looked at, value after value."""
        answers = np.full((len(values), count), NOT_ASKED)
        told = np.full((len(values) if self.tells else 0, count), np.nan)
        live, left = np.arange(count), np.full(count, len(values) if self.cutoff is None else self.cutoff)
        bar = self._bar(count, random)
        for place, value in enumerate(values):
            noisy = self._noisy(value, len(live), random)
            above = noisy >= bar
            answers[place, live] = above
            if self.tells:
                told[place, live] = np.where(above, noisy, np.nan)
            if self.redraws:
                bar[above] = self._bar(int(above.sum()), random)
            left -= above
            if self.cutoff is not None:
                goes_on = left > 0
                live, left, bar = live[goes_on], left[goes_on], bar[goes_on]
        return np.vstack([answers, told]).T

    def _noisy(self, value: float, count: int, random: np.random.Generator) -> Floats:
        if self.value_scale == 0:
            return np.full(count, value)
        return value + random.laplace(scale=self.value_scale, size=count)

    def _bar(self, count: int, random: np.random.Generator) -> Floats:
        return self.threshold + random.laplace(scale=self.threshold_scale, size=count)


def lyu(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Subject:
    """Honest, Algorithm 1: half of epsilon on the threshold, half on the values, with noise for 2c of them."""
    half = float(Fraction(epsilon)) / 2
    algorithm = SparseVector(1 / half, 2 * cutoff / half, cutoff, threshold)
    return _subject("sparse vector 1, of Lyu, Su and Li", epsilon, algorithm, "lyu", 0.5 / half)


def dwork_and_roth(epsilon: Number = CLAIM, cutoff: int = 2, threshold: float = 1.0) -> Subject:
    """Honest, Algorithm 2, of Dwork and Roth 2014: redraws the threshold after each value above it."""
    half = float(Fraction(epsilon)) / 2
    algorithm = SparseVector(cutoff / half, 2 * cutoff / half, cutoff, threshold, redraws=True)
    return _subject("sparse vector 2, of Dwork and Roth", epsilon, algorithm, "dwork_and_roth", 0.5 / half)


def roth(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Subject:
    """Broken, Algorithm 3, of Roth's lecture notes of 2011: tells the noisy value that it compared."""
    half = float(Fraction(epsilon)) / 2
    algorithm = SparseVector(1 / half, cutoff / half, cutoff, threshold, tells=True)
    return _subject("sparse vector 3, of Roth", epsilon, algorithm, "roth")


def lee_and_clifton(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Subject:
    """Broken, Algorithm 4, of Lee and Clifton 2014: noise for 1 value instead of 2c; loses (1+6c)/4 epsilon."""
    whole = float(Fraction(epsilon))
    algorithm = SparseVector(4 / whole, 4 / (3 * whole), cutoff, threshold)
    return _subject("sparse vector 4, of Lee and Clifton", epsilon, algorithm, "lee_and_clifton", 0.5 / whole)


def stoddard(epsilon: Number = CLAIM, threshold: float = 1.0) -> Subject:
    """Broken, Algorithm 5, of Stoddard, Chen and Machanavajjhala 2014: no noise on the values, and no end."""
    algorithm = SparseVector(2 / float(Fraction(epsilon)), 0.0, None, threshold)
    return _subject("sparse vector 5, of Stoddard et al.", epsilon, algorithm, "stoddard")


def chen(epsilon: Number = CLAIM, threshold: float = 1.0) -> Subject:
    """Broken, Algorithm 6, of Chen, Xiao, Zhang and Xu 2015: noise for one value, and no end."""
    scale = 2 / float(Fraction(epsilon))
    algorithm = SparseVector(scale, scale, None, threshold)
    return _subject("sparse vector 6, of Chen et al.", epsilon, algorithm, "chen")


def _subject(name: str, epsilon: Number, algorithm: SparseVector, source: str, last: float = 1.0) -> Subject:
    """Return an algorithm on neighbours that are told apart best by an end at the last value, or by halves."""
    ended = (last_against_the_rest(VALUES, last), crossed(VALUES))
    pairs = (crossed(VALUES), half_and_half(VALUES)) if algorithm.cutoff is None else ended
    return sampled(name, Pure(epsilon), Adjacency.REPLACE_ONE, pairs, algorithm, f"sparse_vector:{source}")
