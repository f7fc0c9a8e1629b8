"""Spark's types as kinds of column. The type is frozen when a table is protected, and every read casts to it."""

from __future__ import annotations

from jali.query.catalog import Field, Kind

_WHOLE = {"tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INT", "bigint": "BIGINT"}
NAMES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    Kind.OTHER: "STRING",
}
_KINDS = {
    "double": Kind.REAL,
    "float": Kind.REAL,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP,
}
_TEXTS = ("string", "char(", "varchar(")


def field_of(name: str, written: str) -> Field:
    """Return the column of a Spark type, as `simpleString` writes it.

    Decimal and single-precision numbers are read as doubles, texts of any collation by their bytes, and times with
    a time zone as the time in UTC.
    """
    if written in _WHOLE:
        return Field(name, Kind.INTEGER, type=_WHOLE[written])
    if written.startswith("decimal"):
        kind = Kind.REAL
    elif written.startswith(_TEXTS):
        kind = Kind.TEXT
    else:
        kind = _KINDS.get(written, Kind.OTHER)
    return Field(name, kind, type=NAMES[kind])


def type_name(kind: Kind) -> str:
    """Return the Spark type that holds values of a kind."""
    return NAMES[kind]
