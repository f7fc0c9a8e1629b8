"""A quantile of weighted rows among few marks: permute-and-flip on the ranks of `WeightedQuantile`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from jali.mechanisms.quantiles.flipped_quantile import FlippedQuantile
from jali.mechanisms.quantiles.mark_flips import MarkFlips
from jali.mechanisms.quantiles.weighted_quantile import WeightedQuantile
from jali.mechanisms.quantiles.window_distances import WindowDistances
from jali.mechanisms.selection.picks import PERMUTE_AND_FLIP, PERMUTE_AND_FLIP_PAGE
from jali.mechanisms.selection.scores import Exponents
from jali.noise import BitSource


@dataclass(frozen=True, repr=False, init=False)
class PermutedWeightedQuantile(FlippedQuantile, WeightedQuantile):
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
        >>> from jali.mechanisms.quantiles.permuted_weighted_quantile import PermutedWeightedQuantile
        >>> median = PermutedWeightedQuantile(
        ...     at="1/2", low=0, high=120, step=1, sensitivity=2, epsilon=1, window=4
        ... )
        >>> median.release(([35, 61], [800, 20]))
        35
        >>> median.loss.event.rho
        Fraction(1, 2)
    """

    for_more_marks = "WeightedQuantile"
    tag: ClassVar[str] = "PermutedWeightedQuantile"
    noun: ClassVar[str] = PERMUTE_AND_FLIP
    pages: ClassVar[tuple[str, ...]] = (PERMUTE_AND_FLIP_PAGE,)
    for_pure_loss: ClassVar[bool] = True

    def swapped(self) -> WeightedQuantile:
        """Return the exponential mechanism at the same epsilon."""
        return self._swapped(WeightedQuantile, self.epsilon)

    def draws(self, value: Any, size: int, bits: BitSource) -> list[int]:
        """Draw the marks of many independent releases."""
        if size == 1:  # the same law; many releases of one column toss their coins in blocks instead
            return [MarkFlips(self.ranks(value), self.rate).draw(bits)]
        return super().draws(value, size, bits)

    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""
        return WindowDistances(self.ranks(value)).exponents(self.rate, 0, self.top)
