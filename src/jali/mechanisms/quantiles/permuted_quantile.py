"""A quantile among few marks: permute-and-flip on the ranks of `PiecewiseLaplace`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jali.mechanisms.quantiles.flipped_quantile import FlippedQuantile
from jali.mechanisms.quantiles.mark_distances import MarkDistances
from jali.mechanisms.quantiles.rank_quantile import RankQuantile
from jali.mechanisms.quantiles.ranks import LinearRanks, sorted_marks, usual_target
from jali.mechanisms.ruler import Marks
from jali.mechanisms.selection.scores import Exponents

MOST_MARKS = FlippedQuantile.most_marks


@dataclass(frozen=True, repr=False, init=False)
class PermutedQuantile(FlippedQuantile, RankQuantile):
    """Pick one of a few marks whose rank, read linearly between the values, is near that of the quantile.

    The distance of a mark is that of `PiecewiseLaplace`. Every mark is accepted on its own with probability
    exp(-rate * (distance - best)), and one of the accepted is released, all alike. Its expected distance is never
    more than that of the exponential mechanism, and down to half of it on a coarse lattice; on a fine one the two
    are the same. Its loss is pure, and so is charged epsilon^2/2 in zCDP, where `PiecewiseLaplace` is charged
    epsilon^2/8.

    Args:
        at: Which quantile, from 0 to 1: 0.5 is the median.
        low: The least value of the column; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of the marks, of which there may be 2^16.
        epsilon: The loss.
        adjacency: When two tables are neighbours; the number of values is private under "add-remove" only.

    Guarantee:
        The release is epsilon-DP. The rate is epsilon/2 under "replace-one", and epsilon / (2 max(at, 1 - at))
        under "add-remove".
    Proof:
        docs/proofs/private_quantile.md, Theorem 5, after McKenna and Sheldon 2020, Theorem 1.

    Error:
        In people, a bound for any column: that of permute-and-flip among as many candidates as there are marks.

    Example:
        >>> from jali.mechanisms import PermutedQuantile
        >>> median = PermutedQuantile(at="1/2", low=0, high=120, step=1, epsilon=1, adjacency="replace-one")
        >>> 0 <= median.release([23, 35, 35, 61, 70]) <= 120
        True
        >>> median.loss.event.rho
        Fraction(1, 2)
    """

    for_more_marks = "PiecewiseLaplace"

    def ranks(self, marks: Marks) -> LinearRanks:
        """Return the distances from the usual rank of the quantile."""
        return LinearRanks(marks, 0, self.ruler.top, usual_target(self.at, len(marks)))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column; this number is not private."""
        ranks = self.ranks(sorted_marks(self.ruler.marks(value)))
        aim = float(self.ruler.step * (self.ruler.first + ranks.at(ranks.target)))
        return math.fsum(math.exp(log) * abs(output - aim) for output, log in self.log_masses(value).items())

    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""
        ranks = self.ranks(sorted_marks(self.ruler.marks(value)))
        return MarkDistances(ranks).exponents(self.rate)
