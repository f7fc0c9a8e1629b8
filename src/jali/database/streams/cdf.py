"""CDFs over time: a column for each cell, and the shares below their ends."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from jali.database.streams.lattice import number_of
from jali.database.streams.measure import Increments, Intervals, Measured, TickNoise, place_of, places
from jali.errors import CatalogError
from jali.mechanisms.sensitivity import Root
from jali.mechanisms.workloads.consistency import rising
from jali.mechanisms.workloads.workload import Floats
from jali.query.catalog import Range
from jali.streams.item import Item
from jali.streams.ratios import Squares, ratio_between, reach

_MOST_BINS = 1000


@dataclass(frozen=True)
class StreamCdf:
    """Which share of the items so far has a value of at most each end, under each key.

    A cell holds what is above the end before it and at most its own. A last one, which is not shown, holds what is
    above all of them, unless the range of the values says that nothing is.

    Guarantee:
        An item adds 1 to one column: distance 1 in both norms.
    Proof:
        docs/proofs/following.md, Theorem 2.
    """

    keys: tuple[Any, ...] | None
    range: Range | None
    bins: tuple[Fraction, ...]

    name = "cdf"
    signed = False

    @classmethod
    def declared(cls, said: Measured) -> Self:
        """Make it; the ends must rise, within the range if there is one."""
        ends = said.bins or ()
        if not 1 <= len(ends) <= _MOST_BINS or list(ends) != sorted(set(ends)):
            raise CatalogError("stream-bins", most=_MOST_BINS)
        bounds = None if said.range is None else said.range.bounds
        if bounds is not None and not bounds.low <= ends[0] <= ends[-1] <= bounds.high:  # type: ignore[operator]
            raise CatalogError("stream-bins-outside")
        return cls(said.keys, said.range, ends)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The ends; with declared keys each key with each end."""
        ends = [int(end) if end.denominator == 1 else float(end) for end in self.bins]
        return tuple(ends) if self.keys is None else tuple((key, end) for key in self.keys for end in ends)

    @property
    def width(self) -> int:
        """A column for each cell of each key."""
        return self.cells * (1 if self.keys is None else len(self.keys))

    @property
    def cells(self) -> int:
        """How many cells there are, with the last one above all ends where there can be something in it."""
        beyond = self.range is None or self.range.bounds.high > self.bins[-1]  # type: ignore[operator]
        return len(self.bins) + beyond

    @property
    def l1(self) -> Fraction:
        """One."""
        return Fraction(1)

    @property
    def l2(self) -> Root:
        """One."""
        return Root(1)

    @cached_property
    def _places(self) -> dict[Any, int] | None:
        return places(self.keys)

    @cached_property
    def _ends(self) -> list[Fraction]:
        """The ends, also as doubles: the double nearest to 0.1 is above it, and belongs in its cell."""
        return [max(end, Fraction(float(end))) for end in self.bins]

    def increments(self, item: Item) -> Increments | None:
        """One, in the cell of the value under the item's key."""
        place, value = place_of(item, self._places), number_of(item.value)
        if place is None or value is None:
            return None
        return {place * self.cells + min(bisect_left(self._ends, value), self.cells - 1): 1}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy shares, made to rise from 0 to 1."""
        shares = np.concatenate([self._shares(cells) for cells in columns.reshape(-1, self.cells)])
        return dict(zip(self.labels, shares.tolist(), strict=True))

    def _shares(self, cells: Floats) -> Floats:
        """Divide by the number of items, of which there is at least one."""
        below = np.cumsum(cells)
        return np.asarray(np.clip(rising(below[: len(self.bins)]) / max(below[-1], 1.0), 0.0, 1.0))

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """All shares that the noisy cells do not reject, and the one shown; all where items may be few."""
        q = reach(noise.counter, noise.tick, self.cells, confidence)
        ends = [self._between(cells, n, q) for cells in columns.reshape(-1, self.cells) for n in self._counts]
        shown = self.values(columns)
        return {
            label: (min(low, shown[label]), max(high, shown[label]))
            for label, (low, high) in zip(self.labels, ends, strict=True)
        }

    @property
    def _counts(self) -> list[int]:
        """How many cells lie below each end."""
        return list(range(1, len(self.bins) + 1))

    def _between(self, cells: Floats, count: int, q: float) -> tuple[float, float]:
        squares = Squares(count, count, self.cells)
        return ratio_between(float(cells[:count].sum()), float(cells.sum()), squares, q, (0.0, 1.0))
