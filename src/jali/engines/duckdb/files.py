"""Files as they are now: the header of a CSV file, and whether a file stayed the same while it was read."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

from jali.errors import CatalogError
from jali.query.catalog import Public, Source, Table


def header(location: str) -> list[str]:
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
