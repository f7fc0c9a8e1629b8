"""The largest discounted term of a growing sequence, without looking at all of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

from jali.mechanisms.smooth.bound import SmoothBound
from jali.mechanisms.smooth.peak import largest

_CLOSE = 1e-9  # far above what doubles lose in a logarithm, so that no term that may be the largest is left out


def largest_terms(at: Callable[[int], Fraction], beta: Fraction, most: int, limit: Fraction) -> SmoothBound:
    """Return max over k <= most of exp(-beta k) at(k), exactly.

    Args:
        at: Never falls as k grows, and is never above `limit`.
        beta: How fast distance is discounted.
        most: From here on the sequence no longer grows.
        limit: Its largest value.
    """
    search = _Search(at, beta)
    for low, high in _doubling(most):
        if search.bound(low, limit) < search.least:
            break
        search.look(high)
        search.split(low, high)
    distance, size = largest(search.terms, beta)
    return SmoothBound(beta, ((distance, Fraction(size)),))


def _doubling(most: int) -> Iterator[tuple[int, int]]:
    low, high = 0, min(1, most)
    while low < high:
        yield low, high
        low, high = high, min(2 * high, most)


class _Search:
    """The terms seen so far, and the logarithm of the largest."""

    def __init__(self, at: Callable[[int], Fraction], beta: Fraction) -> None:
        self._at, self._beta = at, beta
        self._seen: dict[int, Fraction] = {}
        self._best = -math.inf
        self.look(0)

    def look(self, distance: int) -> None:
        size = self._seen[distance] = self._at(distance)
        self._best = max(self._best, self.bound(distance, size))

    def bound(self, distance: int, size: Fraction) -> float:
        """Return the logarithm of a term."""
        if not size:
            return -math.inf
        return math.log(size.numerator) - math.log(size.denominator) - float(self._beta * distance)

    @property
    def least(self) -> float:
        """What a term must have to matter."""
        return self._best - _CLOSE * (1 + abs(self._best)) if self._best > -math.inf else -math.inf

    def split(self, low: int, high: int) -> None:
        """Look between two distances, wherever the value at the further one would matter at the nearer one."""
        open_ranges = [(low, high)]
        while open_ranges:
            low, high = open_ranges.pop()
            if high - low < 2 or not self._matters(low + 1, self._seen[high]):
                continue
            middle = (low + high) // 2
            self.look(middle)
            open_ranges += [(middle, high), (low, middle)]

    def _matters(self, distance: int, size: Fraction) -> bool:
        return size > 0 and self.bound(distance, size) >= self.least

    @property
    def terms(self) -> tuple[tuple[int, Fraction], ...]:
        found = sorted((k, a) for k, a in self._seen.items() if self._matters(k, a))
        return tuple(found) or ((0, self._seen[0]),)
