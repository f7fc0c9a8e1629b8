"""Moments of points on a lattice, exactly, and the slopes that one more point can give."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

_FINE = 60


@dataclass(frozen=True)
class Moments:
    """The number of points, and the sums of x, y, x^2 and xy: integers.

    Example:
        >>> line = Moments(0, 0, 0, 0, 0).with_one(0, 1).with_one(2, 5)
        >>> line.spread, line.together, line.slope(Fraction(2))
        (Fraction(2, 1), Fraction(4, 1), Fraction(1, 1))
    """

    count: int
    x: int
    y: int
    xx: int
    xy: int

    @property
    def spread(self) -> Fraction:
        """The sum of squares of x about its mean."""
        return Fraction(self.count * self.xx - self.x**2, max(self.count, 1))

    @property
    def together(self) -> Fraction:
        """The sum of products of x and y about their means."""
        return Fraction(self.count * self.xy - self.x * self.y, max(self.count, 1))

    def slope(self, ridge: Fraction) -> Fraction:
        """Return the slope of least squares, with a ridge above 0."""
        return self.together / (self.spread + ridge)

    def with_one(self, x: int, y: int) -> Moments:
        """Return the moments with one more point."""
        return Moments(self.count + 1, self.x + x, self.y + y, self.xx + x * x, self.xy + x * y)

    def without(self, x: int, y: int) -> Moments:
        """Return the moments with one point less."""
        return Moments(self.count - 1, self.x - x, self.y - y, self.xx - x * x, self.xy - x * y)

    def slopes_with_one_more(self, ridge: Fraction, grain: int) -> Iterator[Fraction]:
        """Yield slopes with one more point in [-grain, grain]^2, the least and the largest among them."""
        for y in (-grain, grain):
            for x in self._turning_points(y, ridge, grain):
                yield self.with_one(x, y).slope(ridge)

    def _turning_points(self, y: int, ridge: Fraction, grain: int) -> set[int]:
        """Return lattice points around those where the slope with (x, y) turns, and the ends.

        With a = Sxx + ridge, c = n/(n+1) and the point at (d, e) from the means, the slope with it is
        (Sxy + c d e) / (a + c d^2), which turns where c e d^2 + 2 Sxy d - a e = 0.
        """
        ends = {-grain, grain}
        if not self.count:
            return ends
        mean, weight = Fraction(self.x, self.count), Fraction(self.count, self.count + 1)
        rise = y - Fraction(self.y, self.count)
        if rise == 0:
            roots = [mean]
        else:
            under = self.together**2 + weight * (self.spread + ridge) * rise**2
            roots = [mean + (sign * _root(under) - self.together) / (weight * rise) for sign in (1, -1)]
        near = {math.floor(root) + shift for root in roots for shift in (-1, 0, 1, 2)}
        return ends | {x for x in near if -grain <= x <= grain}


def _root(value: Fraction) -> Fraction:
    """Return the square root, to 2^-60."""
    return Fraction(math.isqrt(math.floor(value * 4**_FINE)), 1 << _FINE)
