"""A private quantile or median of a column on a public range, by the exponential mechanism or permute-and-flip.

The expected distance of a release from a given value has a closed form; it is for comparisons, not for releases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.mechanisms.base import Specimen
from jali.mechanisms.lattice import BoundedLattice, Marks
from jali.mechanisms.quantiles.quantile_mechanism import FEW_MARKS, QuantileMechanism, read_loss, read_quantile
from jali.mechanisms.quantiles.rank_laws import PermuteAndFlipLaw
from jali.mechanisms.quantiles.weighted_ranks import (
    LinearRanks,
    Ranks,
    StepRanks,
    WeightedMarks,
    WindowRanks,
    find_usual_target,
    sort_marks,
)
from jali.mechanisms.selection.scores import Exponents
from jali.numbers.quadrature import sum_geometric_logs
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling import BitSource

Doubles = NDArray[np.float64]

_SMALL = 1e-3  # below this the first terms of a series are exact to 1e-12


@dataclass(frozen=True)
class MarkRuns:
    """Runs of consecutive marks, all on one side of a value, along which the rank's distance grows evenly.

    Attributes:
        away: How far the first mark of each run is from the value.
        outwards: 1.0 where a run leads away from the value, -1.0 where it leads towards it.
        lengths: How many marks each has, at least 1.
        distances: The distance of the rank of the first mark.
        slopes: How much it grows from mark to mark.
    """

    away: Doubles
    outwards: Doubles
    lengths: Doubles
    distances: Doubles
    slopes: Doubles


def compute_mean_distance(ranks: Ranks, rate: Fraction, value: Fraction) -> float:
    """Return E|mark - value| for masses proportional to exp(-rate * distance), in doubles."""
    runs = _cut_linear_runs(ranks, value) if isinstance(ranks, LinearRanks) else _cut_step_runs(ranks, value)
    per_mark = float(rate) * runs.slopes
    logs = -float(rate) * runs.distances + sum_geometric_logs(per_mark, runs.lengths)
    masses = np.exp(logs - logs.max())
    means = runs.away + runs.outwards * _compute_mean_places(per_mark, runs.lengths)
    return float(masses @ means / masses.sum())


def _compute_mean_places(rates: Doubles, lengths: Doubles) -> Doubles:
    """Return the mean of 0, 1, ..., n-1 under weights e^-rj."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steep = 1 / np.expm1(rates) - lengths / np.expm1(rates * lengths)
    gentle = (lengths - 1) / 2 - rates * (lengths**2 - 1) / 12
    return np.where(rates * lengths < _SMALL, gentle, steep)


def _cut_linear_runs(ranks: LinearRanks, value: Fraction) -> MarkRuns:
    """Cut at the knots, and at the value itself, which has the wanted rank."""
    knots = np.concatenate(([ranks.first], ranks.values, [ranks.last]))
    gaps = np.diff(knots).astype(np.float64)
    lower, upper = math.floor(ranks.target), math.ceil(ranks.target)
    aim, target = float(value), float(ranks.target)
    with np.errstate(divide="ignore"):
        slopes = 1 / gaps
    left, right = np.arange(lower)[gaps[:lower] > 0], np.arange(upper, len(gaps))[gaps[upper:] > 0]
    starts = np.concatenate((knots[left + 1] - 1, knots[right] + 1))
    distances = np.concatenate((target - (left + 1) + slopes[left], right - target + slopes[right]))
    sides = np.concatenate((left, right))
    middle = _cut_middle_runs(ranks, value, int(knots[lower]), int(knots[upper]))
    away = np.concatenate((np.abs(starts - aim), [run[0] for run in middle]))
    return MarkRuns(
        away,
        np.ones(len(away)),
        np.concatenate((gaps[sides], [run[1] for run in middle])),
        np.concatenate((distances, [run[2] for run in middle])),
        np.concatenate((slopes[sides], [run[3] for run in middle])),
    )


def _cut_middle_runs(
    ranks: Ranks, value: Fraction, start: int, end: int
) -> list[tuple[float, float, float, float]]:
    """Return (away, length, distance, slope) of the marks on both sides of the value in its own gap."""
    slope = 0.0 if start == end else 1 / (end - start)
    below, above = math.floor(value), math.floor(value) + 1
    runs = [(float(value - below), below - start + 1.0, float(ranks.distance(below)), slope)]
    if above <= end:
        runs.append((float(above - value), end - above + 1.0, float(ranks.distance(above)), slope))
    return runs


def _cut_step_runs(ranks: Ranks, value: Fraction) -> MarkRuns:
    """Cut beside every value of the column and at the given one; each run is level."""
    below = math.floor(value)
    cuts = np.concatenate(([ranks.first, below + 1, ranks.last + 1], ranks.values, ranks.values + 1))
    edges = np.unique(np.clip(cuts, ranks.first, ranks.last + 1))
    starts, lengths = edges[:-1], np.diff(edges).astype(np.float64)
    target = float(ranks.target)
    least = np.searchsorted(ranks.values, starts, "left") - target
    most = target - np.searchsorted(ranks.values, starts, "right")
    outwards = np.where(starts > below, 1.0, -1.0)
    distances = np.maximum(0.0, np.maximum(least, most))
    return MarkRuns(np.abs(starts - float(value)), outwards, lengths, distances, np.zeros(len(starts)))


