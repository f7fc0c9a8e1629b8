"""The Laplace law of scale 1, of density exp(-|z|)/2."""

from __future__ import annotations

import numpy as np

from jali.noise.bits import BitSource
from jali.noise.bounds import Bounds
from jali.noise.reals.balls import Ball
from jali.noise.reals.law import Law
from jali.noise.reals.point import Point
from jali.noise.reals.powers import log_bounds
from jali.noise.reals.real import Real
from jali.noise.reals.region import Region, RegionLaw


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
        >>> from jali.noise import system_bits
        >>> from jali.noise.reals import laplace
        >>> low, high = laplace(system_bits()).bounds(20)
        >>> low <= high
        True
    """
    return laplace_law().draw(bits)
