"""A fork: decide on which side of 0 a quantile lies, then walk away from 0 on that side.

Proof:
    docs/proofs/unbounded_quantile.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.origin_side import SIDE_SHARE, OriginSide
from jali.mechanisms.quantiles.rank_walk import RankWalk
from jali.mechanisms.ruler import Marks
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency


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
    def side(self) -> OriginSide:
        """The comparison at the origin."""
        return OriginSide(self.quantile, self.spare, self.epsilon * SIDE_SHARE, self.adjacency, self.origin)

    @property
    def up(self) -> RankWalk:
        """The walk from the origin to larger marks."""
        return self._walk(self.quantile, self.spare, 1, self.above)

    @property
    def down(self) -> RankWalk:
        """The walk from the origin to smaller marks: as many values are to lie above as should not lie below."""
        return self._walk(1 - self.quantile, -self.spare, -1, self.below)

    def _walk(self, quantile: Fraction, spare: int, sign: int, distances: Marks) -> RankWalk:
        left = self.epsilon * (1 - SIDE_SHARE)
        return RankWalk(quantile, spare, left, self.adjacency, self.origin, sign, distances)

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[int]:
        """Draw the marks of many independent releases."""
        falls = self.side.below(column, size, bits)
        marks = np.zeros(size, np.int64)
        for walk, chosen in ((self.down, falls), (self.up, ~falls)):
            places = np.flatnonzero(chosen)
            if len(places):
                marks[places] = walk.draw(column, len(places), bits)
        found: list[int] = marks.tolist()
        return found

    def log_masses(self, column: Marks) -> dict[int, float]:
        """Return ln Pr[mark] for every mark; the origin is reached on both sides."""
        falls, rises = self.side.log_chances(column)
        masses = {mark: falls + log for mark, log in self.down.log_masses(column).items()}
        for mark, log in self.up.log_masses(column).items():
            masses[mark] = float(np.logaddexp(masses.get(mark, -math.inf), rises + log))
        return masses

    def deviation(self, column: Marks, mark: int) -> Fraction:
        """Return how many people the worst judgement was off on the better of the ways to a mark."""
        off = self.side.misjudged(column)
        ways = ((self.down, -off), (self.up, off))
        return min(max(side, walk.deviation(column, mark)) for walk, side in ways if mark in walk.marks)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence neither the side nor a mark is misjudged by more."""
        each = 1 - miss(confidence) / 2
        return max(self.side.error(each), self.up.error(each), self.down.error(each))
