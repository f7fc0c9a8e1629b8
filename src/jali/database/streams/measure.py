"""What a durable stream measures: how an item becomes integers, and how noisy columns become numbers to show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self, TypeAlias

from jali.errors import CatalogError, settle
from jali.mechanisms.combined import AnyLaw
from jali.mechanisms.sensitivity import Root
from jali.mechanisms.workloads.workload import Floats
from jali.query.catalog import Keys, Range
from jali.streams.counter import Counter
from jali.streams.item import Item

# What is added to which column.
Increments: TypeAlias = dict[int, int]
Intervals: TypeAlias = dict[Any, tuple[float, float]]


@dataclass(frozen=True)
class Measured:
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
    def read(cls, keys: Sequence[Any] | Keys | None, value: Range | None, bins: Sequence[Any] | None) -> Measured:
        """Check what was said about keys, values and bins."""
        if value is not None and (not isinstance(value, Range) or value.wanted or not _of_numbers(value)):
            raise CatalogError("value-range", given=settle(value))
        ends = None if bins is None else tuple(_end(end) for end in _listed(bins, "bins", "bins=[10, 20, 50]"))
        return cls(None if keys is None else _keys(keys), value, ends)


@dataclass(frozen=True)
class TickNoise:
    """The noise of the columns after one tick: of each the same law, independent of each other."""

    counter: Counter
    tick: int

    @property
    def law(self) -> AnyLaw:
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


class Measure(Protocol):
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
    def declared(cls, said: Measured) -> Self:
        """Make it from what the curator says, or refuse that."""

    def increments(self, item: Item) -> Increments | None:
        """Return what an item adds, in integers; None if it counts nowhere. It depends on the item alone."""

    def values(self, columns: Floats) -> dict[Any, float]:
        """Return the numbers to show, from the noisy columns: post-processing."""

    def intervals(self, columns: Floats, noise: TickNoise, confidence: float) -> Intervals:
        """Return an interval for each of them."""


def place_of(item: Item, keys: Mapping[Any, int] | None) -> int | None:
    """Return the place of an item's key among the declared ones; None if it is none of them."""
    if keys is None:
        return 0
    try:
        return keys.get((type(item.key), item.key))
    except TypeError:  # what cannot be hashed is no key
        return None


def places(keys: tuple[Any, ...] | None) -> dict[Any, int] | None:
    """Number the declared keys. True is not 1: the type is part of a key."""
    return None if keys is None else {(type(key), key): place for place, key in enumerate(keys)}


def fields_of(measure: Measure, unit: str | None) -> tuple[str, ...]:
    """Return which fields every item of a stream needs, so that it can count: public, as the declaration is."""
    keys: tuple[Any, ...] | None = getattr(measure, "keys", None)
    needed = {
        "item": True,
        "owner": unit is not None,
        "key": keys is not None and None not in keys,
        "value": measure.name != "count",
    }
    return tuple(name for name, wanted in needed.items() if wanted)


def _keys(keys: Any) -> tuple[Any, ...]:
    if isinstance(keys, Keys):
        return keys.values
    return Keys(_listed(keys, "keys", "keys=['A', 'B']")).values


def _listed(values: Any, name: str, example: str) -> list[Any]:
    if not isinstance(values, Iterable) or isinstance(values, str | bytes):
        raise CatalogError("list-expected", name=name, given=settle(values), example=example)
    return list(values)


def _end(end: Any) -> Fraction:
    try:
        return Fraction(str(end))
    except (ValueError, ZeroDivisionError):
        raise CatalogError("bins-numbers", given=end) from None


def _of_numbers(value: Range) -> bool:
    return isinstance(value.low, Fraction)
