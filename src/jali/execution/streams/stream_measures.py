"""The measures of durable streams: counts, sums, means and CDFs, and the list of all of them.

A mean is a centred sum and a count side by side in one stream. A CDF has a column for each cell, and shows the
shares below the ends of the cells.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np

from jali.catalog.columns import Range
from jali.errors import CatalogError
from jali.execution.streams.measure_protocol import (
    Increments,
    Intervals,
    MeasureTerms,
    StreamMeasure,
    TickNoise,
    clamp_to_lattice,
    compute_lattice_step,
    find_place,
    number_keys,
    read_number,
)
from jali.mechanisms.global_sensitivity import Root
from jali.mechanisms.workloads.consistency import rising
from jali.mechanisms.workloads.workload import Floats
from jali.streams.stream_item import Item
from jali.streams.stream_ratios import RatioLengths, error_bound, ratio_between

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
    def declare(cls, said: MeasureTerms) -> Self:
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
        return number_keys(self.keys)

    @cached_property
    def _ends(self) -> list[Fraction]:
        """The ends, also as doubles: the double nearest to 0.1 is above it, and belongs in its cell."""
        return [max(end, Fraction(float(end))) for end in self.bins]

    def increments(self, item: Item) -> Increments | None:
        """One, in the cell of the value under the item's key."""
        place, value = find_place(item, self._places), read_number(item.value)
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
        q = error_bound(noise.counter, noise.tick, self.cells, confidence)
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
        squares = RatioLengths(count, count, self.cells)
        return ratio_between(float(cells[:count].sum()), float(cells.sum()), squares, q, (0.0, 1.0))


# A sum and a count have noise of their own.
_APART = RatioLengths(1, 0, 1)


