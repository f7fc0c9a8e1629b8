"""Sparse vector: the six algorithms that Lyu, Su and Li 2017 (section 3) compare; the first two are private.

Values of sensitivity 1 are compared with a noisy threshold, one after the other, until a given number of them
was above it. A sampled output has a column for each value: 1 above, 0 below, -1 not asked; and where values are
released, a second one each with the value, NaN where there is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali import mechanisms
from jali.lab.audit.broken.definition import (
    BROKEN,
    CLAIM,
    HONEST,
    Sampled,
    define_subject,
    half_and_half,
    last_against_the_rest,
    opposite_halves,
)
from jali.lab.audit.subject import Outputs
from jali.lab.audit.subjects.registration import Registration
from jali.mechanisms.additive.noise_laws import DiscreteLaplaceLaw
from jali.mechanisms.base import LogMasses
from jali.mechanisms.noisy_threshold import pattern_masses
from jali.privacy import Adjacency, Pure
from jali.privacy.rationals import Number

Floats: TypeAlias = NDArray[np.float64]

VALUES = 10
NOT_ASKED = -1.0
# Discrete noise of scale 2 further out than these weighs nothing to doubles, or next to nothing where two add up.
_ALL, _MOST = 200, 80


@dataclass(frozen=True)
class SparseVectorVariant:
    """One of the algorithms: it draws outputs, and where scales are rational and the threshold is 0 it has a law.

    Attributes:
        threshold_scale: The Laplace noise on the threshold.
        value_scale: The Laplace noise on each value; 0: none.
        cutoff: How many values above the threshold end it; None: it never ends.
        threshold: The threshold.
        redraws: Whether the threshold's noise is drawn again after each value above it.
        tells: Whether the noisy value that was compared is released.
    """

    threshold_scale: float | Fraction
    value_scale: float | Fraction
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
        return value + random.laplace(scale=float(self.value_scale), size=count)

    def _bar(self, count: int, random: np.random.Generator) -> Floats:
        return self.threshold + random.laplace(scale=float(self.threshold_scale), size=count)

    def log_masses(self, values: Sequence[int]) -> LogMasses:
        """Return the law of the answers with discrete noise, or of the values above the threshold."""
        assert self.threshold == 0
        assert not self.redraws
        if self.tells:
            return self._value_masses(values)
        if self.value_scale == 0:
            return self._plain_masses(values)
        return pattern_masses(values, self.cutoff, Fraction(self.threshold_scale), Fraction(self.value_scale))

    def _plain_masses(self, values: Sequence[int]) -> LogMasses:
        law, masses = DiscreteLaplaceLaw(Fraction(self.threshold_scale)), dict[tuple[bool, ...], float]()
        for noise in range(-_ALL, _ALL + 1):
            pattern = tuple(value >= noise for value in values)
            masses[pattern] = masses.get(pattern, 0.0) + math.exp(law.log_mass(noise))
        return {pattern: math.log(mass) for pattern, mass in masses.items()}

    def _value_masses(self, values: Sequence[int]) -> LogMasses:
        """Return the law of the first value above the threshold, with all values below it before."""
        bar, law = (DiscreteLaplaceLaw(Fraction(scale)) for scale in (self.threshold_scale, self.value_scale))
        found: dict[Any, float] = {}
        for noise in range(-_MOST, _MOST + 1):
            before = math.exp(bar.log_mass(noise))
            for place, value in enumerate(values):
                for told in range(noise, _MOST + 1):
                    output = ((None,) * place) + (told,)
                    found[output] = found.get(output, 0.0) + before * math.exp(law.log_mass(told - value))
                before *= _sum_below(law, noise - value)
            none = (None,) * len(values)
            found[none] = found.get(none, 0.0) + before
        return {output: math.log(mass) for output, mass in found.items() if mass > 0}


def _sum_below(law: DiscreteLaplaceLaw, point: int) -> float:
    """Return Pr[X < point]."""
    return 1 - law.tail(point - 1) / 2 if point > 0 else law.tail(-point) / 2


def _define_sampled(epsilon: Number, algorithm: SparseVectorVariant, last: float = 1.0) -> Sampled:
    """Return an algorithm on neighbours that are distinguished best by an end at the last value, or by halves."""
    ended = (last_against_the_rest(VALUES, last), opposite_halves(VALUES))
    pairs = (opposite_halves(VALUES), half_and_half(VALUES)) if algorithm.cutoff is None else ended
    return Pure(epsilon), pairs, algorithm


@define_subject("sparse vector 1, of Lyu, Su and Li", Adjacency.REPLACE_ONE, HONEST)
def lyu(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Sampled:
    """Honest, Algorithm 1: half of epsilon on the threshold, half on the values, with noise for 2c of them."""
    half = float(Fraction(epsilon)) / 2
    return _define_sampled(
        epsilon, SparseVectorVariant(1 / half, 2 * cutoff / half, cutoff, threshold), 0.5 / half
    )


@define_subject("sparse vector 2, of Dwork and Roth", Adjacency.REPLACE_ONE, HONEST)
def dwork_and_roth(epsilon: Number = CLAIM, cutoff: int = 2, threshold: float = 1.0) -> Sampled:
    """Honest, Algorithm 2, of Dwork and Roth 2014: redraws the threshold after each value above it."""
    half = float(Fraction(epsilon)) / 2
    algorithm = SparseVectorVariant(cutoff / half, 2 * cutoff / half, cutoff, threshold, redraws=True)
    return _define_sampled(epsilon, algorithm, 0.5 / half)


@define_subject("sparse vector 3, of Roth", Adjacency.REPLACE_ONE, BROKEN)
def roth(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Sampled:
    """Broken, Algorithm 3, of Roth's lecture notes of 2011: releases the noisy value that it compared."""
    half = float(Fraction(epsilon)) / 2
    return _define_sampled(epsilon, SparseVectorVariant(1 / half, cutoff / half, cutoff, threshold, tells=True))


