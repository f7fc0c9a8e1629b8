"""Public ranges of the columns of a regression, as integer marks on both sides of their middles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jali.errors import MechanismError, settle
from jali.mechanisms.base import read_natural
from jali.mechanisms.exact_values import read_numbers
from jali.mechanisms.lattice import BoundedLattice, read_range_ends
from jali.privacy.rationals import Number

ColumnRange: TypeAlias = tuple[Fraction, Fraction]
AxisMarks: TypeAlias = NDArray[np.int64]

GRAIN = 1 << 15
_FINEST = 1 << 20  # the square of a mark must leave room for a sum of many in a double's 53 bits
_PAIR = 2


@dataclass(frozen=True)
class ColumnAxis:
    """The range from `low` to `high`, in `grain` equal steps on either side of its middle.

    Guarantee:
        `marks` is a function of each value alone, and total: -grain .. grain, whatever the value.

    Example:
        >>> ColumnAxis(Fraction(0), Fraction(100), 10).marks([0, 52, 1000, -3.5]).tolist()
        [-10, 0, 10, -10]
    """

    low: Fraction
    high: Fraction
    grain: int

    @property
    def middle(self) -> Fraction:
        """The value of mark 0."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> Fraction:
        """Half the width of the range."""
        return (self.high - self.low) / 2

    def marks(self, values: Any) -> AxisMarks:
        """Return the mark nearest to each value: first on a fine lattice, then on this axis."""
        ruler = BoundedLattice.of(self.low, self.high)
        fine = ruler.marks(values)
        return np.asarray((4 * self.grain * fine + ruler.top) // (2 * ruler.top) - self.grain, np.int64)

    def at(self, mark: int) -> Fraction:
        """Return the value of a mark."""
        return self.middle + self.half * Fraction(mark, self.grain)


def read_range(value: Sequence[Number], name: str) -> ColumnRange:
    """Return a public range as two rationals, or refuse it by name."""
    if not isinstance(value, tuple | list) or len(value) != _PAIR:
        raise MechanismError("parameter-not-a-range", name=name, value=settle(value))
    return read_range_ends(value[0], value[1], (f"{name}: low", f"{name}: high"))


def read_grain(value: int) -> int:
    """Return how many marks there are from the middle of a range to its ends, or refuse it."""
    grain = read_natural(value, "grain")
    if grain > _FINEST:
        raise MechanismError("parameter-too-large", most=_FINEST, value=grain, name="grain")
    return grain


def read_table(table: Any, axes: Sequence[ColumnAxis]) -> AxisMarks:
    """Return a table of one row per person and one column per axis, as marks."""
    numbers = read_numbers(table)
    if numbers.ndim in {1, _PAIR} and len(numbers) == 0:
        return np.zeros((0, len(axes)), np.int64)
    if numbers.ndim != _PAIR or numbers.shape[1] != len(axes):
        raise MechanismError("regression-table-wrong", count=len(axes))
    return np.column_stack([axis.marks(numbers[:, i]) for i, axis in enumerate(axes)])


def sums_of_products(left: AxisMarks, right: AxisMarks, grain: int) -> NDArray[Any]:
    """Return left' right exactly, as Python ints, for marks of at most `grain` in size.

    Doubles do it exactly: in a chunk of so many rows every partial sum, in any order, is an integer below 2^53.
    """
    chunk = min(1 << 18, (1 << 53) // grain**2)
    total = np.zeros((left.shape[1], right.shape[1]), dtype=object)
    for start in range(0, len(left), chunk):
        rows = slice(start, start + chunk)
        part = left[rows].T.astype(np.float64) @ right[rows].astype(np.float64)
        total += part.astype(np.int64).astype(object)
    return total
