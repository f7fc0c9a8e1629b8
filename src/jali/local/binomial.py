"""Binomial tails and exact Clopper-Pearson intervals, on arrays of counts.

Pr[X >= c] is the mass of c times a continued fraction of the incomplete beta function, so that far tails keep
their digits.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import read_miss_probability

Doubles: TypeAlias = NDArray[np.float64]

_SMALL = 16  # from here on, five terms of Stirling's series err by less than a double does
_STIRLING = np.array(
    [0.0] + [math.lgamma(k + 1) - 0.5 * math.log(2 * math.pi * k) - k * math.log(k) + k for k in range(1, _SMALL)]
)
_TINY, _CLOSE = 1e-300, 1e-15
# A series of eight terms is exact to the last place so near to 0.
_NEAR, _ODD = 0.1, 2 / np.arange(3, 19, 2)
_MOST_TERMS, _MOST_STEPS = 100_000, 200
_ALL_TRIED, _ROUNDS = 2048, 8


def log_mass(count: Any, people: Any, chance: Any) -> Doubles:
    """Return ln Pr[X = count] for X binomial and 0 < chance < 1, expanded around its maximum (Loader 2000).

    Example:
        >>> round(math.exp(float(log_mass(1, 2, 0.25))), 12)
        0.375
    """
    c, n, x = (np.asarray(part, np.float64) for part in (count, people, chance))
    some = np.maximum(n, 1)
    inside = np.clip(c, 1, np.maximum(n - 1, 1))
    rest = np.maximum(n - inside, 1)
    middle = (
        _stirling_error(some)
        - _stirling_error(inside)
        - _stirling_error(rest)
        - _deviance(inside, some * x)
        - _deviance(rest, some * (1 - x))
        - 0.5 * np.log(2 * math.pi * inside * rest / some)
    )
    ends = np.where(c == 0, n * np.log1p(-x), n * np.log(x))
    return np.asarray(np.where((c == 0) | (c == n), ends, middle))


def tail_ratio(count: Any, people: Any, chance: Any) -> Doubles:
    """Return Pr[X >= count] / Pr[X = count] for X binomial and a count of at least 1 at or above the mean.

    Example:
        >>> round(float(tail_ratio(1, 2, 0.25)), 12)  # 7/16 over 3/8
        1.166666666667
    """
    c, n, x = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (count, people, chance)))
    inside = np.maximum(c, 1)
    return np.asarray((1 - x) * _fraction(inside, np.maximum(n - inside + 1, 1), x))


def upper_tail(count: Any, people: Any, chance: Any) -> Doubles:
    """Return Pr[X >= count] for X binomial and 0 < chance < 1.

    Example:
        >>> round(float(upper_tail(1, 2, 0.25)), 12)
        0.4375
    """
    c, n, x = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (count, people, chance)))
    inside = np.clip(c, 1, np.maximum(n, 1))
    # Away from the mean the fraction converges fast; on the other side of it, the other tail is the small one.
    near = inside >= n * x
    low = np.exp(log_mass(inside, n, x)) * (1 - x) * _fraction(inside, n - inside + 1, np.where(near, x, 0.0))
    back = np.minimum(n - inside + 1, n)
    high = 1 - np.exp(log_mass(back, n, 1 - x)) * x * _fraction(back, n - back + 1, np.where(near, 0.0, 1 - x))
    return np.asarray(np.where(c <= 0, 1.0, np.where(c > n, 0.0, np.where(near, low, high))))


def clopper_pearson(counts: Any, people: int, confidence: float | Fraction) -> tuple[Doubles, Doubles]:
    """Return the exact interval of a binomial probability for each count (Clopper and Pearson 1934).

    Guarantee:
        With X binomial of probability x, the interval of X holds x with at least the confidence, whatever x.

    Example:
        >>> low, high = clopper_pearson([0, 3], 10, 0.95)
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([0.0, 0.06674], [0.308497, 0.652453])
    """
    outside = read_miss_probability(confidence) / 2
    seen, where = np.unique(np.asarray(counts, np.int64), return_inverse=True)
    low, high = _lower(seen, people, outside), 1 - _lower(people - seen, people, outside)
    shape = np.shape(counts)
    return low[where].reshape(shape), high[where].reshape(shape)


def longest_arm(people: int, confidence: float, low: float, high: float) -> float:
    """Return how far count/people can be from a probability in [low, high] that the count's interval holds.

    Proof:
        docs/proofs/local_frequencies.md, Theorem 5. Few counts are all tried. For many, the inequality of Zubkov
        and Serov 2013 bounds every arm by z sqrt(v/n) + 1/n, where v is the largest y (1-y) that matters.
    """
    if people <= _ALL_TRIED:
        return float(_arms(np.arange(people + 1), people, confidence, low, high).max())
    z = -NormalDist().inv_cdf(read_miss_probability(confidence) / 2)
    reach = 1.0
    for _ in range(_ROUNDS):
        nearest = min(max(0.5, low - reach), high + reach)
        reach = z * math.sqrt(nearest * (1 - nearest) / people) + 1 / people
    return reach


def _arms(
    counts: NDArray[np.int64], people: int, confidence: float, low: float, high: float
) -> NDArray[np.float64]:
    """Return the longer arm of each count's interval, cut to [low, high]; 0 where the two do not meet."""
    first, last = clopper_pearson(counts, people, confidence)
    shares = counts / people
    arms = np.maximum(shares - np.maximum(first, low), np.minimum(last, high) - shares)
    return np.where((first <= high) & (last >= low), arms, 0.0)


