"""Linear forms in noisy values: standard deviations, quantiles, and intervals for ratios.

Statement:
    Discrete Laplace noise of scale b is the difference of two floored exponentials, so it lies within 1 of a
    Laplace variable of scale b; discrete Gaussian noise of parameter sigma^2 can be coupled to lie within 1 of a
    normal variable of standard deviation sigma (Canonne, Kamath and Steinke 2020, Proposition 25). A combination
    sum c_i X_i therefore lies within sum |c_i| of the same combination of continuous variables, whose tail is
    known in closed form for up to a dozen Laplace terms and for any number of normal ones, and is bounded by
    Chernoff's inequality otherwise. Coordinates of one cube have a closed form as well, and noises of several
    kinds are folded (both in `tail_bounds`). A single term uses its exact discrete law.
Proof:
    docs/proofs/intervals.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.additive.cube_laws import CoordinateLaw, CubeLaw
from jali.mechanisms.additive.noise_laws import DiscreteGaussianLaw, DiscreteLaplaceLaw, Floats
from jali.mechanisms.base import read_miss_probability
from jali.mechanisms.intervals.tail_bounds import (
    Tail,
    bound_cube_tail,
    bound_laplace_tail,
    bound_normal_tail,
    bound_sum_tail,
    find_coordinate_threshold,
)
from jali.numbers.search import bisect_each

LinearFormLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw | CoordinateLaw
# Below this rate exp(rate) is close enough to 1, and above this one there is hardly any noise.
_FINE, _STEEP = Fraction(1, 1024), Fraction(64)


@dataclass(frozen=True)
class IndependentNoises:
    """Independent noises of one family, each with its scale (Laplace) or standard deviation (Gaussian).

    The integer noise lies within 1 of a continuous one.
    """

    spreads: tuple[float, ...]
    gaussian: bool

    slack = 1.0
    excess = 1.0

    def tail(self, sizes: Sequence[Floats], t: Floats) -> Floats:
        """Return the tail of a form in the continuous noises, of these absolute coefficients."""
        scales = [size * spread for size, spread in zip(sizes, self.spreads, strict=True)]
        return bound_normal_tail(scales, t) if self.gaussian else bound_laplace_tail(scales, t)

    def deviation(self, sizes: Sequence[Floats]) -> Floats:
        """Return the standard deviation of such a form."""
        scales = (size * spread for size, spread in zip(sizes, self.spreads, strict=True))
        return np.asarray(np.sqrt((1 if self.gaussian else 2) * sum(s * s for s in scales)))

    def bound_tail(self, allowed: float) -> list[float]:
        """Return per noise a t that the continuous noise exceeds with probability at most `allowed`."""
        far = -NormalDist().inv_cdf(allowed / 2) if self.gaussian else -math.log(allowed)
        return [spread * far * (1 + 1e-9) for spread in self.spreads]

    def only(self, places: Sequence[int]) -> IndependentNoises:
        """Return some of the noises."""
        return IndependentNoises(tuple(self.spreads[place] for place in places), self.gaussian)


@dataclass(frozen=True)
class CubeCoordinates:
    """Some coordinates of one cube.

    A form in them exceeds t at most `excess` times as often as the same form in continuous ones t - sum |c_i|/2.
    """

    cube: CubeLaw
    count: int

    slack = 0.5

    @property
    def rate(self) -> float:
        """The cube's rate; a law that is hardly any noise is read as a wider one."""
        return float(min(self.cube.rate, _STEEP))

    @property
    def excess(self) -> float:
        """The most that a mass can be over that of the continuous noise in the point's cell."""
        return _compute_excess(self.cube.dimension, min(self.cube.rate, _STEEP))

    def tail(self, sizes: Sequence[Floats], t: Floats) -> Floats:
        """Return the tail of a form in the continuous coordinates, of these absolute coefficients."""
        return bound_cube_tail(self.cube.dimension, sizes, t * self.rate)

    def deviation(self, sizes: Sequence[Floats]) -> Floats:
        """Return the standard deviation of such a form: coordinates are not correlated."""
        d = self.cube.dimension
        return np.asarray(np.sqrt((d + 1) * (d + 2) / 3 * sum(s * s for s in sizes)) / self.rate)

    def bound_tail(self, allowed: float) -> list[float]:
        """Return per coordinate a t that the continuous one exceeds with probability at most `allowed`."""
        return [find_coordinate_threshold(self.cube.dimension, allowed) / self.rate * (1 + 1e-9)] * self.count

    def only(self, places: Sequence[int]) -> CubeCoordinates:
        """Return some of the coordinates."""
        return CubeCoordinates(self.cube, len(places))


