"""What all order statistics share: the ruler, the ranks and the search for the smooth bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.mechanism import natural
from jali.mechanisms.smooth.bound import SmoothBound
from jali.mechanisms.smooth.peak import Term, horizon, peak
from jali.mechanisms.smooth.statistics.crest import crest, is_gentle
from jali.mechanisms.smooth.statistics.heaviest import heaviest
from jali.mechanisms.smooth.statistics.on_ruler import OnRuler
from jali.mechanisms.smooth.statistics.ordered import Ordered
from jali.mechanisms.smooth.statistics.ranks import (
    gap_when_adding,
    gap_when_replacing,
    gaps_when_adding,
    has_gaps,
    rank_of,
)
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, share

_MANY = 1 << 12


@dataclass(frozen=True, repr=False)
class OrderStatistic(OnRuler):
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
        self._declare(low, high, step, adjacency)

    @property
    def share(self) -> Fraction:
        """The share of the values at or below the statistic."""
        raise NotImplementedError

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
        return self._gap(column, self.share, natural(changes, "changes", least=0)) * self.step

    def _smooth(self, column: Ordered, beta: Fraction) -> SmoothBound:
        """Return the smooth sensitivity, exactly."""
        distance, size = self._peak(column, beta)
        return SmoothBound(beta, ((distance, size * self.step),))

    def _peak(self, column: Ordered, beta: Fraction) -> Term:
        """Find the largest term: all distances at once where many may be about as good."""
        gap, at, people = self._gap, self.share, len(column)

        def size(changes: int) -> int:
            return gap(column, at, changes)

        reach = horizon(size, people, beta) if people > _MANY else 0
        found = self._all_at_once(column, reach, beta) if reach > _MANY else None
        return peak(size, people, beta) if found is None else found

    def _all_at_once(self, column: Ordered, reach: int, beta: Fraction) -> Term | None:
        """Find the largest term up to a distance, if there is a way to do so without the search for the peak."""
        if self.adjacency is Adjacency.ADD_REMOVE:
            known = has_gaps(self.share)
            return heaviest(gaps_when_adding(column, self.share, np.arange(reach + 1)), beta) if known else None
        if not is_gentle(beta, reach + 1):
            return None
        rank = rank_of(self.share, len(column))
        found = crest(column, (rank, rank), reach + 1, beta)
        return None if found is None else (found[0] - 1, found[1])

    @property
    def _gap(self) -> Callable[[Ordered, Fraction, int], int]:
        return gap_when_replacing if self.adjacency is Adjacency.REPLACE_ONE else gap_when_adding


def share_of(value: Number, name: str) -> Fraction:
    """Return a number from 0 to 1 as a rational, or refuse it by name."""
    try:
        return share(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
