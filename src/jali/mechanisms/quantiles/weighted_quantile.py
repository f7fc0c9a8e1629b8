"""Private quantiles of weighted rows, the sensitivity of their ranks, and the ends of their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.base import Specimen, read_miss_probability, read_natural, read_parameter
from jali.mechanisms.measurement import (
    Description,
    MeasurementSensitivity,
    PickMeasurement,
    SparseCells,
    charge_picks,
    find_choice_epsilon,
)
from jali.mechanisms.quantiles.quantile_mechanism import FEW_MARKS, QuantileMechanism, read_loss, read_quantile
from jali.mechanisms.quantiles.rank_laws import NestedIntervalLaw, PermuteAndFlipLaw
from jali.mechanisms.quantiles.weighted_ranks import WeightedMarks, WindowRanks, find_weighted_target
from jali.mechanisms.selection.scores import Exponents
from jali.mechanisms.selection.selection_mechanism import (
    EXPONENTIAL,
    EXPONENTIAL_PAGE,
    PERMUTE_AND_FLIP,
    PERMUTE_AND_FLIP_PAGE,
)
from jali.privacy.adjacency import Adjacency
from jali.privacy.event import Event
from jali.privacy.loss import Loss
from jali.privacy.rationals import Number, rational

QUANTILE_PAGE = "docs/proofs/weighted_quantile.md"
_SPARE = 5  # levels beyond the logarithm of the number of marks: one proposal in e^5 is wasted at most
_FURTHEST = 1 << 60
_LEAST, _MOST = Fraction(1, 10**80), 10**80


@dataclass(frozen=True, repr=False)
class WeightedQuantile(QuantileMechanism, PickMeasurement):
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
        >>> from jali.mechanisms import WeightedQuantile
        >>> from jali.mechanisms.quantiles.weighted_quantile import rank_reach
        >>> unit = 1 << 20  # what a whole row weighs; each person has 3 of them at most
        >>> reach = rank_reach("1/2", 3 * unit, changes=1, groups=1)
        >>> median = WeightedQuantile(
        ...     at="1/2", low=0, high=120, step=1, sensitivity=reach, epsilon=1, window=unit
        ... )
        >>> ages, weights = [23, 35, 61], [unit // 2, 200 * unit, 5 * unit]
        >>> median.release((ages, weights))
        35
    """

    tag: ClassVar[str] = "WeightedQuantile"
    stored_parts: ClassVar[str] = "at low high step sensitivity epsilon offset window"
    looks_at: ClassVar[str] = "rank"
    noun: ClassVar[str] = EXPONENTIAL
    pages: ClassVar[tuple[str, ...]] = (EXPONENTIAL_PAGE,)
    for_pure_loss: ClassVar[bool] = False

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
        self._fill_lattice(low, high, step)
        self._fill(
            at=read_quantile(at, "at"), sensitivity=_read_sensitivity(sensitivity), epsilon=read_loss(epsilon)
        )
        self._fill(offset=_read_offset(offset), window=read_natural(window, "window"))

    @cached_property
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""
        return self.epsilon / (2 * self.sensitivity)

    def ranks(self, value: Any) -> WindowRanks:
        """Return the distances of the marks for (marks, weights)."""
        column = WeightedMarks.of(value, self.top)
        target = find_weighted_target(self.at, column.total, self.window) + self.offset
        return WindowRanks.of(column, (0, self.top), self.window, target)

    def _ranks_of(self, value: Any) -> WindowRanks:
        return self.ranks(value)

    def law(self, value: Any) -> NestedIntervalLaw | PermuteAndFlipLaw:
        """Return the law with mass proportional to exp(-rate * distance)."""
        return NestedIntervalLaw(self.ranks(value), self.rate, levels=count_levels(self.top))

    @classmethod
    def calibrate(
        cls, sensitivity: MeasurementSensitivity, loss: Loss, *, at: Fraction, top: int, window: int
    ) -> Self | None:
        """Return the pick among the marks 0 .. top for a loss, or None if the loss is not of its kind."""
        if (loss.event.epsilon is not None) is not cls.for_pure_loss:
            return None
        return cls(
            at=at,
            low=0,
            high=top,
            step=1,
            sensitivity=sensitivity.rank,
            epsilon=find_choice_epsilon(loss),
            window=window,
        )

    def compute_event(self, sensitivity: MeasurementSensitivity) -> Event:
        """Return a loss that is proportional to how far the distances move."""
        return charge_picks(self, self.epsilon * (sensitivity.rank / self.sensitivity), sensitivity.picks)

    def describe(self) -> Description:
        """Name the choice, the scale on which ranks are distinguished, and the theorems."""
        return Description(self.noun, "rank", "scale", float(1 / self.rate), (QUANTILE_PAGE, *self.pages))

    @property
    def target_offset(self) -> float:
        """How many units of weight the target lies beside the rank."""
        return abs(float(self.offset))

    def shift_target(self, offset: Fraction) -> Self:
        """Return the same quantile with another offset."""
        return replace(self, offset=offset)

    def bound_error(self, confidence: float, cells: int) -> float:  # noqa: ARG002
        """Return how far the pick is at most from the best rank, whatever the rows."""
        return self.error(confidence)

    def convert_loss(self) -> WeightedQuantile:
        """Return permute-and-flip of the same rho, which has half the epsilon: it has no bounded range."""
        return self._convert_to(PermutedWeightedQuantile, self.epsilon / 2)

    def _convert_to(self, kind: type[WeightedQuantile], epsilon: Fraction) -> WeightedQuantile:
        return kind(
            at=self.at,
            low=self.low,
            high=self.high,
            step=self.step,
            sensitivity=self.sensitivity,
            epsilon=epsilon,
            window=self.window,
        )

    def release_cells(
        self,
        groups: Sequence[SparseCells],
        width: int,  # noqa: ARG002 - the range is its own
        picks: int,  # noqa: ARG002
    ) -> tuple[Any, ...]:
        """Release one mark of each group."""
        return tuple(int(self.release(group)) for group in groups)

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small weighted tables: one person more, one replaced, two replaced, an empty one."""
        return tuple(_build_specimen(cls, *case) for case in _CASES)


@dataclass(frozen=True, repr=False, init=False)
class PermutedWeightedQuantile(WeightedQuantile):
    """Pick one of a few marks whose rank by weight is near that of a quantile.

    The distance of a mark is that of `WeightedQuantile`. Every mark is accepted on its own with probability
    exp(-rate * (distance - best)), and one of the accepted is released, all alike. Its expected distance is never
    more than that of `WeightedQuantile`, and down to half of it on a coarse lattice. Its loss is pure, and so is
    charged epsilon^2/2 in zCDP, where the other is charged epsilon^2/8.

    Args:
        at: Which quantile, from 0 to 1: 0.5 is the median.
        low: The least value of the range.
        high: The largest one.
        step: The distance of the marks, of which there may be 2^16.
        sensitivity: How far the distance of a mark moves between neighbours, in units of weight: `rank_reach`.
        epsilon: The loss.
        offset: How much further up the target lies, a public number of units; below 0, further down.
        window: The weight over which the quantile function is averaged, a public number of units.

    Guarantee:
        The release is epsilon-DP if the sensitivity is `rank_reach(at, reach, changes, groups=1)`; releases for
        disjoint groups at the sensitivity of `groups=g` are epsilon-DP all together.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 4, after McKenna and Sheldon 2020, Theorem 1.

    Error:
        In units of weight, a bound for any rows: that of permute-and-flip among as many candidates as there are
        marks.

    Example:
        >>> from jali.mechanisms import PermutedWeightedQuantile
        >>> median = PermutedWeightedQuantile(
        ...     at="1/2", low=0, high=120, step=1, sensitivity=2, epsilon=1, window=4
        ... )
        >>> median.release(([35, 61], [800, 20]))
        35
        >>> median.loss.event.rho
        Fraction(1, 2)
    """

    tag: ClassVar[str] = "PermutedWeightedQuantile"
    noun: ClassVar[str] = PERMUTE_AND_FLIP
    pages: ClassVar[tuple[str, ...]] = (PERMUTE_AND_FLIP_PAGE,)
    for_pure_loss: ClassVar[bool] = True

    _kind = PermuteAndFlipLaw
    most_marks = FEW_MARKS
    for_more_marks = "WeightedQuantile"

    def convert_loss(self) -> WeightedQuantile:
        """Return the exponential mechanism at the same epsilon."""
        return self._convert_to(WeightedQuantile, self.epsilon)

    def law(self, value: Any) -> PermuteAndFlipLaw:
        """Return the Bernoulli draws of the marks."""
        return PermuteAndFlipLaw(self.ranks(value), self.rate, singly=True)

    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""
        return self.law(value).exponents


def rank_reach(at: Number, reach: Number, changes: int, *, groups: int) -> Fraction:
    """Return the sensitivity of a weighted quantile's distances, over all groups together.

    Args:
        at: Which quantile, from 0 to 1.
        reach: What one person's rows weigh together at most, over all groups.
        changes: How many vectors of rows, each within the reach, are added or removed between neighbours: 1 where
            a person is added or removed, 2 where one is replaced or an outer join moves what remains, 4 for both.
        groups: Into how many disjoint groups the rows fall that each get a quantile of their own.

    Guarantee:
        Between neighbours the distances of all marks of group g move by at most some D_g, and the sum of the D_g
        is at most the returned number: changes * reach * max(at, 1 - at). In one group a vector that replaces
        another pulls the target along, and a pair of changes is worth one reach.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 1.

    Example:
        >>> rank_reach("1/4", 8, 1, groups=1), rank_reach("1/4", 8, 2, groups=1), rank_reach("1/4", 8, 2, groups=3)
        (Fraction(6, 1), Fraction(8, 1), Fraction(12, 1))
    """
    share, weight = read_quantile(at, "at"), read_parameter(reach, "reach")
    return find_share_sensitivity(
        share, weight, read_natural(changes, "changes"), alone=read_natural(groups, "groups") == 1
    )


def find_share_sensitivity(share: Fraction, reach: Fraction, changes: int, *, alone: bool) -> Fraction:
    """Return the same for a share as it is, where the group is alone or one of several."""
    larger = max(share, 1 - share)
    if not alone:
        return changes * reach * larger
    pairs, single = divmod(changes, 2)
    return reach * (pairs + single * larger)


def _build_specimen(
    kind: type[WeightedQuantile], at: str, changes: int, others: dict[str, Any], neighbours: Any
) -> Specimen:
    reach = rank_reach(at, 4, changes, groups=1)
    mechanism = kind(at=at, low=0, high=9, step=1, sensitivity=reach, epsilon=2, **others)
    adjacency = Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
    return Specimen(mechanism, adjacency, neighbours, tight=False)


def count_levels(top: int) -> int:
    """Return how many levels a law on the marks 0 .. top distinguishes: what is beyond weighs next to nothing."""
    return _SPARE + math.ceil(math.log(top + 1))


# One person weighs 4 units at most. Each pair: (marks, weights) of two neighbours.
_CASES: tuple[tuple[str, int, dict[str, Any], Any], ...] = (
    ("1/2", 1, {"window": 4}, ((([2, 3, 6], [9, 4, 7]), ([2, 6], [9, 7])), (([], []), ([9, 1], [3, 1])))),
    ("1/4", 1, {"offset": "5/2"}, ((([8, 3], [6, 6]), ([3, 5, 8], [8, 0, 8])), (([7], [4]), ([], [])))),
    ("1/2", 2, {"window": 2}, ((([1, 4, 5], [5, 5, 3]), ([1, 4, 9], [5, 5, 4])), (([5], [9]), ([0, 5], [4, 5])))),
    ("1", 4, {"offset": -6}, ((([1, 4, 5], [9, 9, 8]), ([1, 4], [9, 17])), (([0, 9], [9, 8]), ([0], [17])))),
)


def _read_sensitivity(value: Number) -> Fraction:
    sensitivity = read_parameter(value, "sensitivity")
    if not _LEAST <= sensitivity <= _MOST:
        raise MechanismError("weighted-sensitivity-out-of-range")
    return sensitivity


def _read_offset(value: Number) -> Fraction:
    try:
        offset = rational(value, "offset")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if abs(offset) > _FURTHEST:
        raise MechanismError("weighted-offset-out-of-range")
    return offset


END_SHARE = Fraction(1, 8)
"""What an end of the interval gets of epsilon: the share x that makes (1/(1-2x))^3 / x least."""


def interval_shares(at: Number) -> tuple[Fraction, Fraction, Fraction]:
    """Return the shares of epsilon for the low end, the quantile itself and the high end; they sum to 1.

    Below the least value, and above the largest, one person may have been anywhere: that end of the interval is
    the end of the declared range, and free.

    Example:
        >>> [str(share) for share in interval_shares("1/2")]
        ['1/8', '3/4', '1/8']
        >>> [str(share) for share in interval_shares(1)]
        ['1/8', '7/8', '0']
    """
    share = read_quantile(at, "at")
    low, high = (END_SHARE if share != end else Fraction(0) for end in (0, 1))
    return low, 1 - low - high, high


def end_offset(mechanism: WeightedQuantile, confidence: float) -> int:
    """Return how far off its rank an end of the interval must aim, in units of weight.

    Let the mechanism be the one that draws the end, with its share of the loss. Released with the offset -r it is
    above the true quantile with a probability of at most (1 - confidence)/2, whatever the rows are, and with the
    offset r below it. The true quantile is the mean of the quantile function over the window that ends at the
    target. Where one end of the interval is free, 2 * confidence - 1 is enough for the other one.

    Guarantee:
        r is the error of the mechanism at the probability (1 - confidence)/2 of failing, and half a window.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 5.
    """
    held = math.nextafter(1 - read_miss_probability(confidence) / 2, 1)
    return math.ceil(mechanism.error(held)) + -(-mechanism.window // 2)


def inner_offset(mechanism: WeightedQuantile) -> int:
    """Return how far inside the range a least or a largest value should be aimed at, in units of weight.

    With M marks it is ln(M - 1)/rate, upwards for the least value, downwards for the largest: an empty rest of the
    range weighs no more than the one best mark then. Other quantiles are aimed at as they are: 0.
    """
    inwards = math.ceil(math.log(mechanism.top) / mechanism.rate)
    if 0 < mechanism.at < 1:
        return 0
    return inwards if mechanism.at == 0 else -inwards
