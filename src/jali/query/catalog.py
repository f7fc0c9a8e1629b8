"""The catalog: what the curator declares about tables. Public knowledge, never read off the data."""

from __future__ import annotations

import datetime
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from jali.errors import CatalogError
from jali.numerals import decimal
from jali.privacy import Adjacency, Budget
from jali.privacy.rationals import Number, rational
from jali.query.bounds import Bounds
from jali.query.nodes import Value

MAX_KEYS = 1_000_000


class Kind(StrEnum):
    """What a column or an expression holds, as far as questions care."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"

    @property
    def numeric(self) -> bool:
        """Whether values of this kind are numbers."""
        return self in (Kind.INTEGER, Kind.REAL)


@dataclass(frozen=True)
class Range:
    """The public range of a column: what a question sums or averages of it is clamped accordingly.

    Example:
        >>> Range(0, 120)
        Range(0, 120)
    """

    low: Fraction
    high: Fraction

    def __init__(self, low: Number, high: Number) -> None:
        object.__setattr__(self, "low", rational(low, "low"))
        object.__setattr__(self, "high", rational(high, "high"))
        if self.low > self.high:
            raise CatalogError(f"A range needs low <= high, not {low} > {high}.")

    def __repr__(self) -> str:
        return f"Range({decimal(self.low)}, {decimal(self.high)})"

    @property
    def bounds(self) -> Bounds:
        """The range as an interval."""
        return Bounds(self.low, self.high)


@dataclass(frozen=True)
class Keys:
    """The public keys of a column: each appears in the answer, also with no rows; other values are dropped.

    Example:
        >>> Keys(["A", "B"]).values
        ('A', 'B')
    """

    values: tuple[Value, ...]

    def __init__(self, values: Sequence[Value]) -> None:
        if isinstance(values, str | bytes):
            raise CatalogError("Keys are a list.", remedy=f"Write Keys([{values!r}]).")
        object.__setattr__(self, "values", tuple(_plain_key(value) for value in values))
        if not self.values or len(self.values) > MAX_KEYS:
            raise CatalogError(f"Keys need between 1 and {MAX_KEYS:,} values, not {len(self.values):,}.")
        if len(set(self.values)) != len(self.values):
            raise CatalogError("Keys must differ from each other.")

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self.values[:3])
        return f"Keys([{shown}{', ...' if len(self.values) > 3 else ''}])"

    @property
    def kind(self) -> Kind:
        """The kind that all keys share."""
        kinds = {_kind_of(value) for value in self.values if value is not None}
        if len(kinds) != 1:
            raise CatalogError("Keys must be of one kind: all text, all integers, all booleans or all dates.")
        return kinds.pop()


Declared = Range | Keys | Kind


@dataclass(frozen=True)
class Field:
    """A column of a protected table: its type, in the engine's words, is frozen when the table is protected."""

    name: str
    kind: Kind
    type: str
    range: Range | None = None
    keys: Keys | None = None


@dataclass(frozen=True)
class Source:
    """Where the rows are."""

    format: str
    location: str
    relation: str = ""


@dataclass(frozen=True)
class Table:
    """A protected table, as the curator declared it."""

    name: str
    source: Source
    unit: str | None
    max_rows: int
    adjacency: Adjacency
    fields: tuple[Field, ...]
    budget: Budget
    rows: int | None = None

    def field(self, name: str) -> Field | None:
        """Find a column, ignoring case as SQL does."""
        lowered = name.lower()
        return next((field for field in self.fields if field.name.lower() == lowered), None)


def _plain_key(value: Any) -> Value:
    """Return a key as one of the plain types that a catalog can store; enums and timestamps lose their class."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable(str.__str__(value))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise CatalogError("A key cannot have a time zone.", remedy="Give times as the column stores them.")
        return datetime.datetime.fromisoformat(value.isoformat())
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    try:
        return _within_64_bits(operator.index(value))
    except TypeError:
        raise CatalogError(
            f"A key cannot be a {type(value).__name__}.", remedy="Use text, integers, booleans or dates."
        ) from None


def _encodable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    raise CatalogError("A key must be text that can be written in UTF-8.")


def _within_64_bits(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise CatalogError(f"A key must be a 64-bit integer, not {value}.")
    return value


def _kind_of(value: Value) -> Kind:
    # bool is an int and datetime is a date: the narrower type is asked first.
    for kind, types in (
        (Kind.BOOLEAN, bool),
        (Kind.INTEGER, int),
        (Kind.TEXT, str),
        (Kind.TIMESTAMP, datetime.datetime),
        (Kind.DATE, datetime.date),
    ):
        if isinstance(value, types):
            return kind
    raise CatalogError(f"A key cannot be a {type(value).__name__}.")
