"""Lattices on which values lie before noise is added, and bounded lattices of a public range.

Integers in, integers out. A bounded lattice numbers its points from 0 and clamps what lies outside its range.
"""

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
from jali.mechanisms.base import read_natural, read_parameter
from jali.mechanisms.exact_values import (
    convert_points_to_doubles,
    narrow,
    read_integers,
    read_numbers,
    round_to_lattice,
)
from jali.mechanisms.global_sensitivity import Root
from jali.numbers.rounding import float_above, float_below
from jali.privacy.rationals import Number, rational

Integers = Any  # an int, or a numpy array of int64 or of Python ints
_SAFE_SUM = 1 << 62


@dataclass(frozen=True)
class Lattice:
    """The multiples of `step`, for values with `dimension` coordinates.

    Without a step, inputs must be integers and are used as they are. With a step, real inputs are rounded to
    the lattice by floor(x/step + 1/2), which moves two coordinates at distance d to at most ceil(d/step) steps.

    Guarantee:
        If inputs differ by at most s in L1 norm, their lattice points differ by at most `steps(s)` steps:
        s itself for integers, ceil(s/step) in one dimension, floor(s/step) + dimension in several.
    """

    step: Fraction | None = None
    dimension: int = 1

    @classmethod
    def of(cls, step: Number | None, dimension: int) -> Lattice:
        """Read a lattice from a mechanism's arguments."""
        return cls(read_step(step), read_natural(dimension, "dimension"))

    def steps(self, sensitivity: Fraction) -> Fraction:
        """Return the L1 sensitivity in steps, rounded up."""
        if self.step is None:
            return sensitivity
        if self.dimension == 1:
            return Fraction(math.ceil(sensitivity / self.step))
        return Fraction(math.floor(sensitivity / self.step) + self.dimension)

    def whole_steps(self, sensitivity: Fraction) -> int:
        """Return how many steps one coordinate can move, at least 1."""
        return max(1, math.floor(sensitivity) if self.step is None else math.ceil(sensitivity / self.step))

    def steps_squared(self, sensitivity: Fraction | Root) -> Fraction:
        """Return the squared L2 sensitivity in steps, rounded up: at most (s/step + sqrt(dimension))^2."""
        squared = sensitivity.squared if isinstance(sensitivity, Root) else sensitivity**2
        if self.step is None:
            return squared
        squared /= self.step**2
        if self.dimension == 1:
            return Fraction(math.isqrt(math.ceil(squared) - 1) + 1) ** 2
        return Fraction(math.floor(squared + self.dimension + _round_root_up(4 * squared * self.dimension)))

    def integers(self, value: Any) -> Integers:
        """Put a value or an array on the lattice, as integers."""
        if self.step is None:
            return read_integers(value)
        array = read_numbers(value)
        if array.size > self.dimension:
            raise MechanismError("mechanism-width-wrong", dimension=self.dimension, size=array.size)
        return round_to_lattice(array, self.step)

    def real(self, integers: Integers) -> Any:
        """Turn noisy lattice points back into numbers: ints without a step, the nearest floats with one."""
        plain = np.asarray(integers)
        values = plain if self.step is None else convert_points_to_doubles(plain, self.step)
        return values.item() if values.ndim == 0 else values


def read_step(step: Number | None) -> Fraction | None:
    """Read the step of a lattice from a mechanism's arguments; None stands for integers."""
    return None if step is None else read_parameter(step, "step")


def refuse_below_one_step(distance: Fraction, step: Fraction | None) -> None:
    """Refuse a distance, or a squared one, below 1 for integers: noise for it would hide nothing."""
    if step is None and distance < 1:
        raise MechanismError("sensitivity-below-one")


def _round_root_up(value: Fraction) -> Fraction:
    """Return a rational above the square root, by less than 2^-19."""
    return Fraction(math.isqrt(math.ceil(value * 4**20)) + 1, 2**20)


