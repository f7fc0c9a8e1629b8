"""A fork: decide on which side of 0 a quantile lies, then walk away from 0 on that side.

Proof:
    docs/proofs/unbounded_quantile.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.mechanisms.laplace import Laplace
from jali.mechanisms.lattice import add
from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.rank_walk import RankWalk, drift, excess
from jali.mechanisms.ruler import Marks
from jali.mechanisms.sparse_vector.law import log_at_least
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency

# The side is one question, the walk thousands: a quarter of the loss errs less on it than the rest on them.
_SIDE = Fraction(1, 4)


@dataclass(frozen=True, eq=False)
class RankFork:
    """One noisy comparison at the origin, then a walk up or a walk down.

    Attributes:
        quantile: The share of all values that is to lie at or below the mark.
        spare: How many fewer than that are enough.
        epsilon: The loss: a quarter for the side, the rest for the walk.
        adjacency: When two tables are neighbours.
        origin: The mark of 0.
        above: The distances of the walk up.
        below: The distances of the walk down.

    Guarantee:
        The mark is epsilon-DP under the adjacency.
    Proof:
        docs/proofs/unbounded_quantile.md, Theorem 2.
    """

    quantile: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int
    above: Marks
    below: Marks

    @property
    def side(self) -> Laplace:
        """The noise of the comparison at the origin."""
        distance = self.quantile.denominator * drift(self.quantile, self.adjacency)
        return Laplace(sensitivity=distance, epsilon=self.epsilon * _SIDE)

    @property
    def up(self) -> RankWalk:
        """The walk from the origin to larger marks."""
        return self._walk(self.quantile, self.spare, 1, self.above)

    @property
    def down(self) -> RankWalk:
        """The walk from the origin to smaller marks: as many values are to lie above as should not lie below."""
        return self._walk(1 - self.quantile, -self.spare, -1, self.below)

    def _walk(self, quantile: Fraction, spare: int, sign: int, distances: Marks) -> RankWalk:
        left = self.epsilon * (1 - _SIDE)
        return RankWalk(quantile, spare, left, self.adjacency, self.origin, sign, distances)

    def _below(self, column: Marks) -> int:
        """Return how many values too many lie below the origin for the quantile to lie at or above it."""
        count = np.searchsorted(column, [self.origin], side="left").astype(np.int64)
        return int(excess(self.quantile, self.spare, count, len(column))[0])

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[int]:
        """Draw the marks of many independent releases."""
        noise = self.side.sampler.sample(size, bits=bits)
        falls = add(np.array([self._below(column)], dtype=object), noise) >= 0
        marks = np.zeros(size, np.int64)
        for walk, chosen in ((self.down, falls), (self.up, ~falls)):
            places = np.flatnonzero(chosen)
            if len(places):
                marks[places] = walk.draw(column, len(places), bits)
        found: list[int] = marks.tolist()
        return found

    def log_masses(self, column: Marks) -> dict[int, float]:
        """Return ln Pr[mark] for every mark; the origin is reached on both sides."""
        too_many, scale = float(self._below(column)), self.side.scale
        falls, rises = log_at_least(scale, np.array([-too_many, too_many + 1])).tolist()
        masses = {mark: falls + log for mark, log in self.down.log_masses(column).items()}
        for mark, log in self.up.log_masses(column).items():
            masses[mark] = float(np.logaddexp(masses.get(mark, -math.inf), rises + log))
        return masses

    def deviation(self, column: Marks, mark: int) -> Fraction:
        """Return how many people the worst judgement was off on the better of the ways to a mark."""
        too_many = Fraction(self._below(column), self.quantile.denominator)
        ways = ((self.down, -too_many), (self.up, too_many))
        return min(max(off, walk.deviation(column, mark)) for walk, off in ways if mark in walk.marks)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence neither the side nor a mark is misjudged by more."""
        each = 1 - miss(confidence) / 2
        side = Fraction(self.side.error(each), self.quantile.denominator)
        return max(side, self.up.error(each), self.down.error(each))
