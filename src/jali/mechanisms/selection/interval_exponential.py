"""The exponential mechanism over the lattice points of an interval, however many there are."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.base import (
    BoundedRangeMechanism,
    LogMasses,
    Specimen,
    read_miss_probability,
    read_parameter,
)
from jali.mechanisms.global_sensitivity import Sensitivity
from jali.mechanisms.selection.exponential_mechanism import Exponential
from jali.mechanisms.selection.piecewise_geometric import PiecewiseGeometric, RandomDigits
from jali.mechanisms.selection.piecewise_scores import Piecewise, PiecewiseOnLattice
from jali.numbers.quadrature import sum_geometric_logs
from jali.numbers.rounding import float_above
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational
from jali.sampling import BitSource, system_bits

_MOST_POINTS = 1 << 60
_AHEAD = 64  # words fetched at a time when many releases are drawn


@dataclass(frozen=True, repr=False)
class IntervalExponential(BoundedRangeMechanism):
    """Pick a point of a lattice on a public interval, with mass proportional to exp(rate * score).

    Args:
        low: The first point.
        high: The end of the interval; the points are low, low + step, ... up to it.
        step: The distance of neighbouring points.
        sensitivity: How far the score of any one point can move between neighbouring tables.
        epsilon: The loss.
        monotone: Whether the scores of all points move the same way; the rate is then epsilon/sensitivity instead
            of epsilon/(2 sensitivity).
        adjacency: When two tables are neighbours; required if the scores are monotone.

    Guarantee:
        The release is epsilon-DP, and of bounded range epsilon, for `Piecewise` scores that differ by at most
        `sensitivity` at every point of the lattice.
    Proof:
        docs/proofs/interval_exponential.md, after McSherry and Talwar 2007, Theorem 6.

    Error:
        With n points, Pr[best score - score >= t] <= (n-1) exp(-rate t) / (1 + (n-1) exp(-rate t)), the largest
        probability for any score.

    Example:
        >>> from jali.mechanisms import IntervalExponential, Piecewise
        >>> ages = [23, 35, 35, 61, 70]
        >>> below = Piecewise(breaks=ages, scores=[-5, -3, -1, -1, -3, -5], closed="right")
        >>> mechanism = IntervalExponential(low=0, high=120, step="1/10", sensitivity=2, epsilon=1)
        >>> 0 <= mechanism.release(below) <= 120
        True
    """

    error_is_exact = False

    low: Fraction
    high: Fraction
    step: Fraction
    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool
    adjacency: Adjacency | None

    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        step: Number,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        adjacency: str | Adjacency | None = None,
    ) -> None:
        among = Exponential(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, adjacency=adjacency)
        self._fill(
            low=_read_end(low, "low"),
            high=_read_end(high, "high"),
            step=read_parameter(step, "step"),
            sensitivity=among.sensitivity,
            epsilon=among.epsilon,
            monotone=among.monotone,
            adjacency=among.adjacency,
        )
        if self.high < self.low:
            raise MechanismError("high-below-low")
        if self.points > _MOST_POINTS:
            raise MechanismError("step-too-small-for-points")

    @property
    def points(self) -> int:
        """How many points there are."""
        return int((self.high - self.low) // self.step) + 1

    @property
    def rate(self) -> Fraction:
        """What scores are multiplied by in the exponent."""
        return self.epsilon / (self.sensitivity * (1 if self.monotone else 2))

    def error(self, confidence: float) -> float:
        """Return a t with Pr[best score - score <= t] >= confidence, whatever the score."""
        failing = read_miss_probability(confidence)
        if self.points == 1:
            return 0.0
        odds = math.log(self.points - 1) + math.log1p(-failing) - math.log(failing)
        return max(0.0, odds) * float_above(1 / self.rate) * (1 + 1e-12)

    def release(self, value: Piecewise, *, bits: BitSource | None = None) -> Fraction:
        """Return a point of the lattice with a high score."""
        board, stairs = self._stairs(value)
        return self._point(board.index(*stairs.draw(RandomDigits(system_bits() if bits is None else bits))))

    def sample(self, value: Piecewise, size: int, *, bits: BitSource | None = None) -> list[Hashable]:
        """Draw the outcomes of many independent releases."""
        board, stairs = self._stairs(value)
        digits = RandomDigits(system_bits() if bits is None else bits, ahead=_AHEAD)
        return [self._point(board.index(*stairs.draw(digits))) for _ in range(size)]

    def deviation(self, value: Piecewise, output: Fraction) -> Fraction:
        """Return how far the score of a point is below the best one."""
        board = self._board(value)
        return int(board.tops.max()) * board.unit - value.at(output)

    def log_masses(self, value: Piecewise) -> LogMasses:
        """Return ln Pr[point] for each point of a small lattice."""
        points = [self._point(index) for index in range(self.points)]
        scores = [value.at(point) for point in points]
        best = max(scores)
        exponents = [-float(self.rate * (best - score)) for score in scores]
        total = math.log(math.fsum(map(math.exp, exponents)))
        return dict(zip(points, (exponent - total for exponent in exponents), strict=True))

    def piece_masses(self, value: Piecewise) -> NDArray[np.float64]:
        """Return the probability of each piece of the score, in closed form, on a lattice of any size."""
        board = self._board(value)
        each = float(self.rate * board.unit)
        gaps = (int(board.tops.max()) - board.tops).astype(np.float64)
        logs = (
            sum_geometric_logs(np.abs(board.rises.astype(np.float64)) * each, board.lengths.astype(np.float64))
            - each * gaps
        )
        masses = np.zeros(len(value.scores))
        masses[board.places] = np.exp(logs - logs.max())
        return np.asarray(masses / masses.sum())

    def _board(self, value: Piecewise) -> PiecewiseOnLattice:
        if not isinstance(value, Piecewise):
            raise MechanismError("score-not-piecewise")
        return PiecewiseOnLattice.of(value, self.low, self.step, self.points)

    def _stairs(self, value: Piecewise) -> tuple[PiecewiseOnLattice, PiecewiseGeometric]:
        board = self._board(value)
        gaps = int(board.tops.max()) - board.tops
        return board, PiecewiseGeometric(self.rate * board.unit, gaps, np.abs(board.rises), board.lengths)

    def _point(self, index: int) -> Fraction:
        return self.low + index * self.step

    @classmethod
    def specimens(cls) -> tuple[Specimen, ...]:
        """Return a median and a revenue on small lattices."""
        middle = cls(low=0, high=8, step=1, sensitivity=1, epsilon=2, adjacency=Adjacency.REPLACE_ONE)
        price = cls(
            low="1/2", high=4, step="1/2", sensitivity=4, epsilon=2, monotone=True, adjacency=Adjacency.ADD_REMOVE
        )
        tables = (
            (_build_median_score(2, 3, 6), _build_median_score(3, 6, 7)),
            (_build_level_score(40, 0), _build_level_score(39, 1)),
        )
        sales = (
            (_build_revenue_score(1, 3, 3), _build_revenue_score(1, 3, 3, 4)),
            (_build_level_score(80, 0), _build_level_score(84, 0)),
        )
        return (
            Specimen(middle, Adjacency.REPLACE_ONE, tables),
            Specimen(price, Adjacency.ADD_REMOVE, sales),
        )


def _read_end(value: Number, name: str) -> Fraction:
    """Return an end of the interval as a rational, or refuse it by name."""
    try:
        return rational(value, name)
    except CatalogError as problem:
        raise problem.like(MechanismError) from None


def _build_median_score(*values: int) -> Piecewise:
    """The score -|#{x < y} - n/2|, for an odd number of values."""
    half = Fraction(len(values), 2)
    return Piecewise(
        breaks=values, scores=[-abs(below - half) for below in range(len(values) + 1)], closed="right"
    )


def _build_revenue_score(*values: int) -> Piecewise:
    """The score y * #{x >= y}."""
    counts = range(len(values), -1, -1)
    return Piecewise(breaks=values, scores=[0] * len(counts), slopes=list(counts), closed="right")


def _build_level_score(first: int, rest: int) -> Piecewise:
    """A score of two levels, so far apart that the first one has nearly all mass."""
    return Piecewise(breaks=[1], scores=[first, rest])
