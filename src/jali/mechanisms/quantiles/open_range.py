"""Open ranges: a ruler for columns of which at most one end is known, and the ladders on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.mechanism import natural, parameter
from jali.mechanisms.quantiles.ladder import ladder
from jali.mechanisms.quantiles.rank_fork import RankFork
from jali.mechanisms.quantiles.rank_walk import RankWalk
from jali.mechanisms.ruler import Marks, Ruler
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational, share

USUAL_STEPS = 1 << 50
_FINEST = 10**6


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
        self, quantile: Fraction, spare: int, epsilon: Fraction, adjacency: Adjacency, *, least: int = 0
    ) -> RankWalk | RankFork:
        """Return what finds a quantile at or above the mark `least`: a walk from `low`, or a fork at 0."""
        if self.low is not None:
            return RankWalk(quantile, spare, epsilon, adjacency, least, 1, self._ladder(self.ruler.top - least))
        above, below = self._ladder(self.ruler.top - self.origin), self._ladder(self.origin - least)
        return RankFork(quantile, spare, epsilon, adjacency, self.origin, above, below)

    def _ladder(self, top: int) -> Marks:
        return ladder(self.growth, top)


def low_of(low: Number | None) -> Fraction | None:
    """Read the known end of an open range."""
    return None if low is None else _read(rational, low, "low")


def reach_of(reach: Number | None) -> Fraction | None:
    """Read how far an open range goes."""
    return None if reach is None else parameter(reach, "reach")


def quantile_of(value: Number, name: str) -> Fraction:
    """Read a quantile: the fraction of denominator at most 10^6 that is nearest to a number from 0 to 1.

    Noise is on a lattice of 1/denominator people; nobody means more digits, and 1 - 0.99 has sixteen.
    """
    return _read(share, value, name).limit_denominator(_FINEST)


def spare_of(spare: int) -> int:
    """Read how many people may be left out."""
    return natural(spare, "spare", least=0)


def _read(reader: Callable[[Number, str], Fraction], value: Number, name: str) -> Fraction:
    try:
        return reader(value, name)
    except CatalogError as problem:
        raise MechanismError(problem.message, remedy=problem.remedy) from None