def add(values: Integers, noise: np.ndarray) -> np.ndarray:
    """Add integers exactly: int64 if every sum fits, Python ints otherwise.

    The type of the result is a function of the result alone. Chosen from the values or from the noise, it would
    reveal them.
    """
    array = np.asarray(values)
    if _fits(array) and _fits(noise):
        return np.asarray(array.astype(np.int64, copy=False) + noise.astype(np.int64, copy=False))
    return narrow(np.asarray(array.astype(object) + noise.astype(object), dtype=object))


def _fits(array: np.ndarray) -> bool:
    return array.size == 0 or (int(array.min()) > -_SAFE_SUM and int(array.max()) < _SAFE_SUM)


Marks = NDArray[np.int64]

_FINE = 30
_MOST = 1 << 60
_SAFE_POINT = 1 << 62
_PART = 1 << 15  # values that are read together: what they become on the way stays in the cache


@dataclass(frozen=True)
class BoundedLattice:
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
        >>> ages = BoundedLattice.of(0, 120, 1)
        >>> ages.marks([37, 36.6, -5, 1000, float("nan")]).tolist()
        [37, 37, 0, 120, 0]
        >>> ages.top, ages.at(37)
        (120, 37)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @classmethod
    def of(cls, low: Number, high: Number, step: Number | None = None) -> BoundedLattice:
        """Read a lattice from a mechanism's arguments."""
        least, most = read_range_ends(low, high)
        width = _find_fine_step(most - least) if step is None else read_parameter(step, "step")
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
        numbers = read_numbers(values)
        if numbers.ndim != 1:
            raise MechanismError("values-not-one-dimensional")
        first, top, step = self.first, self.top, self.step
        low, high = float_below(self.low), float_above(self.high)
        # Points that fit int64 cannot be clipped to ends that do not.
        kind = object if max(abs(first), abs(first + top)) >= _SAFE_POINT else None
        marks = np.empty(len(numbers), np.int64)
        for start in range(0, len(numbers), _PART):
            part = slice(start, start + _PART)
            points = round_to_lattice(self._clamp_far_values(numbers[part], low, high), step)
            wide = points if kind is None else points.astype(kind)
            marks[part] = np.clip(wide, first, first + top) - first
        return marks

    def at(self, mark: int) -> int | float:
        """Return the value of a mark: an int where the step is whole, else the nearest double."""
        point = self.first + mark
        if self.step.denominator == 1:
            return point * self.step.numerator
        return float(convert_points_to_doubles(np.array([point]), self.step)[0])

    def nearest(self, value: Number) -> int:
        """Return the mark nearest to one number."""
        return int(self.marks([rational(value, "value")])[0])

    def _clamp_far_values(self, numbers: NDArray[Any], low: float, high: float) -> NDArray[Any]:
        """Take infinities and what is far beyond the range to its ends."""
        if numbers.dtype.kind == "f":
            wide = numbers if numbers.itemsize > 8 else numbers.astype(np.float64)
            return np.asarray(np.clip(wide, low, high))
        if numbers.dtype == object:
            items = [self._replace_infinity(item) for item in numbers.tolist()]
            return np.array([*items, None], dtype=object)[:-1]
        return numbers

    def _replace_infinity(self, item: Any) -> Any:
        """Replace an infinity by the end of the range on its side; leave everything else."""
        infinite = isinstance(item, float | np.floating | Decimal) and _is_infinite(item)
        return item if not infinite else (self.high if item > 0 else self.low)


def read_range_ends(
    low: Number, high: Number, names: Sequence[str] = ("low", "high")
) -> tuple[Fraction, Fraction]:
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


def _find_fine_step(width: Fraction) -> Fraction:
    """Return the largest power of two with at least 2^30 steps in a width."""
    power = width.numerator.bit_length() - width.denominator.bit_length()
    power -= Fraction(2) ** power > width  # now 2^power <= width < 2^(power+1)
    return Fraction(2) ** (power - _FINE)
