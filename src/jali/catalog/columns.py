"""Columns as the curator declares them: kinds, ranges and keys, and the path to a unit in another table.

A range has two ends, which are numbers, dates or times. `read_end` reads one as people write it.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.catalog.value_domain import FIRST_DAY, FIRST_TIME, LAST_DAY, LAST_TIME, Value
from jali.errors import CatalogError, settle
from jali.numbers.exact import decimal
from jali.privacy.rationals import Number, positive, rational

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


End = Fraction | datetime.date | datetime.datetime

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - columns without time zone are read as they are

_MICROSECOND = datetime.timedelta(microseconds=1)

# How a text begins that is a date or a time, and no number.
_DAY = re.compile(r"\d{4}-\d{2}-")


def since_1970(value: End) -> Fraction:
    """Return a number as it is, a date in days and a time in microseconds since 1970."""
    if isinstance(value, datetime.datetime):
        return Fraction((value - _EPOCH) // _MICROSECOND)
    if isinstance(value, datetime.date):
        return Fraction((value - _EPOCH.date()).days)
    return value


# The first and the last day and time that a question can see (`catalog.value_domain`).
CALENDAR: Mapping[Kind | None, tuple[datetime.date, datetime.date]] = MappingProxyType(
    {Kind.DATE: (FIRST_DAY, LAST_DAY), Kind.TIMESTAMP: (FIRST_TIME, LAST_TIME)}
)


def _end(value: Number | datetime.date, name: str) -> End:
    if isinstance(value, datetime.date):
        plain = _plain_key(value)
        assert isinstance(plain, datetime.date)
        return plain
    if isinstance(value, str) and _DAY.match(value):
        return _day_or_time(value)
    return rational(value, name)


def _day_or_time(text: str) -> datetime.date:
    """Read a date or a time as `repr` writes it: 2025-01-31, or 2025-01-31 12:30:00."""
    try:
        found = datetime.date.fromisoformat(text) if len(text) == 10 else datetime.datetime.fromisoformat(text)
    except ValueError:
        raise CatalogError("date-malformed", given=text) from None
    plain = _plain_key(found)
    assert isinstance(plain, datetime.date)
    return plain


@dataclass(frozen=True)
class Range:
    """The public range of a column: what a question sums or averages of it is clamped accordingly.

    Where the curator does not know it, `Range(auto=True)` buys one from the table's budget when the table is
    protected: once, for `epsilon`, or a twentieth of the budget's. What was bought is stored with its ends.

    Example:
        >>> Range(0, 120)
        Range(0, 120)
        >>> Range(auto=True, epsilon=0.1)
        Range(auto=True, epsilon=0.1)
        >>> Range("2025-01-01", "2025-12-31").low
        datetime.date(2025, 1, 1)
    """

    low: End | None
    high: End | None
    auto: bool = False
    epsilon: Fraction | None = None

    def __init__(
        self,
        low: Number | datetime.date | None = None,
        high: Number | datetime.date | None = None,
        *,
        auto: bool = False,
        epsilon: Number | None = None,
    ) -> None:
        if (low is None) != (high is None) or (low is None and not auto):
            raise CatalogError("range-ends")
        if epsilon is not None and not auto:
            raise CatalogError("range-with-epsilon")
        object.__setattr__(self, "low", None if low is None else _end(low, "low"))
        object.__setattr__(self, "high", None if high is None else _end(high, "high"))
        object.__setattr__(self, "auto", bool(auto))
        object.__setattr__(self, "epsilon", None if epsilon is None else positive(epsilon, "epsilon"))
        if type(self.low) is not type(self.high):
            raise CatalogError("range-ends-mixed")
        if low is not None and self.bounds.low > self.bounds.high:  # type: ignore[operator]
            raise CatalogError("range-empty", low=settle(low), high=settle(high))

    def __repr__(self) -> str:
        ends = () if self.low is None or self.high is None else (self.low, self.high)
        parts = [decimal(end) if isinstance(end, Fraction) else repr(str(end)) for end in ends]
        parts += ["auto=True"] if self.auto else []
        parts += [] if self.epsilon is None else [f"epsilon={decimal(self.epsilon)}"]
        return f"Range({', '.join(parts)})"

    @property
    def wanted(self) -> bool:
        """Whether it is still to be bought."""
        return self.low is None

    @property
    def bounds(self) -> NumberInterval:
        """The range as an interval: of days or microseconds since 1970 where its ends are dates or times."""
        if self.low is None or self.high is None:
            return NumberInterval()
        return NumberInterval(since_1970(self.low), since_1970(self.high))


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
            raise CatalogError("keys-not-a-list", given=settle(values))
        object.__setattr__(self, "values", tuple(_plain_key(value) for value in values))
        if not self.values or len(self.values) > MAX_KEYS:
            raise CatalogError("keys-count", most=MAX_KEYS, count=len(self.values))
        if len(set(self.values)) != len(self.values):
            raise CatalogError("keys-not-distinct")

    def __repr__(self) -> str:
        shown = ", ".join(repr(value) for value in self.values[:3])
        return f"Keys([{shown}{', ...' if len(self.values) > 3 else ''}])"

    @property
    def kind(self) -> Kind:
        """The kind that all keys share."""
        kinds = {_kind_of(value) for value in self.values if value is not None}
        if len(kinds) != 1:
            raise CatalogError("keys-mixed")
        return kinds.pop()


Declared = Range | Keys | Kind


@dataclass(frozen=True)
class Field:
    """A column: its type, in the engine's words, is frozen when its table is declared.

    `computed` columns are those of subqueries that are made by an expression: their numbers are doubles, and
    `bounds` is the interval of their values.
    """

    name: str
    kind: Kind
    type: str
    range: Range | None = None
    keys: Keys | None = None
    computed: bool = False
    bounds: NumberInterval = ANYTHING

    @property
    def readable(self) -> bool:
        """Whether questions can name it: its values are in the closed domain (`catalog.value_domain`), or NULL."""
        return self.kind is not Kind.OTHER


@dataclass(frozen=True)
class Via:
    """A unit that is reached through another protected table, by a key that is unique there.

    That it is unique is checked by `protect`, and by `refresh` of the table that is reached; questions never look,
    as their refusal would tell something about the rows. Refresh before anybody asks.

    Example:
        >>> Via("orders", on="l_orderkey = o_orderkey", unit="o_custkey")
        Via('orders', on='l_orderkey = o_orderkey', unit='o_custkey')

    Args:
        table: The table that knows the owner, or knows a table that does.
        on: The equality of a column here with a unique column there.
        unit: The column there that names the person; left out if that table is declared with its unit.
    """

    table: str
    on: str
    unit: str

    def __init__(self, table: str, *, on: str, unit: str) -> None:
        for name, value in (("table", table), ("on", on), ("unit", unit)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Via({self.table!r}, on={self.on!r}, unit={self.unit!r})"


def _plain_key(value: Any) -> Value:
    """Return a key as one of the plain types that a catalog can store; enums and timestamps lose their class."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _encodable(str.__str__(value))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            raise CatalogError("key-with-time-zone")
        return datetime.datetime.fromisoformat(value.isoformat())
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    try:
        return _within_64_bits(operator.index(value))
    except TypeError:
        raise CatalogError("key-unreadable", kind=type(value).__name__) from None


def _encodable(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    raise CatalogError("key-not-unicode")


def _within_64_bits(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise CatalogError("key-not-int64", given=value)
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
    raise CatalogError("key-kind", kind=type(value).__name__)


_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_TIME = re.compile(_DATE.pattern + r"[T ][0-9:.]+")


def read_end(text: str) -> str | datetime.date:
    """Read a date or a time; a number is left as it is written.

    Example:
        >>> read_end("2025-01-31"), read_end("0.5")
        (datetime.date(2025, 1, 31), '0.5')
    """
    for pattern, read in ((_DATE, datetime.date.fromisoformat), (_TIME, datetime.datetime.fromisoformat)):
        if pattern.fullmatch(text):
            try:
                return read(text)
            except ValueError:
                raise CatalogError("date-written-malformed", given=text) from None
    return text
