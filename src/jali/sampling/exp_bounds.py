"""Bound exp(-x) rigorously: by integers at any precision, and by doubles with a proven error.

The bounds by integers use integer arithmetic alone. The doubles use additions and multiplications alone, whose
rounding IEEE 754 fixes: elementary functions come without a contract.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial

import numpy as np
from numpy.typing import NDArray

Bounds = tuple[int, int]


def exp_bounds(x: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision * exp(-x) <= hi for rational x >= 0, a few units apart at most.

    Proof:
        docs/proofs/bernoulli_exp.md, Lemma 1: a Taylor series of x/2^s, its error counted in units of the
        last place, then s squarings rounded outwards.

    Example:
        >>> from fractions import Fraction
        >>> from jali.sampling.exp_bounds import exp_bounds
        >>> exp_bounds(Fraction(1), 10)  # 1024/e is 376.7
        (376, 377)
    """
    if x == 0:
        return 1 << precision, 1 << precision
    if x >= precision + 2:  # e > 2, so that exp(-x) is below a quarter of the last place
        return 0, 1
    halvings = (x.numerator // x.denominator).bit_length() + 6
    work = precision + halvings + 16
    lo, hi = _taylor((x.numerator << work) // (x.denominator << halvings), work)
    for _ in range(halvings):
        lo, hi = lo * lo >> work, (hi * hi >> work) + 1
    return lo >> (work - precision), (hi >> (work - precision)) + 1


def _taylor(y: int, work: int) -> Bounds:
    """Bound 2**work * exp(-v) for every v in [y, y+1] / 2**work, where y < 2**(work-6)."""
    one = term = total = 1 << work
    count = 0
    while term:
        count += 1
        term = (term * y >> work) // count
        total += -term if count & 1 else term
    slack = 4 * count + 4
    return total - slack, min(total + slack, one)


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
