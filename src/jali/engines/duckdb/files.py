"""Files as they are now: the header of a CSV file, and whether a file stayed the same while it was read."""

from __future__ import annotations

import csv
from pathlib import Path

from jali.errors import CatalogError
from jali.query.catalog import Public, Source, Table


def header(location: str) -> list[str]:
    """Read the names in the first line of a CSV file."""
    names = _first_line(location)
    if not names or len({name.lower() for name in names}) != len(names) or not all(names):
        raise CatalogError(f"{location} has no header line with distinct column names.")
    return names


def matches_header(table: Table | Public) -> bool:
    """Say whether a CSV file still has the columns it was declared with, in their places."""
    if table.source.format != "csv":
        return True
    return _first_line(table.source.location) == [field.name for field in table.fields]


def fingerprint(source: Source) -> tuple[int, ...] | None:
    """Return what tells that a file was replaced. The two scans of a weighted question must see the same rows."""
    if source.format not in ("parquet", "csv"):
        return None
    try:
        found = Path(source.location).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _first_line(location: str) -> list[str]:
    try:
        with Path(location).open("rb") as file:
            line = file.readline(1 << 20).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return []
    return next(csv.reader([line]), [])
