"""Draw from Student's t law and the Cauchy law on the real numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from jali.errors import MechanismError
from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Bounds
from jali.sampling.reals.balls import Ball, constant
from jali.sampling.reals.log_bounds import log_bounds
from jali.sampling.reals.real import Law, Real
from jali.sampling.reals.regions import Quotient, RegionLaw


@dataclass(frozen=True)
class _HeavyBell(Quotient):
    """h(z) = (1 + z**2/d)**(-(d+1)/2); z**2 h(z) is at most 1."""

    degrees: int

    def descent(self, z: Fraction, precision: int) -> Bounds:
        d, square = self.degrees, z.denominator**2
        low, high = log_bounds(d * square + z.numerator**2, d * square, precision + d.bit_length())
        unit = 2 << d.bit_length()
        return (d + 1) * low // unit, -(-(d + 1) * high // unit)

    def descent_of(self, z: Ball) -> Ball:
        share = constant(Fraction(1)) / (z * z / self.degrees + 1)
        return share.fall() * Fraction(self.degrees + 1, 2)


def student_t_law(degrees: int) -> Law:
    """Return the law of density in proportion to (1 + z**2/d)**(-(d+1)/2), for d >= 1 degrees of freedom."""
    if isinstance(degrees, bool) or not isinstance(degrees, int) or degrees < 1:
        raise MechanismError("parameter-not-positive-integer", value=degrees, name="degrees")
    return RegionLaw(_HeavyBell(degrees))


def student_t(degrees: int, bits: BitSource) -> Real:
    """Draw a real number of density in proportion to (1 + z**2/d)**(-(d+1)/2), exactly.

    Args:
        degrees: The degrees of freedom d, at least 1.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import student_t
        >>> low, high = student_t(3, system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return student_t_law(degrees).draw(bits)


def cauchy_law() -> Law:
    """Return the law of density in proportion to 1/(1 + z**2)."""
    return student_t_law(1)


def cauchy(bits: BitSource) -> Real:
    """Draw a real number of density in proportion to 1/(1 + z**2), exactly.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import cauchy
        >>> low, high = cauchy(system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return cauchy_law().draw(bits)
