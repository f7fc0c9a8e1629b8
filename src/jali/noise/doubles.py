"""exp(-x) in doubles with a proven bound, from additions and multiplications only.

The elementary functions of a C library come without a contract. Here exp(-x) is a table entry times a short
polynomial, so that its error follows from the rounding of IEEE 754 additions and multiplications alone.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

from jali.noise.bounds import exp_bounds

LARGEST = 45.0
"""exp_doubles takes 0 <= x <= LARGEST; exp(-LARGEST) < 2**-64."""

MARGIN = 2.0**-42
"""Relative width of the zone in which a double does not decide; docs/proofs/bernoulli_exp.md, Lemma 3."""

_STEPS = 64
_PRECISION = 192
_COEFFICIENTS = tuple((-1) ** k / factorial(k) for k in range(6, -1, -1))

Doubles = NDArray[np.float64]


def exp_doubles(x: Doubles) -> Doubles:
    """Return exp(-x) for an array of doubles 0 <= x <= 45, each within a relative error of 2**-51.

    Proof:
        docs/proofs/bernoulli_exp.md, Lemma 2.
    """
    cells = (x * _STEPS).astype(np.intp)
    rest = x - cells * (1.0 / _STEPS)
    series = np.full_like(x, _COEFFICIENTS[0])
    for coefficient in _COEFFICIENTS[1:]:
        series *= rest
        series += coefficient
    series *= _table().take(cells)
    return series


def compare_exp(
    words: NDArray[np.unsignedinteger], x: Doubles, width: int
) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Compare a uniform number known to `width` bits with exp(-X), where x is X in double.

    Args:
        words: The first `width` bits U of the uniform number, which lies in [U, U+1) / 2**width.
        x: Doubles >= 0 with |x - X| <= 2**-50 X + 2**-900.
        width: At most 64.

    Returns:
        Whether the number is below exp(-X), and the places where this is not yet known.

    Proof:
        docs/proofs/bernoulli_exp.md, Lemma 3.
    """
    chance = exp_doubles(np.minimum(x, LARGEST))
    uniform = words * 2.0**-width
    margin = chance * MARGIN
    margin += 2.0 ** (1 - width)
    below = uniform < chance - margin
    above = uniform > chance + margin
    return below, np.flatnonzero(below == above)


@cache
def _table() -> Doubles:
    """exp(-i/64) for i = 0 .. 2880, each within a relative error of 2**-53 (1 + 2**-60)."""
    whole = [exp_bounds(Fraction(i), _PRECISION)[0] for i in range(int(LARGEST) + 1)]
    parts = [exp_bounds(Fraction(i, _STEPS), _PRECISION)[0] for i in range(_STEPS)]
    products = [w * p / (1 << 2 * _PRECISION) for w in whole for p in parts]
    return np.array(products[: int(LARGEST) * _STEPS + 1])
