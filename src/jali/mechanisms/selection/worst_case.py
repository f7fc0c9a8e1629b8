"""How far a choice can be from the best score: the least gap of a tail, and the largest mean."""

from __future__ import annotations

import math
from collections.abc import Callable

_HALVINGS = 100
_GRID = 400


def least_gap(tail: Callable[[float], float], missed: float) -> float:
    """Return the least x >= 0 with tail(x) <= missed, for a falling tail; at or above it by a rounding at most."""
    if tail(0.0) <= missed:
        return 0.0
    low, high = 0.0, 1.0
    while tail(high) > missed:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > missed else (low, middle)
    return high


def largest(mean: Callable[[float], float], end: float) -> float:
    """Return the maximum over [0, end] of a smooth function that rises and then falls, to about 1e-14."""
    best = max(range(1, _GRID), key=lambda i: mean(i * end / _GRID))
    low, high = (best - 1) * end / _GRID, (best + 1) * end / _GRID
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(_HALVINGS):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if mean(left) > mean(right) else (left, high)
    return mean((low + high) / 2)
