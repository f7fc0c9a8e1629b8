"""What all order statistics share: the ruler, the ranks and the search for the smooth bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.ruler import Ruler
from jali.mechanisms.smooth.bound import SmoothBound
from jali.mechanisms.smooth.peak import Term, horizon, largest, peak
from jali.mechanisms.smooth.statistic import Statistic
from jali.mechanisms.smooth.statistics.crest import crest, is_gentle
from jali.mechanisms.smooth.statistics.ordered import Ordered
from jali.mechanisms.smooth.statistics.ranks import gap_when_adding, gap_when_replacing, rank_of
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, share

_MANY = 1 << 12


@dataclass(frozen=True, repr=False)
class OrderStatistic(Statistic):
    """The value of rank ceil(at n) in a column of n values, clamped to a public range; `low` if there is none.

    Guarantee:
        `at_distance` is A(k) and `smooth` the smooth sensitivity, exactly, in both adjacencies.
    Proof:
        docs/proofs/smooth_sensitivity.md, Theorems 2, 3, 5 and 6.
    """

    low: Fraction
    high: Fraction
    step: Fraction
    adjacency: Adjacency

    def __init__(
        self, *, low: Number, high: Number, step: Number | None = None, adjacency: str | Adjacency
    ) -> None:
        ruler = Ruler.of(low, high, step)
        values = {"low": ruler.low, "high": ruler.high, "step": ruler.step, "adjacency": Adjacency.of(adjacency)}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def share(self) -> Fraction:
        """The share of the values at or below the statistic."""
        raise NotImplementedError

    @cached_property
    def ruler(self) -> Ruler:
        """The marks of the range."""
        return Ruler(self.low, self.high, self.step)

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The first and the last mark."""
        return self.ruler.first * self.step, (self.ruler.first + self.ruler.top) * self.step

    def read(self, table: Any) -> Ordered:
        """Clamp a column to the range and put it on the lattice."""
        return Ordered(self.ruler.marks(table), self.ruler.top)

    def value(self, column: Ordered) -> Fraction:
        """Return the statistic itself, which is not private."""
        return (self.ruler.first + column[rank_of(self.share, len(column))]) * self.step

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the width of the range; 0 for no people, of whom none can be replaced."""
        alone = people == 0 and self.adjacency is Adjacency.REPLACE_ONE
        return Fraction(0) if alone else self.ruler.top * self.step

    def at_distance(self, column: Ordered, changes: int) -> Fraction:
        """Return A(k), exactly."""
        return self._gap(column, self.share, changes) * self.step

    def smooth(self, column: Ordered, beta: Fraction) -> SmoothBound:
        """Return the smooth sensitivity, exactly."""
        distance, size = self._peak(column, beta)
        return SmoothBound(beta, ((distance, size * self.step),))

    def _peak(self, column: Ordered, beta: Fraction) -> Term:
        """Find the largest term: by divide and conquer where many distances are about as good."""
        gap, at, people = self._gap, self.share, len(column)

        def size(changes: int) -> int:
            return gap(column, at, changes)

        if self.adjacency is Adjacency.REPLACE_ONE and people > _MANY:
            reach = horizon(size, people, beta)
            if reach > _MANY and is_gentle(beta, reach):
                return largest(((k, size(k)) for k in crest(column, rank_of(at, people), reach, beta)), beta)
        return peak(size, people, beta)

    @property
    def _gap(self) -> Callable[[Ordered, Fraction, int], int]:
        return gap_when_replacing if self.adjacency is Adjacency.REPLACE_ONE else gap_when_adding


def share_of(value: Number, name: str) -> Fraction:
    """Return a number from 0 to 1 as a rational, or refuse it by name."""
    try:
        return share(value, name)
    except CatalogError as problem:
        raise MechanismError(problem.message, remedy=problem.remedy) from None
