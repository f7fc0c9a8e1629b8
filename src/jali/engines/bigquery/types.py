"""BigQuery's types as kinds of column. The type is frozen when a table is declared, and every read casts to it."""

from __future__ import annotations

from jali.query.catalog import Field, Kind

# DATETIME has no time zone; BigQuery's TIMESTAMP is a moment, whose day depends on who looks.
NAMES = {
    Kind.INTEGER: "INT64",
    Kind.REAL: "FLOAT64",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOL",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "DATETIME",
    Kind.OTHER: "STRING",
}
_KINDS = {
    "INT64": Kind.INTEGER,
    "FLOAT64": Kind.REAL,
    "NUMERIC": Kind.REAL,
    "BIGNUMERIC": Kind.REAL,
    "STRING": Kind.TEXT,
    "BOOL": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "DATETIME": Kind.TIMESTAMP,
}


def field_of(name: str, written: str) -> Field:
    """Return the column of a type as INFORMATION_SCHEMA writes it. Decimals are read as doubles."""
    kind = _KINDS.get(written.partition("(")[0].strip().upper(), Kind.OTHER)
    return Field(name, kind, type=NAMES[kind])
