"""Means that do without the extreme values of a column: how many are extreme is a public share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from jali.errors import CatalogError, MechanismError
from jali.mechanisms.smooth.statistics.location import Location
from jali.privacy.adjacency import Adjacency
from jali.privacy.rationals import Number, rational


@dataclass(frozen=True, repr=False)
class CutMean(Location):
    """A mean for which the share `trim` of the values at each end counts as extreme."""

    low: Fraction
    high: Fraction
    step: Fraction
    trim: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        low: Number,
        high: Number,
        step: Number | None = None,
        trim: Number,
        adjacency: str | Adjacency,
    ) -> None:
        self._declare(low, high, step, adjacency)
        self._fill(trim=trim_of(trim))

    def cut(self, size: int) -> int:
        """Return how many values are extreme at each end."""
        return math.floor(self.trim * size)


def trim_of(value: Number) -> Fraction:
    """Read a fraction to be cut at each end, or refuse it by name."""
    try:
        trim = rational(value, "trim")
    except CatalogError as problem:
        raise problem.like(MechanismError) from None
    if not 0 <= trim < Fraction(1, 2):
        raise MechanismError("trim-out-of-range", trim=value)
    return trim
