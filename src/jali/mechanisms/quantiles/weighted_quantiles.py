"""Many quantiles of weighted rows by halving: the middle one first, then those below and above it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import Specimen, miss, natural, parameter
from jali.mechanisms.quantiles.approximate_quantiles import HalvedQuantiles, Values
from jali.mechanisms.quantiles.halving import Turn, WeightedHalving
from jali.mechanisms.quantiles.readers import loss_of, rising_quantiles
from jali.mechanisms.quantiles.weighted_marks import WeightedMarks
from jali.mechanisms.quantiles.weighted_quantile import share_reach, told_apart
from jali.mechanisms.ruler import Ruler
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class WeightedQuantiles(HalvedQuantiles):
    """Release many quantiles of weighted rows: the middle one, then on its two sides in the same way.

    Every quantile is drawn as by `WeightedQuantile`, from the weight and the range between its neighbours that are
    known already. Of the weight at a released mark, half goes to each side. The answers rise. A person's weight is
    shared out among the parts of a level, and so is the loss: a level costs as much as one quantile.

    Args:
        at: Which quantiles, from 0 to 1, in rising order.
        low: The least value of the range.
        high: The largest one.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        reach: What one person's rows weigh together at most, over all groups.
        changes: How many vectors of rows differ between neighbours, as for `rank_reach`.
        groups: Into how many disjoint groups the rows fall that each get quantiles of their own.
        epsilon: The loss of all of them together.
        window: The weight over which the quantile function is averaged, a public number of units.

    Guarantee:
        With m quantiles there are h = ceil(log2(m+1)) levels, each of bounded range epsilon/h over all groups; so
        the releases are epsilon-DP and (epsilon^2/(8h))-zCDP.
    Proof:
        docs/proofs/weighted_quantile.md, Theorem 6, after Kaplan, Schnapp and Stemmer 2022, Theorem 3.1.

    Error:
        In units of weight: on each level the rank is missed by as much as a single quantile's at epsilon/h, with
        the chance of failure shared out among the quantiles, and a window and a half, and half the weight of one
        mark; errors of the levels add up. `ties=` tells how much one mark weighs at most.

    Example:
        >>> from jali.mechanisms.quantiles.weighted_quantiles import WeightedQuantiles
        >>> quartiles = WeightedQuantiles(
        ...     at=("1/4", "1/2", "3/4"), low=0, high=1000, step=1, reach=4, changes=1, groups=1, epsilon=1
        ... )
        >>> one, two, three = quartiles.release((range(1001), [4] * 1001))
        >>> 0 <= one <= two <= three <= 1000
        True
        >>> quartiles.loss.event.rho
        Fraction(1, 16)
    """

    at: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    step: Fraction | None
    reach: Fraction
    changes: int
    groups: int
    epsilon: Fraction
    window: int

    def __init__(
        self,
        *,
        at: Sequence[Number],
        low: Number,
        high: Number,
        step: Number | None = None,
        reach: Number,
        changes: int,
        groups: int,
        epsilon: Number,
        window: int = 1,
    ) -> None:
        ruler = Ruler.of(low, high, step)
        self._fill(at=rising_quantiles(at), low=ruler.low, high=ruler.high)
        self._fill(step=None if step is None else ruler.step, reach=parameter(reach, "reach"))
        self._fill(changes=natural(changes, "changes"), groups=natural(groups, "groups"))
        self._fill(epsilon=loss_of(epsilon), window=natural(window, "window"))

    def rate(self, turn: Turn) -> Fraction:
        """Return what ranks are multiplied by in the exponent, for one quantile."""
        alone = self.groups == 1 and turn is self.turns
        return self.epsilon / self.levels / (2 * share_reach(turn.share, self.reach, self.changes, alone=alone))

    def error(self, confidence: float, *, ties: int = 1) -> float:
        """Return a t such that every rank is within t units of its due, with this chance.

        Args:
            confidence: The chance that this holds.
            ties: How many units one mark weighs at most.
        """
        shared, each = natural(ties, "ties"), miss(confidence) / len(self.at)
        return self.summed_error(self.turns, each, 1.5 * self.window + (shared + 1) // 2)

    def deviation(self, value: Any, output: Values) -> float:
        """Return how far the rank of any answer is from its due, in units of weight."""
        rows, marks = self.halving(value).rows, list(map(self.ruler.nearest, output))
        below, up_to = (rows.sums[rows.marks.searchsorted(marks, side)].tolist() for side in ("left", "right"))
        dues = [share * rows.total for share in self.at]
        return float(max(0, *(max(b - due, due - u) for b, u, due in zip(below, up_to, dues, strict=True))))

    def halving(self, value: Any) -> WeightedHalving:
        """Return the draws on (marks, weights)."""
        top = self.ruler.top
        rows = WeightedMarks.of(value, top)
        return WeightedHalving(rows.marks, top, self.turns, self.rate, rows, self.window, told_apart(top))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return pairs and triples of quantiles of small weighted tables: one person more, one replaced."""
        more: Any = ((([1, 2, 4], [3, 3, 6]), ([1, 2, 4], [3, 5, 7])), (([], []), ([5], [3])))
        moved = ((([1, 2, 4], [4, 3, 3]), ([2, 4, 5], [5, 3, 2])), (([0, 5], [5, 4]), ([0, 5], [2, 7])))
        return (
            _specimen(("1/3", "3/4"), 1, 2, more),
            _specimen(("1/4", "1/2", "3/4"), 2, 1, moved),
        )


def _specimen(at: tuple[Number, ...], changes: int, window: int, neighbours: Any) -> Specimen:
    mechanism = WeightedQuantiles(
        at=at, low=0, high=5, step=1, reach=3, changes=changes, groups=1, epsilon=4, window=window
    )
    adjacency = Adjacency.ADD_REMOVE if changes == 1 else Adjacency.REPLACE_ONE
    return Specimen(mechanism, adjacency, neighbours, shape={"ties": 7}, tight=False)
