"""Local sensitivity at a distance by trying every table: slow, and obviously right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache

Table = tuple[int, ...]
Value = Callable[[Table], Fraction]


def mean(table: Table, top: int) -> Fraction:
    """Return the mean; of nobody, the middle."""
    return Fraction(sum(table), len(table)) if table else Fraction(top, 2)


def trimmed(table: Table, top: int, trim: Fraction) -> Fraction:
    """Return the mean without the ends."""
    cut = math.floor(trim * len(table))
    return mean(tuple(sorted(table)[cut : len(table) - cut]), top)


def winsorised(table: Table, top: int, trim: Fraction) -> Fraction:
    """Return the mean with the ends pulled in."""
    if not table:
        return Fraction(top, 2)
    ordered, cut = sorted(table), math.floor(trim * len(table))
    least, most = ordered[cut], ordered[len(table) - cut - 1]
    return mean(tuple(min(max(item, least), most) for item in table), top)


def variance(table: Table) -> Fraction:
    """Return the mean square distance of pairs, halved."""
    pairs = sum((a - b) ** 2 for a in table for b in table)
    return Fraction(pairs, 2 * len(table) ** 2) if table else Fraction(0)


class ByHand:
    """Every neighbour of every table with marks 0..top, and how far they move a value."""

    def __init__(self, value: Value, top: int, adjacency: str) -> None:
        self.value = cache(value)
        self.top, self.adjacency = top, adjacency
        self.neighbours = cache(self._neighbours)
        self.local = cache(self._local)

    def _neighbours(self, table: Table) -> frozenset[Table]:
        less = [table[:i] + table[i + 1 :] for i in range(len(table))]
        marks = range(self.top + 1)
        if self.adjacency == "add-remove":
            return _tables([*less, *((*table, mark) for mark in marks)])
        return _tables((*rest, mark) for rest in less for mark in marks)

    def _local(self, table: Table) -> Fraction:
        here = self.value(table)
        return max((abs(here - self.value(other)) for other in self.neighbours(table)), default=Fraction(0))

    def at_distances(self, table: Table, most: int) -> list[Fraction]:
        """Return A(0), ..., A(most)."""
        seen = front = frozenset([tuple(sorted(table))])
        found = [max(map(self.local, front))]
        for _ in range(most):
            front = frozenset().union(*map(self.neighbours, front)) - seen
            seen |= front
            found.append(max([found[-1], *map(self.local, front)]))
        return found


def _tables(rows: Iterable[Table]) -> frozenset[Table]:
    return frozenset(tuple(sorted(row)) for row in rows)
