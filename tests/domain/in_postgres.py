"""Extremes as Postgres stores them, in constants of its SQL."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from tests.domain.columns import LONG, Column

from jali.catalog.columns import Kind

_TEXTS = (
    "''",
    f"'{LONG}'",
    "'🙂éİßﬁ' || chr(1114111)",
    "E'\\x1b[2J\\n\\r\\t'",
    "'''; DROP'",
    "'%_\\[('",
    "'1e999'",
    "NULL",
)
_DOUBLES = ("'inf'", "'-inf'", "'nan'", "'5e-324'", "'-0.0'", "'1.7976931348623157e308'", "'-1e-310'", "NULL")
_DAYS = (
    "'infinity'",
    "'-infinity'",
    "'5874897-12-31'",
    "'4713-01-01 BC'",
    "'0001-01-01'",
    "'0001-12-31 BC'",
    "'9999-12-31'",
    "'10000-01-01'",
    "NULL",
)
_TIMES = (
    "'infinity'",
    "'-infinity'",
    "'294276-12-31 23:59:59.999999'",
    "'4713-01-01 00:00:00 BC'",
    "'0001-01-01'",
    "'9999-12-31 23:59:59.999999'",
    "'10000-01-01'",
    "NULL",
)
_NUMERICS = (
    "'NaN'",
    "'Infinity'",
    "'-Infinity'",
    "'1e131071'",
    "'-1e131071'",
    "'1e-16383'",
    "'1e308'",
    "'1.8e308'",
    "'1e-324'",
    "0",
    "NULL",
)
COLUMNS = (
    Column("smallint", Kind.INTEGER, "smallint", ("1", "7"), ("-32768", "32767", "NULL")),
    Column("integer", Kind.INTEGER, "integer", ("1", "7"), ("-2147483648", "2147483647", "0", "NULL")),
    Column(
        "bigint", Kind.INTEGER, "bigint", ("1", "7"), ("'-9223372036854775808'", "9223372036854775807", "NULL")
    ),
    Column("double", Kind.REAL, "double precision", ("0.5", "7.25"), _DOUBLES),
    Column("single", Kind.REAL, "real", ("0.5", "7.25"), ("'inf'", "'nan'", "'1e-45'", "'3.4028235e38'", "NULL")),
    Column("numeric", Kind.REAL, "numeric", ("0.5", "7.25"), _NUMERICS),
    Column("money", Kind.REAL, "numeric(10,2)", ("0.5", "7.25"), ("99999999.99", "'NaN'", "NULL")),
    Column("huge", Kind.REAL, "numeric(400,0)", ("1", "7"), (f"'{'9' * 400}'", "'NaN'", "NULL")),
    Column("text", Kind.TEXT, "text", ("'A'", "'b c'"), _TEXTS),
    Column("varchar", Kind.TEXT, "varchar(100000)", ("'A'", "'b c'"), _TEXTS),
    Column("padded", Kind.TEXT, "char(5)", ("'A'", "'b c'"), ("''", "'éé'", "NULL")),
    Column("named", Kind.TEXT, "name", ("'A'", "'b c'"), ("''", "'éé'", "NULL")),
    Column("uuid", Kind.TEXT, "uuid", ("gen_random_uuid()",), (f"'{'f' * 32}'", f"'{'0' * 32}'", "NULL")),
    Column("mood", Kind.TEXT, "mood", ("'sad'", "'[]'"), ("''", "NULL")),
    Column("truth", Kind.BOOLEAN, "boolean", ("TRUE", "FALSE"), ("TRUE", "FALSE", "NULL")),
    Column("day", Kind.DATE, "date", ("'2025-01-01'", "'2025-02-03'"), _DAYS),
    Column("at", Kind.TIMESTAMP, "timestamp", ("'2025-01-01 10:00:00'", "NULL"), _TIMES),
    Column("at_s", Kind.TIMESTAMP, "timestamp(0)", ("'2025-01-01 10:00:00'", "NULL"), _TIMES),
    Column("zoned", None, "timestamptz", ("'2025-01-01 10:00:00+01'", "NULL"), ("'infinity'", "NULL")),
    Column("hour", None, "time", ("'10:00'", "NULL"), ("'24:00'", "NULL")),
    Column("lasting", None, "interval", ("'1 day'", "NULL"), ("'-178000000 years'", "NULL")),
    Column("bytes", None, "bytea", ("'a'", "NULL"), ("'\\xff00'", "NULL")),
    Column("list", None, "text[]", ("'{a}'", "'{}'"), ("'{NULL}'", "NULL")),
    Column("times", None, "timestamp[]", ("'{2025-01-01}'", "'{}'"), ("'{infinity}'", "NULL")),
    Column("json", None, "jsonb", ("'{}'", "'1'"), ("'1e400'", "NULL")),
    Column("cash", None, "money", ("1", "2"), ("'92233720368547758.07'", "NULL")),
    Column("inet", None, "inet", ("'::1'", "'10.0.0.1'"), ("'::'", "NULL")),
)


def create_table(connection: psycopg.Connection[Any], schema: str, name: str, rows: list[dict[str, Any]]) -> None:
    """Make a table of rows whose values are constants of SQL."""
    place = sql.Identifier(schema, name)
    mood = sql.Identifier(schema, "mood")
    kinds = [mood if column.type == "mood" else sql.SQL(column.type) for column in COLUMNS]
    declared = [sql.SQL("{} {}").format(sql.Identifier(c.name), k) for c, k in zip(COLUMNS, kinds, strict=True)]
    people = sql.SQL("uid bigint, name text, ")
    connection.execute(sql.SQL("CREATE TABLE {} ({}{})").format(place, people, sql.SQL(", ").join(declared)))
    for row in rows:
        values = sql.SQL(", ").join(sql.SQL(str(row[column.name])) for column in COLUMNS)
        who = sql.SQL("{}, {}, ").format(row["uid"], row["name"])
        connection.execute(sql.SQL("INSERT INTO {} VALUES ({}{})").format(place, who, values))
