"""Texts about DuckDB, files and frames."""

from __future__ import annotations

from collections.abc import Mapping

from jali.errors.texts import Text, Words

TEXTS: Mapping[str, Text] = {
    "arrow-invalid": Text("The Arrow table is not valid.", "See what its validate(full=True) says."),
    "csv-header-missing": Text("{location} has no header line with distinct column names."),
    "frame-kind": Text(
        "A {kind} cannot be protected.",
        "Give a path to Parquet, CSV, JSON or a DuckDB file, or a pandas, polars or Arrow table.",
    ),
    "frames-not-installed": Text(
        "Frames need a package that is not installed.", "Run: pip install 'jali[frames]'."
    ),
    "json-columns-missing": Text(
        "Lines of JSON have no header: the columns of {location} must be declared.",
        "Write columns={{'age': 'integer'}}; the rest of each line is not read.",
    ),
    "link-not-unique": Text(
        "Column {column} of {table} is not unique, so it cannot tell who owns a row.",
        "Reach the unit through a column that is unique.",
    ),
    "source-changed-csv": Text(
        "The CSV file of table {table} has other columns than were declared. Nothing was spent.",
        "Put the columns back in their order, or protect the file under another name.",
    ),
    "source-changed-duckdb": Text(
        "The DuckDB file of table {table} has no table with the columns that were declared. Nothing was spent.",
        "Put the table back as it was, or protect it under another name.",
    ),
    "source-changed-key": Text(
        "The source of table {table} no longer has a key on {unit}. Nothing was spent.",
        "Put the key back, or protect {table} without unique.",
    ),
    "source-missing": Text(
        "The file of table {table} is missing. Nothing was spent.", "Put it back where it was."
    ),
    "source-missing-frame": Text(
        "The frame of table {table} is not attached. Nothing was spent.",
        "Give it again: db.attach({table!r}, frame).",
        command_line=Words(remedy="It is in the memory of a Python program: ask it from there."),
    ),
    "source-unreadable": Text(
        "{location} cannot be read as {format}.",
        "Check the path, the format and the name of the table (a view cannot be protected).",
    ),
    "unique-without-key": Text(
        "No key of the source keeps {unit} unique in {table}: that takes a PRIMARY KEY or UNIQUE constraint of a DuckDB table, on this column alone.",
        "Make the table with such a key, or leave unique out: then rows are weighed.",
    ),
    "values-unreadable": Text(
        "{location} has values that cannot be read.",
        "Write the file again: text must be UTF-8, and times must fit their type.",
    ),
}
