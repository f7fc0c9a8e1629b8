"""Thresholds that the key of one person passes with probability at most delta, from rigorous bounds.

A count one below the threshold is released with a probability that spends what is left of delta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

from jali.numbers.rounding import round_root_down
from jali.numbers.search import bisect, least_integer_near
from jali.sampling.exp_bounds import exp_bounds
from jali.sampling.inversion import Progression

# Bits that a bound has beyond those of delta.
_GUARD = 128
# From this variance on the normaliser is sqrt(2 pi variance) to more than a hundred digits.
_SMOOTH = 16
# 3.14159265358979323846 < pi.
_PI_BELOW = Fraction(314159265358979323846, 10**20)
# Blocks of a Gaussian tail are at most a 2^12-th of the standard deviation wide.
_FINENESS = 12
# The probability of a draw is a multiple of 2^-64.
_COIN_BITS = 64


@lru_cache(maxsize=256)
def find_laplace_threshold(scale: Fraction, delta: Fraction) -> int:
    """Return the least t >= 1 with Pr[1 + X >= t] <= delta for discrete Laplace noise X.

    Guarantee:
        Pr[X >= x] = q^x / (1+q) for x >= 0, q = exp(-1/scale), is bounded from above to 2^-120 of delta, so that
        the threshold is valid, and the least unless delta is that close to a probability of the law.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 2.

    Example:
        >>> find_laplace_threshold(Fraction(1), Fraction(1, 10**5))
        13
    """
    guess = float(scale) * (-_compute_log(delta) - math.log1p(math.exp(-1 / float(scale))))
    return 1 + _find_least(partial(_bound_laplace_tail, scale, _choose_precision(delta)), delta, guess)


@lru_cache(maxsize=256)
def find_laplace_coin(scale: Fraction, delta: Fraction) -> Fraction:
    """Return with what probability a count one below `find_laplace_threshold` may pass too: what delta leaves.

    Guarantee:
        With t the threshold, Pr[1 + X >= t] + coin Pr[1 + X = t-1] <= delta. `coin` is a multiple of 2^-64, at
        most 1, and 0 for t = 1.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 7.

    Example:
        >>> round(float(find_laplace_coin(Fraction(1), Fraction(1, 10**5))), 6)
        0.713672
    """
    above, precision = find_laplace_threshold(scale, delta) - 1, _choose_precision(delta)
    if above == 0:
        return Fraction(0)
    one, small = 1 << precision, exp_bounds(1 / scale, precision)[0]
    mass = Fraction(exp_bounds((above - 1) / scale, precision)[1] * (one - small), one * (one + small))
    return _round_coin(delta - _bound_laplace_tail(scale, precision, above), mass)


def _bound_laplace_tail(scale: Fraction, precision: int, x: int) -> Fraction:
    """Bound Pr[X >= x] from above."""
    return Fraction(exp_bounds(x / scale, precision)[1], (1 << precision) + exp_bounds(1 / scale, precision)[0])


@lru_cache(maxsize=256)
def find_gaussian_threshold(variance: Fraction, delta: Fraction) -> int:
    """Return the least t >= 1 with Pr[1 + X >= t] <= delta for discrete Gaussian noise X.

    Guarantee:
        The tail is bounded from above by a sum of its terms or, where the standard deviation is above 2^13, over
        blocks: by chords from one standard deviation on and by midpoints below, which exceed it by about
        (1 + (x/sigma)^2) 2^-26 of itself. So the threshold is valid, and it is the least unless delta is that
        close to a probability of the law.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 3.

    Example:
        >>> find_gaussian_threshold(Fraction(1), Fraction(1, 10**5))
        6
    """
    tail = partial(_bound_gaussian_tail, variance, _choose_precision(delta))
    return 1 + _find_least(tail, delta, math.sqrt(variance) * _approximate_normal_quantile(delta) + 0.5)


@lru_cache(maxsize=256)
def find_gaussian_coin(variance: Fraction, delta: Fraction) -> Fraction:
    """Return with what probability a count one below `find_gaussian_threshold` may pass too: what delta leaves.

    Guarantee:
        As `find_laplace_coin`.
    Proof:
        docs/proofs/unknown_keys.md, Lemma 7.

    Example:
        >>> round(float(find_gaussian_coin(Fraction(1), Fraction(1, 10**5))), 6)
        0.063567
    """
    above, precision = find_gaussian_threshold(variance, delta) - 1, _choose_precision(delta)
    if above == 0:
        return Fraction(0)
    weight = Fraction(exp_bounds(Fraction((above - 1) ** 2) / (2 * variance), precision)[1], 1 << precision)
    mass = weight / _bound_normaliser(variance, precision)
    return _round_coin(delta - _bound_gaussian_tail(variance, precision, above), mass)


def _bound_gaussian_tail(variance: Fraction, precision: int, x: int) -> Fraction:
    """Bound Pr[X >= x] from above."""
    width = 1 << max(0, math.isqrt(int(variance)).bit_length() - 1 - _FINENESS)
    return _bound_gaussian_sum(variance, x, precision, width) / _bound_normaliser(variance, precision)


def _bound_gaussian_sum(variance: Fraction, start: int, precision: int, width: int) -> Fraction:
    """Bound the sum of exp(-x^2 / (2 variance)) over x >= start from above, over blocks."""
    turn = math.isqrt(int(variance))
    if width == 1 or start > turn:
        return _bound_by_chords(variance, start, precision, width)
    # The curve is concave up to `turn` and convex after it; the block between is counted at its larger end.
    blocks = (turn + 1 - start) // width
    left = turn + 1 - start - blocks * width
    between = left * exp_bounds(Fraction((turn + 1 - left) ** 2) / (2 * variance), precision)[1]
    before = _bound_by_midpoints(variance, start, precision, width, blocks) + Fraction(between, 1 << precision)
    return before + _bound_by_chords(variance, turn + 1, precision, width)


def _bound_by_chords(variance: Fraction, start: int, precision: int, width: int) -> Fraction:
    """Bound the sum over x >= start by chords, which lie above a convex curve."""
    series = _list_terms(variance, Fraction(start), width)
    lows, highs = series.weights(precision, series.rows(precision, precision))
    return Fraction(2 * width * sum(highs) - (width - 1) * lows[0], 2 << precision)


def _bound_by_midpoints(variance: Fraction, start: int, precision: int, width: int, blocks: int) -> Fraction:
    """Bound the sum over so many blocks by their midpoints: a concave curve is there above its mean."""
    series = _list_terms(variance, start + Fraction(width - 1, 2), width)
    return Fraction(width * sum(series.weights(precision, blocks)[1][:-1]), 1 << precision)


def _list_terms(variance: Fraction, start: Fraction, width: int) -> Progression:
    """Return the terms at start, start + width, start + 2 width and so on."""
    return Progression(
        start**2 / (2 * variance), (2 * start * width + width**2) / (2 * variance), Fraction(width**2) / variance
    )


@lru_cache(maxsize=256)
def _bound_normaliser(variance: Fraction, precision: int) -> Fraction:
    """Bound the sum of exp(-x^2 / (2 variance)) over all integers from below."""
    if variance >= _SMOOTH:
        return round_root_down(2 * _PI_BELOW * variance)
    series = Progression(1 / (2 * variance), 3 / (2 * variance), 1 / variance)
    lows, _ = series.weights(precision, series.rows(precision, precision))
    return 1 + Fraction(2 * sum(lows[:-1]), 1 << precision)


def _find_least(tail: Callable[[int], Fraction], delta: Fraction, guess: float) -> int:
    """Return the least x >= 0 whose tail bound is at most delta; the tail falls, and the guess is near."""
    near = max(0, math.ceil(guess)) if math.isfinite(guess) else 0
    return least_integer_near(lambda x: tail(x) <= delta, near)


def _round_coin(left: Fraction, mass: Fraction) -> Fraction:
    """Return left/mass, at most 1, rounded down to a multiple of 2^-64."""
    return Fraction(min(1 << _COIN_BITS, math.floor(left * (1 << _COIN_BITS) / mass)), 1 << _COIN_BITS)


def _choose_precision(delta: Fraction) -> int:
    return _GUARD + (delta.denominator // delta.numerator).bit_length()


def _compute_log(delta: Fraction) -> float:
    return math.log(delta.numerator) - math.log(delta.denominator)


def _approximate_normal_quantile(delta: Fraction) -> float:
    """Return the z with Pr[N >= z] = delta, nearly; where doubles end, from exp(-z^2/2) / (z sqrt(2 pi))."""
    if delta < Fraction(1, 10**305):
        z = math.sqrt(-2 * _compute_log(delta))
        return math.sqrt(-2 * _compute_log(delta) - math.log(2 * math.pi) - 2 * math.log(z))
    wanted = 2 * float(delta)
    return bisect(
        lambda z: math.erfc(z / math.sqrt(2)) <= wanted, 0.0, 40.0, close=lambda low, high: high - low <= 1e-12
    )[1]
