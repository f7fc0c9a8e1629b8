"""Rigorous integer bounds of logarithms, of exponentials of either sign and of powers, at any precision."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from jali.sampling.exp_bounds import Bounds, exp_bounds

_STEP = 32  # work precisions are multiples of this one, so that few values of ln 2 are kept


def log_bounds(numerator: int, denominator: int, precision: int) -> Bounds:
    """Return integers lo <= 2**precision ln(numerator/denominator) <= hi, two units apart at most.

    Args:
        numerator: An integer above 0.
        denominator: An integer above 0.
        precision: Binary digits behind the point.

    Proof:
        docs/proofs/reals.md, Lemma 1: ln x = 2 artanh((x-1)/(x+1)), errors counted in units of the last place.

    Example:
        >>> from jali.sampling.reals.log_bounds import log_bounds
        >>> log_bounds(2, 1, 10)  # 1024 ln 2 is 709.78
        (709, 710)
    """
    shift = numerator.bit_length() - denominator.bit_length()
    work = precision + precision.bit_length() + abs(shift).bit_length() * 2 + 8
    work += -work % _STEP
    one = 1 << work
    mantissa = (numerator << max(0, work - shift)) // (denominator << max(0, shift - work))
    low, high = _twice_artanh(mantissa - one, mantissa + one, work)
    least, most = sorted(shift * end for end in _log_two(work))
    spare = work - precision
    return (low + least) >> spare, -(-(high + 2 + most) >> spare)


def _twice_artanh(numerator: int, denominator: int, work: int) -> Bounds:
    """Bound 2**work 2 artanh(numerator/denominator) for a ratio of at most 1/3 in size."""
    power = (abs(numerator) << work) // denominator
    square = power * power >> work
    total, odd = 0, 1
    while power:
        total += power // odd
        power = power * square >> work
        odd += 2
    low, high = 2 * total, 2 * total + 3 * odd + 6
    return (low, high) if numerator >= 0 else (-high, -low)


@lru_cache(maxsize=64)
def _log_two(work: int) -> Bounds:
    return _twice_artanh(1, 3, work)


def growth_bounds(low: Fraction, high: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision exp(x) <= hi for every x from `low` to `high`, of either sign."""
    return _growth(low, precision)[0], _growth(high, precision)[1]


def _growth(x: Fraction, precision: int) -> Bounds:
    if x <= 0:
        return exp_bounds(-x, precision)
    work = precision + 3 * -(-x.numerator // x.denominator) + 8
    low, high = exp_bounds(x, work)
    unit = 1 << (precision + work)
    return unit // high, -(-unit // low)


def power_bounds(numerator: int, denominator: int, exponent: Fraction, precision: int) -> Bounds:
    """Return integers lo <= 2**precision x**exponent <= hi for x = numerator/denominator.

    Args:
        numerator: An integer; at least 0, and above 0 if the exponent is below 0.
        denominator: An integer above 0, at least the numerator: 0 <= x <= 1.
        exponent: A rational other than 0.
        precision: Binary digits behind the point.
    """
    if numerator == 0:
        return 0, 0
    extra = (abs(exponent.numerator) // exponent.denominator).bit_length() + 4
    fall = log_bounds(denominator, numerator, precision + extra)
    unit = 1 << (precision + extra)
    ends = sorted(-exponent * Fraction(max(0, end), unit) for end in fall)
    return growth_bounds(ends[0], ends[1], precision)
