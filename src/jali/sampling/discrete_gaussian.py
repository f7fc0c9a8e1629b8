"""Draw from the discrete Gaussian law on the integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from jali.sampling.exp_bounds import Doubles
from jali.sampling.guide_table import Sampled
from jali.sampling.inversion import Progression
from jali.sampling.parameters import positive_rational

LARGEST_VARIANCE = 1 << 120


@dataclass(frozen=True)
class DiscreteGaussian(Sampled):
    """The law Pr[X = x] proportional to exp(-x**2 / (2 variance)) on the integers.

    Args:
        variance: The parameter sigma**2, a rational in (0, 2**120]; the variance of X is a little smaller.

    Guarantee:
        Samples have exactly this law if the bits are uniform and independent; no tail is cut. Added to an
        integer of sensitivity d, a sample makes a d**2/(2 variance)-zCDP release.
    Proof:
        docs/proofs/discrete_gaussian_sampler.md; the loss after Canonne, Kamath, Steinke 2020, Theorem 4.

    Error:
        Pr[|X| >= t] <= 2 exp(-t**2 / (2 variance)) for integer t >= 0.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import DiscreteGaussian
        >>> DiscreteGaussian(Fraction(100)).sample(3).dtype
        dtype('int64')
    """

    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive_rational("variance", self.variance, LARGEST_VARIANCE))

    def spread(self) -> int:
        """Return the integer part of sigma."""
        return isqrt(int(self.variance))

    def series(self, shift: int) -> tuple[Progression, ...]:
        """Return the exponents of the blocks: |x| starts at k 2**shift on the right, 1 later on the left."""
        above, below = self.variance.numerator, self.variance.denominator
        square, double = below << 2 * shift, below << shift + 1
        growth = Fraction(square, above)
        return (
            Progression(Fraction(0), Fraction(square, 2 * above), growth),
            Progression(Fraction(below, 2 * above), Fraction(square + double, 2 * above), growth),
        )

    def tilt(self, nearest: int, offset: int) -> Fraction:
        """Return ((nearest + offset)**2 - nearest**2) / (2 variance)."""
        return offset * (2 * nearest + offset) / (2 * self.variance)

    def tilt_doubles(self, nearest: Doubles, offset: Doubles) -> Doubles:
        """Return the same in double: every term is positive, so that nothing cancels."""
        return offset * (2.0 * nearest + offset) * float(1 / (2 * self.variance))
