"""The law of noise with mass proportional to exp(-rate max|z_i|) on the integer points of n dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from jali.mechanisms.laws.stretched import StretchedLaw
from jali.mechanisms.laws.worst import Floats

# Laws with more radii than this are read from a narrower one.
_LONGEST = 1 << 20
_DEPTH = 80.0


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
        radii = np.arange(_last_radius(self.dimension, float(self.rate)) + 1.0)
        return _log_sum(_log_shells(radii, self.dimension) - float(self.rate) * radii)

    def largest(self, coordinates: int) -> StretchedLaw:
        """Return the law of the largest |z_i| among so many of the coordinates."""
        return _largest(self.dimension, self.rate, coordinates)


@lru_cache(maxsize=16)
def _largest(dimension: int, rate: Fraction, coordinates: int) -> StretchedLaw:
    last = _last_radius(dimension, float(rate))
    factor = max(1, math.ceil(last / _LONGEST))
    narrow = float(rate * factor)
    radii = np.arange(_last_radius(dimension, narrow) + 1.0)
    logs = dimension * np.log(2 * radii + 1) - narrow * radii
    inner = logs - _log_sum(logs) - coordinates * np.log(2 * radii + 1)
    beyond = np.logaddexp.accumulate(inner[::-1])[::-1]
    masses = np.exp(_log_shells(radii, coordinates) + beyond)
    return StretchedLaw(masses / masses.sum(), factor)


def _last_radius(dimension: int, rate: float) -> int:
    """Return a radius beyond which less than about e^-80 of the weight lies."""
    peak = max(0.0, dimension / rate - 0.5)

    def fall(radius: float) -> float:
        return dimension * math.log((2 * radius + 1) / (2 * peak + 1)) - rate * (radius - peak)

    width = 1 / rate
    while fall(peak + width) > -_DEPTH:
        width *= 1.25
    return math.ceil(peak + width) + 1


def _log_shells(radii: Floats, dimension: int) -> Floats:
    """Return ln((2r+1)^n - (2r-1)^n), and 0 for r = 0."""
    logs = dimension * np.log(2 * radii + 1)
    inner = dimension * np.log((2 * radii[1:] - 1) / (2 * radii[1:] + 1))
    logs[1:] += np.log(-np.expm1(inner))
    return np.asarray(logs)


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(math.fsum(np.exp(logs - top).tolist()))
