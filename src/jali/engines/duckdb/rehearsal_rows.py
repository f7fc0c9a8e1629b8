"""Generate rows of a declared shape for rehearsals: from declarations alone, never from data.

People are numbered, the same in every table, so that joins on units find each other; each has from one row to
twice as many as it counts for. Values lie anywhere in their range or among their keys, the first keys being the
most frequent; a few are NULL. The chances are DuckDB's own: this is data, not noise.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from jali.catalog.columns import Field, Kind, Range
from jali.catalog.tables import Table
from jali.catalog.value_domain import Value
from jali.engines.duckdb.dialect import DUCKDB
from jali.engines.sql.dialect import quote, text

_NULLS = 0.02
# Where nothing is declared.
_RANGES: Mapping[Kind, Range] = MappingProxyType(
    {
        Kind.INTEGER: Range(0, 99),
        Kind.REAL: Range(0, 100),
        Kind.DATE: Range(datetime.date(2024, 1, 1), datetime.date(2025, 12, 31)),
        Kind.TIMESTAMP: Range(datetime.datetime(2024, 1, 1), datetime.datetime(2025, 12, 31)),  # noqa: DTZ001
    }
)
_WORDS: Mapping[Kind, tuple[Value, ...]] = MappingProxyType(
    {Kind.TEXT: tuple(f"word {i}" for i in range(1, 21)), Kind.BOOLEAN: (True, False)}
)
# More keys than this are not drawn: the first ones stand for all.
_MOST_KEYS = 10_000
_LARGEST = 1e300
# How many people fit the smallest types.
_ROOM = {"TINYINT": 100, "UTINYINT": 200, "SMALLINT": 30_000, "USMALLINT": 60_000}


@dataclass(frozen=True)
class RehearsalShape:
    """What the rows of a table are to be like.

    Attributes:
        table: The declaration.
        rows: About how many rows there are.
        unique: The columns by which other tables reach it: they number the rows.
        reached: How many rows the table has through which this one reaches its unit.
        keys: What else is known of columns: the values of public columns of the same name.
    """

    table: Table
    rows: int
    unique: frozenset[str] = frozenset()
    reached: int = 0
    keys: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)


def write_rehearsal_rows(shape: RehearsalShape, path: Path) -> int:
    """Write a Parquet file of made-up rows and return how many there are."""
    import duckdb

    columns = ", ".join(f"{_cast_value(f, _column(shape, f))} AS {quote(f.name)}" for f in shape.table.fields)
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT {columns} FROM {_number_rows(shape)}) TO {text(str(path))} (FORMAT parquet)"
        )
        ((rows,),) = connection.execute(f"SELECT count(*) FROM read_parquet({text(str(path))})").fetchall()
    return int(rows)


def _number_rows(shape: RehearsalShape) -> str:
    """Write the rows as numbers: that of the person and that of the row, from 1 on."""
    if shape.table.unit is None:
        return f"(SELECT i + 1 AS row_number, i + 1 AS person FROM range({shape.rows}) AS numbers(i))"
    most = 1 if shape.table.unique else 2 * shape.table.max_rows
    people = max(1, round(2 * shape.rows / (most + 1)))
    each = f"unnest(range(1 + floor({most} * random())::BIGINT))"
    rows = f"SELECT i + 1 AS person, {each} FROM range({people}) AS numbers(i)"
    return f"(SELECT row_number() OVER () AS row_number, person FROM ({rows}))"


def _column(shape: RehearsalShape, column: Field) -> str:
    reach = shape.table.reach
    if column.name == shape.table.unit:
        return _write_name(column, "person")
    if column.name in shape.unique:
        return _write_name(column, "row_number")
    if reach is not None and column.name == reach.here:
        return _write_name(column, f"(1 + floor({shape.reached} * random())::BIGINT)")
    known = shape.keys.get(column.name.lower(), ())
    return f"CASE WHEN random() >= {_NULLS} THEN {_value(column, known)} END"


def _cast_value(column: Field, value: str) -> str:
    return f"TRY_CAST({value} AS {column.type})"


def _write_name(column: Field, number: str) -> str:
    """Write the name of a person, or of a row, as the kind of a column has it; another number is another name."""
    if column.keys is not None:
        return _pick_key(column.keys.values, f"{number} % {min(len(column.keys.values), _MOST_KEYS)}")
    if column.kind is Kind.INTEGER:
        return f"{number} % {_ROOM[column.type]}" if column.type in _ROOM else number
    return {
        Kind.TEXT: f"'p' || {number}",
        Kind.DATE: f"DATE '1970-01-01' + ({number})::INTEGER",
        Kind.TIMESTAMP: f"TIMESTAMP '1970-01-01' + to_seconds({number})",
        Kind.BOOLEAN: f"({number}) % 2 = 0",
    }.get(column.kind, number)


def _value(column: Field, known: tuple[Value, ...]) -> str:
    """Write a value at random."""
    keys = column.keys.values if column.keys is not None else known or _WORDS.get(column.kind, ())
    ends = column.range if column.range is not None and not column.range.wanted else _RANGES.get(column.kind)
    if keys and (column.keys is not None or column.range is None):
        return _pick_key(keys, f"floor({min(len(keys), _MOST_KEYS)} * random() * random())")
    return "NULL" if ends is None else _between(column.kind, ends)


def _pick_key(keys: tuple[Value, ...], place: str) -> str:
    shown = ", ".join(DUCKDB.constant(key) for key in keys[:_MOST_KEYS])
    return f"([{shown}])[1 + ({place})::BIGINT]"


def _between(kind: Kind, ends: Range) -> str:
    low, high = ends.bounds.low, ends.bounds.high
    assert low is not None
    assert high is not None
    if kind is Kind.REAL:
        return f"{_double(low)} + random() * {_double(high - low)}"
    number = f"floor({_double(low)} + random() * {_double(high - low + 1)})"
    if kind is Kind.DATE:
        return f"DATE '1970-01-01' + ({number})::INTEGER"
    if kind is Kind.TIMESTAMP:
        return f"TIMESTAMP '1970-01-01' + to_microseconds(({number})::BIGINT)"
    return f"least({number}, {_double(high)})"


def _double(value: Fraction) -> str:
    return f"{min(max(float(value), -_LARGEST), _LARGEST)!r}::DOUBLE"
