"""The measures of durable streams: counts and sums; and the list of all that there are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from jali.database.streams.cdf import StreamCdf
from jali.database.streams.lattice import clamped, lattice_step, number_of
from jali.database.streams.mean import StreamMean
from jali.database.streams.measure import Increments, Intervals, Measure, Measured, TickNoise, place_of, places
from jali.errors import CatalogError
from jali.mechanisms.sensitivity import Root
from jali.mechanisms.workloads.workload import Floats
from jali.query.catalog import Range
from jali.streams.item import Item


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
    def declared(cls, said: Measured) -> Self:
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
        return places(self.keys)

    def increments(self, item: Item) -> Increments | None:
        """One, in the column of the item's key."""
        place = place_of(item, self._places)
        return None if place is None else {place: 1}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy counts as they are."""
        return dict(zip(self.labels, map(float, columns), strict=True))

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """The error of a tick to both sides."""
        return _around(self.values(columns), noise.error(confidence))


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
    def declared(cls, said: Measured) -> Self:
        """Make it, on a lattice of a power of two that is fine for the range."""
        if said.range is None or said.bins is not None:
            raise CatalogError("stream-sum-range")
        return cls(said.keys, said.range, lattice_step(said.range))

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
        return places(self.keys)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        bounds = self.range.bounds
        assert bounds.low is not None
        assert bounds.high is not None
        return round(bounds.low / self.step), round(bounds.high / self.step)

    def increments(self, item: Item) -> Increments | None:
        """The value in steps, in the column of the item's key."""
        place, value = place_of(item, self._places), number_of(item.value)
        if place is None or value is None:
            return None
        return {place: clamped(value, self.step, self._ends)}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy sums in the unit of the values."""
        return dict(zip(self.labels, (float(column) * float(self.step) for column in columns), strict=True))

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """The error of a tick to both sides."""
        return _around(self.values(columns), noise.error(confidence) * float(self.step))


# A measure is registered here: by its name in `measure=`.
MEASURES: dict[str, type[Measure]] = {
    "count": StreamCount,
    "sum": StreamSum,
    "mean": StreamMean,
    "cdf": StreamCdf,
}


def measure_named(name: str, said: Measured) -> Measure:
    """Make the measure of a name."""
    if name not in MEASURES:
        raise CatalogError("measure-unknown", measures=tuple(MEASURES), given=name)
    return MEASURES[name].declared(said)


def _around(values: dict[Any, float], error: float) -> Intervals:
    return {key: (value - error, value + error) for key, value in values.items()}
