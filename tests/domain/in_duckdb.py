"""Extremes as DuckDB stores them, in constants of its SQL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import duckdb
from tests.domain.columns import ARROW as _ARROW
from tests.domain.columns import FIRST_TICK, INT64, LONG, Column, arrow_array

from jali.catalog.columns import Kind


def _whole(name: str, least: int, most: int) -> Column:
    hostile = (str(least), str(most), "0", str(least // 2), "NULL")
    return Column(name.lower(), Kind.INTEGER, name, ("1", "7"), hostile)


def _wholes() -> Iterable[Column]:
    for name, width in (("TINYINT", 8), ("SMALLINT", 16), ("INTEGER", 32), ("BIGINT", 64), ("HUGEINT", 128)):
        yield _whole(name, -(1 << width - 1), (1 << width - 1) - 1)
        if width < 128:
            yield _whole(f"U{name}", 0, (1 << width) - 1)


_DOUBLES = ("'inf'", "'-inf'", "'nan'", "'5e-324'", "'-0.0'", "'1.7976931348623157e308'", "NULL")
_DAYS = (
    "DATE 'infinity'",
    "DATE '-infinity'",
    "DATE '5881580-07-10'",
    "DATE '5877642-06-25 (BC)'",
    "DATE '0001-01-01'",
    "DATE '0001-12-31 (BC)'",
    "DATE '9999-12-31'",
    "DATE '10000-01-01'",
    "NULL",
)
_TIMES = (
    "TIMESTAMP 'infinity'",
    "TIMESTAMP '-infinity'",
    "TIMESTAMP '294247-01-10 04:00:54.775806'",
    "TIMESTAMP '290309-12-22 (BC) 00:00:00'",
    "TIMESTAMP '0001-01-01'",
    "TIMESTAMP '9999-12-31 23:59:59.999999'",
    "TIMESTAMP '10000-01-01'",
    "NULL",
)
_TEXTS = ("''", f"'{LONG}'", "'a' || chr(0) || 'b'", "chr(1114111)", "'🙂éİß'", "'''; DROP'", "'1e999'", "NULL")
COLUMNS = (
    *_wholes(),
    Column("uhugeint", Kind.REAL, "UHUGEINT", ("1", "7"), (str((1 << 128) - 1), "0", "NULL")),
    Column("double", Kind.REAL, "DOUBLE", ("0.5", "7.25"), _DOUBLES),
    Column("single", Kind.REAL, "FLOAT", ("0.5", "7.25"), ("'inf'", "'nan'", "'1e-45'", "'3.4028235e38'", "NULL")),
    Column("decimal", Kind.REAL, "DECIMAL(38,10)", ("0.5", "7"), ("9" * 28 + "." + "9" * 10, "NULL")),
    Column("text", Kind.TEXT, "VARCHAR", ("'A'", "'b c'"), _TEXTS),
    Column("nocase", Kind.TEXT, "VARCHAR COLLATE NOCASE", ("'A'", "'a'"), _TEXTS),
    Column("coded", Kind.TEXT, "ENUM('A', 'b c', '', '[]')", ("'A'", "'b c'"), ("''", "'[]'", "NULL")),
    Column("uuid", Kind.TEXT, "UUID", ("uuid()", "uuid()"), ("'" + "f" * 32 + "'", "'" + "0" * 32 + "'", "NULL")),
    Column("truth", Kind.BOOLEAN, "BOOLEAN", ("TRUE", "FALSE"), ("TRUE", "FALSE", "NULL")),
    Column("day", Kind.DATE, "DATE", ("DATE '2025-01-01'", "DATE '2025-02-03'"), _DAYS),
    Column("at", Kind.TIMESTAMP, "TIMESTAMP", ("TIMESTAMP '2025-01-01 10:00:00'", "NULL"), _TIMES),
    Column(
        "at_s", Kind.TIMESTAMP, "TIMESTAMP_S", ("'2025-01-01 10:00:00'", "NULL"), ("'infinity'", "'9999-12-31'")
    ),
    Column(
        "at_ms", Kind.TIMESTAMP, "TIMESTAMP_MS", ("'2025-01-01 10:00:00'", "NULL"), ("'infinity'", "'0001-01-01'")
    ),
    Column(
        "at_ns", Kind.TIMESTAMP, "TIMESTAMP_NS", ("'2025-01-01 10:00:00'", "NULL"), ("'infinity'", "'1677-09-22'")
    ),
    # Ticks that no constant can write: they come through Arrow.
    Column(
        "nat", Kind.TIMESTAMP, "arrow", (1, 2), (-INT64, -INT64 + 1, FIRST_TICK - 1, FIRST_TICK, INT64 - 1, None)
    ),
    Column("zoned", None, "TIMESTAMPTZ", ("'2025-01-01 10:00:00+01'", "NULL"), ("'infinity'", "NULL")),
    Column("hour", None, "TIME", ("'10:00:00'", "NULL"), ("'24:00:00'", "NULL")),
    Column("zoned_hour", None, "TIMETZ", ("'10:00:00+01'", "NULL"), ("'24:00:00-15'", "NULL")),
    Column("lasting", None, "INTERVAL", ("'1 day'", "NULL"), ("'290000 years'", "NULL")),
    Column("bytes", None, "BLOB", ("'a'::BLOB", "NULL"), ("'\\xFF\\x00'::BLOB", "NULL")),
    Column("bits", None, "BIT", ("'101'", "NULL"), ("'" + "1" * 1000 + "'", "NULL")),
    Column("words", None, "VARCHAR[]", ("['a']", "[]"), (f"['{LONG}', NULL]", "NULL")),
    Column("times", None, "TIMESTAMP[]", ("[TIMESTAMP '2025-01-01']", "[]"), ("[TIMESTAMP 'infinity']", "NULL")),
    Column("amounts", None, "DECIMAL(9,2)[]", ("[1.5]", "[]"), ("[9999999.99]", "NULL")),
    Column("three", None, "INTEGER[3]", ("[1, 2, 3]", "NULL"), ("[2147483647, NULL, 0]", "NULL")),
    Column("pair", None, "STRUCT(a INTEGER)", ("{'a': 1}", "NULL"), ("{'a': -2147483648}", "NULL")),
    Column("map", None, "MAP(VARCHAR, INTEGER)", ("MAP {'a': 1}", "NULL"), ("MAP {'': NULL}", "NULL")),
    Column("either", None, "UNION(a INTEGER, b VARCHAR)", ("1", "'x'"), ("'\\xFF'", "NULL")),
)


def create_table(
    connection: duckdb.DuckDBPyConnection, name: str, rows: list[dict[str, Any]], columns: tuple[Column, ...]
) -> None:
    """Make a table of rows whose values are constants of SQL, and ticks."""
    import pyarrow as pa

    ticks = next(column for column in _ARROW if column.name == "at_us")
    nat = arrow_array(ticks, [row["nat"] for row in rows])
    given = pa.table({"place": list(range(len(rows))), "nat": nat})
    plain = [column for column in columns if column.type != "arrow"]
    declared = ", ".join(f'"{column.name}" {column.type}' for column in plain)
    connection.execute(f"CREATE TABLE made (place BIGINT, uid BIGINT, name VARCHAR, {declared})")
    for place, row in enumerate(rows):
        values = ", ".join(str(row[column.name]) for column in plain)
        connection.execute(f"INSERT INTO made VALUES ({place}, {row['uid']}, '{row['name']}', {values})")
    connection.register("given", given)
    connection.execute(f"CREATE TABLE {name} AS SELECT * EXCLUDE (place) FROM made JOIN given USING (place)")
    connection.unregister("given")
    connection.execute("DROP TABLE made")
