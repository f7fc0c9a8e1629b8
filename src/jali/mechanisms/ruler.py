"""Rulers: the marks of a lattice on a public range, and where the values of a column fall on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.grid import nearest_points, points_as_doubles
from jali.mechanisms.mechanism import parameter
from jali.mechanisms.values import numbers_in
from jali.privacy.rationals import Number, rational
from jali.privacy.rounding import float_above, float_below

Marks = NDArray[np.int64]

_FINE = 30
_MOST = 1 << 60
_SAFE = 1 << 62
_PART = 1 << 15  # values that are read together: what they become on the way stays in the cache


@dataclass(frozen=True)
class Ruler:
    """The multiples of `step` between `low` and `high`, numbered 0, 1, ..., top.

    Args:
        low: The least value that a column may have; smaller ones count as it.
        high: The largest one; larger ones count as it.
        step: The distance of neighbouring marks; if not given, the power of two that puts between 2^30 and 2^31
            marks on the range.

    Guarantee:
        `marks` is a function of each value alone, and total: what is below the range counts as its first mark,
        what is above as its last, and NaN as 0, or the mark nearest to it.

    Example:
        >>> ages = Ruler.of(0, 120, 1)
        >>> ages.marks([37, 36.6, -5, 1000, float("nan")]).tolist()
        [37, 37, 0, 120, 0]
        >>> ages.top, ages.at(37)
        (120, 37)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @classmethod
    def of(cls, low: Number, high: Number, step: Number | None = None) -> Ruler:
        """Read a ruler from a mechanism's arguments."""
        least, most = range_of(low, high)
        width = _fine_step(most - least) if step is None else parameter(step, "step")
        ruler = cls(least, most, width)
        if ruler.top < 1:
            raise MechanismError("step-too-large-for-range")
        if ruler.top > _MOST:
            raise MechanismError("step-too-small-for-range")
        return ruler

    @cached_property
    def first(self) -> int:
        """The first mark, as a multiple of the step."""
        return math.ceil(self.low / self.step)

    @cached_property
    def top(self) -> int:
        """The number of the last mark."""
        return math.floor(self.high / self.step) - self.first

    def marks(self, values: Any) -> Marks:
        """Return the number of the mark nearest to each value of a column."""
        numbers = numbers_in(values)
        if numbers.ndim != 1:
            raise MechanismError("values-not-one-dimensional")
        first, top, step = self.first, self.top, self.step
        low, high = float_below(self.low), float_above(self.high)
        # Points that fit int64 cannot be clipped to ends that do not.
        kind = object if max(abs(first), abs(first + top)) >= _SAFE else None
        marks = np.empty(len(numbers), np.int64)
        for start in range(0, len(numbers), _PART):
            part = slice(start, start + _PART)
            points = nearest_points(self._clamped(numbers[part], low, high), step)
            wide = points if kind is None else points.astype(kind)
            marks[part] = np.clip(wide, first, first + top) - first
        return marks

    def at(self, mark: int) -> int | float:
        """Return the value of a mark: an int where the step is whole, else the nearest double."""
        point = self.first + mark
        if self.step.denominator == 1:
            return point * self.step.numerator
        return float(points_as_doubles(np.array([point]), self.step)[0])

    def nearest(self, value: Number) -> int:
        """Return the mark nearest to one number."""
        return int(self.marks([rational(value, "value")])[0])

    def _clamped(self, numbers: NDArray[Any], low: float, high: float) -> NDArray[Any]:
        """Take infinities and what is far beyond the range to its ends."""
        if numbers.dtype.kind == "f":
            wide = numbers if numbers.itemsize > 8 else numbers.astype(np.float64)
            return np.asarray(np.clip(wide, low, high))
        if numbers.dtype == object:
            items = [self._finite(item) for item in numbers.tolist()]
            return np.array([*items, None], dtype=object)[:-1]
        return numbers

    def _finite(self, item: Any) -> Any:
        """Replace an infinity by the end of the range on its side; leave everything else."""
        infinite = isinstance(item, float | np.floating | Decimal) and _is_infinite(item)
        return item if not infinite else (self.high if item > 0 else self.low)


def range_of(low: Number, high: Number, names: Sequence[str] = ("low", "high")) -> tuple[Fraction, Fraction]:
    """Return the ends of a range as rationals, or refuse them by name."""
    try:
        least, most = rational(low, names[0]), rational(high, names[1])
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if least >= most:
        raise MechanismError("bounds-not-rising", low=names[0], high=names[1])
    return least, most


def _is_infinite(item: Any) -> bool:
    return item.is_infinite() if isinstance(item, Decimal) else math.isinf(item)


def _fine_step(width: Fraction) -> Fraction:
    """Return the largest power of two with at least 2^30 steps in a width."""
    power = width.numerator.bit_length() - width.denominator.bit_length()
    power -= Fraction(2) ** power > width  # now 2^power <= width < 2^(power+1)
    return Fraction(2) ** (power - _FINE)