@define_subject("sparse vector 4, of Lee and Clifton", Adjacency.REPLACE_ONE, BROKEN)
def lee_and_clifton(epsilon: Number = CLAIM, cutoff: int = 1, threshold: float = 1.0) -> Sampled:
    """Broken, Algorithm 4, of Lee and Clifton 2014: noise for 1 value instead of 2c; loses (1+6c)/4 epsilon."""
    whole = float(Fraction(epsilon))
    return _define_sampled(
        epsilon, SparseVectorVariant(4 / whole, 4 / (3 * whole), cutoff, threshold), 0.5 / whole
    )


@define_subject("sparse vector 5, of Stoddard et al.", Adjacency.REPLACE_ONE, BROKEN)
def stoddard(epsilon: Number = CLAIM, threshold: float = 1.0) -> Sampled:
    """Broken, Algorithm 5, of Stoddard, Chen and Machanavajjhala 2014: no noise on the values, and no end."""
    return _define_sampled(epsilon, SparseVectorVariant(2 / float(Fraction(epsilon)), 0.0, None, threshold))


@define_subject("sparse vector 6, of Chen et al.", Adjacency.REPLACE_ONE, BROKEN)
def chen(epsilon: Number = CLAIM, threshold: float = 1.0) -> Sampled:
    """Broken, Algorithm 6, of Chen, Xiao, Zhang and Xu 2015: noise for one value, and no end."""
    scale = 2 / float(Fraction(epsilon))
    return _define_sampled(epsilon, SparseVectorVariant(scale, scale, None, threshold))


def _register_exact(
    name: str,
    neighbours: tuple[Any, Any],
    log_masses: Callable[[Any], LogMasses],
    adjacency: Adjacency = Adjacency.REPLACE_ONE,
) -> Registration:
    return Registration(name, mechanisms.SparseVector, Pure(1), adjacency, (neighbours,), log_masses)


def _build_exact_law(
    threshold_scale: Number, value_scale: Number, cutoff: int | None, *, tells: bool = False
) -> Any:
    return SparseVectorVariant(Fraction(threshold_scale), Fraction(value_scale), cutoff, 0, tells=tells).log_masses


_BELOW, _ABOVE = (0,) * 12, (1,) * 12
_ONCE = mechanisms.SparseVector(cutoff=1, sensitivity=1, epsilon=1)
_COUNTS = mechanisms.SparseVector(cutoff=1, sensitivity=1, epsilon=1, monotone=True, adjacency="add-remove")

# All at epsilon 1.
EXACT: tuple[Registration, ...] = (
    _register_exact(
        "sparse vector of Lee and Clifton", ((*_BELOW, 1), (*_ABOVE, 0)), _build_exact_law(4, "4/3", 1)
    ),
    _register_exact(
        "sparse vector of Chen, without cut-off", ((0,) * 10, (1,) * 5 + (-1,) * 5), _build_exact_law(2, 2, None)
    ),
    _register_exact(
        "sparse vector of Stoddard, without noise on values", ((0, 1), (1, 0)), _build_exact_law(2, 0, None)
    ),
    _register_exact(
        "sparse vector of Roth, tells what it tested",
        ((0,) * 6, (1,) * 6),
        _build_exact_law(2, 2, 1, tells=True),
        Adjacency.ADD_REMOVE,
    ),
    _register_exact(
        "sparse vector that goes on after its cut-off",
        ((*_BELOW, 1, 1), (*_ABOVE, 0, 0)),
        _build_exact_law(_ONCE.threshold_scale, _ONCE.query_scale, 2),
    ),
    _register_exact(
        "sparse vector with monotone noise under replace-one",
        ((80, 80, 80, 80, 1), (81, 81, 81, 81, 0)),
        _COUNTS.log_masses,
    ),
)
