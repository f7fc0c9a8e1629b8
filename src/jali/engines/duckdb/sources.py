"""Where DuckDB finds the rows of a table: formats, column types, file headers and the keys that a file enforces.

The type of a column is frozen when a table is protected, and every read casts to it. Of a DuckDB file the schema
is read, never its rows.
"""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from jali.catalog.columns import Field, Kind
from jali.catalog.tables import Public, Source, Table
from jali.engines.sql.dialect import quote, text
from jali.errors import CatalogError

if TYPE_CHECKING:
    import duckdb


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
    return Field(name, kind, type=NAMES[kind])


FRAME_PREFIX = "frame "
# The table inside the file of a prepared copy.
COPY_TABLE = "normalized rows"
_ATTACHED = "source "
# A field is quoted, with quotes doubled inside, or has neither quote nor comma.
_CSV_FIELD = '("(?:[^"]|"")*"|[^",]*),'
# A character that no sensible file holds: every line is read as one value.
_LINES = (
    "columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', header = false, "
    "auto_detect = false, ignore_errors = true, strict_mode = false"
)
# The least and largest values that other writers note for a block of doubles leave out NaN. DuckDB would trust
# them: whether the NaN of some people pass `x > 4` would depend on whether somebody else of their block has a 5.
_PARQUET_OPTIONS = "hive_partitioning = false, can_have_nan = true"


def scan_rows(table: Table | Public) -> str:
    """Write the FROM item of the rows as they are stored: of the prepared copy, where there is one."""
    if table.read_from.format == "csv":
        return _csv(table.source, table.fields)
    if table.read_from.format == "json":
        return _json(table.source, table.fields)
    return scan_source(table.read_from)


def scan_source(source: Source) -> str:
    """Write the FROM item of a source whose schema is still to be read."""
    if source.format == "parquet":
        return f"read_parquet({text(source.location)}, {_PARQUET_OPTIONS})"
    if source.format == "duckdb":
        return f"{quote(name_attachment(source.location))}.{quote(source.relation)}"
    return quote(FRAME_PREFIX + source.location)


def name_attachment(location: str) -> str:
    """Return the name under which a DuckDB file is attached."""
    return _ATTACHED + location


def _csv(source: Source, fields: tuple[Field, ...]) -> str:
    """Read a CSV file line by line, every column as text, dropping malformed lines.

    DuckDB's own splitter lets one line change how others are read: an open quote swallows the next lines, and
    a sniffer lets one value change a type. Here a row depends on its own line alone.
    """
    lines = f"SELECT line, regexp_extract_all(line || ',', {text(_CSV_FIELD)}, 1) AS f"
    lines += f" FROM read_csv({text(source.location)}, {_LINES}, skip = 1)"
    whole = f"len(f) = {len(fields)} AND array_to_string(f, ',') = line"
    columns = ", ".join(f"{_csv_value(i)} AS {quote(field.name)}" for i, field in enumerate(fields, 1))
    return f"(SELECT {columns} FROM ({lines}) WHERE {whole})"


def _json(source: Source, fields: tuple[Field, ...]) -> str:
    """Read a file of JSON objects, one on each line: every member as text, dropping malformed lines.

    DuckDB's own reader infers types from the values of many lines. Here a row depends on its own line alone.
    """
    lines = f"SELECT line AS j FROM read_csv({text(source.location)}, {_LINES}) WHERE json_valid(line)"
    columns = ", ".join(
        f"json_extract_string(j, {text(_member(field.name))}) AS {quote(field.name)}" for field in fields
    )
    return f"(SELECT {columns} FROM ({lines}))"


def _member(name: str) -> str:
    """Write the place of a member of a JSON object, by the JSON pointer to it."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _csv_value(index: int) -> str:
    unquoted = f"""replace(f[{index}][2:-2], '""', '"')"""
    return f"CASE WHEN starts_with(f[{index}], '\"') THEN {unquoted} ELSE nullif(f[{index}], '') END"


def read_header(location: str) -> list[str]:
    """Read the names in the first line of a CSV file."""
    names = _first_line(location)
    if not names or len({name.lower() for name in names}) != len(names) or not all(names):
        raise CatalogError("csv-header-missing", location=location)
    return names


def matches_header(table: Table | Public) -> bool:
    """Say whether a CSV file still has the columns it was declared with, in their places."""
    if table.source.format != "csv":
        return True
    return _first_line(table.source.location) == [field.name for field in table.fields]


def fingerprint(source: Source) -> str | None:
    """Return what tells that a file was replaced: a digest of path, inode, size and time. None if it is missing.

    A DuckDB file has a journal beside it, which changes with it.
    """
    path = Path(source.location).resolve()
    facts: list[object] = [str(path)]
    for part in (path, path.with_name(path.name + ".wal"))[: 2 if source.format == "duckdb" else 1]:
        try:
            found = part.stat()
        except OSError:
            facts.append(None)
            continue
        facts += [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns]
    return None if facts[1] is None else hashlib.sha256(repr(facts).encode()).hexdigest()


def _first_line(location: str) -> list[str]:
    try:
        with Path(location).open("rb") as file:
            line = file.readline(1 << 20).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    return next(csv.reader([line]), [])


_WHERE = "WHERE database_name = ? AND schema_name = 'main' AND lower(table_name) = lower(?)"
_KEYS = (
    f"SELECT constraint_column_names FROM duckdb_constraints() {_WHERE}"
    " AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')"
)
_TABLE = f"SELECT 1 FROM duckdb_tables() {_WHERE}"
_TYPE = f"SELECT data_type FROM duckdb_columns() {_WHERE} AND lower(column_name) = lower(?)"


def is_table(cursor: duckdb.DuckDBPyConnection, source: Source) -> bool:
    """Say whether what is read is a table: a view of the same name may be drawn at random."""
    return bool(cursor.execute(_TABLE, [name_attachment(source.location), source.relation]).fetchall())


def is_keyed(cursor: duckdb.DuckDBPyConnection, source: Source, field: Field) -> bool:
    """Say whether a constraint keeps a column unique, by itself, as it is read.

    Reading may not make equal what is different in the file: nanoseconds would become microseconds.
    """
    table = [name_attachment(source.location), source.relation]
    keys = [[name.lower() for name in row[0]] for row in cursor.execute(_KEYS, table).fetchall()]
    types = [row[0] for row in cursor.execute(_TYPE, [*table, field.name]).fetchall()]
    return [field.name.lower()] in keys and len(types) == 1 and _read_apart(types[0], field)


def _read_apart(stored: str, field: Field) -> bool:
    spelled = field.kind is Kind.TEXT and (stored.startswith("ENUM") or stored == "UUID")
    return stored == field.type or spelled
