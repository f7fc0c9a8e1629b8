"""Open ranges: a ruler for columns of which at most one end is known, and the ladders on it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.mechanisms.quantiles.ladder import ladder
from jali.mechanisms.quantiles.rank_fork import RankFork
from jali.mechanisms.quantiles.rank_walk import RankWalk
from jali.mechanisms.ruler import Ruler
from jali.privacy.adjacency import Adjacency

USUAL_STEPS = 1 << 50


@dataclass(frozen=True)
class OpenRange:
    """All multiples of `step` up to `reach` away from `low`, upwards; or from 0, both ways, if there is no low."""

    low: Fraction | None
    reach: Fraction | None
    step: Fraction
    growth: Fraction

    @cached_property
    def ruler(self) -> Ruler:
        """The marks of the range, for all columns."""
        far = USUAL_STEPS * self.step if self.reach is None else self.reach
        if self.low is None:
            return Ruler.of(-far, far, self.step)
        return Ruler.of(self.low, self.low + far, self.step)

    @property
    def origin(self) -> int:
        """The mark of `low`, or of 0."""
        return 0 if self.low is not None else -self.ruler.first

    def finder(
        self, quantile: Fraction, spare: int, epsilon: Fraction, adjacency: Adjacency
    ) -> RankWalk | RankFork:
        """Return what finds a quantile: a walk up from `low`, or a fork at 0."""
        if self.low is not None:
            return self.walk(quantile, spare, epsilon, adjacency)
        away = ladder(self.growth, self.origin)  # as many marks are above 0 as below
        return RankFork(quantile, spare, epsilon, adjacency, self.origin, away, away)

    def walk(
        self, quantile: Fraction, spare: int, epsilon: Fraction, adjacency: Adjacency, *, least: int = 0
    ) -> RankWalk:
        """Return the walk up from the mark `least`."""
        distances = ladder(self.growth, self.ruler.top - least)
        return RankWalk(quantile, spare, epsilon, adjacency, least, 1, distances)
