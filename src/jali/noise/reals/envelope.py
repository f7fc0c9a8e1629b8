"""Regions below a curve: a point (U, V) is inside if V <= g(U), and only U matters for the image."""

from __future__ import annotations

from abc import abstractmethod

from jali.noise.bounds import Bounds
from jali.noise.reals.balls import Ball
from jali.noise.reals.point import Point
from jali.noise.reals.region import Region

_GUARD = 8


class Envelope(Region):
    """The points with v <= g(u), where g does not rise, mapped by a monotone function of u.

    Proof:
        docs/proofs/reals.md, Lemma 5.
    """

    @abstractmethod
    def height(self, u: int, known: int, precision: int) -> Bounds:
        """Return integers lo <= 2**precision g(u / 2**known) <= hi for 0 <= u <= 2**known."""

    @abstractmethod
    def height_of(self, u: Ball) -> Ball:
        """Return g(u)."""

    def contains(self, point: Point) -> bool | None:
        """Compare v and g(u) at the corners of the cell."""
        precision = point.known + _GUARD
        if (point.v + 1) << _GUARD <= self.height(point.u + 1, point.known, precision)[0]:
            return True
        if point.v << _GUARD > self.height(point.u, point.known, precision)[1]:
            return False
        return None

    def margin(self, u: Ball, v: Ball) -> Ball:
        """Return g(u) - v."""
        return self.height_of(u) - v
