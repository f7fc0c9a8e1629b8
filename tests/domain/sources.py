"""Every source that can be protected, with a builder that stores extremes in it.

A new source is one entry here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from tests.domain.columns import ARROW, FIRST_TICK, FRAMED, INT64, Column, arrow_table
from tests.domain.in_duckdb import COLUMNS as DUCKDB
from tests.domain.in_duckdb import create_table
from tests.domain.in_pandas import COLUMNS as PANDAS
from tests.domain.in_pandas import pandas_frame
from tests.domain.written import COLUMNS as WRITTEN

from jali.catalog.columns import Kind

Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """What is protected: the source, and what `protect` must be told besides."""

    source: Any
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A format, its columns, and how rows are written: into a folder, under a name."""

    columns: tuple[Column, ...]
    write: Callable[[Path, str, list[Row]], Stored]

    @property
    def readable(self) -> tuple[Column, ...]:
        """The columns that can be named."""
        return tuple(column for column in self.columns if column.kind is not None)

    @property
    def unreadable(self) -> tuple[Column, ...]:
        """The columns that cannot."""
        return tuple(column for column in self.columns if column.kind is None)

    def everybody(self) -> list[Row]:
        """Return the rows of a few ordinary people."""
        return [
            {"uid": person, "name": "Ann"} | {c.name: c.ordinary[turn % len(c.ordinary)] for c in self.columns}
            for person in range(4)
            for turn in range(2)
        ]

    def bob(self) -> list[Row]:
        """Return the rows of one person who has every extreme."""
        most = max(len(column.hostile) for column in self.columns)
        return [
            {"uid": 9, "name": "Bob"} | {c.name: c.hostile[turn % len(c.hostile)] for c in self.columns}
            for turn in range(most)
        ]

    @property
    def values(self) -> int:
        """How many extremes there are in columns that can be named."""
        return sum(len(column.hostile) for column in self.readable)


def _parquet(columns: tuple[Column, ...], **options: Any) -> Source:
    def write(folder: Path, name: str, rows: list[Row]) -> Stored:
        pq.write_table(arrow_table(columns, rows), folder / f"{name}.parquet", **options)
        return Stored(folder / f"{name}.parquet")

    return Source(columns, write)


def _by_duckdb(folder: Path, name: str, rows: list[Row]) -> Stored:
    path = folder / f"{name}.parquet"
    with duckdb.connect() as connection:
        create_table(connection, name, rows, _IN_PARQUET)
        connection.execute(f"COPY {name} TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return Stored(path)


def _by_polars(folder: Path, name: str, rows: list[Row]) -> Stored:
    path = folder / f"{name}.parquet"
    _polars(_BY_POLARS, rows).write_parquet(path, use_pyarrow=False)
    return Stored(path)


def _polars(columns: tuple[Column, ...], rows: list[Row]) -> pl.DataFrame:
    frame = pl.from_arrow(arrow_table(columns, rows))
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col("large_text").cast(pl.Categorical))


def _csv(folder: Path, name: str, rows: list[Row]) -> Stored:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(["uid", "name", *(column.name for column in WRITTEN)])
    writer.writerows(row.values() for row in rows)
    hostile = any(row["name"] == "Bob" for row in rows)
    lines = sink.getvalue().encode() + (b"".join(_BROKEN_LINES) if hostile else b"")
    (folder / f"{name}.csv").write_bytes(lines)
    return Stored(folder / f"{name}.csv", _DECLARED)


# One person's lines, too: what is no row of this file.
_BROKEN_LINES = (
    b"9,\xff\xfe\n",
    b'9,"unbalanced\n',
    b"\n",
    b"9" + b",x" * 200 + b"\n",
    b"9,a\x1fb\n",
    b"9,\0\n",
    b"9," + b"y" * 3_000_000 + b"\n",
)
_DECLARED = {"columns": {"uid": "integer"} | {c.name: c.kind for c in WRITTEN if c.kind is not None}}


