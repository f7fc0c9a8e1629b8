"""Tables of a DuckDB file, and the keys that it enforces. Its schema is read, never its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jali.engines.duckdb.sources import attached_name
from jali.query.catalog import Field, Kind, Source

if TYPE_CHECKING:
    import duckdb

_WHERE = "WHERE database_name = ? AND schema_name = 'main' AND lower(table_name) = lower(?)"
_KEYS = (
    f"SELECT constraint_column_names FROM duckdb_constraints() {_WHERE}"
    " AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')"
)
_TABLE = f"SELECT 1 FROM duckdb_tables() {_WHERE}"
_TYPE = f"SELECT data_type FROM duckdb_columns() {_WHERE} AND lower(column_name) = lower(?)"


def is_table(cursor: duckdb.DuckDBPyConnection, source: Source) -> bool:
    """Say whether what is read is a table: a view of the same name may be drawn at random."""
    return bool(cursor.execute(_TABLE, [attached_name(source.location), source.relation]).fetchall())


def is_keyed(cursor: duckdb.DuckDBPyConnection, source: Source, field: Field) -> bool:
    """Say whether a constraint keeps a column unique, by itself, as it is read.

    Reading may not make equal what is different in the file: nanoseconds would become microseconds.
    """
    table = [attached_name(source.location), source.relation]
    keys = [[name.lower() for name in row[0]] for row in cursor.execute(_KEYS, table).fetchall()]
    types = [row[0] for row in cursor.execute(_TYPE, [*table, field.name]).fetchall()]
    return [field.name.lower()] in keys and len(types) == 1 and _read_apart(types[0], field)


def _read_apart(stored: str, field: Field) -> bool:
    spelled = field.kind is Kind.TEXT and (stored.startswith("ENUM") or stored == "UUID")
    return stored == field.type or spelled
