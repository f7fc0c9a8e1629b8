"""The mean of a clipped column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jali.mechanisms.smooth.statistics.location import Location
from jali.mechanisms.smooth.statistics.sums import Sorted
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Mean(Location):
    """The mean of a column that is clipped to a public range.

    Args:
        low: The least value; smaller ones count as it.
        high: The largest value; larger ones count as it.
        step: The lattice of the column and of what is released; if not given, a fine one.
        adjacency: When two tables are neighbours.

    Guarantee:
        `at_distance` is exact under both adjacencies. The mean of nobody is the middle of the range, which halves
        the global sensitivity under add-remove.
    Proof:
        docs/proofs/smooth_means.md, Mean.

    Example:
        >>> from jali.mechanisms import Mean
        >>> mean = Mean(low=0, high=10, step=1, adjacency="replace-one")
        >>> ages = mean.read([2, 3, 4, 5])
        >>> mean.value(ages), mean.local(ages), mean.global_sensitivity(4)
        (Fraction(7, 2), Fraction(2, 1), Fraction(5, 2))
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(
        self, *, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        self._declare(low, high, step, adjacency)

    def centre(self, column: Sorted, size: int) -> Fraction:
        """Return the mean of the smallest marks."""
        return Fraction(column.upto(size), size)

    def furthest(self, people: int) -> int:
        """One replacement takes a value to the end of the range; n removals leave nobody."""
        return min(1, people) if self.adjacency is Adjacency.REPLACE_ONE else people

    def _largest(self, people: int) -> Fraction:
        top = self.ruler.top
        if self.adjacency is Adjacency.REPLACE_ONE:
            return Fraction(top, people) if people else Fraction(0)
        return Fraction(top, max(people, 2))

    def reach(self, column: Sorted) -> Callable[[int], Fraction]:
        """Return A(k): from both ends of the range."""
        ends = (column, column.mirrored)
        if self.adjacency is Adjacency.REPLACE_ONE:
            return lambda changes: max(_replacing(end, changes) for end in ends)
        return lambda changes: max(_removing(end, changes) for end in ends)


def _replacing(column: Sorted, changes: int) -> Fraction:
    """Return how far the mean can rise: a smallest value becomes the last mark."""
    if not column.size:
        return Fraction(0)
    return Fraction(column.top - (0 if changes else column.at(1)), column.size)


def _removing(column: Sorted, changes: int) -> Fraction:
    """Return how far a person at the upper end moves the mean once the largest values are gone."""
    left = max(column.size - changes, 0)
    joining = (column.top - _lowest(column, left)) / (left + 1)
    leaving = (column.at(column.size) - _lowest(column, left - 1)) / left if left else Fraction(0)
    return max(joining, leaving)


def _lowest(column: Sorted, size: int) -> Fraction:
    """Return the mean of so many smallest marks; of none, the middle of the range."""
    return Fraction(column.upto(size), size) if size > 0 else Fraction(column.top, 2)
