"""Ranges without a declared end, and the ladders of marks on which they are walked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import parameter
from jali.mechanisms.quantiles.rank_walk import RankFork, RankWalk
from jali.mechanisms.ruler import Marks, Ruler
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

# A smaller growth would make ladders of millions of rungs.
_LEAST = Fraction(10001, 10000)


def growth_of(value: Number) -> Fraction:
    """Read the factor between neighbouring rungs from a mechanism's arguments."""
    growth = parameter(value, "growth")
    if growth < _LEAST:
        raise MechanismError("growth-too-small", least=float(_LEAST), value=value)
    return growth


@lru_cache(maxsize=32)
def ladder(growth: Fraction, top: int) -> Marks:
    """Return 0, 1, 2, ..., top, where d is followed by the larger of d + 1 and floor(d growth).

    Integers alone, so that it is the same on every machine.

    Example:
        >>> ladder(Fraction(3, 2), 20).tolist()
        [0, 1, 2, 3, 4, 6, 9, 13, 19, 20]
    """
    rungs = [0]
    while (last := rungs[-1]) < top:
        rungs.append(min(top, max(last + 1, last * growth.numerator // growth.denominator)))
    made = np.array(rungs, np.int64)
    made.flags.writeable = False
    return made


def rungs(growth: Fraction, bottom: int, top: int, *, longest: int) -> Marks:
    """Return the part of a ladder from `bottom` to `top`, both included; `longest` is the largest top there is."""
    full = ladder(growth, longest)
    return np.append(full[(full >= bottom) & (full < top)], np.int64(top))


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
