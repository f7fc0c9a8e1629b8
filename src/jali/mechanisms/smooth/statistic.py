"""The interface of statistics whose local sensitivity is known near every table, and bounds of that sensitivity.

A `Statistic` reports its value, its local sensitivity and A(k), the largest local sensitivity at distance k.
A `SmoothBound` is max over k of exp(-beta k) A(k), known at any precision.
`local_sensitivity` and `smooth_sensitivity` are for inspection: what they return is not private.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from jali.errors import MechanismError
from jali.mechanisms.base import read_parameter
from jali.numbers.search import least_integer_near
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number
from jali.sampling.exp_bounds import Bounds, exp_bounds

_FIRST = 128


@dataclass(frozen=True)
class SmoothBound:
    """The real number S = max over (k, a) in `terms` of a exp(-beta k), known at any precision.

    Attributes:
        beta: How fast distance is discounted, above 0.
        terms: Pairs of a distance k >= 0 and a local sensitivity a >= 0; at least one. Terms that cannot be the
            largest may be left out.

    Example:
        >>> bound = SmoothBound(Fraction(1, 10), ((0, Fraction(10)), (9, Fraction(100))))
        >>> round(float(bound), 7)
        40.656966
    """

    beta: Fraction
    terms: tuple[tuple[int, Fraction], ...]

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise MechanismError("smooth-beta-not-positive", beta=self.beta)

    def bounds(self, precision: int) -> Bounds:
        """Return integers lo <= 2**precision S <= hi that close in as the precision grows."""
        ends = [self._term(distance, size, precision) for distance, size in self.terms]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def _term(self, distance: int, size: Fraction, precision: int) -> Bounds:
        extra = math.ceil(size).bit_length()
        low, high = exp_bounds(self.beta * distance, precision + extra)
        unit = size.denominator << extra
        return low * size.numerator // unit, -(-high * size.numerator // unit)

    def __float__(self) -> float:
        """Return the double nearest to S."""
        precision = _FIRST
        while True:
            low, high = (float(Fraction(end, 1 << precision)) for end in self.bounds(precision))
            if low == high:
                return low
            precision *= 2


class Statistic(ABC):
    """A number computed from a table, and how far it can move between neighbouring tables.

    Every statistic is a frozen dataclass with a keyword-only constructor. `read` clamps a table to its public
    ranges and puts it on the lattice, once; all else takes what `read` returned. Nothing that depends on the
    values of a table can fail. Numbers are in the units of the data, as exact rationals.

    With LS(x) = max |f(x) - f(y)| over the neighbours y of x, and A(k)(x) = max LS(y) over the tables y that are
    reached from x by at most k changes, the smooth sensitivity is S(x) = max over k >= 0 of exp(-beta k) A(k)(x).
    """

    adjacency: Adjacency
    step: Fraction
    """The lattice on which noisy values are released: public."""

    def __repr__(self) -> str:
        parts = ((f.name, getattr(self, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(f'{name}={_format_value(value)}' for name, value in parts)})"

    @abstractmethod
    def read(self, table: Any) -> Any:
        """Clamp a table to the public ranges and put it on the lattice."""

    @abstractmethod
    def value(self, column: Any) -> Fraction:
        """Return the statistic itself, which is not private."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[Fraction, Fraction]:
        """The least and the largest value that the statistic has for any table: public."""

    @abstractmethod
    def global_sensitivity(self, people: int | None = None) -> Fraction:
        """Return the largest local sensitivity of any table; of any with so many people, where that is public."""

    @abstractmethod
    def at_distance(self, column: Any, changes: int) -> Fraction:
        """Return A(k), or a bound of it that no neighbour exceeds at k + 1: A(k)(x) <= B(k)(x) <= B(k+1)(y)."""

    def smooth(self, column: Any, beta: Fraction) -> SmoothBound:
        """Return max over k of exp(-beta k) times what `at_distance` returns; beta is a number above 0."""
        return self._smooth(column, read_parameter(beta, "beta"))

    @abstractmethod
    def _smooth(self, column: Any, beta: Fraction) -> SmoothBound:
        """Return the same, for a beta that has been checked."""

    def _fill(self, **values: Any) -> None:
        """Set the fields of a frozen dataclass, once, in its constructor."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def local(self, column: Any) -> Fraction:
        """Return the local sensitivity, or its bound: noise scaled to it alone would leak."""
        return self.at_distance(column, 0)

    def distance_above(self, column: Any, bound: Fraction, most: int) -> int:
        """Return the least k with A(k) > bound; `most` if there is none below it. Looks nearby first."""
        return least_integer_near(lambda k: k >= most or self.at_distance(column, k) > bound, min(0, most))


def _format_value(value: Any) -> str:
    """Write rationals as people do; an adjacency by its name."""
    return (
        str(value) if isinstance(value, Fraction) else repr(str(value) if isinstance(value, Adjacency) else value)
    )


def local_sensitivity(statistic: Statistic, table: Any) -> Fraction:
    """Return how far one person can move a statistic of this table. NOT private.

    It depends on the table, so that noise scaled to it, and the number itself, reveal something about the people
    in the table.

    Example:
        >>> from jali.mechanisms.smooth.order_statistics import Median
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> local_sensitivity(middle, range(10, 100, 10))
        Fraction(10, 1)
    """
    return statistic.local(statistic.read(table))


def smooth_sensitivity(statistic: Statistic, table: Any, beta: Number) -> float:
    """Return the smooth sensitivity of a statistic at this table, rounded to the nearest double. NOT private.

    A release that scales admissible noise to it is private; the number itself is not.

    Example:
        >>> from jali.mechanisms.smooth.order_statistics import Median
        >>> middle = Median(low=0, high=100, step=1, adjacency="replace-one")
        >>> round(smooth_sensitivity(middle, range(10, 100, 10), 0.1), 7)
        40.656966
    """
    return float(statistic.smooth(statistic.read(table), read_parameter(beta, "beta")))
