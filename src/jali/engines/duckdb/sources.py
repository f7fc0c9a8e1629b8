"""Where DuckDB finds the rows of a table, and how each format is read row by row."""

from __future__ import annotations

from jali.engines.duckdb.literals import constant, quoted, text
from jali.query.catalog import Field, Kind, Public, Source, Table
from jali.query.domain import FIRST_DAY, FIRST_TIME, LAST_DAY, LAST_TIME, LONGEST_TEXT

FRAME_PREFIX = "frame "
# The table inside the file of a prepared copy.
COPIED = "normalized rows"
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


def stored_rows(table: Table | Public) -> str:
    """Write the FROM item of the rows as they are stored: of the prepared copy, where there is one."""
    if table.read_from.format == "csv":
        return _csv(table.source, table.fields)
    if table.read_from.format == "json":
        return _json(table.source, table.fields)
    return plain_scan(table.read_from)


def normalized(field: Field) -> str:
    """Write what a question sees of a stored column: a value of the closed domain, or NULL.

    TRY_CAST to the stored type costs nothing. It makes NULL of what overflows between units of time, and after a
    rewrite with another type of what has no value in this one. Times are compared before anything else is done
    with them: DuckDB fails on the text, the parts and the least of those before its own calendar, also within TRY.
    CASE alone does not keep them away: of a column with a dictionary, DuckDB computes functions that it believes
    to be total on all of its values, chosen or not. So dates and times are cut to the calendar besides.
    """
    value = f"TRY_CAST({quoted(field.name)} AS {field.type})"
    if field.kind is Kind.REAL:
        return f"CASE WHEN {value} <= 'inf'::DOUBLE THEN {value} END"
    if field.kind is Kind.TEXT:
        # Compared by bytes: under the collation of a DuckDB column, such as NOCASE, two people would be one owner.
        return f'CASE WHEN strlen({value}) <= {LONGEST_TEXT} THEN {value} COLLATE "C" END'
    if field.kind in (Kind.DATE, Kind.TIMESTAMP):
        low, high = (FIRST_DAY, LAST_DAY) if field.kind is Kind.DATE else (FIRST_TIME, LAST_TIME)
        cut = f"greatest(least({value}, {constant(high)}), {constant(low)})"
        return f"CASE WHEN {value} BETWEEN {constant(low)} AND {constant(high)} THEN {cut} END"
    return value


def plain_scan(source: Source) -> str:
    """Write the FROM item of a source whose schema is still to be read."""
    if source.format == "parquet":
        return f"read_parquet({text(source.location)}, {_PARQUET_OPTIONS})"
    if source.format == "duckdb":
        return f"{quoted(attached_name(source.location))}.{quoted(source.relation)}"
    return quoted(FRAME_PREFIX + source.location)


def attached_name(location: str) -> str:
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
    columns = ", ".join(f"{_csv_value(i)} AS {quoted(field.name)}" for i, field in enumerate(fields, 1))
    return f"(SELECT {columns} FROM ({lines}) WHERE {whole})"


def _json(source: Source, fields: tuple[Field, ...]) -> str:
    """Read a file of JSON objects, one on each line: every member as text, dropping malformed lines.

    DuckDB's own reader infers types from the values of many lines. Here a row depends on its own line alone.
    """
    lines = f"SELECT line AS j FROM read_csv({text(source.location)}, {_LINES}) WHERE json_valid(line)"
    columns = ", ".join(
        f"json_extract_string(j, {text(_member(field.name))}) AS {quoted(field.name)}" for field in fields
    )
    return f"(SELECT {columns} FROM ({lines}))"


def _member(name: str) -> str:
    """Write the place of a member of a JSON object, by the JSON pointer to it."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _csv_value(index: int) -> str:
    unquoted = f"""replace(f[{index}][2:-2], '""', '"')"""
    return f"CASE WHEN starts_with(f[{index}], '\"') THEN {unquoted} ELSE nullif(f[{index}], '') END"
