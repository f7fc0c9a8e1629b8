"""Extremes as people write them: lines of CSV and JSON hold text, which is read as what is declared."""

from __future__ import annotations

from tests.domain.columns import TEXTS, Column

from jali.catalog.columns import Kind

_WHOLES = (
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1e400",
    "0x10",
    "1.5",
    " 7 ",
    "",
    None,
)
_REALS = ("inf", "-inf", "nan", "1e999", "-1e-999", "5e-324", "-0.0", "1_000", "ten", "", None)
_DAYS = (
    "0001-01-01",
    "0001-01-01 (BC)",
    "9999-12-31",
    "10000-01-01",
    "5881580-07-10",
    "infinity",
    "epoch",
    "2025-02-30",
    "",
    None,
)
_TIMES = (
    "0001-01-01 00:00:00",
    "290309-12-22 (BC) 00:00:00",
    "294247-01-10 04:00:54.775806",
    "294247-01-10 04:00:54.775807",
    "9999-12-31 23:59:59.999999",
    "2025-01-01 10:00:00+01",
    "2025-01-01 24:00:00",
    "infinity",
    None,
)
COLUMNS = (
    Column("text", Kind.TEXT, "text", ("A", "b c"), TEXTS),
    Column("whole", Kind.INTEGER, "integer", ("1", "7"), _WHOLES),
    Column("real", Kind.REAL, "real", ("0.5", "7.25"), _REALS),
    Column("truth", Kind.BOOLEAN, "boolean", ("true", "false"), ("yes", "2", "", "T", None)),
    Column("day", Kind.DATE, "date", ("2025-01-01", "2025-02-03"), _DAYS),
    Column("at", Kind.TIMESTAMP, "timestamp", ("2025-01-01 10:00:00", ""), _TIMES),
)
