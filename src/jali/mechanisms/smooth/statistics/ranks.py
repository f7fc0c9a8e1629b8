"""Which order statistics can be made neighbouring answers by so many changes.

A quantile is f(x) = x_(m(n)) with m(0) = 0 and m(n) = max(1, ceil(at n)), where x_(0) = low and x_(n+1) = high.
A(k) is the largest x_(j) - x_(i) over the pairs of ranks i < j that k changes can empty in between and balance
around. docs/proofs/smooth_sensitivity.md derives the pairs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from jali.mechanisms.ruler import Marks
from jali.mechanisms.smooth.statistics.balance import Above, Below
from jali.mechanisms.smooth.statistics.ordered import Ordered
from jali.mechanisms.smooth.statistics.widest import widest, widest_of_width


def rank_of(at: Fraction, people: int) -> int:
    """Return the rank of a quantile among so many values."""
    return min(people, max(1, -(-at.numerator * people // at.denominator)))


def gap_when_replacing(column: Ordered, at: Fraction, changes: int) -> int:
    """Return A(k) in marks where one person's value is replaced (Theorem 2)."""
    people = len(column)
    if changes >= people:
        return column.top if people else 0
    rank, width = rank_of(at, people), changes + 1
    return widest_of_width(column, width, max(0, rank - width), min(rank, people + 1 - width))


def gap_when_adding(column: Ordered, at: Fraction, changes: int) -> int:
    """Return A(k) in marks where one person is added or removed (Theorem 3)."""
    if changes >= len(column):
        return column.top
    if has_gaps(at):
        return int(gaps_when_adding(column, at, np.array([changes]))[0])
    return _upper_gap(column, at, changes) if 2 * at > 1 else _lower_gap(column, at, changes)


def has_gaps(at: Fraction) -> bool:
    """Tell whether `gaps_when_adding` knows the quantile: the median and both extremes."""
    return at in (0, Fraction(1, 2), 1)


def gaps_when_adding(column: Ordered, at: Fraction, changes: Marks) -> Marks:
    """Return A(k) in marks for many k at once, where one person is added or removed (Theorem 3)."""
    if at == Fraction(1, 2):
        return _median_gaps(column, changes)
    return _largest_gaps(column, changes) if at == 1 else _least_gaps(column, changes)


def _median_gaps(column: Ordered, changes: Marks) -> Marks:
    people = len(column)
    return column.take((changes + people + 2) // 2) - column.take(-((changes + 1 - people) // 2))


def _least_gaps(column: Ordered, changes: Marks) -> Marks:
    from_first = column.take(changes + 2) - column[1]
    return np.maximum(column.take(changes + 1), np.where(changes == len(column) - 1, 0, from_first))


def _largest_gaps(column: Ordered, changes: Marks) -> Marks:
    people = len(column)
    to_last = column[people] - column.take(people - changes - 1)
    return np.maximum(column.top - column.take(people - changes), to_last)


def _upper_gap(column: Ordered, at: Fraction, changes: int) -> int:
    """Take the widest gap above each number of values that stay below it."""
    side, end = Below(at, len(column), changes), len(column) + 1
    return widest(column, lambda i: (i, end - side.fewest(i)), side.first, side.last)


def _lower_gap(column: Ordered, at: Fraction, changes: int) -> int:
    """Take the widest gap below each number of values that stay above it."""
    side, end = Above(at, len(column), changes), len(column) + 1
    return widest(column, lambda h: (side.fewest(h), end - h), side.first, side.last)
