"""Radii of cubes in n dimensions: weights (2R+1)^n exp(-R rate)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.noise.bounds import Bounds, exp_bounds
from jali.noise.log_concave import LogConcave

_GUARD = 24


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
        >>> from jali.noise.shells import CubeRadius
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

    def _growth(self, at: int, base: int, exponent: Fraction) -> int:
        """Return how many digits the power takes: no more than it has where the exponential is small beside it."""
        digits = 2 * int(abs(exponent))
        if at < base:
            return digits
        return min(digits, self.dimension * ((2 * at + 1).bit_length() - (2 * base + 1).bit_length() + 1))


def power_bounds(above: int, below: int, exponent: int, precision: int) -> Bounds:
    """Return lo <= 2**precision (above/below)**exponent <= hi, by squarings rounded outwards.

    Example:
        >>> from jali.noise.shells import power_bounds
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
