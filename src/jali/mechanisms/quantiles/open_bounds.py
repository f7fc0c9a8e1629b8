"""Two bounds of a column on an open range: a walk away from an origin to one of them, then back to the other.

Proof:
    docs/proofs/clipped_mean.md, Theorem 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from jali.mechanisms.mechanism import miss
from jali.mechanisms.quantiles.open_range import ladder, rungs
from jali.mechanisms.quantiles.rank_walk import SIDE_SHARE, OriginSide, RankWalk
from jali.mechanisms.quantiles.readers import quantile_of
from jali.mechanisms.ruler import Marks
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class BoundWalks:
    """A walk to one bound and, from the mark it finds, a walk to the other.

    Attributes:
        away: The first walk: up, to the high bound, or down, to the low one.
        back: The second walk, the other way, from a given mark.
    """

    away: RankWalk
    back: Callable[[int], RankWalk]

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[Pair]:
        """Draw many pairs of marks, the low bound first."""
        firsts = self.away.draw(column, size, bits)
        seconds = [0] * size
        for first, places in grouped(firsts).items():
            for place, mark in zip(places, self.back(first).draw(column, len(places), bits), strict=True):
                seconds[place] = mark
        return [self._rising(first, second) for first, second in zip(firsts, seconds, strict=True)]

    def log_masses(self, column: Marks) -> dict[Pair, float]:
        """Return ln Pr[pair] for every pair of marks that can be found."""
        return {
            self._rising(first, second): log + more
            for first, log in self.away.log_masses(column).items()
            for second, more in self.back(first).log_masses(column).items()
        }

    def deviation(self, column: Marks, pair: Pair) -> Fraction | None:
        """Return how many people the worst judgement was off on the way to a pair; None if there is no way."""
        first, second = pair if self.away.sign < 0 else (pair[1], pair[0])
        if first not in self.away.marks or second not in (back := self.back(first)).marks:
            return None
        return max(self.away.deviation(column, first), back.deviation(column, second))

    def _rising(self, first: int, second: int) -> Pair:
        return (first, second) if self.away.sign < 0 else (second, first)


def grouped(items: Iterable[Any]) -> dict[Any, list[int]]:
    """Return the places of each distinct item."""
    places: dict[Any, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        places[item].append(place)
    return dict(places)


@dataclass(frozen=True, eq=False)
class OpenBounds:
    """A low and a high mark with nearly all values between them, on marks around an origin.

    If most values lie above the origin, a walk up from it finds the high bound and a walk down from there the low
    one; if most lie below, a walk down finds the low bound and a walk up from there the high one. Each of the
    four walks goes on until enough values are behind it, so that it never stops short of them; a column and its
    mirror image are treated alike.

    Attributes:
        lower: The quantile of the low bound.
        upper: The quantile of the high bound.
        spare: How many people further inside each bound aims.
        epsilon: The loss: half for the second walk, and of the other half a quarter for the side.
        adjacency: When two tables are neighbours.
        origin: The mark of 0.
        growth: The factor of the ladders.

    Guarantee:
        The pair is epsilon-DP under the adjacency, and the high mark is above the low one.
    Proof:
        docs/proofs/clipped_mean.md, Theorem 1.
    """

    lower: Fraction
    upper: Fraction
    spare: int
    epsilon: Fraction
    adjacency: Adjacency
    origin: int
    growth: Fraction

    @property
    def top(self) -> int:
        """The last mark: as many are above the origin as below."""
        return 2 * self.origin

    @property
    def side(self) -> OriginSide:
        """On which side the quantile halfway between the two bounds lies: one half, if they are the usual ones."""
        middle = quantile_of((self.lower + self.upper) / 2, "upper")
        return OriginSide(middle, 0, self.epsilon / 2 * SIDE_SHARE, self.adjacency, self.origin)

    @cached_property
    def rising(self) -> BoundWalks:
        """Up from the origin, then down."""
        return BoundWalks(self._away(self.upper, 1), self._down)

    @cached_property
    def falling(self) -> BoundWalks:
        """Down from the origin, then up."""
        return BoundWalks(self._away(1 - self.lower, -1), self._up)

    def _away(self, quantile: Fraction, sign: int) -> RankWalk:
        epsilon = self.epsilon / 2 * (1 - SIDE_SHARE)
        return self._walk(quantile, epsilon, self.origin, sign, ladder(self.growth, self.origin))

    def _down(self, high: int) -> RankWalk:
        return self._walk(1 - self.lower, self.epsilon / 2, high, -1, self._rungs(high))

    def _up(self, low: int) -> RankWalk:
        return self._walk(self.upper, self.epsilon / 2, low, 1, self._rungs(self.top - low))

    def _rungs(self, far: int) -> Marks:
        """Return distances from 1, so that the bounds differ."""
        return rungs(self.growth, 1, far, longest=self.top)

    def _walk(self, quantile: Fraction, epsilon: Fraction, origin: int, sign: int, distances: Marks) -> RankWalk:
        return RankWalk(quantile, self.spare, epsilon, self.adjacency, origin, sign, distances)

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[Pair]:
        """Draw many pairs of marks."""
        falls = self.side.below(column, size, bits)
        pairs = np.zeros((size, 2), np.int64)
        for walks, chosen in ((self.falling, falls), (self.rising, ~falls)):
            places = np.flatnonzero(chosen)
            if len(places):
                pairs[places] = walks.draw(column, len(places), bits)
        return [(low, high) for low, high in pairs.tolist()]

    def log_masses(self, column: Marks) -> dict[Pair, float]:
        """Return ln Pr[pair] for every pair of marks; some are found both ways."""
        falls, rises = self.side.log_chances(column)
        masses = {pair: falls + log for pair, log in self.falling.log_masses(column).items()}
        for pair, log in self.rising.log_masses(column).items():
            masses[pair] = float(np.logaddexp(masses.get(pair, -math.inf), rises + log))
        return masses

    def deviation(self, column: Marks, pair: Pair) -> Fraction:
        """Return how many people the worst judgement of a walk was off, on the better of the ways to a pair."""
        ways = (walks.deviation(column, pair) for walks in (self.falling, self.rising))
        return min(off for off in ways if off is not None)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence neither bound is misjudged by more, whatever the side."""
        each = 1 - miss(confidence) / 2
        walks = (self.rising.away, self.falling.away, self._down(self.top), self._up(0))
        return max(walk.error(each) for walk in walks)
