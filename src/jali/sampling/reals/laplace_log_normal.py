"""Draw from the Gaussian, the Laplace and the Laplace-log-normal law on the real numbers.

The Laplace-log-normal law is that of X exp(sigma Y) for a Laplace number X and a standard Gaussian number Y.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.errors import MechanismError
from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Bounds
from jali.sampling.parameters import rational
from jali.sampling.reals.balls import WIDTH, Ball, constant, where
from jali.sampling.reals.log_bounds import growth_bounds, log_bounds
from jali.sampling.reals.real import Draws, Law, Real
from jali.sampling.reals.regions import Point, Quotient, Region, RegionLaw


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
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import gaussian
        >>> low, high = gaussian(system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return gaussian_law().draw(bits)


class _Logarithm(Region):
    """The whole square, mapped to -ln u: an exponential variable."""

    def contains(self, point: Point) -> bool:  # noqa: ARG002 - all points are inside
        return True

    def image(self, point: Point, precision: int) -> Bounds | None:
        if not point.u:
            return None
        one = 1 << point.known
        return log_bounds(one, point.u + 1, precision)[0], log_bounds(one, point.u, precision)[1]

    def margin(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - all points are inside
        return Ball(np.ones_like(u.centre), np.zeros_like(u.centre))

    def place(self, u: Ball, v: Ball) -> Ball:  # noqa: ARG002 - only u matters
        return u.fall()


def laplace_law() -> Law:
    """Return the law of density exp(-|z|)/2."""
    return RegionLaw(_Logarithm())


def laplace(bits: BitSource) -> Real:
    """Draw a real number of density exp(-|z|)/2, exactly.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import laplace
        >>> low, high = laplace(system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return laplace_law().draw(bits)


_GUARD = 8


class StretchedReal(Real):
    """The number x exp(sigma y).

    Args:
        x: A real number.
        y: Another.
        sigma: A rational, at least 0.
    """

    def __init__(self, x: Real, y: Real, sigma: Fraction) -> None:
        self._x = x
        self._y = y
        self._sigma = sigma

    def bounds(self, precision: int) -> Bounds:
        """Return integers lo <= 2**precision z <= hi."""
        work = precision + _GUARD
        least, most = (self._sigma * Fraction(end, 1 << work) for end in self._y.bounds(work))
        factors = growth_bounds(least, most, work)
        products = [end * factor for end in self._x.bounds(work) for factor in factors]
        spare = 2 * work - precision
        return min(products) >> spare, -(-max(products) >> spare)


@dataclass(frozen=True)
class LaplaceLogNormalLaw(Law):
    """The law of X exp(sigma Y).

    Args:
        sigma: A rational, at least 0.
    """

    sigma: Fraction

    def draw(self, bits: BitSource, *, word_bits: int = WIDTH) -> Real:
        """Draw one number."""
        x = laplace_law().draw(bits, word_bits=word_bits)
        return StretchedReal(x, gaussian_law().draw(bits, word_bits=word_bits), self.sigma)

    def draws(self, size: int, bits: BitSource) -> Draws:
        """Draw many independent numbers."""
        xs, ys = laplace_law().draws(size, bits), gaussian_law().draws(size, bits)
        with np.errstate(all="ignore"):
            balls = xs.balls * self._factor(ys.balls)
        return Draws(balls, lambda place: StretchedReal(xs.real(place), ys.real(place), self.sigma))

    def _factor(self, y: Ball) -> Ball:
        """Return exp(sigma y), for y of either sign."""
        decay = (Ball(abs(y.centre), y.radius) * self.sigma).decay()
        return where(y.centre < 0, decay, constant(Fraction(1)) / decay)


def laplace_log_normal_law(sigma: Fraction) -> Law:
    """Return the law of X exp(sigma Y), X Laplace of scale 1 and Y standard Gaussian, independent."""
    sigma = rational("sigma", sigma)
    if sigma < 0:
        raise MechanismError("parameter-below-zero", value=sigma, name="sigma")
    return LaplaceLogNormalLaw(sigma)


def laplace_log_normal(sigma: Fraction, bits: BitSource) -> Real:
    """Draw X exp(sigma Y), X Laplace of scale 1 and Y standard Gaussian, independent, exactly.

    Args:
        sigma: A rational, at least 0.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import laplace_log_normal
        >>> low, high = laplace_log_normal(Fraction(1, 2), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return laplace_log_normal_law(sigma).draw(bits)
