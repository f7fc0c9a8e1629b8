"""The variance of a clipped column, and its local sensitivity at a distance.

Proof:
    docs/proofs/smooth_means.md, Variance, add-remove, and Variance, replace-one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from jali.mechanisms.base import read_parameter
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.smooth.column_statistic import ClippedStatistic
from jali.mechanisms.smooth.sorted_columns import SortedColumn
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_NEAR = 16  # changes up to which all shapes of the largest rise are tried
_SMALL = 20  # people and changes together up to which all shapes of the largest fall are tried


@dataclass(frozen=True)
class SquareMoments:
    """How many marks there are, their sum and the sum of their squares."""

    size: int
    total: int
    squares: int

    def plus(self, mark: int, times: int = 1) -> SquareMoments:
        """Return the moments with a mark added so many times; taken away, if negative."""
        return SquareMoments(self.size + times, self.total + times * mark, self.squares + times * mark**2)

    def rise(self, mark: int) -> Fraction:
        """Return by how much one more mark raises the variance."""
        n = self.size
        if not n:
            return Fraction(0)
        spread = n * self.squares - self.total**2
        return Fraction(n * (n * mark - self.total) ** 2 - (n + 1) * spread, (n * (n + 1)) ** 2)


class AddRemoveVariance:
    """How far the variance moves when one more joins, or one leaves."""

    def __init__(self, column: SortedColumn) -> None:
        self._column = column
        self._all = SquareMoments(column.size, column.upto(column.size), column.squares())
        low, high = self._all.total, column.size * column.top - self._all.total
        self._outer = max(low, high)
        mirrored = SquareMoments(column.size, high, _mirror_squares(self._all, column.top))
        self._ends = ((column, self._all), (column.mirror, mirrored))
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
        """Return a bound of A(k): the square of the largest distance from the mean that is near enough."""
        people, top, moved = self._column.size, self._column.top, changes + 1
        if people - moved < 1:
            return Fraction(top**2, 4)
        far = min(Fraction(top), Fraction(self._outer + moved * top, people - moved))
        return min(far**2 / (people - moved + 1), Fraction(top**2, 4))


def _mirror_squares(moments: SquareMoments, top: int) -> int:
    return moments.squares - 2 * top * moments.total + moments.size * top**2


def _rises(column: SortedColumn, moments: SquareMoments, changes: int) -> Iterator[Fraction]:
    """Yield rises by a mark at the upper end, joining or leaving, after the outermost left and others joined."""
    for z, joined in _windows(column, moments, changes):
        yield from _best(z, joined, column.top, column.top)
    if column.size:
        last = column.at(column.size)
        for z, joined in _windows(column, moments.plus(last, -1), changes):
            yield from _best(z, joined, last, column.top)


def _windows(column: SortedColumn, moments: SquareMoments, changes: int) -> Iterator[tuple[SquareMoments, int]]:
    """Yield what is left of so many smallest marks when some at both ends leave, and how many join."""
    size = moments.size
    for below in range(min(changes, size) + 1):
        moments = moments.plus(column.at(below), -1) if below else moments
        left = moments
        for above in range(min(changes, size) - below + 1):
            left = left.plus(column.at(size + 1 - above), -1) if above else left
            yield left, changes - below - above


def _best(z: SquareMoments, joined: int, mark: int, top: int) -> Iterator[Fraction]:
    """Yield the rises by a mark, with all who join at one mark: at an end, or where the rise has its peak."""
    if not joined:
        yield z.rise(mark)
        return
    yield from (z.plus(level, joined).rise(mark) for level in _levels(z, joined, mark, top))


def _levels(z: SquareMoments, joined: int, mark: int, top: int) -> set[int]:
    n = z.size + joined
    below = n * (n + 1) - joined * (2 * n + 1)
    peak = ((2 * n + 1) * z.total - mark * n**2) // below if below else 0
    return {min(max(level, 0), top) for level in (0, peak, peak + 1, top)}


def _falls(column: SortedColumn, changes: int) -> Iterator[Fraction]:
    """Yield falls: some in the middle left, others joined at the ends; one more joins or leaves near the mean."""
    marks = column.marks.tolist()
    for z in _outer(marks, changes, column.top):
        if z.size:
            yield -z.rise(int((2 * z.total + z.size) // (2 * z.size)))
    for index, mark in enumerate(marks):
        yield from (-z.rise(mark) for z in _outer(marks[:index] + marks[index + 1 :], changes, column.top))


def _outer(marks: list[int], changes: int, top: int) -> Iterator[SquareMoments]:
    """Yield the moments when a block of neighbours left and others joined at the ends."""
    for left in range(min(changes, len(marks)) + 1):
        for start in range(len(marks) - left + 1):
            kept = marks[:start] + marks[start + left :]
            z = SquareMoments(len(kept), sum(kept), sum(mark**2 for mark in kept))
            joined = changes - left
            yield from (z.plus(top, high).plus(0, joined - high) for high in range(joined + 1))


class ReplaceOneVariance:
    """How far the variance of n marks moves when one of them is replaced: (n-1)/n^2 |(v-z)^2 - (e-z)^2|.

    Here e becomes v, and z is the mean of the others. All sums are over n - 1 others, times n - 1.
    """

    def __init__(self, column: SortedColumn) -> None:
        self._ends = (column, column.mirror)

    def at(self, changes: int) -> Fraction:
        """Return A(k)."""
        size = self._ends[0].size
        if size < 2:
            return Fraction(0)
        if changes >= size:
            return Fraction((size - 1) * self._ends[0].top ** 2, size**2)
        most = max(moved for end in self._ends for moved in _moves(end, changes))
        return most * (size - 1) / size**2


def _moves(column: SortedColumn, changes: int) -> Iterator[Fraction]:
    """Yield the best with the others as low as they can be: a rise to the last mark, and a fall from high up."""
    others, left = column.size - 1, column.size - changes
    for kept in _nearby(column, left):
        yield _rise(column, kept, Fraction(column.upto(left) - kept, others))
    yield _fall(column.at(column.size), Fraction(column.upto(left - 1), others))
    if changes:
        low = Fraction(column.upto(left), others)
        yield _rise(column, _nearest(low), low)
        yield _fall(column.top, low)


def _nearby(column: SortedColumn, left: int) -> Iterator[int]:
    """Yield the kept marks on both sides of where the rise has its peak, as a function of the mark that moves."""
    others = column.size - 1
    root = Fraction(2 * column.upto(left) - others * column.top, others + 2)
    rank = int(np.searchsorted(column.marks[:left], int((column.top + root) // 2), side="right"))
    yield from (column.at(near) for near in (rank, rank + 1) if 1 <= near <= left)


def _rise(column: SortedColumn, mark: int, low: Fraction) -> Fraction:
    """Return how much further from the mean of the others the last mark is, in squares."""
    return (column.top - mark) * (column.top + mark - 2 * low)


def _fall(mark: int, low: Fraction) -> Fraction:
    """Return how much nearer the mark nearest to the mean of the others is, in squares."""
    return (mark - low) ** 2 - (_nearest(low) - low) ** 2


def _nearest(value: Fraction) -> int:
    return int((2 * value + 1) // 2)


@dataclass(frozen=True, repr=False)
class Variance(ClippedStatistic):
    """The variance of a column that is clipped to a public range: the mean square distance from the mean.

    Args:
        low: The least value; smaller ones count as it.
        high: The largest value; larger ones count as it.
        step: The lattice of what is released, in squared units; if not given, a fine one.
        mesh: The lattice of the column; if not given, a fine one.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is exact under replace-one. Under add-remove it is exact where the variance can rise by more
        than a simple bound of how far it can fall, up to 16 changes, and for all tables with n + k <= 20; else it
        is a bound of A(k) that keeps the smooth bound smooth. The variance of nobody is 0.
    Proof:
        docs/proofs/smooth_means.md, Variance.

    Example:
        >>> from jali.mechanisms import Variance
        >>> variance = Variance(low=0, high=10, step=1, mesh=1, adjacency="replace-one")
        >>> ages = variance.read([2, 3, 4, 5])
        >>> variance.value(ages), variance.local(ages), variance.global_sensitivity(4)
        (Fraction(5, 4), Fraction(135, 16), Fraction(75, 4))
    """

    low: Fraction
    high: Fraction
    step: Fraction
    mesh: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        step: Number | None = None,
        mesh: Number | None = None,
        adjacency: str | Adjacency,
    ) -> None:
        ruler = BoundedLattice.of(low, high, None if mesh is None else read_parameter(mesh, "mesh"))
        self._fill(low=ruler.low, high=ruler.high, mesh=ruler.step, adjacency=Adjacency.of(adjacency))
        self._fill(step=BoundedLattice.of(*self.outputs, step).step)

    @cached_property
    def ruler(self) -> BoundedLattice:
        """The lattice of the column."""
        return BoundedLattice(self.low, self.high, self.mesh)

    @property
    def unit(self) -> Fraction:
        """The square of the mesh."""
        return self.mesh**2

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """From 0 to what half of the people at each end of the range have."""
        return Fraction(0), (self.ruler.top * self.mesh) ** 2 / 4

    def value(self, column: Marks) -> Fraction:
        """Return the variance, exactly; 0 for nobody."""
        size = len(column)
        if not size:
            return Fraction(0)
        marks = self._sort(column)
        return self.unit * Fraction(size * marks.squares() - marks.upto(size) ** 2, size**2)

    def furthest(self, people: int) -> int:
        """Under add-remove, the most that may be needed is to leave one person, at an end of the range."""
        return people if self.adjacency is Adjacency.REPLACE_ONE else people + 1

    def _largest(self, people: int) -> Fraction:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return Fraction((people - 1) * self.ruler.top**2, people**2) if people else Fraction(0)
        return self.ruler.top**2 * max(Fraction(size, (size + 1) ** 2) for size in (people, max(people - 1, 0)))

    def reach(self, column: SortedColumn) -> Callable[[int], Fraction]:
        """Return A(k), or its bound."""
        return (ReplaceOneVariance if self.adjacency is Adjacency.REPLACE_ONE else AddRemoveVariance)(column).at
