"""Means over time: a centred sum and a count side by side, in one stream."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

from jali.database.streams.lattice import clamped, lattice_step, number_of
from jali.database.streams.measure import Increments, Intervals, Measured, TickNoise, place_of, places
from jali.errors import CatalogError
from jali.mechanisms.sensitivity import Root
from jali.mechanisms.workloads.workload import Floats
from jali.query.catalog import Range
from jali.streams.item import Item
from jali.streams.ratios import Squares, ratio_between, reach

# A sum and a count have noise of their own.
_APART = Squares(1, 0, 1)


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
    def declared(cls, said: Measured) -> Self:
        """Make it, on a lattice of a power of two that is fine for half of the range."""
        if said.range is None or said.bins is not None or said.range.low == said.range.high:
            raise CatalogError("stream-mean-range")
        low, high = _ends(said.range)
        return cls(said.keys, said.range, lattice_step(Range(0, (high - low) / 2)))

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
        low, high = _ends(self.range)
        return (low + high) / 2

    @cached_property
    def largest(self) -> int:
        """How many steps a value is from the middle, at most: ends that are no lattice points lie outside."""
        return -(-(_ends(self.range)[1] - self.middle) // self.step)

    @cached_property
    def _places(self) -> dict[Any, int] | None:
        return places(self.keys)

    def increments(self, item: Item) -> Increments | None:
        """The steps of the value from the middle, and the count."""
        place, value = place_of(item, self._places), number_of(item.value)
        if place is None or value is None:
            return None
        steps = clamped(value - self.middle, self.step, (-self.largest, self.largest))
        return {2 * place: steps, 2 * place + 1: self.largest}

    def values(self, columns: Floats) -> dict[Any, float]:
        """The noisy sum over the noisy count, of which there is at least one; within the range."""
        pairs = columns.reshape(-1, 2).tolist()
        return {
            label: self._shown(total / max(count, self.largest))
            for label, (total, count) in zip(self.labels, pairs, strict=True)
        }

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """All means that the noisy sum and count do not reject, and the one shown; all where items may be few."""
        q = reach(noise.counter, noise.tick, 2, confidence)
        shown, pairs = self.values(columns), columns.reshape(-1, 2).tolist()
        return {
            label: self._between(total, count, q, shown[label])
            for label, (total, count) in zip(self.labels, pairs, strict=True)
        }

    def _between(self, total: float, count: float, q: float, shown: float) -> tuple[float, float]:
        low, high = map(self._shown, ratio_between(total, count, _APART, q, (-1.0, 1.0)))
        return min(low, shown), max(high, shown)

    def _shown(self, ratio: float) -> float:
        """Return the mean of a ratio: a count of one is as much as the largest distance from the middle."""
        low, high = map(float, _ends(self.range))
        return min(max(float(self.middle) + ratio * float(self.largest * self.step), low), high)


def _ends(values: Range) -> tuple[Fraction, Fraction]:
    bounds = values.bounds
    assert bounds.low is not None
    assert bounds.high is not None
    return bounds.low, bounds.high
