"""DuckDB's types as kinds of column, and the cast that makes the others usable."""

from __future__ import annotations

from jali.query.catalog import Field, Kind

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"})
_WIDE = frozenset({"HUGEINT", "UHUGEINT", "UBIGINT"})
_PLAIN = {
    "DOUBLE": Kind.REAL,
    "FLOAT": Kind.REAL,
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
}
_CASTS = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}


def field_of(name: str, written: str) -> Field:
    """Return the column of a DuckDB type. Wide and decimal numbers are read as doubles."""
    if written in _WHOLE:
        return Field(name, Kind.INTEGER)
    if written in _PLAIN:
        return Field(name, _PLAIN[written])
    if written in _WIDE or written.startswith("DECIMAL"):
        return Field(name, Kind.REAL, cast="DOUBLE")
    if written.startswith("ENUM") or written == "UUID":
        return Field(name, Kind.TEXT, cast="VARCHAR")
    if written.startswith("TIMESTAMP") and "ZONE" not in written:
        return Field(name, Kind.TIMESTAMP, cast="TIMESTAMP")
    return Field(name, Kind.OTHER)


def text_field(name: str, kind: Kind) -> Field:
    """Return a column that is stored as text (CSV) and read as `kind`, NULL where that fails."""
    return Field(name, kind, cast=None if kind is Kind.TEXT else _CASTS[kind])


def type_name(kind: Kind) -> str:
    """Return the DuckDB type that holds values of a kind."""
    return _CASTS[kind]
