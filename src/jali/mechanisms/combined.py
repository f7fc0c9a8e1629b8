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
from jali.mechanisms.laws.coordinate import CoordinateLaw
from jali.mechanisms.laws.cube import CubeLaw
from jali.mechanisms.mechanism import miss
from jali.mechanisms.noises import NoiseLaw, Noises
from jali.numbers.search import bisect_each

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
    return linear_quantiles([(coefficients, laws)], confidence)[0]


LinearForm: TypeAlias = tuple[Sequence[float], Sequence[NoiseLaw]]


def linear_quantiles(forms: Sequence[LinearForm], confidence: float) -> list[float]:
    """Return the same for each of many forms: those in the same noises are computed together.

    Forms that were asked for lately are remembered, as a question has the same form in many aggregates.
    """
    allowed = miss(confidence)
    known = [(tuple(coefficients), _renumbered(laws), allowed) for coefficients, laws in forms]
    missing: dict[tuple[NoiseLaw, ...], dict[tuple[float, ...], None]] = {}
    found: dict[_Key, float] = {}
    for key in known:
        remembered = _REMEMBERED.get(key)
        if len(key[1]) <= 1:
            found[key] = sum(abs(c) * law.quantile(confidence) for c, law in zip(*key[:2], strict=True)) or 0.0
        elif remembered is not None:
            found[key] = remembered
        else:
            missing.setdefault(key[1], {})[key[0]] = None
    for laws, several in missing.items():
        with np.errstate(all="ignore"):
            quantiles = _several_quantiles(list(several), laws, allowed)
        found |= {(one, laws, allowed): value for one, value in zip(several, quantiles, strict=True)}
    if len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.clear()
    _REMEMBERED.update(found)
    return [found[key] for key in known]


_Key: TypeAlias = tuple[tuple[float, ...], tuple[NoiseLaw, ...], float]
_REMEMBERED: dict[_Key, float] = {}
_MOST_REMEMBERED = 4096


def _renumbered(laws: Sequence[NoiseLaw]) -> tuple[NoiseLaw, ...]:
    """Name the coordinates of a cube in their order: which ones of it a form is made of changes nothing."""
    places: dict[CoordinateLaw, int] = {}
    used: dict[CubeLaw, int] = {}
    for law in laws:
        if isinstance(law, CoordinateLaw) and law not in places:
            places[law] = used.get(law.cube, 0)
            used[law.cube] = places[law] + 1
    return tuple(CoordinateLaw(law.cube, places[law]) if isinstance(law, CoordinateLaw) else law for law in laws)


def _several_quantiles(forms: Sequence[Sequence[float]], laws: Sequence[NoiseLaw], allowed: float) -> list[float]:
    """Halve the distance between a threshold that is exceeded too often and one that is not, for all forms."""
    noises = Noises.of(laws)
    columns = list(np.array(forms).T)
    reach = [law.quantile(1 - allowed) for law in laws]
    high = np.array([sum(abs(c) * r for c, r in zip(form, reach, strict=True)) + 1e-300 for form in forms])
    low = np.zeros_like(high)
    while (beyond := (noises.tail(columns, high) > allowed) & (high < 1e300)).any():
        low, high = np.where(beyond, high, low), np.where(beyond, 2 * high, high)
    _, high = bisect_each(lambda t: noises.tail(columns, t) <= allowed, low, high, steps=_HALVINGS)
    return [float(value) for value in high]


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
    _, far = bisect_each(lambda r: ~test.keeps(r), inside, outside, steps=_HALVINGS)
    return np.where(test.keeps(outside), outside, far)
