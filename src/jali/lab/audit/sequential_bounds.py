"""Bound a probability at every look: the audit may stop when it likes, and looking often costs nothing.

Statement:
    Let X_1, X_2, ... be independent and 1 with probability x, let c of the first n be 1, and let W be a law on
    (0, 1) that was chosen before. Then the wealth

        M_n(x) = integral of (w/x)^c ((1-w)/(1-x))^(n-c) dW(w)

    is at or above 1/level at any n, ever, with probability at most `level`.

Proof:
    (w/x)^X ((1-w)/(1-x))^(1-X) is what a unit becomes that is bet on the next X at fair odds: its mean is 1. So
    the products are martingales for every w, and so is their mixture; it starts at 1 and is never negative, so
    it reaches 1/level with probability at most `level` (Ville 1939). Mixtures of bets are those of Robbins 1970
    and Waudby-Smith and Ramdas 2023. Below c/n, M_n(x) falls as x grows; so the x that it rejects there are all
    those up to a bound, and the true x is below that bound with probability at most `level`, whatever the looks.

The wealth depends on the counts alone, so outputs may come in blocks. W is the beta law that an earlier, separate
sample teaches: if that was right, M grows about as fast as any bet on the truth could, and the price of many looks
is ln(1 + n/n_0)/2, where n_0 is the size of the earlier sample. If it was wrong, the bound is weak but true.
"""

from __future__ import annotations

import math

# Newton's steps converge from below; the last digits do not matter, the side does.
_STEPS = 100
_CLOSE = 1e-13


def bound_probability(count: int, total: int, level: float, before: tuple[int, int] = (0, 0)) -> float:
    """Return a lower bound on a probability, from `count` of `total`, that holds at all looks together.

    Args:
        count: How often it occurred so far.
        total: In how many runs.
        level: The probability with which any of the bounds is above the truth.
        before: How often it occurred, and in how many runs, in an earlier sample that is not among these.

    Example:
        >>> round(bound_probability(600, 1000, 0.01, before=(60, 100)), 3)
        0.547
    """
    if count == 0:
        return 0.0
    rest, wealth = total - count, log_mixture(count, total, before) + math.log(level)
    return _find_root(count, rest, wealth)


def log_mixture(count: int, total: int, before: tuple[int, int] = (0, 0)) -> float:
    """Return ln of the integral of w^c (1-w)^(n-c) under the beta law that an earlier sample teaches.

    Example:
        >>> round(math.exp(log_mixture(1, 1)), 12), round(math.exp(log_mixture(1, 2)), 12)
        (0.5, 0.125)
    """
    a, b = before[0] + 0.5, before[1] - before[0] + 0.5
    return _log_beta(a + count, b + total - count) - _log_beta(a, b)


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def _find_root(count: int, rest: int, target: float) -> float:
    """Return the x below count/(count + rest) at which count ln x + rest ln(1-x) is `target`; 0 if there is none.

    In y = ln x it is a concave function that rises up to its maximum, and Newton's method on such a function stays
    on the left of the root after its first step: the safe side.
    """
    top = math.log(count / (count + rest))
    if not rest:
        return math.exp(min(0.0, target / count))
    # The second term is at most 0, so the root is at or above this; and it is below the maximum.
    y = min(target / count, top)
    for _ in range(_STEPS):
        x = math.exp(y)
        value, slope = count * y + rest * math.log1p(-x), count - rest * x / (1 - x)
        step = (target - value) / slope if slope > 0 else 0.0
        y += step
        if abs(step) < _CLOSE:
            break
    return math.exp(min(y, top)) * (1 - 1e-11)
