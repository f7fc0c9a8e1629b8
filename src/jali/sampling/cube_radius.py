"""Draw the radius of a cube in n dimensions, with weights (2R+1)^n exp(-R rate)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.sampling.exp_bounds import LARGEST, Bounds, Doubles, exp_bounds, exp_doubles
from jali.sampling.log_concave import LogConcave, Peak

_GUARD = 24
_MOST = 1 << 30  # with more dimensions a double has too few digits left
_LEAST = 2.0**-900
_STEEP = Fraction(64)  # more than exp_doubles takes


@dataclass(frozen=True)
class CubeRadius(LogConcave):
    """The law Pr[R] proportional to (2R+1)**dimension exp(-rate R) on R = 0, 1, 2, ...

    Args:
        dimension: At least 1.
        rate: A rational above 0.

    Guarantee:
        Samples have exactly this law. An integer point that is uniform in the cube [-R, R]^dimension has then
        probability proportional to exp(-rate max|z_i|).
    Proof:
        docs/proofs/l_infinity.md.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.cube_radius import CubeRadius
        >>> all(radius >= 0 for radius in CubeRadius(3, Fraction(1)).sample(5))
        True
    """

    dimension: int
    rate: Fraction

    def ratio(self, at: int, base: int, precision: int) -> Bounds:
        """Return lo <= 2**precision w(at)/w(base) <= hi."""
        exponent = self.rate * (at - base)
        work = precision + _GUARD + self.dimension.bit_length() + self._growth(at, base, exponent)
        powers = power_bounds(2 * at + 1, 2 * base + 1, self.dimension, work)
        return with_exponential(powers, exponent, work, precision)

    def ratio_doubles(self, at: NDArray[Any], base: int) -> tuple[Doubles, float]:
        """Return ((2 at + 1)/(2 base + 1) exp(-x))**dimension, x the rate times (at - base) over the dimension.

        Proof:
            docs/proofs/l_infinity.md, Lemma 3: within a relative error of 2**-45 for each dimension.
        """
        if self.dimension > _MOST:
            return super().ratio_doubles(at, base)
        gaps = (at - base).astype(np.float64)
        x = np.abs(gaps) * float(min(self.rate / self.dimension, _STEEP))
        falls = exp_doubles(np.minimum(x, LARGEST))
        grown = (2 * at + 1).astype(np.float64) * (1 / (2 * base + 1))
        ratios = _raise_to(np.where(gaps < 0, grown / falls, grown * falls), self.dimension)
        known = (x <= LARGEST) & (ratios > _LEAST)
        return np.where(known, ratios, np.nan), self.dimension * 2.0**-44

    def near_peak(self) -> Peak:
        """The mode is about d/rate - 1; the weight is halved a share of it away that depends on d only."""
        mode = max(0, int(self.dimension / self.rate) - 1)
        left, right = (max(1, int((mode + 0.5) * _share(self.dimension, side))) for side in (-1, 1))
        return Peak(mode, left, right)

    def _growth(self, at: int, base: int, exponent: Fraction) -> int:
        """Return how many digits the power takes: no more than it has where the exponential is small beside it."""
        digits = 2 * int(abs(exponent))
        if at < base:
            return digits
        return min(digits, self.dimension * ((2 * at + 1).bit_length() - (2 * base + 1).bit_length() + 1))


def _raise_to(root: Doubles, exponent: int) -> Doubles:
    """Return root**exponent by squarings: elementary functions come without a contract."""
    found = root
    for bit in f"{exponent:b}"[1:]:
        found = found * found
        if bit == "1":
            found = found * root
    return found


@lru_cache(maxsize=256)
def _share(dimension: int, side: int) -> float:
    """Return about the s with ((1 + side s) exp(-side s))**dimension = 1/2, by cutting intervals into 64 parts."""
    low, high = 0.0, 2.0 if side > 0 else 1.0
    for _ in range(9):
        shares = np.linspace(low, high, 65)
        falls = exp_doubles(shares)
        halved = _raise_to((1 + shares) * falls if side > 0 else (1 - shares) / falls, dimension) < 0.5
        first = int(np.argmax(halved))
        low, high = float(shares[max(0, first - 1)]), float(shares[first])
    return high


def power_bounds(above: int, below: int, exponent: int, precision: int) -> Bounds:
    """Return lo <= 2**precision (above/below)**exponent <= hi, by squarings rounded outwards.

    Example:
        >>> from jali.sampling.cube_radius import power_bounds
        >>> power_bounds(3, 2, 2, 4)
        (36, 36)
    """
    low, rest = divmod(above << precision, below)
    high = low + (rest > 0)
    lo = hi = 1 << precision
    for bit in f"{exponent:b}":
        lo, hi = lo * lo >> precision, -(-hi * hi >> precision)
        if bit == "1":
            lo, hi = lo * low >> precision, -(-hi * high >> precision)
    return lo, hi


def with_exponential(bounds: Bounds, exponent: Fraction, work: int, precision: int) -> Bounds:
    """Multiply bounds in units of 2**-work by exp(-exponent), and round them outwards to 2**-precision."""
    lo, hi = bounds
    low, high = exp_bounds(abs(exponent), work)
    if exponent >= 0:
        return lo * low >> (2 * work - precision), -(-hi * high >> (2 * work - precision))
    if low == 0:  # not enough digits to divide by: nothing is known yet
        return 0, 1 << (2 * work)
    return (lo << precision) // high, -(-(hi << precision) // low)
