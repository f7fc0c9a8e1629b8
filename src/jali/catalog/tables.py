"""Tables, columns, ranges and keys as the curator declares them, and the ends of ranges as people write them.

All of it is public knowledge, never read off the data.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from jali.catalog.number_intervals import ANYTHING, NumberInterval
from jali.catalog.value_domain import Value
from jali.errors import CatalogError, settle
from jali.numbers.exact import decimal
from jali.privacy import Adjacency, Budget
from jali.privacy.rationals import Number, positive, rational

MAX_KEYS = 1_000_000
# What the relation of a file is called whose rows are made up.
SYNTHETIC = "synthetic rows of a rehearsal"


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
Memory: TypeAlias = Literal["own", "common"]


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
class Source:
    """Where the rows are."""

    format: str
    location: str
    relation: str = ""

    @property
    def synthetic(self) -> bool:
        """Whether the rows are made up, for a rehearsal."""
        return self.format != "duckdb" and self.relation == SYNTHETIC


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


@dataclass(frozen=True)
class Reach:
    """A unit through another table, resolved: `here` equals the unique column `there` of `table`."""

    table: Table
    here: str
    there: str


@dataclass(frozen=True)
class Table:
    """A protected table, as the curator declared it.

    Attributes:
        unit: The column that names the person; None where each row is a person, or where `reach` tells the owner.
        reach: How the owner is found in another protected table.
        min_people: A group is shown only when at least so many people stand behind it.
        unique: Whether no two rows have the same unit, as a key of the source enforces.
        copy: The prepared copy that questions read instead of the source.
        memory: Whose answers are recalled when an equal question is asked: "own", or everybody's ("common"). It is
            no part of what a question means, and may be changed at any time.
    """

    name: str
    source: Source
    unit: str | None
    max_rows: int
    adjacency: Adjacency
    fields: tuple[Field, ...]
    budget: Budget
    rows: int | None = None
    reach: Reach | None = None
    min_people: int = 1
    unique: bool = False
    copy: Source | None = None
    memory: Memory = attribute(default="own", compare=False)

    def __repr__(self) -> str:
        who = "each row a person" if self.row_level else f"unit {self.owner}, max_rows {self.max_rows}"
        return f"Table({self.name}: {who}; {len(self.fields)} columns; budget {self.budget})"

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that questions can read: those whose type is one of the closed domain."""
        return tuple(field for field in self.fields if field.readable)

    def field(self, name: str) -> Field | None:
        """Find a column that questions can read, ignoring case as SQL does."""
        return _field(self.columns, name)

    @property
    def row_level(self) -> bool:
        """Whether each row is a person of its own."""
        return self.unit is None and self.reach is None

    @property
    def read_from(self) -> Source:
        """Where questions read the rows: in the prepared copy, where there is one."""
        return self.source if self.copy is None else self.copy

    @property
    def one_row_each(self) -> bool:
        """Whether each row is a person of its own, or the only row of one."""
        return self.row_level or self.unique

    @property
    def owner(self) -> str | None:
        """What names the people: a column here, or the one that is reached."""
        return self.unit if self.reach is None else self.reach.table.owner


@dataclass(frozen=True)
class Public:
    """A public table: its rows are nobody's secret, so its keys and ranges were read off it.

    Attributes:
        rows: How many rows it has; None in declarations of versions that did not count them.
        repeats: For each column, how many rows have the same value at most.
    """

    name: str
    source: Source
    fields: tuple[Field, ...]
    rows: int | None = None
    repeats: tuple[tuple[str, int], ...] = ()

    def __repr__(self) -> str:
        return f"Public({self.name}: {len(self.fields)} columns)"

    @property
    def read_from(self) -> Source:
        """Where questions read the rows."""
        return self.source

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that questions can read: those whose type is one of the closed domain."""
        return tuple(field for field in self.fields if field.readable)

    def field(self, name: str) -> Field | None:
        """Find a column that questions can read, ignoring case as SQL does."""
        return _field(self.columns, name)


@dataclass(frozen=True)
class Catalog:
    """All declared tables."""

    tables: tuple[Table | Public, ...]

    def find(self, name: str) -> Table | Public | None:
        """Find a table, ignoring case as SQL does."""
        lowered = name.lower()
        return next((table for table in self.tables if table.name.lower() == lowered), None)


def _field(fields: tuple[Field, ...], name: str) -> Field | None:
    lowered = name.lower()
    return next((field for field in fields if field.name.lower() == lowered), None)


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
