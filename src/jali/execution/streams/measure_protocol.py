"""How a stream measures: an item becomes integers on a public lattice, noisy columns become numbers to show.

Values are exact numbers, clamped, in whole steps of the lattice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from jali.catalog.columns import Keys, Range
from jali.errors import CatalogError, settle
from jali.mechanisms.global_sensitivity import Root
from jali.mechanisms.intervals.linear_forms import IndependentLaw
from jali.mechanisms.workloads.workload import Floats
from jali.streams.counter import Counter
from jali.streams.stream_item import Item

# The largest value of a sum is about so many steps of its lattice.
_STEPS = 20


def compute_lattice_step(values: Range) -> Fraction:
    """Return the step of a lattice on which the largest value of a range is at most 2^20 steps, and over 2^19."""
    bounds = values.bounds
    assert bounds.low is not None
    assert bounds.high is not None
    largest = max(abs(bounds.low), abs(bounds.high))
    if largest == 0:
        raise CatalogError("stream-range-zero")
    exponent = largest.numerator.bit_length() - largest.denominator.bit_length() - 1
    while Fraction(2) ** exponent < largest:
        exponent += 1
    return Fraction(2) ** (exponent - _STEPS)


def read_number(value: Any) -> Fraction | None:
    """Return the number that an item's value is, exactly; None for what is no finite number.

    A Decimal is read as a double: the exact number of '1e-999999999' would not fit into memory.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def clamp_to_lattice(value: Fraction, step: Fraction, ends: tuple[int, int]) -> int:
    """Return a number in steps of a lattice, within ends; rounding keeps the order, so it stays within them."""
    low, high = ends
    return min(max(round(value / step), low), high)


# What is added to which column.
Increments: TypeAlias = dict[int, int]
Intervals: TypeAlias = dict[Any, tuple[float, float]]


@dataclass(frozen=True)
class MeasureTerms:
    """What a curator says about what a stream measures.

    Attributes:
        keys: The declared keys; None if everything counts together.
        range: The public range of the items' values.
        bins: The ends of cells.
    """

    keys: tuple[Any, ...] | None = None
    range: Range | None = None
    bins: tuple[Fraction, ...] | None = None

    @classmethod
    def read(
        cls, keys: Sequence[Any] | Keys | None, value: Range | None, bins: Sequence[Any] | None
    ) -> MeasureTerms:
        """Check what was said about keys, values and bins."""
        if value is not None and (not isinstance(value, Range) or value.wanted or not _is_numeric(value)):
            raise CatalogError("value-range", given=settle(value))
        ends = (
            None if bins is None else tuple(_read_end(end) for end in _as_list(bins, "bins", "bins=[10, 20, 50]"))
        )
        return cls(None if keys is None else _read_keys(keys), value, ends)


@dataclass(frozen=True)
class TickNoise:
    """The noise of the columns after one tick: of each the same law, independent of each other."""

    counter: Counter
    tick: int

    @property
    def law(self) -> IndependentLaw:
        """The law of each of the noises that a column's noise is a combination of."""
        return self.counter.law

    @property
    def influence(self) -> Floats:
        """The coefficients of that combination; zeros may be left out."""
        return self.counter.influence(self.tick)

    @property
    def stddev(self) -> float:
        """The standard deviation of a column's noise."""
        return self.counter.stddev(self.tick)

    def error(self, confidence: float) -> float:
        """Return what the noise of one column stays within."""
        return float(self.counter.error(confidence, tick=self.tick))


class StreamMeasure(Protocol):
    """How a stream measures: a frozen dataclass, stored with the stream's declaration."""

    @property
    def name(self) -> str:
        """What `measure=` calls it."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """The keys of `values`; (None,) where there is one number."""

    @property
    def width(self) -> int:
        """How many columns are counted side by side."""

    @property
    def l1(self) -> Fraction:
        """How far one item moves the columns, summed over them: not twice that if it is replaced."""

    @property
    def l2(self) -> Root:
        """The same in L2 norm."""

    @property
    def signed(self) -> bool:
        """Whether what two items add may have a negative inner product."""

    @classmethod
    def declare(cls, said: MeasureTerms) -> Self:
        """Make it from what the curator says, or refuse that."""

    def increments(self, item: Item) -> Increments | None:
        """Return what an item adds, in integers; None if it counts nowhere. It depends on the item alone."""

    def values(self, columns: Floats) -> dict[Any, float]:
        """Return the numbers to show, from the noisy columns: post-processing."""

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """Return an interval for each of them."""


def find_place(item: Item, keys: Mapping[Any, int] | None) -> int | None:
    """Return the place of an item's key among the declared ones; None if it is none of them."""
    if keys is None:
        return 0
    try:
        return keys.get((type(item.key), item.key))
    except TypeError:  # what cannot be hashed is no key
        return None


def number_keys(keys: tuple[Any, ...] | None) -> dict[Any, int] | None:
    """Number the declared keys. True is not 1: the type is part of a key."""
    return None if keys is None else {(type(key), key): place for place, key in enumerate(keys)}


def list_item_fields(measure: StreamMeasure, unit: str | None) -> tuple[str, ...]:
    """Return which fields every item of a stream needs, so that it can count: public, as the declaration is."""
    keys: tuple[Any, ...] | None = getattr(measure, "keys", None)
    needed = {
        "item": True,
        "owner": unit is not None,
        "key": keys is not None and None not in keys,
        "value": measure.name != "count",
    }
    return tuple(name for name, wanted in needed.items() if wanted)


def _read_keys(keys: Any) -> tuple[Any, ...]:
    if isinstance(keys, Keys):
        return keys.values
    return Keys(_as_list(keys, "keys", "keys=['A', 'B']")).values


def _as_list(values: Any, name: str, example: str) -> list[Any]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise CatalogError("list-expected", name=name, given=settle(values), example=example)
    return list(values)


def _read_end(end: Any) -> Fraction:
    try:
        return Fraction(str(end))
    except (ValueError, ZeroDivisionError):
        raise CatalogError("bins-numbers", given=end) from None


def _is_numeric(value: Range) -> bool:
    return isinstance(value.low, Fraction)
