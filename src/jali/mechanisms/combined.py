"""Linear forms in noises: quantiles, deviations, and intervals for ratios of noisy sums.

Statement:
    Discrete Laplace noise of scale b is the difference of two floored exponentials, so it lies within 1 of a
    Laplace variable of scale b; discrete Gaussian noise of parameter sigma^2 can be coupled to lie within 1 of a
    normal variable of standard deviation sigma (Canonne, Kamath and Steinke 2020, Proposition 25). A combination
    sum c_i X_i therefore lies within sum |c_i| of the same combination of continuous variables, whose tail is
    known in closed form for up to a dozen Laplace terms and for any number of normal ones, and is bounded by
    Chernoff's inequality otherwise. Coordinates of one cube have a closed form as well (`cube_tails.py`), and
    noises of several kinds are folded (`tails.py`). A single term uses its exact discrete law.
Proof:
    docs/proofs/intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw
from jali.mechanisms.mechanism import miss
from jali.mechanisms.noises import NoiseLaw, Noises

Floats: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
AnyLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw
# Halving an interval 48 times leaves less of it than a double can tell.
_HALVINGS = 48


def linear_stddev(coefficients: Sequence[float], laws: Sequence[NoiseLaw]) -> float:
    """Return the standard deviation of sum c_i X_i: no two noises are correlated, not even those of one cube.

    Example:
        >>> from fractions import Fraction
        >>> linear_stddev([3.0, -4.0], [DiscreteGaussianLaw(Fraction(10**6))] * 2)
        5000.0
    """
    return math.hypot(*(c * law.stddev for c, law in zip(coefficients, laws, strict=True)))


def linear_quantile(coefficients: Sequence[float], laws: Sequence[NoiseLaw], confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence; the least such t for a single term."""
    if not laws:
        return 0.0
    if len(laws) == 1:
        return abs(coefficients[0]) * laws[0].quantile(confidence)
    with np.errstate(all="ignore"):
        return _several_quantile(coefficients, laws, miss(confidence))


def _several_quantile(coefficients: Sequence[float], laws: Sequence[NoiseLaw], allowed: float) -> float:
    noises = Noises.of(laws)
    columns = [np.array([c]) for c in coefficients]
    low, high = (
        0.0,
        sum(abs(c) * law.quantile(1 - allowed) for c, law in zip(coefficients, laws, strict=True)) + 1e-300,
    )

    def beyond(threshold: float) -> float:
        return float(noises.tail(columns, np.array([threshold]))[0])

    while beyond(high) > allowed and high < 1e300:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if beyond(middle) <= allowed else (middle, high)
    return high


class Form(NamedTuple):
    """A linear form in noisy values: their coefficients, and a constant."""

    coefficients: Sequence[float]
    constant: float

    def of(self, values: Sequence[Floats]) -> Floats:
        """Return the form's value for each group."""
        total = np.full_like(values[0], self.constant)
        for coefficient, value in zip(self.coefficients, values, strict=True):
            total += coefficient * value
        return total


def ratio_interval(
    above: Form,
    below: Form,
    laws: Sequence[NoiseLaw],
    values: Sequence[Floats],
    *,
    confidence: float,
    bounds: tuple[float, float],
) -> tuple[Floats, Floats]:
    """Return the hull of all r that the noisy values do not reject as the true ratio.

    Guarantee:
        With N the value of `above` and D of `below`, r is kept when |N - r D| is below the 1-confidence
        tail of the noise of N - r D; the true ratio of the exact values is rejected with probability at most
        1 - confidence (Fieller's test, for the exact noise). Where D is not clearly away from 0 no r beyond
        some point is rejected, and the interval is all of `bounds`.
    """
    with np.errstate(all="ignore"):
        # Ranges near the limits of a double overflow to infinite ends, which are true if not helpful.
        return _kept_hull(_RatioTest(above, below, Noises.of(laws), values, miss(confidence)), bounds)


def _kept_hull(test: _RatioTest, bounds: tuple[float, float]) -> tuple[Floats, Floats]:
    low, high = (np.full_like(test.above, end) for end in bounds)
    center = np.clip(test.ratio, low, high)
    left = _edge(test, center, low if math.isfinite(bounds[0]) else _outside(test, center, -1.0))
    right = _edge(test, center, high if math.isfinite(bounds[1]) else _outside(test, center, 1.0))
    return np.where(test.vague, low, left), np.where(test.vague, high, right)


class _RatioTest:
    """The test of |N - r D| against its noise, for all groups at once."""

    def __init__(self, above: Form, below: Form, noises: Noises, values: Sequence[Floats], allowed: float) -> None:
        self.noises, self.allowed = noises, allowed
        self.numerators, self.denominators = above.coefficients, below.coefficients
        self.above, self.below = above.of(values), below.of(values)

    @property
    def ratio(self) -> Floats:
        return np.where(self.below == 0, 0.0, self.above / np.where(self.below == 0, 1.0, self.below))

    @cached_property
    def vague(self) -> Flags:
        """Where the denominator cannot be told from 0."""
        columns = [np.full_like(self.below, d) for d in self.denominators]
        return self.noises.tail(columns, np.abs(self.below)) > self.allowed

    def keeps(self, r: Floats) -> Flags:
        columns = [n - r * d for n, d in zip(self.numerators, self.denominators, strict=True)]
        return self.noises.tail(columns, np.abs(self.above - r * self.below)) > self.allowed


def _outside(test: _RatioTest, center: Floats, sign: float) -> Floats:
    """Return points beyond the kept set, by doubling steps; where the denominator is vague there are none."""
    step = np.abs(center) * 1e-3 + 1e-9
    growing = ~test.vague
    for _ in range(1100):
        growing &= test.keeps(center + sign * step)
        if not growing.any():
            break
        step = np.where(growing, 2 * step, step)
    return center + sign * step


def _edge(test: _RatioTest, inside: Floats, outside: Floats) -> Floats:
    """Bisect between a kept point and the far end; the far end itself if it is kept too."""
    near, far, kept_end = inside, outside, test.keeps(outside)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        kept = test.keeps(middle)
        near, far = np.where(kept, middle, near), np.where(kept, far, middle)
    return np.where(kept_end, outside, far)
