"""Columns full of extremes: of every type that a source can store, the values at the ends and beyond them.

A `Column` is one stored type. Its ordinary values are those of everybody; its hostile ones are Bob's. The values
are in the words of the writer of the source: Python values, numbers that stand for days and ticks, or constants of
SQL.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jali.catalog.columns import Kind

INT64 = 1 << 63
# DuckDB's calendar begins four hours and some after the least number of 64 bits, which is numpy's NaT.
FIRST_TICK = -9_223_372_022_400_000_000
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
_DAY = 86_400_000_000
LONG = "ab" * 40_000


@dataclass(frozen=True)
class Column:
    """One stored type.

    Attributes:
        name: Of the column.
        kind: What questions see; None where the column cannot be named.
        type: The type, in the words of the writer.
        ordinary: Values in the middle of the domain.
        hostile: Values at its ends, beyond them, and of other types where the source lets them in.
    """

    name: str
    kind: Kind | None
    type: Any
    ordinary: tuple[Any, ...]
    hostile: tuple[Any, ...]


TEXTS = (
    "",
    LONG,
    "a\0b",
    "\uffff\U0010ffff",
    "🙂é\u0301İßﬁ",
    "\x1b[2J\n\r\t\x1f",
    "'; DROP TABLE t; --",
    "%_\\[(",
    "nan",
    "-1e999",
    "99999999999999999999",
    "0001-01-01",
    "294247-01-10 04:00:54.775807",
    "infinity",
    "true",
    None,
)
DOUBLES = (
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    -5e-324,
    -0.0,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    2.0**63,
    1e-310,
    None,
)
TICKS = (-INT64, -INT64 + 1, FIRST_TICK - 1, FIRST_TICK, INT64 - 1, INT64 - 2, -1, 0, None)


def _wholes(least: int, most: int) -> tuple[int | None, ...]:
    return (least, most, 0, least // 2, most // 2 + 1, None)


def _ticks(unit: int) -> tuple[int | None, ...]:
    """Return extremes in a unit of so many ticks a second: the ends of 64 bits, and those of the calendar."""
    edges = (FIRST_DAY * 86_400 * unit, (LAST_DAY + 1) * 86_400 * unit)
    near = [place for edge in edges for place in (edge - 1, edge) if -INT64 <= place < INT64]
    return (*TICKS, *near)


def _arrow() -> Iterable[Column]:
    for width in (8, 16, 32, 64):
        signed, unsigned = getattr(pa, f"int{width}")(), getattr(pa, f"uint{width}")()
        half = 1 << (width - 1)
        yield Column(f"int{width}", Kind.INTEGER, signed, (1, 7), _wholes(-half, half - 1))
        yield Column(f"uint{width}", Kind.INTEGER, unsigned, (1, 7), _wholes(0, 2 * half - 1))
    yield Column("double", Kind.REAL, pa.float64(), (0.5, 7.25), DOUBLES)
    yield Column("single", Kind.REAL, pa.float32(), (0.5, 7.25), (*DOUBLES[:3], 1e-45, -0.0, 3.4028235e38, None))
    yield Column("half", Kind.REAL, pa.float16(), (0.5, 7.25), (*DOUBLES[:3], 6e-8, -0.0, 65504.0, None))
    digits = decimal.Decimal("9" * 28 + "." + "9" * 10)
    with decimal.localcontext(prec=80):
        wide = decimal.Decimal("9" * 71 + "." + "9" * 5)
        yield Column("decimal", Kind.REAL, pa.decimal128(38, 10), _decimals(10), (digits, -digits, None))
        yield Column("wide_decimal", Kind.REAL, pa.decimal256(76, 5), _decimals(5), (wide, -wide, None))
    for name, kind in (("text", pa.string()), ("large_text", pa.large_string())):
        yield Column(name, Kind.TEXT, kind, ("A", "b c"), TEXTS)
    yield Column("coded", Kind.TEXT, pa.dictionary(pa.int32(), pa.string()), ("A", "b c"), TEXTS)
    yield Column("truth", Kind.BOOLEAN, pa.bool_(), (True, False), (True, False, None))
    days = (-(1 << 31), (1 << 31) - 1, FIRST_DAY, FIRST_DAY - 1, LAST_DAY, LAST_DAY + 1, 0, None)
    yield Column("day", Kind.DATE, pa.date32(), (20_000, 20_001), days)
    far = tuple(None if d is None else max(min(d, 10**11), -(10**11)) * 86_400_000 for d in days)
    yield Column("long_day", Kind.DATE, pa.date64(), (86_400_000, 0), far)
    for name, unit, ticks in (("s", "s", 1), ("ms", "ms", 10**3), ("us", "us", 10**6), ("ns", "ns", 10**9)):
        yield Column(f"at_{name}", Kind.TIMESTAMP, pa.timestamp(unit), (ticks, 90_000 * ticks), _ticks(ticks))


def _decimals(scale: int) -> tuple[decimal.Decimal, ...]:
    return decimal.Decimal(5).scaleb(-1).quantize(decimal.Decimal(1).scaleb(-scale)), decimal.Decimal(7)


def _unreadable() -> Iterable[Column]:
    for unit in ("us", "ns"):
        yield Column(f"zoned_{unit}", None, pa.timestamp(unit, "Europe/Berlin"), (0, 1), TICKS)
    yield Column("list", None, pa.list_(pa.string()), (["a"], []), ([LONG], ["a\0b", None], None))
    yield Column("times", None, pa.list_(pa.timestamp("us")), ([], None), ([], None))
    yield Column("struct", None, pa.struct([("a", pa.int64())]), ({"a": 1}, None), ({"a": INT64 - 1}, {"a": None}))
    yield Column("bytes", None, pa.binary(), (b"a", b""), (b"\xff\xfe", b"\0", b"x" * 80_000, None))
    yield Column("hour", None, pa.time64("us"), (1, 2), (0, _DAY - 1, None))


ARROW = (*_arrow(), *_unreadable())
# In memory alone.
FRAMED = (
    *ARROW,
    Column("viewed", Kind.TEXT, pa.string_view(), ("A", "b c"), TEXTS),
    Column("lasting", None, pa.duration("us"), (1, 2), (-INT64, INT64 - 1, 0, None)),
    Column("nothing", None, pa.null(), (None,), (None,)),
)


def arrow_array(column: Column, values: list[Any]) -> pa.Array:
    """Make an Arrow array; days and ticks are given by their numbers."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).cast(kind)
    if pa.types.is_temporal(kind):
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).view(kind)
    if pa.types.is_float16(kind):
        import numpy as np

        return pa.array([None if value is None else np.float16(value) for value in values], kind)
    return pa.array(values, kind)


def arrow_table(columns: Iterable[Column], rows: list[dict[str, Any]]) -> pa.Table:
    """Make an Arrow table of rows, with the people before the columns."""
    people = {"uid": pa.array([row["uid"] for row in rows], pa.int64()), "name": [row["name"] for row in rows]}
    return pa.table(people | {c.name: arrow_array(c, [row[c.name] for row in rows]) for c in columns})
