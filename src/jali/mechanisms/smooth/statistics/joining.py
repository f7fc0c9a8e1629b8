"""Local sensitivity at a distance for the variance under add-remove.

Proof:
    docs/proofs/smooth_means.md, Variance, add-remove.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.statistics.sums import Sorted

_NEAR = 16  # changes up to which all shapes of the largest rise are tried
_SMALL = 20  # people and changes together up to which all shapes of the largest fall are tried


@dataclass(frozen=True)
class Moments:
    """How many marks there are, their sum and the sum of their squares."""

    size: int
    total: int
    squares: int

    def plus(self, mark: int, times: int = 1) -> Moments:
        """Return the moments with a mark added so many times; taken away, if negative."""
        return Moments(self.size + times, self.total + times * mark, self.squares + times * mark**2)

    def rise(self, mark: int) -> Fraction:
        """Return by how much one more mark raises the variance."""
        n = self.size
        if not n:
            return Fraction(0)
        spread = n * self.squares - self.total**2
        return Fraction(n * (n * mark - self.total) ** 2 - (n + 1) * spread, (n * (n + 1)) ** 2)


class Joining:
    """How far the variance moves when one more joins, or one leaves."""

    def __init__(self, column: Sorted) -> None:
        self._column = column
        self._all = Moments(column.size, column.upto(column.size), column.squares())
        low, high = self._all.total, column.size * column.top - self._all.total
        self._outer = max(low, high)
        mirrored = Moments(column.size, high, _mirrored_squares(self._all, column.top))
        self._ends = ((column, self._all), (column.mirrored, mirrored))
        self._rises: list[Fraction] = []
        self._falls: list[Fraction] = []

    def at(self, changes: int) -> Fraction:
        """Return A(k), or a bound of it."""
        if changes > _NEAR:
            return self._beyond(changes)
        rise = self._rise(changes)
        if self._fall_bound(changes) <= rise:
            return rise
        if self._column.size + changes > _SMALL:
            return self._fall_bound(changes)
        return max(rise, self._fall(changes))

    def _rise(self, changes: int) -> Fraction:
        while len(self._rises) <= changes:
            level = len(self._rises)
            found = (rise for end in self._ends for rise in _rises(*end, level))
            self._rises.append(max((*self._rises[-1:], *found), default=Fraction(0)))
        return self._rises[changes]

    def _fall(self, changes: int) -> Fraction:
        while len(self._falls) <= changes:
            found = _falls(self._column, len(self._falls))
            self._falls.append(max((*self._falls[-1:], *found), default=Fraction(0)))
        return self._falls[changes]

    def _fall_bound(self, changes: int) -> Fraction:
        """Return a bound of V/(N+1): squares grow by at most top^2 for each who joins."""
        people, top, moved = self._column.size, self._column.top, changes + 1
        if people - moved < 1:
            return Fraction(top**2, 8)
        scatter = Fraction(people * self._all.squares - self._all.total**2, people) + moved * top**2
        return min(scatter / (people - moved), Fraction(top**2, 4)) / (people - moved + 1)

    def _beyond(self, changes: int) -> Fraction:
        """Return a bound of A(k): the square of the largest distance from the mean that is within reach."""
        people, top, moved = self._column.size, self._column.top, changes + 1
        if people - moved < 1:
            return Fraction(top**2, 4)
        far = min(Fraction(top), Fraction(self._outer + moved * top, people - moved))
        return min(far**2 / (people - moved + 1), Fraction(top**2, 4))


def _mirrored_squares(moments: Moments, top: int) -> int:
    return moments.squares - 2 * top * moments.total + moments.size * top**2


def _rises(column: Sorted, moments: Moments, changes: int) -> Iterator[Fraction]:
    """Yield rises by a mark at the upper end, joining or leaving, after the outermost left and others joined."""
    for z, joined in _windows(column, moments, changes):
        yield from _best(z, joined, column.top, column.top)
    if column.size:
        last = column.at(column.size)
        for z, joined in _windows(column, moments.plus(last, -1), changes):
            yield from _best(z, joined, last, column.top)


def _windows(column: Sorted, moments: Moments, changes: int) -> Iterator[tuple[Moments, int]]:
    """Yield what is left of so many smallest marks when some at both ends leave, and how many join."""
    size = moments.size
    for below in range(min(changes, size) + 1):
        moments = moments.plus(column.at(below), -1) if below else moments
        left = moments
        for above in range(min(changes, size) - below + 1):
            left = left.plus(column.at(size + 1 - above), -1) if above else left
            yield left, changes - below - above


def _best(z: Moments, joined: int, mark: int, top: int) -> Iterator[Fraction]:
    """Yield the rises by a mark, with all who join at one mark: at an end, or where the rise has its peak."""
    if not joined:
        yield z.rise(mark)
        return
    yield from (z.plus(level, joined).rise(mark) for level in _levels(z, joined, mark, top))


def _levels(z: Moments, joined: int, mark: int, top: int) -> set[int]:
    n = z.size + joined
    below = n * (n + 1) - joined * (2 * n + 1)
    peak = ((2 * n + 1) * z.total - mark * n**2) // below if below else 0
    return {min(max(level, 0), top) for level in (0, peak, peak + 1, top)}


def _falls(column: Sorted, changes: int) -> Iterator[Fraction]:
    """Yield falls: some in the middle left, others joined at the ends; one more joins or leaves near the mean."""
    marks = column.marks.tolist()
    for z in _outer(marks, changes, column.top):
        if z.size:
            yield -z.rise(int((2 * z.total + z.size) // (2 * z.size)))
    for index, mark in enumerate(marks):
        yield from (-z.rise(mark) for z in _outer(marks[:index] + marks[index + 1 :], changes, column.top))


def _outer(marks: list[int], changes: int, top: int) -> Iterator[Moments]:
    """Yield the moments when a block of neighbours left and others joined at the ends."""
    for left in range(min(changes, len(marks)) + 1):
        for start in range(len(marks) - left + 1):
            kept = marks[:start] + marks[start + left :]
            z = Moments(len(kept), sum(kept), sum(mark**2 for mark in kept))
            joined = changes - left
            yield from (z.plus(top, high).plus(0, joined - high) for high in range(joined + 1))
