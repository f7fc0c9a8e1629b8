"""DuckDB's types as kinds of column. The type is frozen when a table is protected, and every read casts to it."""

from __future__ import annotations

from jali.query.catalog import Field, Kind

_SIGNED = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})
_WHOLE = _SIGNED | {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_WIDE = frozenset({"UHUGEINT", "FLOAT"})
NAMES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.OTHER: "VARCHAR",
}
_KINDS = {"DOUBLE": Kind.REAL, "VARCHAR": Kind.TEXT, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE}


def field_of(name: str, written: str) -> Field:
    """Return the column of a DuckDB type. Decimal and single-precision numbers are read as doubles."""
    if written in _WHOLE:
        return Field(name, Kind.INTEGER, type=written)
    if written in _WIDE or written.startswith("DECIMAL"):
        kind = Kind.REAL
    elif written.startswith("ENUM") or written == "UUID":
        kind = Kind.TEXT
    elif written.startswith("TIMESTAMP") and "ZONE" not in written:
        kind = Kind.TIMESTAMP
    else:
        kind = _KINDS.get(written, Kind.OTHER)
    return Field(name, kind, type=type_name(kind))


def text_field(name: str, kind: Kind) -> Field:
    """Return a column that is stored as text (CSV) and read as `kind`, NULL where that fails."""
    return Field(name, kind, type=type_name(kind))


def type_name(kind: Kind) -> str:
    """Return the DuckDB type that holds values of a kind."""
    return NAMES[kind]