def _json(folder: Path, name: str, rows: list[Row]) -> Stored:
    lines = [json.dumps(_members(row)).encode() + b"\n" for row in rows]
    hostile = any(row["name"] == "Bob" for row in rows)
    broken = [b'{"uid": 9, "whole": ' + b"[" * 5000 + b"\n", b'{"uid": 1e400}\n', b'{"uid": 9, "uid": 8}\n']
    (folder / f"{name}.jsonl").write_bytes(b"".join([*lines, *([*broken, *_BROKEN_LINES] if hostile else [])]))
    return Stored(folder / f"{name}.jsonl", {"columns": {"name": "text"} | _DECLARED["columns"]})


def _members(row: Row) -> Row:
    """Write some values as other types of JSON than they are declared as."""
    if row["name"] != "Bob":
        return row
    return row | {"truth": [1, {"a": None}], "day": 10**400, "nested": {"deep": [[[]]]}}


def _duckdb(folder: Path, name: str, rows: list[Row]) -> Stored:
    with duckdb.connect(str(folder / f"{name}.duckdb")) as connection:
        create_table(connection, name, rows, DUCKDB)
    return Stored(folder / f"{name}.duckdb")


def _pandas(kind: str) -> Source:
    return Source(PANDAS[kind], lambda folder, name, rows: Stored(pandas_frame(kind, rows, name)))


def _tagged(frame: pa.Table, name: str) -> pa.Table:
    """Two frames with the same values are one source: each has a column of its own."""
    return frame.append_column("of", pa.array([name] * frame.num_rows, pa.string()))


def _named(columns: tuple[Column, ...], **others: Column | None) -> tuple[Column, ...]:
    """Put other columns in the place of some, or none."""
    found = (others.get(column.name, column) for column in columns)
    return tuple(column for column in found if column is not None)


# DuckDB reads milliseconds that have no microseconds from memory, but not from Parquet: such a file is refused
# when it is protected (`test_seen.py`).
_MS = Column("at_ms", Kind.TIMESTAMP, pa.timestamp("ms"), (1, 2), (INT64 // 1000, FIRST_TICK // 1000 + 1, 0, None))
_OF_PYARROW = _named(ARROW, at_s=None, at_ms=_MS)
_WITHOUT_TICKS = tuple(c for c in ARROW if not c.name.startswith(("at_", "zoned")))
# An old form of times, with days of their own: what is beyond 1677 to 2262 is not written.
_INT96 = (Column("at", Kind.TIMESTAMP, pa.timestamp("ns"), (1, 2), (INT64 - 1, -INT64 + 1, 0, None)),)
_HUGE = next(replace(column, kind=Kind.REAL) for column in DUCKDB if column.name == "hugeint")
_IN_PARQUET = _named(DUCKDB, hugeint=_HUGE, bits=None, either=None, zoned_hour=None)
_OF_POLARS = _named(FRAMED, half=None, wide_decimal=None, viewed=None, coded=None, at_s=None, long_day=None)
_BY_POLARS = _named(_OF_POLARS, at_ms=_MS, lasting=None)

SOURCES: dict[str, Source] = {
    "parquet": _parquet(_OF_PYARROW),
    "parquet without statistics": _parquet(
        _OF_PYARROW, write_statistics=False, use_dictionary=False, compression="none", data_page_version="2.0"
    ),
    "parquet of version 1": _parquet(_WITHOUT_TICKS, version="1.0", row_group_size=3),
    "parquet with int96": _parquet(_INT96, use_deprecated_int96_timestamps=True),
    "parquet by duckdb": Source(_IN_PARQUET, _by_duckdb),
    "parquet by polars": Source(_BY_POLARS, _by_polars),
    "csv": Source(WRITTEN, _csv),
    "json": Source(WRITTEN, _json),
    "duckdb": Source(DUCKDB, _duckdb),
    "arrow": Source(FRAMED, lambda _, name, rows: Stored(_tagged(arrow_table(FRAMED, rows), name))),
    "polars": Source(
        _OF_POLARS, lambda _, name, rows: Stored(_polars(_OF_POLARS, rows).with_columns(of=pl.lit(name)))
    ),
    **{f"pandas {kind}": _pandas(kind) for kind in PANDAS},
}