class NoiseBlock(NamedTuple):
    """Noises that are independent of all others, and their places in a form."""

    noises: IndependentNoises | CubeCoordinates
    places: tuple[int, ...]


@dataclass(frozen=True)
class NoiseBlocks:
    """All noises of a form, in independent blocks.

    Statement:
        For a form with coefficients c, Pr[|form| >= t] is at most the product of the blocks' excesses times the
        tail of a sum of independent continuous forms, at t less the sum of |c_i| times the slack of its block.
    Proof:
        docs/proofs/intervals.md, part 2.
    """

    blocks: tuple[NoiseBlock, ...]

    @classmethod
    def of(cls, laws: Sequence[LinearFormLaw]) -> NoiseBlocks:
        """Read the noises of a question; coordinates of equal cubes at different places are of one draw."""
        blocks = [_gather_family(laws, gaussian=False), _gather_family(laws, gaussian=True), *_gather_cubes(laws)]
        return cls(tuple(block for block in blocks if block.places))

    def tail(self, coefficients: Sequence[Floats], threshold: Floats) -> Floats:
        """Return an upper bound on Pr[|sum c_i X_i| >= threshold], elementwise over arrays of coefficients."""
        sizes = [np.abs(c) for c in coefficients]
        parts = [(noises, [sizes[place] for place in places]) for noises, places in self.blocks]
        beyond = np.maximum(0.0, threshold - sum(noises.slack * sum(own) for noises, own in parts))
        # A block without a part in the form is left out; without any, one of them says that there is no noise.
        parts = [part for part in parts if any(size.any() for size in part[1])] or parts[:1]
        tails: list[Tail] = [partial(noises.tail, own) for noises, own in parts]
        if len(tails) == 1:
            smooth = tails[0](beyond)
        else:
            smooth = bound_sum_tail(tails, [noises.deviation(own) for noises, own in parts], beyond)
        return np.minimum(1.0, self._excess * smooth)

    @property
    def _excess(self) -> float:
        return math.prod(noises.excess for noises, _ in self.blocks)

    def bound_tail(self, allowed: float) -> Floats:
        """Return per noise a t with Pr[|noise| >= t] <= allowed: a norm of the unit vectors, slack included."""
        found = np.zeros(sum(len(block.places) for block in self.blocks))
        for noises, places in self.blocks:
            found[list(places)] = np.array(noises.bound_tail(allowed / self._excess)) + noises.slack
        return found

    def only(self, used: Sequence[int]) -> NoiseBlocks:
        """Return some of the noises, in this order."""
        rank = {place: i for i, place in enumerate(used)}
        blocks = []
        for noises, places in self.blocks:
            kept = [i for i, place in enumerate(places) if place in rank]
            blocks.append(NoiseBlock(noises.only(kept), tuple(rank[places[i]] for i in kept)))
        return NoiseBlocks(tuple(block for block in blocks if block.places))


@lru_cache(maxsize=64)
def _compute_excess(dimension: int, rate: Fraction) -> float:
    """Return exp(rate/2) times the integral of exp(-rate max|y_i|) over its sum; at most exp(rate)."""
    if rate <= _FINE:
        return math.exp(rate)
    integral = dimension * math.log(2 / rate) + math.lgamma(dimension + 1)
    exponent = float(rate) / 2 + integral - CubeLaw(dimension, rate).log_normaliser
    return math.exp(min(float(rate), exponent)) * (1 + 1e-9)


def _gather_family(laws: Sequence[LinearFormLaw], *, gaussian: bool) -> NoiseBlock:
    kind = DiscreteGaussianLaw if gaussian else DiscreteLaplaceLaw
    places = tuple(i for i, law in enumerate(laws) if isinstance(law, kind))
    return NoiseBlock(IndependentNoises(tuple(_find_spread(laws[i]) for i in places), gaussian), places)


