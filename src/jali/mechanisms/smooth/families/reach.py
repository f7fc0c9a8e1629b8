"""Quantiles of a symmetric law from its survival function, by bisection."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

from jali.mechanisms.mechanism import miss
from jali.numbers.search import bisect, bracket

_CLOSE = 1 + 4e-16


def reach(survival: Callable[[float], float], confidence: float) -> float:
    """Return the least double t, to a few units of the last place, with Pr[|Z| <= t] >= confidence."""
    return reach_of_tail(survival, miss(confidence) / 2)


def reach_of_tail(survival: Callable[[float], float], allowed: float) -> float:
    """Return the least double t, to a few units of the last place, with survival(t) <= allowed."""

    def rare(t: float) -> bool:
        return survival(t) <= allowed

    def middle(low: float, high: float) -> float:
        return math.sqrt(low) * math.sqrt(high) if high > 4 * low > 0 else (low + high) / 2

    low, high = bracket(rare, 0.0, 1.0, most=sys.float_info.max)
    if math.isinf(high):
        return high
    return bisect(rare, low, high, close=lambda low, high: high <= low * _CLOSE or high <= 1e-300, middle=middle)[
        1
    ]
