"""The exponential mechanism for a quantile, by counts below and above."""

from __future__ import annotations

from dataclasses import dataclass

from jali.mechanisms.quantiles.rank_quantile import RankQuantile
from jali.mechanisms.quantiles.ranks import Ranks, StepRanks
from jali.mechanisms.ruler import Marks


@dataclass(frozen=True, repr=False, init=False)
class QuantileExponential(RankQuantile):
    """Pick a mark of a public range whose rank is near that of the quantile: all marks between two values alike.

    With n values x, a mark o has the distance from at*n to the interval from #{x < o} to #{x <= o}, so that a
    mark which holds many equal values is as good as the best of its ranks. The mass of a mark is proportional to
    exp(-rate * distance).

    Args:
        at: Which quantile, from 0 to 1: 0.5 is the median.
        low: The least value of the column; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of the marks; if not given, there are about 2^30 of them.
        epsilon: The loss.
        adjacency: When two tables are neighbours; the number of values is private under "add-remove" only.

    Guarantee:
        The release is of bounded range epsilon, hence epsilon-DP and (epsilon^2/8)-zCDP. The rate is epsilon/2
        under "replace-one", and epsilon / (2 max(at, 1 - at)) under "add-remove".
    Proof:
        docs/proofs/private_quantile.md, after McSherry and Talwar 2007, Theorem 6, and Smith 2011.

    Error:
        In people: with N marks, Pr[distance - best >= t] <= (N-1) exp(-rate t) / (1 + (N-1) exp(-rate t)).

    Example:
        >>> from jali.mechanisms import QuantileExponential
        >>> ages = [23, 35, 35, 61, 70]
        >>> median = QuantileExponential(
        ...     at="1/2", low=0, high=120, step=1, epsilon=1, adjacency="replace-one"
        ... )
        >>> 0 <= median.release(ages) <= 120
        True
        >>> round(median.error(0.95), 2)
        15.46
    """

    def ranks(self, marks: Marks) -> Ranks:
        """Return the distances from at*n."""
        return StepRanks(marks, 0, self.ruler.top, self.at * len(marks))
