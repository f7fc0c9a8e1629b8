"""A quantile of weighted rows, from a sparse histogram of integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.mechanism import Specimen, miss, natural, parameter
from jali.mechanisms.quantiles.mark_quantile import MarkQuantile
from jali.mechanisms.quantiles.nested import NestedLaw
from jali.mechanisms.quantiles.rank_quantile import rank_error
from jali.mechanisms.quantiles.rank_reach import rank_reach
from jali.mechanisms.quantiles.readers import loss_of, quantile_of
from jali.mechanisms.quantiles.weighted_marks import WeightedMarks
from jali.mechanisms.quantiles.window_ranks import WindowRanks, weighted_target
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational

_SPARE = 5  # levels beyond the logarithm of the number of marks: one proposal in e^5 is wasted at most
_FURTHEST = 1 << 60
_LEAST, _MOST = Fraction(1, 10**80), 10**80


@dataclass(frozen=True, repr=False)
class WeightedQuantile(MarkQuantile):
    """Pick a mark of a public range whose rank by weight is near that of a quantile.

    Ranks count weight. Let Q be the quantile function of the weighted rows, the low end of the range below rank 0
    and the high end above the total weight N, and G(s) its mean over the ranks from s - window to s. A mark stands
    for the ranks where G is that mark, the ends for all ranks beyond, too. Its distance is that from the target
    at * max(N, window) + (1 - at) * min(N, window) + offset; the mass is proportional to exp(-rate * distance).

    With weights and a window of 1 this is `PiecewiseLaplace`. A window of one whole row's weight reads ranks
    linearly between the rows, as QUANTILE_CONT does; a window of 1 unit reads them by steps, as QUANTILE_DISC.

    Args:
        at: Which quantile, from 0 to 1: 0.5 is the median.
        low: The least value of the range.
        high: The largest one.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        sensitivity: How far the distance of a mark moves between neighbours, in units of weight: `rank_reach`.
        epsilon: The loss.
        offset: How much further up the target lies, a public number of units; below 0, further down.
        window: The weight over which the quantile function is averaged, a public number of units.

    Guarantee:
        The release is of bounded range epsilon, hence epsilon-DP and (epsilon^2/8)-zCDP, if the sensitivity is
        `rank_reach(at, reach, changes, groups=1)`. Releases for disjoint groups of rows, each at the sensitivity
        `rank_reach(at, reach, changes, groups=g)`, are of bounded range epsilon all together.
    Proof:
        docs/proofs/weighted_quantile.md, Theorems 1 to 3, after Durfee 2025 and Asi and Duchi 2020.

    Error:
        In units of weight, for any rows: with M marks and p = exp(-rate t),
        Pr[distance - best >= t] <= (M-1) p / (1 + (M-1) p). The best distance is at most half the window.

    Example:
        >>> from jali.mechanisms.quantiles.rank_reach import rank_reach
        >>> from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
        >>> unit = 1 << 20  # what a whole row weighs; each person has 3 of them at most
        >>> reach = rank_reach("1/2", 3 * unit, changes=1, groups=1)
        >>> median = WeightedQuantile(
        ...     at="1/2", low=0, high=120, step=1, sensitivity=reach, epsilon=1, window=unit
        ... )
        >>> ages, weights = [23, 35, 61], [unit // 2, 200 * unit, 5 * unit]
        >>> median.release((ages, weights))
        35
    """

    at: Fraction
    low: Fraction
    high: Fraction
    step: Fraction | None
    sensitivity: Fraction
    epsilon: Fraction
    offset: Fraction
    window: int

    def __init__(
        self,
        *,
        at: Number,
        low: Number,
        high: Number,
        step: Number | None = None,
        sensitivity: Number,
        epsilon: Number,
        offset: Number = 0,
        window: int = 1,
    ) -> None:
        self._fill_ruler(low, high, step)
        self._fill(at=quantile_of(at, "at"), sensitivity=_sensitivity_of(sensitivity), epsilon=loss_of(epsilon))
        self._fill(offset=_offset_of(offset), window=natural(window, "window"))

    @cached_property
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""
        return self.epsilon / (2 * self.sensitivity)

    def ranks(self, value: Any) -> WindowRanks:
        """Return the distances of the marks for (marks, weights)."""
        column = WeightedMarks.of(value, self.top)
        target = weighted_target(self.at, column.total, self.window) + self.offset
        return WindowRanks.of(column, (0, self.top), self.window, target)

    def law(self, value: Any) -> NestedLaw:
        """Return the law with mass proportional to exp(-rate * distance)."""
        return NestedLaw(self.ranks(value), self.rate, levels=told_apart(self.top))

    def error(self, confidence: float) -> float:
        """Return a t such that the rank is within t units of the best one, with this chance, for any rows."""
        return rank_error(self.top, self.rate, miss(confidence))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small weighted tables: one person more, one replaced, two replaced, an empty one."""
        return tuple(_specimen(cls, *case) for case in _CASES)


def _specimen(
    kind: type[WeightedQuantile], at: str, changes: int, others: dict[str, Any], neighbours: Any
) -> Specimen:
    reach = rank_reach(at, 4, changes, groups=1)
    mechanism = kind(at=at, low=0, high=9, step=1, sensitivity=reach, epsilon=2, **others)
    adjacency = Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
    return Specimen(mechanism, adjacency, neighbours, tight=False)


def told_apart(top: int) -> int:
    """Return how many levels a law on the marks 0 .. top tells apart: what is beyond weighs next to nothing."""
    return _SPARE + math.ceil(math.log(top + 1))


# One person weighs 4 units at most. Each pair: (marks, weights) of two neighbours.
_CASES: tuple[tuple[str, int, dict[str, Any], Any], ...] = (
    ("1/2", 1, {"window": 4}, ((([2, 3, 6], [9, 4, 7]), ([2, 6], [9, 7])), (([], []), ([9, 1], [3, 1])))),
    ("1/4", 1, {"offset": "5/2"}, ((([8, 3], [6, 6]), ([3, 5, 8], [8, 0, 8])), (([7], [4]), ([], [])))),
    ("1/2", 2, {"window": 2}, ((([1, 4, 5], [5, 5, 3]), ([1, 4, 9], [5, 5, 4])), (([5], [9]), ([0, 5], [4, 5])))),
    ("1", 4, {"offset": -6}, ((([1, 4, 5], [9, 9, 8]), ([1, 4], [9, 17])), (([0, 9], [9, 8]), ([0], [17])))),
)


def _sensitivity_of(value: Number) -> Fraction:
    sensitivity = parameter(value, "sensitivity")
    if not _LEAST <= sensitivity <= _MOST:
        raise MechanismError("weighted-sensitivity-out-of-range")
    return sensitivity


def _offset_of(value: Number) -> Fraction:
    try:
        offset = rational(value, "offset")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if abs(offset) > _FURTHEST:
        raise MechanismError("weighted-offset-out-of-range")
    return offset