@dataclass(frozen=True, repr=False)
class RankQuantile(QuantileMechanism):
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
        self._fill_lattice(low, high, step)
        self._fill(at=read_quantile(at, "at"), epsilon=read_loss(epsilon), adjacency=Adjacency.of(adjacency))

    @property
    def rate(self) -> Fraction:
        """What distances of ranks are multiplied by in the exponent."""
        return self.epsilon / (2 * find_rank_sensitivity(self.at, self.adjacency))

    def ranks(self, marks: Marks) -> Ranks:
        """Return the distances from the usual rank of the quantile, for marks in rising order."""
        return LinearRanks(marks, 0, self.top, find_usual_target(self.at, len(marks)))

    def _ranks_of(self, value: Any) -> Any:
        return self.ranks(sort_marks(self.ruler.marks(value)))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column, in closed form; this number is not private.

        The quantile is the one by linear interpolation, as numpy has it, of the column on its marks.
        """
        ranks = self._ranks_of(value)
        usual = LinearRanks(ranks.values, ranks.first, ranks.last, find_usual_target(self.at, len(ranks.values)))
        return float(self.ruler.step) * compute_mean_distance(ranks, self.rate, usual.at(usual.target))

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return small columns, with and without equal values, in both adjacencies, and an empty one."""
        return (
            _build_specimen(cls, "1/2", Adjacency.REPLACE_ONE, (([1, 4, 5], [4, 5, 9]), ([5, 5, 5], [0, 5, 5]))),
            _build_specimen(cls, "1/2", Adjacency.ADD_REMOVE, (([2, 3, 6, 6], [2, 3, 6]), ([], [9]), ([7], []))),
            _build_specimen(cls, "1/4", Adjacency.ADD_REMOVE, (([2, 3, 8, 8], [2, 3, 8]), ([3, 8], [3, 8, 8]))),
            _build_specimen(cls, 1, Adjacency.REPLACE_ONE, (([1, 4, 5], [1, 4, 4]), ([0, 9], [0, 0]))),
        )


def _build_specimen(
    kind: type[RankQuantile], at: Number, adjacency: Adjacency, neighbours: tuple[tuple[list[int], list[int]], ...]
) -> Specimen:
    mechanism = kind(at=at, low=0, high=9, step=1, epsilon=2, adjacency=adjacency)
    return Specimen(mechanism, adjacency, neighbours, tight=False)


def find_rank_sensitivity(at: Fraction, adjacency: Adjacency) -> Fraction:
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

    _kind = PermuteAndFlipLaw
    most_marks = FEW_MARKS
    for_more_marks = "PiecewiseLaplace"

    def exponents(self, value: Any) -> Exponents:
        """Return rate * (distance - best) for each mark."""
        return PermuteAndFlipLaw(self._ranks_of(value), self.rate).exponents

    def _ranks_of(self, value: Any) -> WindowRanks:
        """Return the same distances: those of weights of one."""
        column = WeightedMarks.ones(self.ruler.marks(value), self.top)
        return WindowRanks.of(column, (0, self.top), 1, find_usual_target(self.at, column.total))

    def expected_error(self, value: Any) -> float:
        """Return E|release - quantile| on a given column; this number is not private."""
        ranks = self._ranks_of(value)
        aim = float(self.ruler.step * (self.ruler.first + ranks.at(ranks.target)))
        return math.fsum(math.exp(log) * abs(output - aim) for output, log in self.log_masses(value).items())


def private_quantile(
    column: Any,
    at: Number,
    low: Number,
    high: Number,
    step: Number | None = None,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> int | float:
    """Release a quantile of a column: by `PermutedQuantile` on few marks, by `PiecewiseLaplace` on many.

    Args:
        column: A list or an array of numbers; those outside the range count as its ends.
        at: Which quantile, from 0 to 1.
        low: The least value, a public fact.
        high: The largest one, a public fact.
        step: The distance of the values that can be released; fine if not given.
        epsilon: The loss.
        adjacency: When two tables are neighbours.
        bits: Where the random bits come from; the thread's own stream if not given.

    Example:
        >>> from jali.mechanisms import private_quantile
        >>> wages = list(range(2000))
        >>> 1600 < private_quantile(wages, "9/10", 0, 2000, epsilon=1, adjacency="add-remove") < 2000
        True
    """
    few = BoundedLattice.of(low, high, step).top < FEW_MARKS  # a public fact
    kind: type[RankQuantile] = PermutedQuantile if few else PiecewiseLaplace
    mechanism = kind(at=at, low=low, high=high, step=step, epsilon=epsilon, adjacency=adjacency)
    return mechanism.release(column, bits=bits)


def private_median(
    column: Any,
    low: Number,
    high: Number,
    step: Number | None = None,
    *,
    epsilon: Number,
    adjacency: str | Adjacency,
    bits: BitSource | None = None,
) -> int | float:
    """Release the median of a column: `private_quantile` at 1/2.

    Example:
        >>> from jali.mechanisms import private_median
        >>> private_median([37] * 500, 0, 120, 1, epsilon=1, adjacency="replace-one")
        37
    """
    return private_quantile(column, "1/2", low, high, step, epsilon=epsilon, adjacency=adjacency, bits=bits)
