"""The law of discrete Laplace noise in several cells, given that it sums to 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.laws.law import Law
from jali.mechanisms.laws.worst import Floats, quadrature

# Wider noise is read from noise of this scale: the shapes differ by one over 12 of its square. Few cells need
# many points on the circle, so that they are read from a narrower noise.
_WIDEST_OF_FEW, _WIDEST, _FEW = 256, 4096, 4
# Up to this scale the tails are summed one by one; above, integrated.
_SUMMED = 48
# What is below e^-40 of the largest term is left out: it is lost in the rounding of doubles anyway.
_DEPTH = 40.0


@dataclass(frozen=True)
class BalancedLaw(Law):
    """The largest |z_i| among `coordinates` of `cells` cells, z with mass proportional to q^(sum |z_i|), sum 0.

    Error:
        With f(y) = sum q^|z| y^z and f_t its part with |z| <= t, Pr[all |z_i| <= t] is the ratio of the
        coefficients of y^0 in f_t^n f^(d-n) and in f^d, n being the coordinates and d the cells. Each is the
        mean over the unit circle, taken at so many points that nothing is lost by it.

    Args:
        cells: At least 2.
        scale: q = exp(-1/scale).
        coordinates: From 1 to the number of cells.
    """

    cells: int
    scale: Fraction
    coordinates: int = 1

    @cached_property
    def _factor(self) -> float:
        return max(1.0, float(self.scale) / (_WIDEST_OF_FEW if self.cells <= _FEW else _WIDEST))

    @cached_property
    def _rate(self) -> float:
        return self._factor / float(self.scale)

    @property
    def _sinh(self) -> float:
        """sinh(rate/2), or what is as good as infinite."""
        return math.sinh(min(self._rate / 2, 300.0))

    @cached_property
    def _circle(self) -> tuple[Floats, Floats]:
        """Angles, and the weight of each in the mean of f^d: where that is not negligible."""
        scale = 1 / self._rate
        points = math.ceil(2 * scale * (_DEPTH + 9 * math.sqrt(2 * self.cells))) + 64
        narrow = math.sqrt(math.expm1(min(_DEPTH / self.cells, 60.0))) * self._sinh
        share = 1.0 if narrow >= 1 else 2 / math.pi * math.asin(narrow)
        places = np.arange(min(points // 2, math.ceil(points / 2 * share)) + 1.0)
        angles: Floats = 2 * math.pi / points * places
        logs = -self.cells * np.log1p((np.sin(angles / 2) / self._sinh) ** 2)
        # Angles stand for their mirror images too, but for the two that are their own.
        weights = np.exp(logs) * np.where((places == 0) | (2 * places == points), 1.0, 2.0)
        return angles, weights / weights.sum()

    def tails(self, thresholds: Floats) -> Floats:
        """Return Pr[some |z_i| > t] for each t, also between integers."""
        return np.array([self._tail((t + 0.5) / self._factor - 0.5) for t in thresholds.tolist()])

    def _tail(self, threshold: float) -> float:
        angles, weights = self._circle
        q = math.exp(-self._rate)
        # The part of f beyond t, over f, is 2 Re[(q y)^(t+1) / (1 - q y)] |1 - q y|^2 / (1 - q^2).
        beyond = np.cos((threshold + 1) * angles) - q * np.cos(threshold * angles)
        shares = 2 * math.exp(-self._rate * (threshold + 1)) * beyond / -math.expm1(-2 * self._rate)
        return float(weights @ _beyond(shares, self.coordinates))

    def tail(self, threshold: int) -> float:
        """Return Pr[some |z_i| > threshold]."""
        return 1.0 if threshold < 0 else min(1.0, max(0.0, float(self.tails(np.array([float(threshold)]))[0])))

    @cached_property
    def expected(self) -> float:
        """The expectation of the largest |z_i|: the sum of its tails."""
        return self._sum_of_tails(np.ones_like)

    @cached_property
    def stddev(self) -> float:
        """The square root of the expectation of its square: the sum of (2t+1) times the tail at t."""
        return math.sqrt(self._sum_of_tails(lambda middles: 2 * middles))

    def _sum_of_tails(self, weight: Callable[[Floats], Floats]) -> float:
        end = self.reach(1e-17)
        if self.scale <= _SUMMED:
            middles, steps = np.arange(end + 1.0) + 0.5, np.ones(end + 1)
        else:
            middles, steps = quadrature(end + 0.5, panels=12)
        return float((weight(middles) * steps) @ self.tails(middles - 0.5))

    def log_mass(self, value: int) -> float:
        """Return ln Pr[z_1 = value]."""
        outside = self.tail(abs(value) - 1) - self.tail(abs(value))
        return math.log(outside / (2 if value else 1)) if outside > 0 else -math.inf

    @property
    def far(self) -> int:
        """Forty scales, and as many as the largest of many cells needs."""
        return self.reach(1e-17)

    def reach(self, left: float) -> int:
        """Return a t with Pr[some |z_i| > t] <= left, from the bound for one cell without the condition."""
        return math.ceil(float(self.scale) * (math.log(self.cells) * 2 - math.log(left) + 1))


def _beyond(shares: Floats, count: int) -> Floats:
    """Return 1 - (1 - share)^count, with all digits where shares are small; shares may exceed 1 or be negative."""
    small = np.abs(shares) < 0.5
    near = -np.expm1(count * np.log1p(-np.where(small, shares, 0.0)))
    return np.asarray(np.where(small, near, 1 - (1 - shares) ** count))


def log_normaliser(cells: int, scale: Fraction) -> float:
    """Return the logarithm of the sum of q^(sum |z_i|) over all z with sum 0: a closed form.

    With x = q^2 it is (1-x)^(1-d) times the sum of C(d-1, k)^2 x^k over k = 0 .. d-1.
    """
    rate, more = 2 / float(scale), cells - 1
    logs = [2 * _log_binomial(more, k) - k * rate for k in range(more + 1)]
    top = max(logs)
    return top + math.log(math.fsum(math.exp(log - top) for log in logs)) - more * math.log(-math.expm1(-rate))


def _log_binomial(above: int, below: int) -> float:
    return math.lgamma(above + 1) - math.lgamma(below + 1) - math.lgamma(above - below + 1)