def _find_spread(law: LinearFormLaw) -> float:
    if isinstance(law, CoordinateLaw):
        return law.stddev
    return law.sigma if isinstance(law, DiscreteGaussianLaw) else float(law.scale)


def _gather_cubes(laws: Sequence[LinearFormLaw]) -> list[NoiseBlock]:
    """Gather the coordinates of each draw; a place that comes again in an equal cube is of another draw."""
    draws: dict[tuple[CubeLaw, int], list[int]] = {}
    seen: dict[CoordinateLaw, int] = {}
    for i, law in enumerate(laws):
        if isinstance(law, CoordinateLaw):
            again = seen[law] = seen.get(law, -1) + 1
            draws.setdefault((law.cube, again), []).append(i)
    return [NoiseBlock(CubeCoordinates(cube, len(places)), tuple(places)) for (cube, _), places in draws.items()]


GroupValues: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
IndependentLaw: TypeAlias = DiscreteLaplaceLaw | DiscreteGaussianLaw
# Halving an interval 48 times leaves less of it than a double can resolve.
_HALVINGS = 48


def compute_linear_stddev(coefficients: Sequence[float], laws: Sequence[LinearFormLaw]) -> float:
    """Return the standard deviation of sum c_i X_i: no two noises are correlated, not even those of one cube.

    Example:
        >>> from fractions import Fraction
        >>> compute_linear_stddev([3.0, -4.0], [DiscreteGaussianLaw(Fraction(10**6))] * 2)
        5000.0
    """
    return math.hypot(*(c * law.stddev for c, law in zip(coefficients, laws, strict=True)))


def bound_linear_quantile(
    coefficients: Sequence[float], laws: Sequence[LinearFormLaw], confidence: float
) -> float:
    """Return a t with Pr[|sum c_i X_i| <= t] >= confidence; the least such t for a single term."""
    return bound_linear_quantiles([(coefficients, laws)], confidence)[0]


LinearForm: TypeAlias = tuple[Sequence[float], Sequence[LinearFormLaw]]


def bound_linear_quantiles(forms: Sequence[LinearForm], confidence: float) -> list[float]:
    """Return the same for each of many forms: those in the same noises are computed together.

    Forms that were asked for lately are remembered, as a question has the same form in many aggregates.
    """
    allowed = read_miss_probability(confidence)
    known = [(tuple(coefficients), _renumber_coordinates(laws), allowed) for coefficients, laws in forms]
    missing: dict[tuple[LinearFormLaw, ...], dict[tuple[float, ...], None]] = {}
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
            quantiles = _bisect_quantiles(list(several), laws, allowed)
        found |= {(one, laws, allowed): value for one, value in zip(several, quantiles, strict=True)}
    if len(_REMEMBERED) > _MOST_REMEMBERED:
        _REMEMBERED.clear()
    _REMEMBERED.update(found)
    return [found[key] for key in known]


_Key: TypeAlias = tuple[tuple[float, ...], tuple[LinearFormLaw, ...], float]
_REMEMBERED: dict[_Key, float] = {}
_MOST_REMEMBERED = 4096


def _renumber_coordinates(laws: Sequence[LinearFormLaw]) -> tuple[LinearFormLaw, ...]:
    """Name the coordinates of a cube in their order: which ones of it a form is made of changes nothing."""
    places: dict[CoordinateLaw, int] = {}
    used: dict[CubeLaw, int] = {}
    for law in laws:
        if isinstance(law, CoordinateLaw) and law not in places:
            places[law] = used.get(law.cube, 0)
            used[law.cube] = places[law] + 1
    return tuple(CoordinateLaw(law.cube, places[law]) if isinstance(law, CoordinateLaw) else law for law in laws)


def _bisect_quantiles(
    forms: Sequence[Sequence[float]], laws: Sequence[LinearFormLaw], allowed: float
) -> list[float]:
    """Halve the distance between a threshold that is exceeded too often and one that is not, for all forms."""
    noises = NoiseBlocks.of(laws)
    columns = list(np.array(forms).T)
    reach = [law.quantile(1 - allowed) for law in laws]
    high = np.array([sum(abs(c) * r for c, r in zip(form, reach, strict=True)) + 1e-300 for form in forms])
    low = np.zeros_like(high)
    while (beyond := (noises.tail(columns, high) > allowed) & (high < 1e300)).any():
        low, high = np.where(beyond, high, low), np.where(beyond, 2 * high, high)
    _, high = bisect_each(lambda t: noises.tail(columns, t) <= allowed, low, high, steps=_HALVINGS)
    return [float(value) for value in high]