def _lower(counts: NDArray[np.int64], people: int, outside: float) -> Doubles:
    """Return the largest x with Pr[X >= count] <= outside, by Newton's method on the logarithm of the tail.

    That is a concave function of x, so each step ends at or below the root: the safe side.
    """
    c = np.maximum(counts, 1).astype(np.float64)
    target = math.log(outside)
    # Pr[X >= c] <= (e n x / c)^c, so the root is at or above this.
    floor = np.exp(np.log(c / people) - 1 + target / c)
    spread = math.sqrt(-2 * target)
    x = np.clip((c - spread * np.sqrt(c * (1 - c / people) + 1)) / people, floor, 1 - 1e-9)
    for _ in range(_MOST_STEPS):
        fraction = _fraction(c, people - c + 1, x)
        step = (target - log_mass(c, people, x) - np.log1p(-x) - np.log(fraction)) * x * (1 - x) * fraction / c
        x = np.clip(x + step, floor, None)
        if np.all(np.abs(step) <= 1e-14 * x):
            break
    return np.where(counts <= 0, 0.0, x)


def _fraction(a: Doubles, b: Doubles, x: Doubles) -> Doubles:
    """Return the continued fraction of the incomplete beta function, by the method of Lentz."""
    d = 1 / _off_zero(1 - (a + b) * x / (a + 1))
    c = np.ones_like(d)
    value, open_ = d.copy(), np.ones(d.shape, np.bool_)
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / _off_zero(1 + even * d), _off_zero(1 + even / c)
        factor = d * c
        d, c = 1 / _off_zero(1 + odd * d), _off_zero(1 + odd / c)
        # What has converged stays: further terms would only add their rounding.
        value = np.where(open_, value * factor * (d * c), value)
        open_ &= np.abs(d * c - 1) > _CLOSE
        if not open_.any():
            break
    return value


def _off_zero(value: Doubles) -> Doubles:
    return np.where(np.abs(value) < _TINY, _TINY, value)


def _deviance(count: Doubles, mean: Doubles) -> Doubles:
    """Return count ln(count/mean) + mean - count, for a count of at least 1 and a mean above 0."""
    away = (mean - count) / count
    # Near 0, away - ln(1 + away) cancels; with v = away/(2 + away) it is away v - 2 (v^3/3 + v^5/5 + ...).
    v = away / (2 + away)
    near = away * v - v**3 * np.polynomial.polynomial.polyval(v * v, _ODD)
    # A mean far below the count is lost in 1 + away.
    below = np.log(count / mean) + away
    middle = away - np.log1p(np.maximum(away, -0.5))
    return np.asarray(count * np.select([np.abs(away) < _NEAR, away < -0.5], [near, below], middle))


def _stirling_error(count: Doubles) -> Doubles:
    """Return ln k! - ln(sqrt(2 pi k) k^k e^-k)."""
    small = _STIRLING[np.clip(count, 0, _SMALL - 1).astype(np.int64)]
    large = np.maximum(count, _SMALL)
    square = 1 / (large * large)
    series = 1 / 1680 - square / 1188
    far = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * series))) / large
    return np.where(count < _SMALL, small, far)
