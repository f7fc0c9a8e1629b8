"""Sums of independent noises: tails, quantiles, and intervals for ratios of noisy sums.

Statement:
    Discrete Laplace noise of scale b is the difference of two floored exponentials, so it lies within 1 of a
    Laplace variable of scale b; discrete Gaussian noise of parameter sigma^2 can be coupled to lie within 1 of a
    normal variable of standard deviation sigma (Canonne, Kamath and Steinke 2020, Proposition 25). A combination
    sum c_i X_i therefore lies within sum |c_i| of the same combination of continuous variables, whose tail is
    known in closed form for one or two Laplace terms and for any number of normal ones, and is bounded by
    Chernoff's inequality otherwise. A single term uses its exact discrete law.
Proof:
    docs/proofs/intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, miss

Floats: TypeAlias = NDArray[np.float64]
AnyLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw
_STEPS = 60


def linear_quantile(coefficients: Sequence[float], laws: Sequence[AnyLaw], confidence: float) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence; the least such t for a single term."""
    if not laws:
        return 0.0
    if len(laws) == 1:
        return abs(coefficients[0]) * laws[0].quantile(confidence)
    allowed = miss(confidence)
    columns = [np.array([c]) for c in coefficients]
    low = 0.0
    high = sum(abs(c) * law.quantile(1 - allowed / len(laws)) for c, law in zip(coefficients, laws, strict=True))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        beyond = float(combined_tail(columns, laws, np.array([middle]))[0])
        low, high = (low, middle) if beyond <= allowed else (middle, high)
    return high


def combined_tail(coefficients: Sequence[Floats], laws: Sequence[AnyLaw], threshold: Floats) -> Floats:
    """Return an upper bound on Pr[|sum c_i X_i| >= threshold], elementwise over arrays of coefficients."""
    sizes = [np.abs(c) for c in coefficients]
    reduced = np.maximum(0.0, threshold - sum(sizes, np.zeros_like(threshold)))
    scales = [s * _spread(law) for s, law in zip(sizes, laws, strict=True)]
    if all(isinstance(law, DiscreteGaussianLaw) for law in laws):
        total = np.sqrt(sum((s**2 for s in scales), np.zeros_like(threshold)))
        return _normal_tail(_ratio(reduced, total))
    if len(laws) == 1:
        return np.asarray(np.exp(-_ratio(reduced, scales[0])))
    if len(laws) == 2:
        return _two_laplace_tail(scales[0], scales[1], reduced)
    return _chernoff_tail(scales, reduced)


def ratio_interval(
    numerators: Sequence[float],
    denominators: Sequence[float],
    constants: tuple[float, float],
    laws: Sequence[AnyLaw],
    values: Sequence[Floats],
    confidence: float,
    bounds: tuple[float, float],
) -> tuple[Floats, Floats]:
    """Return the hull of all r that the noisy values do not reject as the true ratio.

    Guarantee:
        With N = sum n_i x_i + constant and D likewise, r is kept when |N - r D| is below the 1-confidence
        tail of the noise of N - r D; the true ratio of the exact values is rejected with probability at most
        1 - confidence (Fieller's test, for the exact noise). Where D is not clearly away from 0 no r beyond
        some point is rejected, and the interval is all of `bounds`.
    """
    test = _RatioTest(numerators, denominators, constants, laws, values, miss(confidence))
    low, high = (np.full(values[0].shape, end) for end in bounds)
    center = np.clip(test.ratio, low, high)
    left = _edge(test.keeps, center, _reach(test, center, low, -1.0))
    right = _edge(test.keeps, center, _reach(test, center, high, 1.0))
    vague = test.vague
    return np.where(vague, low, left), np.where(vague, high, right)


