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
_KINDS = {"DOUBLE": Kind.REAL, "VARCHAR": Kind.TEXT, "UUID": Kind.TEXT, "BOOLEAN": Kind.BOOLEAN, "DATE": Kind.DATE}
_KINDS |= dict.fromkeys(_WIDE, Kind.REAL)
_KINDS |= dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP)
_FAMILIES = {"DECIMAL(": Kind.REAL, "ENUM(": Kind.TEXT}


def field_of(name: str, written: str) -> Field:
    """Return the column of a DuckDB type. Decimal and single-precision numbers are read as doubles.

    What is not known here cannot be read: lists (of anything that can), times with a zone, and the types of later
    versions.

    Example:
        >>> types = "DECIMAL(9,2)", "DECIMAL(9,2)[]", "TIMESTAMPTZ_NS", "ENUM('[]')"
        >>> [field_of("x", type).kind.value for type in types]
        ['real', 'other', 'other', 'text']
    """
    if written in _WHOLE:
        return Field(name, Kind.INTEGER, type=written)
    family = next((kind for start, kind in _FAMILIES.items() if written.startswith(start)), Kind.OTHER)
    kind = Kind.OTHER if written.endswith("]") else _KINDS.get(written, family)
    return Field(name, kind, type=type_name(kind))


def text_field(name: str, kind: Kind) -> Field:
    """Return a column that is stored as text (CSV) and read as `kind`, NULL where that fails."""
    return Field(name, kind, type=type_name(kind))


def type_name(kind: Kind) -> str:
    """Return the DuckDB type that holds values of a kind."""
    return NAMES[kind]
