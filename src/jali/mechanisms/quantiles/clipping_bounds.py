"""Clipping bounds bought from the data: a low and a high end between which nearly all values lie."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.mechanism import LogMasses, Mechanism, Specimen, parameter
from jali.mechanisms.quantiles.open_bounds import OpenBounds, Pair
from jali.mechanisms.quantiles.open_range import OpenRange, growth_of
from jali.mechanisms.quantiles.rank_walk import RankWalk
from jali.mechanisms.quantiles.readers import loss_of, low_of, quantile_of, reach_of, spare_of
from jali.mechanisms.ruler import Marks, Ruler
from jali.noise import BitSource
from jali.privacy.adjacency import Adjacency
from jali.privacy.losses.pure import Pure
from jali.privacy.rationals import Number
from jali.privacy.rounding import float_above

# Three times the scale of the threshold's noise: a bound beyond all values is then accepted soon.
_SPARE = 6


@dataclass(frozen=True, repr=False)
class ClippingBounds(Mechanism):
    """Find bounds between which nearly all values lie, without a declared range, as one purchase.

    Bounds taken from the data as they are would tell of the largest value; these are paid for. With `low` given,
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
        self._fill(lower=quantile_of(lower, "lower"), upper=quantile_of(upper, "upper"))
        if self.lower >= self.upper:
            raise MechanismError("bounds-not-rising", low="lower", high="upper")
        self._fill(low=low_of(low), reach=reach_of(reach), step=parameter(step, "step"), growth=growth_of(growth))
        self._fill(spare=None if spare is None else spare_of(spare))
        self._fill(epsilon=loss_of(epsilon), adjacency=Adjacency.of(adjacency))
        self._refuse_the_impossible()

    def _refuse_the_impossible(self) -> None:
        """Refuse, before anything is released, a ruler or noise that cannot be made."""
        self.error(0.5)
        if self._both:
            self._both.side.error(0.5)

    @property
    def loss(self) -> Pure:
        """Epsilon, pure."""
        return Pure(self.epsilon)

    @property
    def ruler(self) -> Ruler:
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
        return self._told(self.draw(self.column(value), 1, bits)[0])

    def sample(self, value: Any, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases, all at once."""
        pairs = self.draw(self.column(value), size, bits)
        told = {pair: self._told(pair) for pair in set(pairs)}
        return [told[pair] for pair in pairs]

    def outcome(self, released: tuple[int | float, int | float]) -> Hashable:
        """Return the pair itself."""
        return released

    def log_masses(self, value: Any) -> LogMasses:
        """Return ln Pr[pair] for every pair of marks: for small tables and short reaches."""
        return {self._told(pair): log for pair, log in self.mark_masses(self.column(value)).items()}

    def deviation(self, value: Any, output: tuple[Any, Any]) -> Fraction:
        """Return how many people the worst judgement on the way to the two ends was off."""
        column, (low, high) = self.column(value), map(self.ruler.nearest, output)
        return self._both.deviation(column, (low, high)) if self._both else self._high.deviation(column, high)

    def column(self, value: Any) -> Marks:
        """Return the marks of a column, sorted."""
        return np.sort(self.ruler.marks(value))

    def draw(self, column: Marks, size: int, bits: BitSource | None) -> list[Pair]:
        """Draw many pairs of marks."""
        if self._both:
            return self._both.draw(column, size, bits)
        return [(0, high) for high in self._high.draw(column, size, bits)]

    def mark_masses(self, column: Marks) -> dict[Pair, float]:
        """Return ln Pr[pair] for every pair of marks."""
        if self._both:
            return self._both.log_masses(column)
        return {(0, high): log for high, log in self._high.log_masses(column).items()}

    def _told(self, pair: Pair) -> tuple[int | float, int | float]:
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
