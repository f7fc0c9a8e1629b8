"""Where DuckDB finds the rows of a table, and how each format is read row by row."""

from __future__ import annotations

from jali.engines.duckdb.literals import quoted, text
from jali.query.catalog import Field, Kind, Public, Source, Table

FRAME_PREFIX = "frame "
# The table inside the file of a prepared copy.
COPIED = "rows"
_ATTACHED = "source "
# A field is quoted, with quotes doubled inside, or has neither quote nor comma.
_CSV_FIELD = '("(?:[^"]|"")*"|[^",]*),'
# A character that no sensible file holds: every line is read as one value.
_CSV_OPTIONS = (
    "columns = {'line': 'VARCHAR'}, delim = '\x1f', quote = '', escape = '', header = false, skip = 1, "
    "auto_detect = false, ignore_errors = true, strict_mode = false"
)
# The least and largest values that other writers note for a block of doubles leave out NaN. DuckDB would trust
# them: whether the NaN of some people pass `x > 4` would depend on whether somebody else of their block has a 5.
_PARQUET_OPTIONS = "hive_partitioning = false, can_have_nan = true"


def scan(table: Table | Public) -> str:
    """Write the FROM item of a table: of its prepared copy, where it has one."""
    if isinstance(table, Table) and table.copy is not None:
        return plain_scan(table.copy)
    if table.source.format == "csv":
        return _csv(table.source, table.fields)
    if table.source.format == "duckdb":
        return _duckdb(table.source, table.fields)
    return plain_scan(table.source)


def plain_scan(source: Source) -> str:
    """Write the FROM item of a source whose schema is still to be read."""
    if source.format == "parquet":
        return f"read_parquet({text(source.location)}, {_PARQUET_OPTIONS})"
    if source.format == "duckdb":
        return f"{quoted(attached_name(source))}.{quoted(source.relation)}"
    return quoted(FRAME_PREFIX + source.location)


def attached_name(source: Source) -> str:
    """Return the name under which a DuckDB file is attached."""
    return _ATTACHED + source.location


def _duckdb(source: Source, fields: tuple[Field, ...]) -> str:
    """Read a DuckDB table, comparing text by its bytes: under NOCASE two people would be one owner."""
    columns = ", ".join(_bytewise(field) for field in fields)
    return f"(SELECT {columns} FROM {plain_scan(source)})"


def _bytewise(field: Field) -> str:
    name = quoted(field.name)
    return f'CAST({name} AS VARCHAR) COLLATE "C" AS {name}' if field.kind is Kind.TEXT else name


def _csv(source: Source, fields: tuple[Field, ...]) -> str:
    """Read a CSV file line by line, every column as text, dropping malformed lines.

    DuckDB's own splitter lets one line change how others are read: an open quote swallows the next lines, and
    a sniffer lets one value change a type. Here a row depends on its own line alone.
    """
    lines = f"SELECT line, regexp_extract_all(line || ',', {text(_CSV_FIELD)}, 1) AS f"
    lines += f" FROM read_csv({text(source.location)}, {_CSV_OPTIONS})"
    whole = f"len(f) = {len(fields)} AND array_to_string(f, ',') = line"
    columns = ", ".join(f"{_csv_value(i)} AS {quoted(field.name)}" for i, field in enumerate(fields, 1))
    return f"(SELECT {columns} FROM ({lines}) WHERE {whole})"


def _csv_value(index: int) -> str:
    unquoted = f"""replace(f[{index}][2:-2], '""', '"')"""
    return f"CASE WHEN starts_with(f[{index}], '\"') THEN {unquoted} ELSE nullif(f[{index}], '') END"