@dataclass(frozen=True)
class StreamMean:
    """The mean of the items' values so far, under each key: of values clamped to the range, on a lattice.

    Two columns for each key: the sum of the values less the middle of the range, in steps of the lattice; and the
    count, times the largest number of steps that a value can be from the middle. So both move as far.

    Guarantee:
        An item moves the sum by at most `largest` steps and the count by `largest`: L1 distance twice that, L2
        distance the root of two times that. The inner product of what any two items add is at least 0.
    Proof:
        docs/proofs/following.md, Theorem 2.
    """

    keys: tuple[Any, ...] | None
    range: Range
    step: Fraction

    name = "mean"
    # Two items of one key have the inner product v w + largest^2 >= 0, which is all that a sign is asked for.
    signed = False

    @classmethod
    def declare(cls, said: MeasureTerms) -> Self:
        """Make it, on a lattice of a power of two that is fine for half of the range."""
        if said.range is None or said.bins is not None or said.range.low == said.range.high:
            raise CatalogError("stream-mean-range")
        low, high = _get_range_ends(said.range)
        return cls(said.keys, said.range, compute_lattice_step(Range(0, (high - low) / 2)))

    @property
    def labels(self) -> tuple[Any, ...]:
        """The declared keys."""
        return self.keys or (None,)

    @property
    def width(self) -> int:
        """Two columns for each key."""
        return 2 * len(self.labels)

    @property
    def l1(self) -> Fraction:
        """As far as the sum and the count move."""
        return Fraction(2 * self.largest)

    @property
    def l2(self) -> Root:
        """The length of the two."""
        return Root(2 * self.largest**2)

    @cached_property
    def middle(self) -> Fraction:
        """The middle of the range, which values are counted from."""
        low, high = _get_range_ends(self.range)
        return (low + high) / 2

    @cached_property
    def largest(self) -> int:
        """How many steps a value is from the middle, at most: ends that are no lattice points lie outside."""
        return -(-(_get_range_ends(self.range)[1] - self.middle) // self.step)

    @cached_property
    def _places(self) -> dict[Any, int] | None:
        return number_keys(self.keys)

    def increments(self, item: Item) -> Increments | None:
        """The steps of the value from the middle, and the count."""
        place, value = find_place(item, self._places), read_number(item.value)
        if place is None or value is None:
            return None
        steps = clamp_to_lattice(value - self.middle, self.step, (-self.largest, self.largest))
        return {2 * place: steps, 2 * place + 1: self.largest}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy sum over the noisy count, of which there is at least one; within the range."""
        pairs = columns.reshape(-1, 2).tolist()
        return {
            label: self._scale_ratio(total / max(count, self.largest))
            for label, (total, count) in zip(self.labels, pairs, strict=True)
        }

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """All means that the noisy sum and count do not reject, and the one shown; all where items may be few."""
        q = error_bound(noise.counter, noise.tick, 2, confidence)
        shown, pairs = self.values(columns), columns.reshape(-1, 2).tolist()
        return {
            label: self._between(total, count, q, shown[label])
            for label, (total, count) in zip(self.labels, pairs, strict=True)
        }

    def _between(self, total: float, count: float, q: float, shown: float) -> tuple[float, float]:
        low, high = map(self._scale_ratio, ratio_between(total, count, _APART, q, (-1.0, 1.0)))
        return min(low, shown), max(high, shown)

    def _scale_ratio(self, ratio: float) -> float:
        """Return the mean of a ratio: a count of one is as much as the largest distance from the middle."""
        low, high = map(float, _get_range_ends(self.range))
        return min(max(float(self.middle) + ratio * float(self.largest * self.step), low), high)


def _get_range_ends(values: Range) -> tuple[Fraction, Fraction]:
    bounds = values.bounds
    assert bounds.low is not None
    assert bounds.high is not None
    return bounds.low, bounds.high


@dataclass(frozen=True)
class StreamCount:
    """How many items there were so far, under each key.

    Guarantee:
        An item adds 1 to one column: distance 1 in both norms.
    """

    keys: tuple[Any, ...] | None

    name = "count"
    signed = False

    @classmethod
    def declare(cls, said: MeasureTerms) -> Self:
        """Make it; values and bins are for other measures."""
        if said.range is not None or said.bins is not None:
            raise CatalogError("stream-count-with-value")
        return cls(said.keys)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The declared keys."""
        return self.keys or (None,)

    @property
    def width(self) -> int:
        """A column for each key."""
        return len(self.labels)

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
        return number_keys(self.keys)

    def increments(self, item: Item) -> Increments | None:
        """One, in the column of the item's key."""
        place = find_place(item, self._places)
        return None if place is None else {place: 1}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy counts as they are."""
        return dict(zip(self.labels, map(float, columns), strict=True))

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """The error of a tick to both sides."""
        return _center_intervals(self.values(columns), noise.error(confidence))


@dataclass(frozen=True)
class StreamSum:
    """The sum of the items' values so far, under each key: each clamped to the range, on a lattice.

    Guarantee:
        An item adds to one column at most `largest` steps, up or down.
    """

    keys: tuple[Any, ...] | None
    range: Range
    step: Fraction

    name = "sum"

    @classmethod
    def declare(cls, said: MeasureTerms) -> Self:
        """Make it, on a lattice of a power of two that is fine for the range."""
        if said.range is None or said.bins is not None:
            raise CatalogError("stream-sum-range")
        return cls(said.keys, said.range, compute_lattice_step(said.range))

    @property
    def labels(self) -> tuple[Any, ...]:
        """The declared keys."""
        return self.keys or (None,)

    @property
    def width(self) -> int:
        """A column for each key."""
        return len(self.labels)

    @property
    def signed(self) -> bool:
        """Whether the range has negative numbers."""
        return self._ends[0] < 0

    @property
    def l1(self) -> Fraction:
        """The largest number of steps."""
        return Fraction(max(abs(end) for end in self._ends))

    @property
    def l2(self) -> Root:
        """The same: one column moves."""
        return Root(self.l1**2)

    @cached_property
    def _places(self) -> dict[Any, int] | None:
        return number_keys(self.keys)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        bounds = self.range.bounds
        assert bounds.low is not None
        assert bounds.high is not None
        return round(bounds.low / self.step), round(bounds.high / self.step)

    def increments(self, item: Item) -> Increments | None:
        """The value in steps, in the column of the item's key."""
        place, value = find_place(item, self._places), read_number(item.value)
        if place is None or value is None:
            return None
        return {place: clamp_to_lattice(value, self.step, self._ends)}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy sums in the unit of the values."""
        return dict(zip(self.labels, (float(column) * float(self.step) for column in columns), strict=True))

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """The error of a tick to both sides."""
        return _center_intervals(self.values(columns), noise.error(confidence) * float(self.step))


# A measure is registered here: by its name in `measure=`.
MEASURES: dict[str, type[StreamMeasure]] = {
    "count": StreamCount,
    "sum": StreamSum,
    "mean": StreamMean,
    "cdf": StreamCdf,
}


def build_measure(name: str, said: MeasureTerms) -> StreamMeasure:
    """Make the measure of a name."""
    if name not in MEASURES:
        raise CatalogError("measure-unknown", measures=tuple(MEASURES), given=name)
    return MEASURES[name].declare(said)


def _center_intervals(values: dict[Any, float], error: float) -> Intervals:
    return {key: (value - error, value + error) for key, value in values.items()}
