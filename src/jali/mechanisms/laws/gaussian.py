"""The law of discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from jali.mechanisms.laws.law import Law
from jali.mechanisms.laws.worst import Floats

# Up to this standard deviation the tail is summed term by term; above it, Euler-Maclaurin with two correction
# terms is exact to more digits than a double holds.
_SUMMED_STDDEV = 64.0


@dataclass(frozen=True)
class DiscreteGaussianLaw(Law):
    """Mass proportional to exp(-x^2 / (2 variance)) on the integers.

    Error:
        Tails by direct summation of the mass function, or by Euler-Maclaurin where the standard deviation is
        above 64 (remainder below 1e-10 of the tail up to eight standard deviations). The true variance is at
        most the parameter (Canonne, Kamath and Steinke 2020, Corollary 9).

    Example:
        >>> round(DiscreteGaussianLaw(Fraction(1)).stddev ** 2, 10)
        0.9999997888
    """

    variance: Fraction

    @property
    def sigma(self) -> float:
        """The square root of the variance parameter."""
        return math.sqrt(self.variance)

    @property
    def stddev(self) -> float:
        """The true standard deviation."""
        if self.sigma > _SUMMED_STDDEV:
            return self.sigma
        masses = _gaussian_masses(self.variance)
        return math.sqrt(2 * math.fsum(x * x * m for x, m in enumerate(masses)))

    @property
    def spread(self) -> float:
        """The same, as a double."""
        return self.sigma

    @property
    def expected(self) -> float:
        """The expectation of |X|, summed, or by Euler-Maclaurin where the noise is wide."""
        if self.sigma > _SUMMED_STDDEV:
            top = _density(0.0, self.sigma)
            return 2 * (self.sigma / math.sqrt(2 * math.pi) - top / 12 - top / (240 * self.sigma**2))
        return 2 * math.fsum(x * m for x, m in enumerate(_gaussian_masses(self.variance)))

    def log_mass(self, value: int) -> float:
        """Return ln of exp(-x^2 / (2 variance)) over the normaliser."""
        if self.sigma > _SUMMED_STDDEV:
            normaliser = math.log(self.sigma * math.sqrt(2 * math.pi))
        else:
            normaliser = -math.log(_gaussian_masses(self.variance)[0])
        return -(value**2) / _twice(self.variance) - normaliser

    def tail(self, threshold: int) -> float:
        """Return Pr[|X| > threshold]."""
        if threshold < 0:
            return 1.0
        if self.sigma > _SUMMED_STDDEV:
            return _smooth_tail(threshold + 0.5, self.sigma)
        beyond = _gaussian_tails(self.variance)
        return beyond[threshold] if threshold < len(beyond) else 0.0

    def tails(self, thresholds: Floats) -> Floats:
        """Return the same for each threshold, of a wide law between integers too."""
        return np.array([self._continued(t) for t in thresholds.tolist()])

    def _continued(self, threshold: float) -> float:
        if self.sigma > _SUMMED_STDDEV:
            return _smooth_tail(threshold + 0.5, self.sigma)
        return self.tail(int(threshold))

    @property
    def far(self) -> int:
        """Sixty standard deviations, and sixty: divergences of order up to fifty are known from there."""
        return math.ceil(60 * self.sigma) + 60

    def threshold(self, allowed: float) -> int:
        """Return the least t with Pr[|X| > t] <= allowed."""
        return _threshold(self, allowed)

    def reach(self, left: float) -> int:
        """Return a t with Pr[|X| > t] <= left."""
        return math.ceil(self.sigma * math.sqrt(-2 * math.log(left / 2)))


@lru_cache(maxsize=1024)
def _threshold(law: DiscreteGaussianLaw, allowed: float) -> int:
    return Law.threshold(law, allowed)


def _twice(variance: Fraction) -> float:
    """Return 2 variance as a double above 0: one below 1e-300 puts all the mass on 0 in any case."""
    return max(2 * float(variance), 1e-300)


@lru_cache(maxsize=256)
def _gaussian_masses(variance: Fraction) -> tuple[float, ...]:
    """Return Pr[X = 0], Pr[X = 1], ... until the terms vanish in double precision."""
    reach = math.ceil(40 * math.sqrt(variance)) + 2
    weights = [math.exp(-x * x / _twice(variance)) for x in range(reach)]
    normaliser = 2 * math.fsum(weights) - 1
    return tuple(weight / normaliser for weight in weights)


@lru_cache(maxsize=256)
def _gaussian_tails(variance: Fraction) -> tuple[float, ...]:
    """Return Pr[|X| > 0], Pr[|X| > 1], ...: all terms are positive, smallest first."""
    masses = _gaussian_masses(variance)
    return tuple(2 * total for total in accumulate(reversed(masses), initial=0.0))[-2::-1]


def _density(value: float, sigma: float) -> float:
    return math.exp(-0.5 * (value / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))


def _smooth_tail(start: float, sigma: float) -> float:
    """Two-sided sum of the density over integers beyond `start` - 1/2, by Euler-Maclaurin at the midpoint."""
    z = start / sigma
    density = _density(start, sigma)
    first = -z / sigma * density
    third = (3 * z - z**3) / sigma**3 * density
    return 2 * (0.5 * math.erfc(z / math.sqrt(2)) + first / 24 - 7 * third / 5760)