class AffineForm(NamedTuple):
    """A linear form in noisy values: their coefficients, and a constant."""

    coefficients: Sequence[float]
    constant: float

    def of(self, values: Sequence[GroupValues]) -> GroupValues:
        """Return the form's value for each group."""
        total = np.full_like(values[0], self.constant)
        for coefficient, value in zip(self.coefficients, values, strict=True):
            total += coefficient * value
        return total


def find_ratio_interval(
    above: AffineForm,
    below: AffineForm,
    laws: Sequence[LinearFormLaw],
    values: Sequence[GroupValues],
    *,
    confidence: float,
    bounds: tuple[float, float],
) -> tuple[GroupValues, GroupValues]:
    """Return the hull of all r that the noisy values do not reject as the true ratio.

    Guarantee:
        With N the value of `above` and D of `below`, r is kept when |N - r D| is below the 1-confidence
        tail of the noise of N - r D; the true ratio of the exact values is rejected with probability at most
        1 - confidence (Fieller's test, for the exact noise). Where D is not clearly away from 0 no r beyond
        some point is rejected, and the interval is all of `bounds`.
    """
    with np.errstate(all="ignore"):
        # Ranges near the limits of a double overflow to infinite ends, which are true if not helpful.
        return _find_hull(
            _RatioTest(above, below, NoiseBlocks.of(laws), values, read_miss_probability(confidence)), bounds
        )


def _find_hull(test: _RatioTest, bounds: tuple[float, float]) -> tuple[GroupValues, GroupValues]:
    low, high = (np.full_like(test.above, end) for end in bounds)
    center = np.clip(test.ratio, low, high)
    left = _bisect_edge(
        test, center, low if math.isfinite(bounds[0]) else _find_rejected_points(test, center, -1.0)
    )
    right = _bisect_edge(
        test, center, high if math.isfinite(bounds[1]) else _find_rejected_points(test, center, 1.0)
    )
    return np.where(test.vague, low, left), np.where(test.vague, high, right)


class _RatioTest:
    """The test of |N - r D| against its noise, for all groups at once."""

    def __init__(
        self,
        above: AffineForm,
        below: AffineForm,
        noises: NoiseBlocks,
        values: Sequence[GroupValues],
        allowed: float,
    ) -> None:
        self.noises, self.allowed = noises, allowed
        self.numerators, self.denominators = above.coefficients, below.coefficients
        self.above, self.below = above.of(values), below.of(values)

    @property
    def ratio(self) -> GroupValues:
        return np.where(self.below == 0, 0.0, self.above / np.where(self.below == 0, 1.0, self.below))

    @cached_property
    def vague(self) -> Flags:
        """Where the denominator cannot be distinguished from 0."""
        columns = [np.full_like(self.below, d) for d in self.denominators]
        return self.noises.tail(columns, np.abs(self.below)) > self.allowed

    def keeps(self, r: GroupValues) -> Flags:
        columns = [n - r * d for n, d in zip(self.numerators, self.denominators, strict=True)]
        return self.noises.tail(columns, np.abs(self.above - r * self.below)) > self.allowed


def _find_rejected_points(test: _RatioTest, center: GroupValues, sign: float) -> GroupValues:
    """Return points beyond the kept set, by doubling steps; where the denominator is vague there are none."""
    step = np.abs(center) * 1e-3 + 1e-9
    growing = ~test.vague
    for _ in range(1100):
        growing &= test.keeps(center + sign * step)
        if not growing.any():
            break
        step = np.where(growing, 2 * step, step)
    return center + sign * step


def _bisect_edge(test: _RatioTest, inside: GroupValues, outside: GroupValues) -> GroupValues:
    """Bisect between a kept point and the far end; the far end itself if it is kept too."""
    _, far = bisect_each(lambda r: ~test.keeps(r), inside, outside, steps=_HALVINGS)
    return np.where(test.keeps(outside), outside, far)
