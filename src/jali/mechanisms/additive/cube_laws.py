"""Laws of noise with mass proportional to exp(-rate max|z_i|): its coordinates and its largest coordinate.

Narrow laws are listed as arrays; wide ones are read as narrower laws, stretched.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.additive.noise_laws import Floats, NoiseLaw
from jali.numbers.quadrature import sum_all_logs


@dataclass(frozen=True, eq=False)
class StretchedLaw(NoiseLaw):
    """The law of a size |X| from its masses at 0, 1, 2, ..., all distances multiplied by a factor.

    With factor 1 the law is the listed one. A noise that is `factor` times as wide as a listed noise of
    thousands of steps has the same law in those units, but for the square of one over its width: its tails are
    read between the listed ones.

    Args:
        sizes: Pr[|X| = 0], Pr[|X| = 1], ... of the listed law.
        factor: At least 1.
    """

    sizes: Floats
    factor: int

    @cached_property
    def _tails(self) -> Floats:
        """Pr[|X| > -1], Pr[|X| > 0], ..., smallest summed first."""
        return np.append(np.cumsum(self.sizes[::-1])[::-1], 0.0)

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|."""
        return self.factor * float(self.sizes @ np.arange(len(self.sizes), dtype=np.float64))

    @property
    def stddev(self) -> float:
        """The square root of the expectation of X^2."""
        squares = np.arange(len(self.sizes), dtype=np.float64) ** 2
        return self.factor * math.sqrt(float(self.sizes @ squares))

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value] of a symmetric X."""
        size = abs(value) // self.factor
        mass = float(self.sizes[size]) if size < len(self.sizes) else 0.0
        share = mass / self.factor / (2 if value else 1)
        return math.log(share) if share else -math.inf

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        place = (threshold + 0.5) / self.factor + 0.5  # of a listed tail, counted from Pr[|X| > -1]
        if place >= len(self._tails) - 1:
            return 0.0
        if self.factor == 1:
            return float(self._tails[threshold + 1])
        below = int(place)
        share = place - below
        return float((1 - share) * self._tails[below] + share * self._tails[below + 1])

    @property
    def far(self) -> int:
        """The end of the list."""
        return len(self.sizes) * self.factor

    def bound_tail(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self.threshold(left)


# Laws with more radii than this are read from a narrower one.
_LONGEST = 1 << 20
_RADIUS_DEPTH = 80.0


@dataclass(frozen=True)
class CubeLaw:
    """Noise z with mass proportional to exp(-rate max|z_i|): uniform in a cube of random radius R.

    Error:
        Pr[R] is proportional to (2R+1)^dimension exp(-rate R), and with M the largest |z_i| of n coordinates
        Pr[M = r] = ((2r+1)^n - (2r-1)^n) times the sum of Pr[R] (2R+1)^-n over R >= r, where (2r-1)^n counts
        as 0 for r = 0. For all coordinates, Pr[M = r] is proportional to the shell's size times exp(-rate r).

    Args:
        dimension: At least 1.
        rate: A rational above 0.
    """

    dimension: int
    rate: Fraction

    @property
    def log_normaliser(self) -> float:
        """The logarithm of the sum of exp(-rate max|z_i|) over all points."""
        radii = np.arange(_find_last_radius(self.dimension, float(self.rate)) + 1.0)
        return sum_all_logs(_compute_log_shells(radii, self.dimension) - float(self.rate) * radii)

    def largest(self, coordinates: int) -> StretchedLaw:
        """Return the law of the largest |z_i| among so many of the coordinates."""
        return _build_largest_law(self.dimension, self.rate, coordinates)


@lru_cache(maxsize=16)
def _build_largest_law(dimension: int, rate: Fraction, coordinates: int) -> StretchedLaw:
    last = _find_last_radius(dimension, float(rate))
    factor = max(1, math.ceil(last / _LONGEST))
    narrow = float(rate * factor)
    radii = np.arange(_find_last_radius(dimension, narrow) + 1.0)
    logs = dimension * np.log(2 * radii + 1) - narrow * radii
    inner = logs - sum_all_logs(logs) - coordinates * np.log(2 * radii + 1)
    beyond = np.logaddexp.accumulate(inner[::-1])[::-1]
    masses = np.exp(_compute_log_shells(radii, coordinates) + beyond)
    return StretchedLaw(masses / masses.sum(), factor)


def _find_last_radius(dimension: int, rate: float) -> int:
    """Return a radius beyond which less than about e^-80 of the weight lies."""
    peak = max(0.0, dimension / rate - 0.5)

    def fall(radius: float) -> float:
        return dimension * math.log((2 * radius + 1) / (2 * peak + 1)) - rate * (radius - peak)

    width = 1 / rate
    while fall(peak + width) > -_RADIUS_DEPTH:
        width *= 1.25
    return math.ceil(peak + width) + 1


def _compute_log_shells(radii: Floats, dimension: int) -> Floats:
    """Return ln((2r+1)^n - (2r-1)^n), and 0 for r = 0."""
    logs = dimension * np.log(2 * radii + 1)
    inner = dimension * np.log((2 * radii[1:] - 1) / (2 * radii[1:] + 1))
    logs[1:] += np.log(-np.expm1(inner))
    return np.asarray(logs)


# Above this rate a law is short, and is listed; below it the power series of a fine law has no large terms.
_FINE = Fraction(1, 64)
_FAR = 80.0


@dataclass(frozen=True)
class CoordinateLaw(NoiseLaw):
    """The noise of one coordinate of a cube; coordinates of one cube depend on each other through its radius.

    Args:
        cube: The law of all coordinates. Equal cubes at different places are one draw of noise.
        place: Which coordinate, counted from 0.

    Example:
        >>> law = CoordinateLaw(CubeLaw(3, Fraction(1, 1000)), 0)
        >>> law.quantile(0.95), round(law.stddev / 1000, 4)
        (5186, 2.582)
    """

    cube: CubeLaw
    place: int

    def __post_init__(self) -> None:
        if not 0 <= self.place < self.cube.dimension:
            raise MechanismError("coordinate-out-of-range", last=self.cube.dimension - 1, place=self.place)

    @property
    def _law(self) -> NoiseLaw:
        return _build_law(self.cube)

    @property
    def stddev(self) -> float:
        """The standard deviation."""
        return self._law.stddev

    @property
    def mean_magnitude(self) -> float:
        """The expectation of |X|."""
        return self._law.mean_magnitude

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]."""
        return self._law.log_mass(value)

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        return self._law.tail(threshold)

    @property
    def far(self) -> int:
        """Where about e^-80 is left."""
        return self._law.far

    def bound_tail(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self._law.bound_tail(left)

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed: the same for all coordinates of a cube."""
        return _find_coordinate_threshold(self.cube, allowed)


@lru_cache(maxsize=256)
def _find_coordinate_threshold(cube: CubeLaw, allowed: float) -> int:
    return _build_law(cube).threshold(allowed)


@lru_cache(maxsize=64)
def _build_law(cube: CubeLaw) -> NoiseLaw:
    return FineCoordinateLaw(cube.dimension, cube.rate) if cube.rate <= _FINE else cube.largest(1)


@dataclass(frozen=True)
class FineCoordinateLaw(NoiseLaw):
    """One coordinate of a cube of d dimensions by exact sums of positive terms, for small rates a.

    Error:
        With moments m_k = a^(k+1)/k! times the sum of y^k exp(-a y) over y >= 0, all close to 1, and
        N_d = sum over k <= d of (a/2)^(d-k)/(d-k)! m_k,
        Pr[|X| > t] = exp(-a(t+1)) sum over i < d of (a(t+3/2))^i/i! ((d-i) m_(d-i) + a m_(d-1-i)) / (d N_d) and
        Pr[X = x] = exp(-a|x|) sum over i < d of (a(|x|+1/2))^i/i! a m_(d-1-i) / (2d N_d).
    Proof:
        docs/proofs/l_infinity.md, One coordinate.
    """

    dimension: int
    rate: Fraction

    @cached_property
    def _a(self) -> float:
        return float(self.rate)

    @cached_property
    def _moments(self) -> Floats:
        """m_0, m_1, ..., m_(d+2)."""
        return _list_scaled_moments(self._a, self.dimension + 2)

    def _sum(self, dimension: int) -> float:
        """N of so many dimensions."""
        powers = self._a / 2 / np.arange(1.0, dimension + 1)
        terms = np.cumprod(np.append(1.0, powers))
        return float(terms @ self._moments[dimension::-1])

    @cached_property
    def _factorials(self) -> Floats:
        return np.array([math.lgamma(i + 1) for i in range(self.dimension)])

    @cached_property
    def _beyond(self) -> Floats:
        """The logarithms of the coefficients of a tail."""
        d, below = self.dimension, np.arange(self.dimension, 0, -1)
        weights = below * self._moments[below] + self._a * self._moments[below - 1]
        return np.asarray(np.log(weights / (d * self._sum(d))) - self._factorials)

    @cached_property
    def _at(self) -> Floats:
        """The logarithms of the coefficients of a mass."""
        d = self.dimension
        weights = self._a * self._moments[d - 1 :: -1] / (2 * d * self._sum(d))
        return np.asarray(np.log(weights) - self._factorials)

    def _log_series(self, coefficients: Floats, at: float, exponent: float) -> float:
        logs = coefficients + np.arange(self.dimension) * math.log(at)
        top = float(logs.max())
        return top + math.log(math.fsum(np.exp(logs - top).tolist())) - exponent

    @property
    def stddev(self) -> float:
        """The root of (E(2R+1)^2 - 1)/12."""
        d, a = self.dimension, self._a
        return math.sqrt((d + 1) * (d + 2) / (3 * a * a) * self._sum(d + 2) / self._sum(d) - 1 / 12)

    @property
    def mean_magnitude(self) -> float:
        """E (2R+1 - 1/(2R+1))/4."""
        d, a = self.dimension, self._a
        return (2 * (d + 1) / a * self._sum(d + 1) - a / (2 * d) * self._sum(d - 1)) / (4 * self._sum(d))

    def log_mass(self, value: int) -> float:
        """Return ln Pr[X = value]; it never underflows."""
        size = abs(value)
        return self._log_series(self._at, self._a * (size + 0.5), self._a * size)

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        log = self._log_series(self._beyond, self._a * (threshold + 1.5), self._a * (threshold + 1))
        return math.exp(min(0.0, log))

    @property
    def far(self) -> int:
        """Where at most about e^-80 is left."""
        return self.threshold(math.exp(-_FAR))

    def bound_tail(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self.threshold(left)


def _list_scaled_moments(a: float, last: int) -> Floats:
    """Return (a/(1-q))^(k+1) times the k-th Eulerian polynomial over k! at q = exp(-a), for k = 0 .. last."""
    q, rise = math.exp(-a), a / -math.expm1(-a)
    shares, found = np.ones(1), [rise]
    for k in range(1, last + 1):
        # Shares are Eulerian numbers over k!; the number of descents of a random order of k, so they sum to 1.
        descents = np.arange(k)
        shares = ((descents + 1) * np.append(shares, 0.0) + (k - descents) * np.append(0.0, shares))[:k] / k
        found.append(rise ** (k + 1) * float(shares @ q ** (descents + 1)))
    return np.array(found)
