"""Where DuckDB finds the rows of a table."""

from __future__ import annotations

from jali.engines.duckdb.expressions import quoted, text
from jali.query.catalog import Source, Table

FRAME_PREFIX = "frame "
_ATTACHED = "source "


def scan(table: Table) -> str:
    """Write the FROM item of a protected table."""
    return scan_of(table.source, tuple(field.name for field in table.fields))


def scan_of(source: Source, columns: tuple[str, ...]) -> str:
    """Write the FROM item of a source whose columns are known."""
    if source.format == "parquet":
        return f"read_parquet({text(source.location)})"
    if source.format == "csv":
        return _csv(source, columns)
    if source.format == "duckdb":
        return f"{quoted(attached_name(source))}.{quoted(source.relation)}"
    return quoted(FRAME_PREFIX + source.location)


def attached_name(source: Source) -> str:
    """Return the name under which a DuckDB file is attached."""
    return _ATTACHED + source.location


def _csv(source: Source, columns: tuple[str, ...]) -> str:
    """Read every column as text and drop malformed lines: a sniffer would let one row change a type."""
    types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in columns)
    options = "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', ignore_errors = true"
    return f"read_csv({text(source.location)}, columns = {{{types}}}, {options}, null_padding = false)"
