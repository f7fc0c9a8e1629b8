"""A walk over public marks, to the first one that has the wanted share of a column behind it.

Proof:
    docs/proofs/unbounded_quantile.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from jali.mechanisms.lattice import Integers
from jali.mechanisms.ruler import Marks
from jali.mechanisms.sparse_vector.above_threshold import AboveThreshold
from jali.mechanisms.sparse_vector.split import threshold_share
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency

_SAFE = 1 << 62


def drift(quantile: Fraction, adjacency: Adjacency) -> Fraction:
    """Return how far one person moves #{x <= c} - quantile #{x}: by 1 - quantile up, or by the quantile down."""
    return Fraction(1) if adjacency is Adjacency.REPLACE_ONE else max(quantile, 1 - quantile)


def excess(quantile: Fraction, spare: int, counts: Marks, people: int) -> Integers:
    """Return counts - (quantile people - spare), in units of 1 / (denominator of the quantile): integers."""
    unit, wanted = quantile.denominator, quantile.numerator * people - quantile.denominator * spare
    fits = unit * (people + 1) < _SAFE and abs(wanted) < _SAFE
    return (counts if fits else counts.astype(object)) * unit - wanted


@dataclass(frozen=True, eq=False)
class RankWalk:
    """AboveThreshold over the counts of values that lie between an origin and ever further marks, or behind it.

    Attributes:
        quantile: The share of all values that is to lie behind the mark.
        spare: How many fewer than that are enough.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        origin: The mark from which distances are counted.
        sign: 1 to walk up, -1 to walk down.
        distances: The distances of the marks, ascending; the last is taken where no other was.

    Guarantee:
        The mark is epsilon-DP under the adjacency. The counts are nested: under replace-one all of them move the
        same way, by 0 or 1; under add-remove all differences count - quantile * people move by -quantile or
        1 - quantile.
    Proof:
        docs/proofs/unbounded_quantile.md, Theorem 1.
    """

    quantile: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int
    sign: int
    distances: Marks

    @property
    def unit(self) -> int:
        """How many units one person counts for."""
        return self.quantile.denominator

    @property
    def search(self) -> AboveThreshold:
        """The search, with noise for its monotone case; its own claim is larger than what it spends here."""
        part = threshold_share(1)
        spent = part * drift(self.quantile, self.adjacency) + (1 - part)
        return AboveThreshold(
            sensitivity=self.unit,
            epsilon=self.epsilon / spent,
            monotone=True,
            adjacency=Adjacency.ADD_REMOVE,
        )

    @property
    def marks(self) -> Marks:
        """The marks of the walk, in its order."""
        return np.asarray(self.origin + self.sign * self.distances)

    def excess(self, column: Marks) -> Integers:
        """Return, for every mark but the last, how many values too many lie behind it: column is sorted."""
        asked = self.marks[:-1]
        if self.sign > 0:
            counts = np.searchsorted(column, asked, side="right")
        else:
            counts = len(column) - np.searchsorted(column, asked, side="left")
        return excess(self.quantile, self.spare, counts.astype(np.int64), len(column))

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[int]:
        """Draw the marks of many independent walks."""
        marks = self.marks.tolist()
        found: list[Any] = self.search.sample(self.excess(column), size, bits=bits)
        return [marks[-1] if index is None else marks[index] for index in found]

    def log_masses(self, column: Marks) -> dict[int, float]:
        """Return ln Pr[mark] for every mark."""
        marks = self.marks.tolist()
        masses = self.search.log_masses(self.excess(column))
        return {marks[-1] if index is None else marks[index]: log for index, log in masses.items()}

    def deviation(self, column: Marks, mark: int) -> Fraction:
        """Return how many people the worst judgement was off that led to a mark."""
        index = int(np.searchsorted(self.distances, self.sign * (mark - self.origin)))
        told = None if index == len(self.distances) - 1 else index
        return Fraction(int(self.search.deviation(self.excess(column).tolist(), told)), self.unit)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence no mark is misjudged by more than t people."""
        return Fraction(self.search.error(confidence, queries=max(1, len(self.distances) - 1)), self.unit)
