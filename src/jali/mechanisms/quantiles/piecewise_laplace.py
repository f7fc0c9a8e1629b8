"""The default private quantile: a rank that grows evenly between the values."""

from __future__ import annotations

from dataclasses import dataclass

from jali.mechanisms.quantiles.rank_quantile import RankQuantile
from jali.mechanisms.quantiles.ranks import LinearRanks, Ranks, usual_target
from jali.mechanisms.ruler import Marks


@dataclass(frozen=True, repr=False, init=False)
class PiecewiseLaplace(RankQuantile):
    """Pick a mark of a public range whose rank, read linearly between the values, is near that of the quantile.

    The i-th of n sorted values has rank i, the ends of the range 0 and n + 1, and between them the rank grows in
    proportion; a mark of several equal values has all their ranks. The distance of a mark is that of its ranks
    from 1 + at (n - 1), the rank whose value is the quantile by linear interpolation; the mass is proportional to
    exp(-rate * distance). So inside each gap the mass falls away from the quantile, where the exponential
    mechanism on counts is level.

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
        docs/proofs/private_quantile.md, after Durfee 2025 and Asi and Duchi 2020.

    Error:
        In people: with N marks, Pr[distance - best >= t] <= (N-1) exp(-rate t) / (1 + (N-1) exp(-rate t)). Where
        the rank is whole, the values differ and the step is fine, the expected error of the value is at most that
        of `QuantileExponential`. On a coarse step, or beside a value that many share, it may be a little more;
        `expected_error` computes both for a given column.

    Example:
        >>> from jali.mechanisms import PiecewiseLaplace
        >>> median = PiecewiseLaplace(at="1/2", low=0, high=120, step=1, epsilon=1, adjacency="replace-one")
        >>> 0 <= median.release([23, 35, 35, 61, 70]) <= 120
        True
        >>> median.loss.event.rho
        Fraction(1, 8)
    """

    def ranks(self, marks: Marks) -> Ranks:
        """Return the distances from the usual rank of the quantile."""
        return LinearRanks(marks, 0, self.ruler.top, usual_target(self.at, len(marks)))
