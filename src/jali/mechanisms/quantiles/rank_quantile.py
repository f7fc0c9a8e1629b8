"""Quantiles of a column on a public range: the exponential mechanism on ranks, and permute-and-flip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jali.mechanisms.mechanism import Specimen
from jali.mechanisms.quantiles.mark_flips import MarkFlips
from jali.mechanisms.quantiles.mark_quantile import FEW_MARKS, MarkQuantile
from jali.mechanisms.quantiles.mean_distance import mean_distance
from jali.mechanisms.quantiles.ranks import LinearRanks, Ranks, StepRanks, WindowRanks, sorted_marks, usual_target
from jali.mechanisms.quantiles.readers import loss_of, quantile_of
from jali.mechanisms.quantiles.weighted_marks import WeightedMarks
from jali.mechanisms.ruler import Marks
from jali.mechanisms.selection.scores import Exponents
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number


@dataclass(frozen=True, repr=False)
class RankQuantile(MarkQuantile):
    """One quantile of a column on a public range, by a score of ranks."""

    at: Fraction
    low: Fraction
    high: Fraction
    step: Fraction | None
    epsilon: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        at: Number,
        low: Number,
        high: Number,
        step: Number | None = None,
        epsilon: Number,
        adjacency: str | Adjacency,
    ) -> None:
        self._fill_ruler(low, high, step)
        self._fill(at=quantile_of(at, "at"), epsilon=loss_of(epsilon), adjacency=Adjacency.of(adjacency))

    @property
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""
        return self.epsilon / (2 * rank_sensitivity(self.at, self.adjacency))

    def ranks(self, marks: Marks) -> Ranks:
        """Return the distances from the usual rank of the quantile, for marks in rising order."""
        return LinearRanks(marks, 0, self.top, usual_target(self.at, len(marks)))

    def _ranks_of(self, value: Any) -> Any:
        return self.ranks(sorted_marks(self.ruler.marks(value)))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column, in closed form; this number is not private.

        The quantile is the one by linear interpolation, as numpy has it, of the column on its marks.
        """
        ranks = self._ranks_of(value)
        usual = LinearRanks(ranks.values, ranks.first, ranks.last, usual_target(self.at, len(ranks.values)))
        return float(self.ruler.step) * mean_distance(ranks, self.rate, usual.at(usual.target))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small columns, with and without equal values, in both adjacencies, and an empty one."""
        return (
            _one(cls, "1/2", Adjacency.REPLACE_ONE, (([1, 4, 5], [4, 5, 9]), ([5, 5, 5], [0, 5, 5]))),
            _one(cls, "1/2", Adjacency.ADD_REMOVE, (([2, 3, 6, 6], [2, 3, 6]), ([], [9]), ([7], []))),
            _one(cls, "1/4", Adjacency.ADD_REMOVE, (([2, 3, 8, 8], [2, 3, 8]), ([3, 8], [3, 8, 8]))),
            _one(cls, 1, Adjacency.REPLACE_ONE, (([1, 4, 5], [1, 4, 4]), ([0, 9], [0, 0]))),
        )


def _one(
    kind: type[RankQuantile], at: Number, adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = kind(at=at, low=0, high=9, step=1, epsilon=2, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, tight=False)


def rank_sensitivity(at: Fraction, adjacency: Adjacency) -> Fraction:
    """Return how far the distance of any one mark can move between neighbours."""
    return Fraction(1) if adjacency is Adjacency.REPLACE_ONE else max(at, 1 - at)


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

    def ranks(self, marks: Marks) -> StepRanks:
        """Return the distances from at*n, for marks in rising order."""
        return StepRanks(marks, 0, self.top, self.at * len(marks))


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


@dataclass(frozen=True, repr=False, init=False)
class PermutedQuantile(RankQuantile):
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

    _kind = MarkFlips
    most_marks = FEW_MARKS
    for_more_marks = "PiecewiseLaplace"

    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""
        return MarkFlips(self._ranks_of(value), self.rate).exponents

    def _ranks_of(self, value: Any) -> WindowRanks:
        """Return the same distances: those of weights of one."""
        column = WeightedMarks.ones(self.ruler.marks(value), self.top)
        return WindowRanks.of(column, (0, self.top), 1, usual_target(self.at, column.total))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column; this number is not private."""
        ranks = self._ranks_of(value)
        aim = float(self.ruler.step * (self.ruler.first + ranks.at(ranks.target)))
        return math.fsum(math.exp(log) * abs(output - aim) for output, log in self.log_masses(value).items())
