"""Clipping bounds bought from the data: a low and a high end between which nearly all values lie.

A walk leads away from an origin to one bound, a second one back to the other.

Proof:
    docs/proofs/clipped_mean.md, Theorem 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import (
    LogMasses,
    PureMechanism,
    Specimen,
    read_miss_probability,
    read_parameter,
)
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.quantiles.quantile_mechanism import read_loss, read_low, read_quantile, read_reach, read_spare
from jali.mechanisms.quantiles.unbounded_search import (
    SIDE_SHARE,
    OpenRange,
    OriginSide,
    RankWalk,
    build_ladder,
    read_growth,
    select_rungs,
)
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource

MarkPair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class BoundWalks:
    """A walk to one bound and, from the mark it finds, a walk to the other.

    Attributes:
        away: The first walk: up, to the high bound, or down, to the low one.
        back: The second walk, the other way, from a given mark.
    """

    away: RankWalk
    back: Callable[[int], RankWalk]

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[MarkPair]:
        """Draw many pairs of marks, the low bound first."""
        firsts = self.away.draw(column, size, bits)
        seconds = [0] * size
        for first, places in group_places(firsts).items():
            for place, mark in zip(places, self.back(first).draw(column, len(places), bits), strict=True):
                seconds[place] = mark
        return [self._order_pair(first, second) for first, second in zip(firsts, seconds, strict=True)]

    def log_masses(self, column: Marks) -> dict[MarkPair, float]:
        """Return ln Pr[pair] for every pair of marks that can be found."""
        return {
            self._order_pair(first, second): log + more
            for first, log in self.away.log_masses(column).items()
            for second, more in self.back(first).log_masses(column).items()
        }

    def deviation(self, column: Marks, pair: MarkPair) -> Fraction | None:
        """Return how many people the worst judgement was off on the way to a pair; None if there is no way."""
        first, second = pair if self.away.sign < 0 else (pair[1], pair[0])
        if first not in self.away.marks or second not in (back := self.back(first)).marks:
            return None
        return max(self.away.deviation(column, first), back.deviation(column, second))

    def _order_pair(self, first: int, second: int) -> MarkPair:
        return (first, second) if self.away.sign < 0 else (second, first)


def group_places(items: Iterable[Any]) -> dict[Any, list[int]]:
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
        middle = read_quantile((self.lower + self.upper) / 2, "upper")
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
        return self._walk(quantile, epsilon, self.origin, sign, build_ladder(self.growth, self.origin))

    def _down(self, high: int) -> RankWalk:
        return self._walk(1 - self.lower, self.epsilon / 2, high, -1, self._rungs(high))

    def _up(self, low: int) -> RankWalk:
        return self._walk(self.upper, self.epsilon / 2, low, 1, self._rungs(self.top - low))

    def _rungs(self, far: int) -> Marks:
        """Return distances from 1, so that the bounds differ."""
        return select_rungs(self.growth, 1, far, longest=self.top)

    def _walk(self, quantile: Fraction, epsilon: Fraction, origin: int, sign: int, distances: Marks) -> RankWalk:
        return RankWalk(quantile, self.spare, epsilon, self.adjacency, origin, sign, distances)

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[MarkPair]:
        """Draw many pairs of marks."""
        falls = self.side.below(column, size, bits)
        pairs = np.zeros((size, 2), np.int64)
        for walks, chosen in ((self.falling, falls), (self.rising, ~falls)):
            places = np.flatnonzero(chosen)
            if len(places):
                pairs[places] = walks.draw(column, len(places), bits)
        return [(low, high) for low, high in pairs.tolist()]

    def log_masses(self, column: Marks) -> dict[MarkPair, float]:
        """Return ln Pr[pair] for every pair of marks; some are found both ways."""
        falls, rises = self.side.log_probabilities(column)
        masses = {pair: falls + log for pair, log in self.falling.log_masses(column).items()}
        for pair, log in self.rising.log_masses(column).items():
            masses[pair] = float(np.logaddexp(masses.get(pair, -math.inf), rises + log))
        return masses

    def deviation(self, column: Marks, pair: MarkPair) -> Fraction:
        """Return how many people the worst judgement of a walk was off, on the better of the ways to a pair."""
        ways = (walks.deviation(column, pair) for walks in (self.falling, self.rising))
        return min(off for off in ways if off is not None)

    def error(self, confidence: float) -> Fraction:
        """Return a t such that with this confidence neither bound is misjudged by more, whatever the side."""
        each = 1 - read_miss_probability(confidence) / 2
        walks = (self.rising.away, self.falling.away, self._down(self.top), self._up(0))
        return max(walk.error(each) for walk in walks)


# Three times the scale of the threshold's noise: a bound beyond all values is then accepted soon.
_SPARE = 6


@dataclass(frozen=True, repr=False)
class ClippingBounds(PureMechanism):
    """Find bounds between which nearly all values lie, without a declared range, as one purchase.

    Bounds taken from the data as they are would reveal the largest value; these are charged. With `low` given,
    that is the low bound and costs nothing, and the high one is an `UnboundedQuantile`. Without, half of epsilon
    decides on which side of 0 most values lie and finds the bound far out on that side; the other half walks back
    from it, so that the distance of the bounds, not their distance from 0, decides how finely the second one is
    placed. A column and its mirror image are treated alike.

    Args:
        low: The least value that a column may have, which is then the low bound itself; None if it may have any.
        reach: How far from `low`, or from 0, bounds may lie; 2**50 steps if not given.
        step: The smallest difference that matters; bounds are multiples of it.
        growth: The factor between the distances of neighbouring candidates, at least 1.0001.
        lower: The quantile that the low bound aims at, from 0 to 1; not used where `low` is given.
        upper: The quantile that the high bound aims at, above `lower`.
        spare: How many people further inside each bound aims; if not given, 6 over the loss of that bound, which
            keeps it from overshooting the data by a large factor.
        epsilon: The loss of both bounds.
        adjacency: When two tables are neighbours. The number of values is public under replace-one only.

    Guarantee:
        The pair is epsilon-DP under the adjacency, and the high bound is above the low one.
    Proof:
        docs/proofs/clipped_mean.md, Theorem 1.

    Error:
        `error(c)` is a number t of people: with probability c, neither bound is misjudged by more. So at most
        (1 - upper) n + spare + t values lie above the high bound, unless it is the end of the reach, and at least
        (1 - upper) n + spare - t above the candidate before it, if one was asked; and the same below the low one,
        with `lower` n. It holds on whichever side of 0 values lie.

    Example:
        >>> from jali.mechanisms import ClippingBounds
        >>> mechanism = ClippingBounds(step=1, epsilon=2, adjacency="add-remove")
        >>> low, high = mechanism.release(range(-5000, 5000))
        >>> low < -4000 and high > 4000  # seldom far beyond -5000 and 5000
        True
    """

    loss_power = None
    error_is_exact = False

    lower: Fraction
    upper: Fraction
    low: Fraction | None
    reach: Fraction | None
    step: Fraction
    growth: Fraction
    spare: int | None
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        step: Number,
        epsilon: Number,
        adjacency: str | Adjacency,
        low: Number | None = None,
        reach: Number | None = None,
        growth: Number = "1.01",
        lower: Number = 0,
        upper: Number = 1,
        spare: int | None = None,
    ) -> None:
        self._fill(lower=read_quantile(lower, "lower"), upper=read_quantile(upper, "upper"))
        if self.lower >= self.upper:
            raise MechanismError("bounds-not-rising", low="lower", high="upper")
        self._fill(
            low=read_low(low),
            reach=read_reach(reach),
            step=read_parameter(step, "step"),
            growth=read_growth(growth),
        )
        self._fill(spare=None if spare is None else read_spare(spare))
        self._fill(epsilon=read_loss(epsilon), adjacency=Adjacency.of(adjacency))
        self._refuse_the_impossible()

    def _refuse_the_impossible(self) -> None:
        """Refuse, before anything is released, a lattice or noise that cannot be made."""
        self.error(0.5)
        if self._both:
            self._both.side.error(0.5)

    @property
    def ruler(self) -> BoundedLattice:
        """The marks on which bounds lie."""
        return self._range.ruler

    @property
    def left_out(self) -> int:
        """How many people each end aims to leave out, besides its quantile."""
        return math.ceil(_SPARE / self._each) if self.spare is None else self.spare

    @cached_property
    def _range(self) -> OpenRange:
        return OpenRange(self.low, self.reach, self.step, self.growth)

    @property
    def _each(self) -> Fraction:
        """The loss of one end."""
        return self.epsilon / 2 if self.low is None else self.epsilon

    @cached_property
    def _both(self) -> OpenBounds | None:
        """What finds both ends, if neither is known."""
        if self.low is not None:
            return None
        ends = (self.lower, self.upper, self.left_out)
        return OpenBounds(*ends, self.epsilon, self.adjacency, self._range.origin, self.growth)

    @property
    def _high(self) -> RankWalk:
        """The walk to the high end, if the low one is known."""
        return self._range.walk(self.upper, self.left_out, self.epsilon, self.adjacency, least=1)

    def error(self, confidence: float) -> float:
        """Return a bound on how many people the rank of either end is off, with this confidence."""
        return float_above((self._both or self._high).error(confidence))

    def release(self, value: Any, *, bits: BitSource | None = None) -> tuple[int | float, int | float]:
        """Return the low and the high end: ints where the step is whole, else doubles."""
        return self._convert_pair(self.draw(self.column(value), 1, bits)[0])

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        pairs = self.draw(self.column(value), size, bits)
        told = {pair: self._convert_pair(pair) for pair in set(pairs)}
        return [told[pair] for pair in pairs]

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[pair] for every pair of marks: for small tables and short reaches."""
        return {self._convert_pair(pair): log for pair, log in self.mark_masses(self.column(value)).items()}

    def deviation(self, value: Any, output: tuple[Any, Any]) -> Fraction:
        """Return how many people the worst judgement on the way to the two ends was off."""
        column, (low, high) = self.column(value), map(self.ruler.nearest, output)
        return self._both.deviation(column, (low, high)) if self._both else self._high.deviation(column, high)

    def column(self, value: Any) -> Marks:
        """Return the marks of a column, sorted."""
        return np.sort(self.ruler.marks(value))

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[MarkPair]:
        """Draw many pairs of marks."""
        if self._both:
            return self._both.draw(column, size, bits)
        return [(0, high) for high in self._high.draw(column, size, bits)]

    def mark_masses(self, column: Marks) -> dict[MarkPair, float]:
        """Return ln Pr[pair] for every pair of marks."""
        if self._both:
            return self._both.log_masses(column)
        return {(0, high): log for high, log in self._high.log_masses(column).items()}

    def _convert_pair(self, pair: MarkPair) -> tuple[int | float, int | float]:
        return self.ruler.at(pair[0]), self.ruler.at(pair[1])

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return bounds of a few numbers on tiny ladders, with a known low end and without."""
        few: dict[str, Any] = {"reach": 4, "step": 1, "growth": 2}
        high = cls(low=0, reach=41, step=1, growth="1.0001", spare=5, epsilon=2, adjacency="add-remove")
        both = cls(lower="1/4", upper="3/4", spare=0, epsilon=6, adjacency="replace-one", **few)
        counted = cls(spare=1, epsilon=6, adjacency="add-remove", **few)
        return (
            Specimen(high, Adjacency.ADD_REMOVE, (((40,), ()), ((0,), ())), {}, (0, 2, 3, 9, 20) * 4),
            Specimen(both, Adjacency.REPLACE_ONE, (((*_FEW, -4), (*_FEW, 4)),), tight=False),
            Specimen(counted, Adjacency.ADD_REMOVE, ((_FEW, (*_FEW, -4)), (_FEW, (*_FEW, 4))), tight=False),
        )


_FEW = (-2, 0, 1, 1, 2, 3)
