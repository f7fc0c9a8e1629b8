"""Round many random reals to lattice points at once."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np

from jali.sampling.bits import BitSource
from jali.sampling.exp_bounds import Doubles
from jali.sampling.interval_bernoulli import Booleans
from jali.sampling.reals.balls import Ball, constant
from jali.sampling.reals.real import Draws, Enclosure, Law, nearest

_BLOCK = 1 << 14
_PRECISION = 96
_LARGEST = 2.0**50


def nearest_sample(value: Fraction, scale: Enclosure, law: Law, size: int, bits: BitSource) -> list[int]:
    """Return `size` independent draws of floor(value + scale * Z + 1/2), exactly.

    Args:
        value: A rational.
        scale: Bounds of a real number at or above 0.
        law: The law of Z.
        size: How many.
        bits: Where the random bits come from.

    Guarantee:
        The same law as `nearest` of one draw each.
    Proof:
        docs/proofs/reals.md, Theorem 3.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling import system_bits
        >>> from jali.sampling.reals import cauchy_law, nearest_sample
        >>> nearest_sample(Fraction(7), lambda precision: (0, 0), cauchy_law(), 3, system_bits())
        [7, 7, 7]
    """
    scale = cache(scale)
    sizes = [min(_BLOCK, size - start) for start in range(0, size, _BLOCK)]
    return [point for part in sizes for point in _block(value, scale, law.draws(part, bits))]


def _block(value: Fraction, scale: Enclosure, draws: Draws) -> list[int]:
    shifted = value + Fraction(1, 2)
    whole = shifted.numerator // shifted.denominator
    with np.errstate(all="ignore"):
        floors, sure = _floors(draws.balls * _ball(scale) + (shifted - whole))
    points = [whole + floor for floor in floors.astype(np.int64).tolist()]
    for place in np.flatnonzero(~sure).tolist():
        points[place] = nearest(value, scale, draws.real(place))
    return points


def _ball(scale: Enclosure) -> Ball:
    low, high = scale(_PRECISION)
    unit = 2 << _PRECISION
    return constant(Fraction(low + high, unit), Fraction(high - low, unit))


def _floors(x: Ball) -> tuple[Doubles, Booleans]:
    """Return the floors of numbers, and where they are certain; 0 where they are not."""
    wide = x + 0
    low, high = np.floor(x.centre - wide.radius), np.floor(x.centre + wide.radius)
    sure = (low == high) & (abs(low) < _LARGEST)
    return np.where(sure, low, 0.0), sure
