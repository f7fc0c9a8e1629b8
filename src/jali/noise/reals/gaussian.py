"""The standard Gaussian law, of density in proportion to exp(-z**2/2)."""

from __future__ import annotations

from fractions import Fraction

from jali.noise.bits import BitSource
from jali.noise.bounds import Bounds
from jali.noise.reals.balls import Ball
from jali.noise.reals.law import Law
from jali.noise.reals.quotient import Quotient
from jali.noise.reals.real import Real
from jali.noise.reals.region import RegionLaw


class _Bell(Quotient):
    """h(z) = exp(-z**2/2); z**2 h(z) is at most 2/e."""

    def descent(self, z: Fraction, precision: int) -> Bounds:
        numerator, denominator = z.numerator**2 << precision, 2 * z.denominator**2
        return numerator // denominator, -(-numerator // denominator)

    def descent_of(self, z: Ball) -> Ball:
        return z * z * Fraction(1, 2)


def gaussian_law() -> Law:
    """Return the law of density in proportion to exp(-z**2/2)."""
    return RegionLaw(_Bell())


def gaussian(bits: BitSource) -> Real:
    """Draw a real number of density in proportion to exp(-z**2/2), exactly.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from jali.noise import system_bits
        >>> from jali.noise.reals import gaussian
        >>> low, high = gaussian(system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return gaussian_law().draw(bits)
