"""The law of one coordinate of noise with mass proportional to exp(-rate max|z_i|)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.laws.cube import CubeLaw
from jali.mechanisms.laws.law import Law
from jali.mechanisms.laws.worst import Floats

# Above this rate a law is short, and is listed; below it the power series of a fine law has no large terms.
_FINE = Fraction(1, 64)
_FAR = 80.0


@dataclass(frozen=True)
class CoordinateLaw(Law):
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
    def _law(self) -> Law:
        return _law_of(self.cube)

    @property
    def stddev(self) -> float:
        """The standard deviation."""
        return self._law.stddev

    @property
    def expected(self) -> float:
        """The expectation of |X|."""
        return self._law.expected

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

    def reach(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self._law.reach(left)

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed: the same for all coordinates of a cube."""
        return _threshold(self.cube, allowed)


@lru_cache(maxsize=256)
def _threshold(cube: CubeLaw, allowed: float) -> int:
    return _law_of(cube).threshold(allowed)


@lru_cache(maxsize=64)
def _law_of(cube: CubeLaw) -> Law:
    return FineLaw(cube.dimension, cube.rate) if cube.rate <= _FINE else cube.largest(1)


@dataclass(frozen=True)
class FineLaw(Law):
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
        return _scaled_moments(self._a, self.dimension + 2)

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
    def expected(self) -> float:
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

    def reach(self, left: float) -> int:
        """Return the least t with Pr[|X| > t] <= left."""
        return self.threshold(left)


def _scaled_moments(a: float, last: int) -> Floats:
    """Return (a/(1-q))^(k+1) times the k-th Eulerian polynomial over k! at q = exp(-a), for k = 0 .. last."""
    q, rise = math.exp(-a), a / -math.expm1(-a)
    shares, found = np.ones(1), [rise]
    for k in range(1, last + 1):
        # Shares are Eulerian numbers over k!; the number of descents of a random order of k, so they sum to 1.
        descents = np.arange(k)
        shares = ((descents + 1) * np.append(shares, 0.0) + (k - descents) * np.append(0.0, shares))[:k] / k
        found.append(rise ** (k + 1) * float(shares @ q ** (descents + 1)))
    return np.array(found)
