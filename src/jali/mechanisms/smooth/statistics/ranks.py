"""Which order statistics can be made neighbouring answers by so many changes.

A quantile is f(x) = x_(m(n)) with m(0) = 0 and m(n) = max(1, ceil(at n)), where x_(0) = low and x_(n+1) = high.
A(k) is the largest x_(j) - x_(i) over the pairs of ranks i < j that k changes can empty in between and balance
around. docs/proofs/smooth_sensitivity.md derives the pairs.
"""

from __future__ import annotations

from fractions import Fraction

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
    if at == Fraction(1, 2):
        return _median_gap(column, changes)
    if at == 0:
        return _least_gap(column, changes)
    if at == 1:
        return _largest_gap(column, changes)
    return _upper_gap(column, at, changes) if 2 * at > 1 else _lower_gap(column, at, changes)


def _median_gap(column: Ordered, changes: int) -> int:
    people = len(column)
    return column[(changes + people + 2) // 2] - column[-((changes + 1 - people) // 2)]


def _least_gap(column: Ordered, changes: int) -> int:
    from_low = column[changes + 1]
    return from_low if changes == len(column) - 1 else max(from_low, column[changes + 2] - column[1])


def _largest_gap(column: Ordered, changes: int) -> int:
    people = len(column)
    return max(column.top - column[people - changes], column[people] - column[people - changes - 1])


def _upper_gap(column: Ordered, at: Fraction, changes: int) -> int:
    """Take the widest gap above each number of values that stay below it."""
    side, end = Below(at, len(column), changes), len(column) + 1
    return widest(column, lambda i: (i, end - side.fewest(i)), side.first, side.last)


def _lower_gap(column: Ordered, at: Fraction, changes: int) -> int:
    """Take the widest gap below each number of values that stay above it."""
    side, end = Above(at, len(column), changes), len(column) + 1
    return widest(column, lambda h: (side.fewest(h), end - h), side.first, side.last)
