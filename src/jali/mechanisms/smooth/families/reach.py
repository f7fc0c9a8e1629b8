"""Quantiles of a symmetric law from its survival function, by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable

from jali.mechanisms.mechanism import miss

_CLOSE = 1 + 4e-16


def reach(survival: Callable[[float], float], confidence: float) -> float:
    """Return the least double t, to a few units of the last place, with Pr[|Z| <= t] >= confidence."""
    return reach_of_tail(survival, miss(confidence) / 2)


def reach_of_tail(survival: Callable[[float], float], allowed: float) -> float:
    """Return the least double t, to a few units of the last place, with survival(t) <= allowed."""
    low, high = 0.0, 1.0
    while survival(high) > allowed:
        low, high = high, 2 * high
        if math.isinf(high):
            return high
    while high > low * _CLOSE and high > 1e-300:
        middle = math.sqrt(low) * math.sqrt(high) if high > 4 * low > 0 else (low + high) / 2
        low, high = (low, middle) if survival(middle) <= allowed else (middle, high)
    return high
