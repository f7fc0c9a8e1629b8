"""The widest of many gaps between order statistics whose ends move the same way."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import TypeAlias

import numpy as np

from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.statistics.ordered import Ordered

Pairs: TypeAlias = Callable[[Marks], tuple[Marks, Marks]]
_FEW = 1 << 12


def widest(column: Ordered, pairs: Pairs, first: int, last: int) -> int:
    """Return the largest x_(j) - x_(i) over the pairs (i, j) that belong to first, ..., last.

    Args:
        column: The values.
        pairs: Gives i and j; both never fall, or both never rise, along first, ..., last.
        first: The first place.
        last: The last place, at least `first`.
    """
    if last - first < _FEW:
        return _largest(column, pairs, np.arange(first, last + 1))
    best, starts, stride = _promising(column, pairs, first, last)
    return _inside(column, pairs, starts, stride, last, best)


def widest_of_width(column: Ordered, width: int, first: int, last: int) -> int:
    """Return the largest x_(i + width) - x_(i) over i = first, ..., last."""
    if last - first >= _FEW:
        pairs: Pairs = lambda i: (i, i + width)  # noqa: E731 - the argument of two calls
        best, starts, stride = _promising(column, pairs, first, last)
        if 16 * len(starts) * stride < last - first:  # else slices are faster than picking
            return _inside(column, pairs, starts, stride, last, best)
    return int((column.between(first + width, last + width) - column.between(first, last)).max())


def _promising(column: Ordered, pairs: Pairs, first: int, last: int) -> tuple[int, Marks, int]:
    """Return the widest gap on a coarse grid, and the stretches that could hide a wider one.

    Between two places of the grid no gap is wider than from the lower of their left ends to the higher of their
    right ends, so that most stretches need no closer look.
    """
    stride = isqrt(last - first)
    grid = np.append(np.arange(first, last, stride), last)
    left, right = (column.take(ranks) for ranks in pairs(grid))
    best = int((right - left).max())
    within = np.maximum(right[:-1], right[1:]) - np.minimum(left[:-1], left[1:])
    return best, grid[:-1][within > best], stride


def _inside(column: Ordered, pairs: Pairs, starts: Marks, stride: int, last: int, best: int) -> int:
    """Return the widest gap at the places of these stretches, if wider than the best one known."""
    if not len(starts):
        return best
    places = (starts[:, None] + np.arange(1, stride)).ravel()
    return max(best, _largest(column, pairs, np.minimum(places, last)))


def _largest(column: Ordered, pairs: Pairs, places: Marks) -> int:
    i, j = pairs(places)
    return int((column.take(j) - column.take(i)).max())
