"""The slope of a simple linear regression, and how far one person can move it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.mechanisms.lattice import BoundedLattice
from jali.mechanisms.regression.column_axes import (
    GRAIN,
    AxisMarks,
    ColumnAxis,
    ColumnRange,
    read_grain,
    read_range,
    read_table,
    sums_of_products,
)
from jali.mechanisms.smooth.statistic import SmoothBound, Statistic
from jali.numbers.rounding import round_root_down
from jali.numbers.search import least_integer
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number

_FINE = 60


@dataclass(frozen=True)
class PointMoments:
    """The number of points, and the sums of x, y, x^2 and xy: integers.

    Example:
        >>> line = PointMoments(0, 0, 0, 0, 0).with_one(0, 1).with_one(2, 5)
        >>> line.spread, line.together, line.slope(Fraction(2))
        (Fraction(2, 1), Fraction(4, 1), Fraction(1, 1))
    """

    count: int
    x: int
    y: int
    xx: int
    xy: int

    @property
    def spread(self) -> Fraction:
        """The sum of squares of x about its mean."""
        return Fraction(self.count * self.xx - self.x**2, max(self.count, 1))

    @property
    def together(self) -> Fraction:
        """The sum of products of x and y about their means."""
        return Fraction(self.count * self.xy - self.x * self.y, max(self.count, 1))

    def slope(self, ridge: Fraction) -> Fraction:
        """Return the slope of least squares, with a ridge above 0."""
        return self.together / (self.spread + ridge)

    def with_one(self, x: int, y: int) -> PointMoments:
        """Return the moments with one more point."""
        return PointMoments(self.count + 1, self.x + x, self.y + y, self.xx + x * x, self.xy + x * y)

    def without(self, x: int, y: int) -> PointMoments:
        """Return the moments with one point less."""
        return PointMoments(self.count - 1, self.x - x, self.y - y, self.xx - x * x, self.xy - x * y)

    def slopes_with_one_more(self, ridge: Fraction, grain: int) -> Iterator[Fraction]:
        """Yield slopes with one more point in [-grain, grain]^2, the least and the largest among them."""
        for y in (-grain, grain):
            for x in self._turning_points(y, ridge, grain):
                yield self.with_one(x, y).slope(ridge)

    def _turning_points(self, y: int, ridge: Fraction, grain: int) -> set[int]:
        """Return lattice points around those where the slope with (x, y) turns, and the ends.

        With a = Sxx + ridge, c = n/(n+1) and the point at (d, e) from the means, the slope with it is
        (Sxy + c d e) / (a + c d^2), which turns where c e d^2 + 2 Sxy d - a e = 0.
        """
        ends = {-grain, grain}
        if not self.count:
            return ends
        mean, weight = Fraction(self.x, self.count), Fraction(self.count, self.count + 1)
        rise = y - Fraction(self.y, self.count)
        if rise == 0:
            roots = [mean]
        else:
            under = self.together**2 + weight * (self.spread + ridge) * rise**2
            roots = [
                mean + (sign * round_root_down(under, 1 << _FINE) - self.together) / (weight * rise)
                for sign in (1, -1)
            ]
        near = {math.floor(root) + shift for root in roots for shift in (-1, 0, 1, 2)}
        return ends | {x for x in near if -grain <= x <= grain}


_CLOSE = 1e-6
_EXTREME = Fraction(10) ** 90


@dataclass(frozen=True)
class SlopePoints:
    """A table on the lattice, and its moments.

    Attributes:
        marks: One row per person: the feature and the target.
        moments: Their number and sums.
    """

    marks: AxisMarks
    moments: PointMoments


@dataclass(frozen=True, init=False)
class Slope(Statistic):
    """The slope of least squares with an intercept, with a ridge and limited to a public steepness.

    With centred sums Sxx and Sxy the slope is Sxy / (Sxx + ridge).

    Args:
        feature: The public range (low, high) of the feature; values outside count as its ends.
        target: The public range of the target.
        adjacency: When two tables are neighbours: one row is one person's.
        steepest: The largest slope, up or down; larger ones count as it. If not given, that of a line which
            crosses the whole range of the target along the whole range of the feature.
        ridge: What is added to Sxx, in squared units of the feature; if not given, 1/1024 of the squared width of
            the range.
        grain: How many marks of the lattice there are from the middle of a range to its ends.
        step: The lattice of what is released; if not given, a fine one.

    Guarantee:
        `at_distance` bounds the local sensitivity of every table within so many changes, and no neighbour's bound
        at one more change is smaller. `local` is exact.
    Proof:
        docs/proofs/smooth_slope.md, after Nissim, Raskhodnikova and Smith 2007, Definition 2.1, and the formula of
        Sherman and Morrison 1950.

    Example:
        >>> slope = Slope(feature=(0, 10), target=(0, 100), adjacency="add-remove", grain=50)
        >>> points = slope.read([(x, 7 * x + 5) for x in range(11)])
        >>> round(float(slope.value(points)), 3), round(float(slope.local(points)), 3)
        (6.994, 3.272)
    """

    feature: ColumnRange
    target: ColumnRange
    adjacency: Adjacency
    steepest: Fraction
    ridge: Fraction
    grain: int
    step: Fraction

    def __init__(
        self,
        *,
        feature: Sequence[Number],
        target: Sequence[Number],
        adjacency: str | Adjacency,
        steepest: Number | None = None,
        ridge: Number | None = None,
        grain: int = GRAIN,
        step: Number | None = None,
    ) -> None:
        across, up = read_range(feature, "feature"), read_range(target, "target")
        wide, high = across[1] - across[0], up[1] - up[0]
        limit = high / wide if steepest is None else read_parameter(steepest, "steepest")
        values = {
            "feature": across,
            "target": up,
            "adjacency": Adjacency.of(adjacency),
            "steepest": limit,
            "ridge": wide**2 / 1024 if ridge is None else read_parameter(ridge, "ridge"),
            "grain": read_grain(grain),
            "step": BoundedLattice.of(-limit, limit, step).step,
        }
        self._fill(**values)
        for name, size in (("steepest", self._steepest), ("ridge", self._ridge)):
            if not _EXTREME > size > 1 / _EXTREME:
                raise MechanismError("regression-parameter-extreme", name=name)

    @property
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The steepest slopes down and up."""
        return -self.steepest, self.steepest

    def read(self, table: Any) -> SlopePoints:
        """Put a table of two columns, the feature and the target, on the lattice."""
        marks = read_table(table, self._axes)
        products = sums_of_products(marks, marks, self.grain)
        x, y = (int(total) for total in marks.sum(axis=0))
        return SlopePoints(marks, PointMoments(len(marks), x, y, int(products[0, 0]), int(products[0, 1])))

    def value(self, column: SlopePoints) -> Fraction:
        """Return the slope."""
        return self._limit(column.moments.slope(self._ridge)) * self._unit

    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return a bound for every table, of any number of people."""
        del people  # with few people or many, all of them may have nearly the same feature
        return self._bound(self._ridge, self._width, self._width) * self._unit

    def at_distance(self, column: SlopePoints, changes: int) -> Fraction:
        """Return a bound of the local sensitivity of every table within so many changes."""
        moments = column.moments
        left = max(self._ridge, moments.spread + self._ridge - (changes + 1) * self._width**2)
        across, up = (self._reach(moments.count, total, changes) for total in (moments.x, moments.y))
        return self._bound(left, across, up) * self._unit

    def _smooth(self, column: SlopePoints, beta: Fraction) -> SmoothBound:
        """Return max over k of exp(-beta k) B(k), of which doubles find the few k that may be the largest."""
        last = self._first_at(column, self.global_sensitivity(), column.moments.count)
        places = sorted({0, last, *self._promising(column, beta, last)})
        return SmoothBound(beta, tuple((k, self.at_distance(column, k)) for k in places))

    def local(self, column: SlopePoints) -> Fraction:
        """Return the exact local sensitivity: the largest change over all neighbours on the lattice."""
        here = self._limit(column.moments.slope(self._ridge))
        there = (self._limit(slope) for slope in self._extremes(column))
        return max((abs(slope - here) for slope in there), default=Fraction(0)) * self._unit

    def _extremes(self, column: SlopePoints) -> Iterator[Fraction]:
        """Yield slopes of neighbours, the least and the largest among them."""
        fewer = (column.moments.without(*row) for row in {tuple(row) for row in column.marks.tolist()})
        if not self._replaces:
            yield from (moments.slope(self._ridge) for moments in fewer)
            yield from column.moments.slopes_with_one_more(self._ridge, self.grain)
        else:
            for moments in fewer:
                yield from moments.slopes_with_one_more(self._ridge, self.grain)

    def _first_at(self, column: SlopePoints, size: Fraction, most: int) -> int:
        """Return the least k up to `most` with B(k) = size, by bisection: B grows with k."""
        return least_integer(lambda k: self.at_distance(column, k) >= size, -1, most)

    def _promising(self, column: SlopePoints, beta: Fraction, last: int) -> list[int]:
        """Return the k below `last` at which exp(-beta k) B(k) is within a millionth of its largest value."""
        start = math.log(self.global_sensitivity() / self.at_distance(column, 0))
        enough = math.floor(min(last, start / max(float(beta), 1e-300) + 2))  # beyond, distance outweighs any B(k)
        if not enough:
            return []
        k = np.arange(enough, dtype=np.float64)
        moments, width = column.moments, float(self._width)
        whole, rest = divmod(moments.spread, self._width**2)  # so that no digits cancel
        left = float(self._ridge) + np.where(k < whole, (whole - k - 1) * width**2 + float(rest), 0.0)
        moved = width * (k + 1) / (moments.count - (0 if self._replaces else k))
        asides = (float(self._aside(moments.count, total)) for total in (moments.x, moments.y))
        across, up = (np.minimum(width, aside + moved) for aside in asides)
        logs = np.log(across * (up + float(self._steepest) * across) / (left + across**2)) - float(beta) * k
        return np.flatnonzero(logs >= logs.max() - _CLOSE).tolist()

    def _reach(self, count: int, total: int, changes: int) -> Fraction:
        """Return how far from the mean a mark can be, after so many changes and one removal."""
        others = count if self._replaces else count - changes
        if others < 1:
            return Fraction(self._width)
        return min(Fraction(self._width), self._aside(count, total) + self._width * Fraction(changes + 1, others))

    def _aside(self, count: int, total: int) -> Fraction:
        """Return how far the mean is from the further end of its axis."""
        return self.grain + abs(Fraction(total, max(count, 1)))

    def _bound(self, left: Fraction, across: Fraction | int, up: Fraction | int) -> Fraction:
        """Return how far a change can move the slope, if Sxx + ridge is `left` or more without whom it changes.

        One person who comes, at most `across` and `up` from the means, moves the slope by at most
        d (up + s d) / (left + d^2) for some d up to `across`, where s is the steepest slope. This grows with d if
        left (up + 2 s d) >= up d^2 at d = across.
        """
        steepest = self._steepest
        if left * (up + 2 * steepest * across) < up * across**2:
            return 2 * steepest
        moves = 2 if self._replaces else 1
        return min(2 * steepest, moves * across * (up + steepest * across) / (left + across**2))

    @property
    def _replaces(self) -> bool:
        return self.adjacency is Adjacency.REPLACE_ONE

    def _limit(self, slope: Fraction) -> Fraction:
        return min(max(slope, -self._steepest), self._steepest)

    @cached_property
    def _axes(self) -> tuple[ColumnAxis, ColumnAxis]:
        return ColumnAxis(*self.feature, self.grain), ColumnAxis(*self.target, self.grain)

    @property
    def _unit(self) -> Fraction:
        """A slope of one mark per mark, in the units of the data."""
        return self._axes[1].half / self._axes[0].half

    @property
    def _steepest(self) -> Fraction:
        return self.steepest / self._unit

    @cached_property
    def _ridge(self) -> Fraction:
        return self.ridge * (self.grain / self._axes[0].half) ** 2

    @property
    def _width(self) -> int:
        return 2 * self.grain
