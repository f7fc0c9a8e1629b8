"""The Laplace-log-normal law: X exp(sigma Y) for a Laplace number X and a standard Gaussian number Y."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.errors import MechanismError
from jali.noise.bits import BitSource
from jali.noise.bounds import Bounds
from jali.noise.checks import rational
from jali.noise.reals.balls import WIDTH, Ball, constant, where
from jali.noise.reals.gaussian import gaussian_law
from jali.noise.reals.laplace import laplace_law
from jali.noise.reals.law import Draws, Law
from jali.noise.reals.powers import growth_bounds
from jali.noise.reals.real import Real

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
class LaplaceLogNormal(Law):
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
    return LaplaceLogNormal(sigma)


def laplace_log_normal(sigma: Fraction, bits: BitSource) -> Real:
    """Draw X exp(sigma Y), X Laplace of scale 1 and Y standard Gaussian, independent, exactly.

    Args:
        sigma: A rational, at least 0.
        bits: Where the random bits come from.

    Proof:
        docs/proofs/reals.md, Theorem 2.

    Example:
        >>> from fractions import Fraction
        >>> from jali.noise import system_bits
        >>> from jali.noise.reals import laplace_log_normal
        >>> low, high = laplace_log_normal(Fraction(1, 2), system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return laplace_log_normal_law(sigma).draw(bits)