class _RatioTest:
    """The test |N - r D| against its noise, for arrays of groups at once."""

    def __init__(
        self,
        numerators: Sequence[float],
        denominators: Sequence[float],
        constants: tuple[float, float],
        laws: Sequence[AnyLaw],
        values: Sequence[Floats],
        allowed: float,
    ) -> None:
        self.numerators, self.denominators, self.laws, self.allowed = numerators, denominators, laws, allowed
        self.above = sum((n * x for n, x in zip(numerators, values, strict=True)), np.zeros_like(values[0])) + constants[0]
        self.below = sum((d * x for d, x in zip(denominators, values, strict=True)), np.zeros_like(values[0])) + constants[1]

    @property
    def ratio(self) -> Floats:
        safe = np.where(self.below == 0, 1.0, self.below)
        return np.asarray(np.where(self.below == 0, 0.0, self.above / safe))

    @property
    def vague(self) -> Any:
        """Where the denominator cannot be told from 0."""
        columns = [np.full_like(self.below, d) for d in self.denominators]
        return combined_tail(columns, self.laws, np.abs(self.below)) > self.allowed

    def keeps(self, r: Floats) -> Any:
        columns = [n - r * d for n, d in zip(self.numerators, self.denominators, strict=True)]
        return combined_tail(columns, self.laws, np.abs(self.above - r * self.below)) > self.allowed


def _reach(test: _RatioTest, center: Floats, end: Floats, sign: float) -> Floats:
    """Return a point at or beyond the edge: the public end, or where doubling steps leave the kept set."""
    if np.all(np.isfinite(end)):
        return end
    step = np.abs(center) * 1e-3 + 1e-9
    for _ in range(80):
        step = np.where(test.keeps(center + sign * step) & ~test.vague, step * 2, step)
    return np.where(np.isfinite(end), end, center + sign * step)


def _edge(keeps: Callable[[Floats], Any], inside: Floats, outside: Floats) -> Floats:
    """Bisect between a kept point and the far end; the far end itself if it is kept too."""
    near, far = inside, outside
    kept_end = keeps(outside)
    for _ in range(_STEPS):
        middle = (near + far) / 2
        kept = keeps(middle)
        near, far = np.where(kept, middle, near), np.where(kept, far, middle)
    return np.asarray(np.where(kept_end, outside, far))


def _spread(law: AnyLaw) -> float:
    return law.sigma if isinstance(law, DiscreteGaussianLaw) else float(law.scale)


def _ratio(above: Floats, below: Floats) -> Floats:
    safe = np.where(below > 0, below, 1.0)
    return np.asarray(np.where(below > 0, above / safe, np.where(above > 0, np.inf, 0.0)))


def _normal_tail(z: Floats) -> Floats:
    return np.array([math.erfc(value / math.sqrt(2)) for value in z.ravel()]).reshape(z.shape)


def _two_laplace_tail(a: Floats, b: Floats, t: Floats) -> Floats:
    """Pr[|aL + bL'| >= t] = (a^2 e^{-t/a} - b^2 e^{-t/b}) / (a^2 - b^2); (1 + t/2a) e^{-t/a} where a = b.

    Where the two are within 0.1 % the larger scale is used for both: an upper bound without cancellation.
    """
    large, small = np.maximum(a, b), np.minimum(a, b)
    close = small > 0.999 * large
    x = _ratio(t, large)
    equal = (1 + x / 2) * np.exp(-x)
    gap = np.where(close, 1.0, large**2 - small**2)
    apart = (large**2 * np.exp(-x) - small**2 * np.exp(-_ratio(t, small))) / gap
    return np.asarray(np.where(close, equal, apart))


def _chernoff_tail(scales: Sequence[Floats], t: Floats) -> Floats:
    """Bound the tail by 2 min over s of exp(-s t) / prod(1 - (s b_i)^2), on a grid of s."""
    largest = np.maximum.reduce(list(scales))
    best = np.ones_like(t)
    for share in np.linspace(0.02, 0.98, 49):
        s = share / np.where(largest > 0, largest, 1.0)
        log = -s * t - sum((np.log1p(-((s * b) ** 2)) for b in scales), np.zeros_like(t))
        best = np.minimum(best, 2 * np.exp(log))
    return best
