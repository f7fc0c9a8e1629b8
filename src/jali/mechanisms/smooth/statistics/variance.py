"""The variance of a clipped column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.mechanisms.mechanism import parameter
from jali.mechanisms.ruler import Marks, Ruler
from jali.mechanisms.smooth.statistics.clipped import Clipped
from jali.mechanisms.smooth.statistics.joining import Joining
from jali.mechanisms.smooth.statistics.replacing import Replacing
from jali.mechanisms.smooth.statistics.sums import Sorted
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class Variance(Clipped):
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
        ruler = Ruler.of(low, high, None if mesh is None else parameter(mesh, "mesh"))
        self._fill(low=ruler.low, high=ruler.high, mesh=ruler.step, adjacency=Adjacency.of(adjacency))
        self._fill(step=Ruler.of(*self.outputs, step).step)

    @cached_property
    def ruler(self) -> Ruler:
        """The lattice of the column."""
        return Ruler(self.low, self.high, self.mesh)

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
        marks = self._sorted(column)
        return self.unit * Fraction(size * marks.squares() - marks.upto(size) ** 2, size**2)

    def furthest(self, people: int) -> int:
        """Under add-remove, the most that may be needed is to leave one person, at an end of the range."""
        return people if self.adjacency is Adjacency.REPLACE_ONE else people + 1

    def _largest(self, people: int) -> Fraction:
        if self.adjacency is Adjacency.REPLACE_ONE:
            return Fraction((people - 1) * self.ruler.top**2, people**2) if people else Fraction(0)
        return self.ruler.top**2 * max(Fraction(size, (size + 1) ** 2) for size in (people, max(people - 1, 0)))

    def reach(self, column: Sorted) -> Callable[[int], Fraction]:
        """Return A(k), or its bound."""
        return (Replacing if self.adjacency is Adjacency.REPLACE_ONE else Joining)(column).at
