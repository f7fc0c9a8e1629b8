"""How far a choice can be from the best score: the least gap of a tail, and the largest mean."""

from __future__ import annotations

from collections.abc import Callable

from jali.numbers.search import bisect, bracket, golden_section

_HALVINGS = 100
_GRID = 400


def least_gap(tail: Callable[[float], float], missed: float) -> float:
    """Return the least x >= 0 with tail(x) <= missed, for a falling tail; at or above it by a rounding at most."""
    if tail(0.0) <= missed:
        return 0.0

    def small(x: float) -> bool:
        return tail(x) <= missed

    return bisect(small, *bracket(small, 0.0, 1.0), steps=_HALVINGS)[1]


def largest(mean: Callable[[float], float], end: float) -> float:
    """Return the maximum over [0, end] of a smooth function that rises and then falls, to about 1e-14."""
    best = max(range(1, _GRID), key=lambda i: mean(i * end / _GRID))
    low, high = (best - 1) * end / _GRID, (best + 1) * end / _GRID
    # Mirrored: of places that are equally high the search keeps the further ones.
    top = golden_section(lambda x: -mean(-x), -high, -low, steps=_HALVINGS, fresh=True)
    return mean(-(top.low + top.high) / 2)
