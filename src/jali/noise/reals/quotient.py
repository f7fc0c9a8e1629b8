"""The ratio of uniforms: for a density h, accept (U, V) if U**2 <= h(V/U); then V/U has this density."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction

from jali.noise.bounds import Bounds
from jali.noise.reals.balls import Ball
from jali.noise.reals.point import Point
from jali.noise.reals.powers import log_bounds
from jali.noise.reals.region import Region

_GUARD = 8


class Quotient(Region):
    """The points with u**2 <= h(v/u), mapped to v/u.

    h falls from h(0) = 1 on, and z**2 h(z) <= 1, so that the region lies in the unit square.

    Proof:
        docs/proofs/reals.md, Lemma 4.
    """

    @abstractmethod
    def descent(self, z: Fraction, precision: int) -> Bounds:
        """Return integers lo <= 2**precision * -ln h(z) <= hi for rational z >= 0."""

    @abstractmethod
    def descent_of(self, z: Ball) -> Ball:
        """Return -ln h(z)."""

    def contains(self, point: Point) -> bool | None:
        """Compare -ln h(z) with -2 ln u at the corners of the cell."""
        if not point.u:
            return None
        precision, one = point.known + _GUARD, 1 << point.known
        furthest = Fraction(point.v + 1, point.u)
        if self.descent(furthest, precision)[1] <= 2 * log_bounds(one, point.u + 1, precision)[0]:
            return True
        nearest = Fraction(point.v, point.u + 1)
        if self.descent(nearest, precision)[0] > 2 * log_bounds(one, point.u, precision)[1]:
            return False
        return None

    def image(self, point: Point, precision: int) -> Bounds | None:
        """Bound v/u."""
        if not point.u:
            return None
        return (point.v << precision) // (point.u + 1), -(-((point.v + 1) << precision) // point.u)

    def margin(self, u: Ball, v: Ball) -> Ball:
        """Return -2 ln u + ln h(v/u)."""
        return u.fall() * 2 - self.descent_of(v / u)

    def place(self, u: Ball, v: Ball) -> Ball:
        """Return v/u."""
        return v / u
